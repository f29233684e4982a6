"""Pages show what stood in a prompt, and where the words come from, to whom may read it."""

import pytest

from evennia_ai.models import Compaction, Turn
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


def test_a_turn_shows_its_prompt_and_sources_to_those_who_may_read_memories(
    game, mira, ann, admin, builder, service
):
    game.model.add({"say": {"text": "How nice."}})
    ann.do("say Mira, my daughter Wren sails on the Petrel.")
    game.run(2)
    game.model.add({"say": {"text": "Wren sails on the Petrel. She killed the old baron."}})
    ann.do("say Mira, where is my daughter?")
    game.run(2)
    path = f"{mira.assistant.id}/turn/{Turn.objects.latest('id').id}/"
    text = Browser(builder).text(path)
    for part in ("What was heard", "Model calls", "Tool calls", ">say<", "none of it"):
        assert part in text
    assert "Wren sails on the Petrel. She killed the old baron." in text
    assert '<span class="tag">talk</span>' in text and 'class="part0"' in text
    service.who_may_read = {**service.who_may_read, "public_memories": "Admin"}
    text = Browser(builder).text(path)
    assert "She killed the old baron" in text and 'class="part0"' not in text
