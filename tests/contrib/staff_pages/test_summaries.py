"""The page of a compaction shows what its summary was made of, to whom may read it."""

import pytest

from evennia_ai.models import Compaction
from tests.contrib.staff_pages.conftest import Browser
from tests.game.summary_scene import SECRET, compact, summed_up, talk

pytest.importorskip("evennia_ai.contrib.explanations")
__all__ = ["summed_up"]
pytestmark = [pytest.mark.game, pytest.mark.django_db]


def page_of(mira):
    return f"{mira.assistant.id}/compaction/{Compaction.objects.get().id}/"


def test_it_shows_what_the_summary_was_made_of(summed_up, admin):
    text = Browser(admin).text(page_of(summed_up))
    assert "What the summary was made of" in text and "What stood in the prompt" in text
    assert "nothing in the prompt says this" in text


def test_it_shows_a_builder_nothing_of_a_private_summary(game, mira, ann, admin, builder):
    talk(game, ann, 10, "whisper Mira = a ruby lies under the third stair, the")
    compact(game, mira, SECRET)
    assert "ruby" not in Browser(builder).text(page_of(mira))
    assert "ruby" in Browser(admin).text(page_of(mira))
