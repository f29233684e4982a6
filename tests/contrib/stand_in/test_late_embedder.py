"""Of an embedder that answers late or never, no line stays without an answer."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.models import Event
from tests.game import extensions_scene

for needed in ("promises", "explanations"):
    pytest.importorskip(f"evennia_ai.contrib.{needed}")
asked_for = extensions_scene.asked_for


class Late:
    """An embedder that never answers."""

    name, dimensions = "late", 4

    def embed_later(self, texts, query=False):
        return Deferred()


@pytest.fixture
def stand_in(service):
    """Return the way to the stand-in, which the game of `asked_for` lacks."""
    return service.gateway


def test_each_line_is_answered_by_its_words_and_staff_read_why(
    stand_in, asked_for, game, tavern, mira, ann, admin
):
    asked_for("promises")
    stand_in.extensions = game.service.extensions
    game.service.gateway, game.service.memory.embedder = stand_in, Late()
    for line, most_s in (("Mira, meet me at the quay at dusk.", 6), ("Goodbye, Mira.", 1)):
        ann.forget()
        ann.do(f"say {line}")
        for _ in range(most_s):
            game.run(1)
        answers = [text for text in ann.heard() if text.startswith("Mira says")]
        assert len(answers) == 1 and "thoughts wandered" not in answers[0], line
    assert {event.state for event in Event.objects.all()} == {"answered"}
    text = " ".join(admin.told("aiwhy Mira = 2").split())
    assert "heard (say, named; not read as a promise: the embedder was late)" in text
    assert "only the words of the line were read" in text
