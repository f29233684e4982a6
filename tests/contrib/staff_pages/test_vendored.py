"""The libraries that the pages load are on the game's own server, and there is no other."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from evennia_ai.contrib import staff_pages
from tests.web.test_middleware import vendored

pytestmark = pytest.mark.game
FOLDER = Path(staff_pages.__file__).parent


def test_the_pages_load_what_is_kept_and_nothing_else_is_kept():
    pages = [page.read_text(encoding="utf-8") for page in FOLDER.rglob("*.html")]
    files = {path for page in pages for path in re.findall(r'static "evennia_ai/([^"]+)"', page)}
    kept = vendored(FOLDER / "static" / "evennia_ai" / "vendor")
    assert kept == {path for path in files if path.startswith("vendor/")}
    assert all(finders.find(f"evennia_ai/{path}") for path in files)
