"""A message that a line asks for is taken without a tool, by its structure and its meaning."""

import pytest
from twisted.internet.defer import succeed

from evennia_ai.contrib.letters.leave_message import NO_MESSAGE
from evennia_ai.contrib.letters.letter_records import Letters
from evennia_ai.game.texts import TEXTS
from evennia_ai.memory import embedders
from evennia_ai.memory.remote_vectors import LearnedKinds
from tests.contrib.letters.letters_scene import Post, extensions_scene
from tests.game.conftest import flat

asked_for = extensions_scene.asked_for
LEAVES = "the boat leaves at noon"
READ = {
    "Mira, tell Old Otto that the boat is ready.": "the boat is ready.",
    "Mira, please tell old otto that Ann waits for him.": "Ann waits for him.",
    f"Mira, please tell Old Otto that {LEAVES}.": f"{LEAVES}.",
    f"Mira, could you pass a message to Old Otto: {LEAVES}": LEAVES,
    "Mira, leave word for old otto: the boat is ready": "the boat is ready",
    "Tell Old Otto that the boat is ready.": "the boat is ready.",
    "Mira, let Old Otto know the boat is ready.": "the boat is ready.",
    "Mira, tell Old Otto - quietly - that I am sorry.": "I am sorry.",
    "Mira, when Old Otto comes by, tell him I found his hat.": "I found his hat.",
    "Mira, for Old Otto's ears only: the lamp is out": "the lamp is out",
    "Mira, sag Old Otto bitte, dass der Ofen kaputt ist.": "der Ofen kaputt ist.",
    "Mira, tell me about Old Otto.": "",
    "Mira, I met Old Otto at the old gate yesterday.": "",
    "Mira, what would you do if Old Otto asked you to meet him at the gate at dusk?": "",
    "Mira, I will bring Old Otto the rope tomorrow.": "",
}


@pytest.fixture
def way_to_stand_in(service):
    """Return the way to the stand-in, which the game of `asked_for` lacks."""
    return service.gateway


@pytest.fixture
def post(way_to_stand_in, asked_for, game, tavern, mira, ann):
    pytest.importorskip("onnxruntime", reason="its extra is left out")
    asked_for("letters")
    game.service.memory.embedder = embedders.default()
    return Post(game, tavern, mira)


@pytest.fixture
def with_stand_in(post, way_to_stand_in, game):
    pytest.importorskip("evennia_ai.contrib.stand_in", reason="the stand-in is left out")
    way_to_stand_in.extensions, game.service.gateway = game.service.extensions, way_to_stand_in
    return post


@pytest.fixture
def small(post, game, mira):
    """Mira's model is small and has no tools."""
    game.service.profiles["small"] = {
        "client": "openai", "model": "qwen-1.5b", "form": "plain", "base_url": "http://x/v1",
    }  # fmt: skip
    mira.assistant.db.profile = "small"
    mira.assistant.mind.settings.resolve()
    return post


def test_the_stand_in_takes_a_message_and_says_so(with_stand_in, game, ann, bob):
    game.assistant("Old Otto", with_stand_in.square)
    for line, expected in READ.items():
        Letters.of(with_stand_in.mira).remove(*[item["id"] for item in with_stand_in.letters()])
        before = len(ann.heard())
        ann.do(f"say {line}")
        game.run(3)
        lines = ann.heard()[before:]
        taken = [item["content"] for item in with_stand_in.letters()]
        assert taken == [expected] * bool(expected), (line, lines)
        agreed = [text for text in lines if "I will tell Old Otto." in text]
        assert len(agreed) == bool(expected), (line, lines)
    ann.do("whisper Mira = Tell Old Otto that I love him.")
    game.run(3)
    assert "I will tell Old Otto." in ann.last() and "I love" not in str(bob.heard())


def test_an_errand_to_somebody_is_a_message_and_no_walk(with_stand_in, game, ann, mira, tavern):
    game.assistant("Old Otto", with_stand_in.square)
    for line in (
        "run tell Old Otto theres wolves in the square!!",
        "go and tell Old Otto I am ill",
    ):
        ann.do(f"say Mira, {line}")
        game.run(5)
        assert mira.location is tavern and "I will tell Old Otto." in ann.last(), line
    assert len(with_stand_in.letters()) == 2
    for line in (
        "go to the square, Old Otto is there",
        "go to the square.",
        "walk to the square, I saw Old Otto there",
    ):
        mira.move_to(tavern, quiet=True)
        ann.do(f"say Mira, {line}")
        game.run(5)
        assert mira.location is with_stand_in.square, (line, ann.last())


def test_while_the_embedder_is_late_the_stand_in_does_not_say_that_it_carries_none(
    with_stand_in, game, ann, monkeypatch
):
    game.assistant("Old Otto", with_stand_in.square)
    monkeypatch.setattr(LearnedKinds, "prepare", lambda *_: succeed(False))
    ann.do("say Mira, tell Old Otto that the boat is ready.")
    game.run(3)
    assert ann.last() == f'Mira says, "{TEXTS["fallback"].splitlines()[0]}"'


def test_staff_read_why_nothing_was_noted(small, game, ann, admin):
    pytest.importorskip("evennia_ai.contrib.explanations")
    game.assistant("Old Otto", small.square)
    whys = {f"Mira, when you next see Old Otto, {LEAVES}.": NO_MESSAGE, "Mira, good evening.": ""}
    for (line, why), reply in zip(whys.items(), ("He has gone.", "And to you, Ann."), strict=True):
        game.model.add(reply)
        ann.do(f"say {line}")
        game.run(1)
        text = flat(admin.told("aiwhy Mira"))
        assert f"heard (say, named{'; ' * bool(why)}{why})" in text, line
    assert small.letters() == []
    game.model.add("Gladly, Ann.")
    ann.do("say Mira, tell Old Otto that the boat is ready.")
    game.run(1)
    assert [item["content"] for item in small.letters()] == ["the boat is ready."]
    assert lines_said(ann, "Gladly")


def lines_said(player, words):
    return [line for line in player.heard() if words in line]
