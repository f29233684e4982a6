"""The curves and tables of docs/operations.md are those of the figures that were kept."""

from tests.bench import scaling_pages
from tests.bench.scaling_rows import read_rows

ROWS, TOLD = read_rows()


def test_the_pictures_are_drawn_from_the_figures() -> None:
    for name, picture in scaling_pages.images(ROWS).items():
        kept = (scaling_pages.IMAGES / name).read_text(encoding="utf-8")
        assert kept == picture, "run python -m tests.bench.scaling draw"


def test_the_tables_are_made_from_the_figures() -> None:
    page = scaling_pages.PAGE.read_text(encoding="utf-8")
    assert scaling_pages.filled(page, ROWS, TOLD) == page


def test_the_page_shows_every_picture() -> None:
    page = scaling_pages.PAGE.read_text(encoding="utf-8")
    for picture in scaling_pages.PICTURES:
        assert f"](images/{picture.file})" in page


def test_every_row_tells_when_and_with_what_it_was_measured() -> None:
    for told in TOLD:
        assert told.startswith("on 20") and "evennia" in told
