"""What was agreed without a tool is noted: by the meaning of a sentence, behind its structure."""

import pytest

from evennia_ai import signals
from evennia_ai.contrib.promises import overheard
from evennia_ai.contrib.promises.promise_records import Promises
from evennia_ai.memory import embedders
from tests.contrib.promises.promises_scene import Town, extensions_scene
from tests.game.conftest import flat

asked_for = extensions_scene.asked_for
READ = {
    "Mira, meet me at the old gate at dusk.": [("own", "Old Gate")],
    "Mira, I will bring you the rope tomorrow.": [("theirs", "")],
    "Mira, tell Old Otto that the boat is ready.": [("letter", "")],
    "Mira, what do you do at the old gate at dusk?": [],
    "Mira, please tell old otto that Ann waits for him.": [("letter", "")],
    "Mira, let us meet here at half past six.": [("own", "Tavern")],
    "Mira, please tell Old Otto that the boat leaves at noon.": [("letter", "")],
    "Mira, could you pass a message to Old Otto: the boat leaves at noon": [("letter", "")],
    "Mira, tell me about Old Otto.": [],
    "Mira, I met Old Otto at the old gate yesterday.": [],
    "Mira, meet me at the moon at dusk.": [],
    "Mira, 20 mins. the old gate. come alone": [("own", "Old Gate")],
    "Mira, c u at the gate tmrw noon ok?": [("own", "Old Gate")],
    "Mira, leave word for old otto: the boat is ready": [("letter", "")],
    "Mira, they say the dead walk the old gate at midnight": [],
    "Mira, what would you do if Old Otto asked you to meet him at the gate at dusk?": [],
}


@pytest.fixture
def stand_in(service):
    """Return the way to the stand-in, which the game of `asked_for` lacks."""
    pytest.importorskip("evennia_ai.contrib.stand_in", reason="the stand-in is left out")
    return service.gateway


@pytest.fixture
def town(stand_in, asked_for, game, tavern, mira, ann):
    pytest.importorskip("onnxruntime", reason="its extra is left out")
    asked_for("promises")
    stand_in.extensions = game.service.extensions
    game.service.gateway, game.service.memory.embedder = stand_in, embedders.default()
    return Town(game, tavern, mira)


@pytest.fixture
def small(asked_for, game, tavern, mira, ann, service):
    """Return the town; Mira's model is small and has no tools."""
    pytest.importorskip("onnxruntime", reason="its extra is left out")
    asked_for("promises")
    game.service.memory.embedder = embedders.default()
    service.profiles["small"] = {
        "client": "openai", "model": "qwen-1.5b", "form": "plain", "base_url": "http://x/v1",
    }  # fmt: skip
    mira.assistant.db.profile = "small"
    mira.assistant.mind.settings.resolve()
    return Town(game, tavern, mira)


def test_the_stand_in_notes_what_is_agreed_and_says_so(town, game, ann):
    game.assistant("Old Otto", town.gate)
    for line, expected in READ.items():
        Promises.of(town.mira).remove(*[item["id"] for item in town.records()])
        before = len(ann.heard())
        ann.do(f"say {line}")
        game.run(3)
        noted = [(item["kind"], item["where"]) for item in town.records()]
        lines = ann.heard()[before:]
        assert noted == expected, (line, lines)
        answers = [text for text in lines if "Agreed" in text or "I will tell" in text]
        assert len(answers) == len(expected), (line, lines)


def test_the_next_process_reads_once_what_a_dead_one_did_not(small, game, ann, monkeypatch):
    game.assistant("Old Otto", small.gate)
    (extension,) = (item for item in game.service.extensions if item.name == "promises")
    with monkeypatch.context() as dead:
        dead.setattr(overheard, "read_turn", lambda *given: None)
        game.model.add("Yes, Ann, I will tell him.")
        ann.do("say Mira, tell Old Otto that the boat is ready.")
        game.run(3)
    assert small.records() == []
    for _ in range(2):
        signals.service_started.send_robust(extension._services)
        game.run(12)
        assert [item["kind"] for item in small.records()] == ["letter"]
        Promises.of(small.mira).update(small.records()[0]["id"], state="kept", told=True)


def test_what_is_agreed_in_a_whisper_is_said_once_and_to_nobody_else(town, game, ann, bob):
    game.player("Otto", town.gate)
    for line in ("Meet me at the market square tomorrow at noon.", "Tell Otto that I love him."):
        ann.do(f"whisper Mira = {line}")
        game.run(3)
    for line in ("say Mira, when do we meet?", "say Mira, what did you promise me?"):
        ann.do(line)
        game.run(3)
    assert len([line for line in ann.heard() if "Agreed" in line]) == 1
    assert not [line for line in bob.heard() if "market square" in line.lower()]
    assert [ann.dbref in item["audience"] for item in town.records()] == [True, True]
    assert "I will tell Otto." in str(ann.heard()) and "I will tell Otto." not in str(bob.heard())


def test_a_small_model_agrees_or_refuses_and_knows_what_it_promised(small, game, ann):
    for reply, count in (("No, I will not do that.", 0), ("Yes, I will be there, Ann.", 1)):
        game.model.add(reply)
        ann.do("say Mira, meet me at the old gate at dusk.")
        game.run(1)
        assert len(small.records()) == count, (reply, ann.last())
    game.model.add("I promised to meet you at the gate.")
    ann.do("say Mira, what did you promise me?")
    game.run(1)
    assert "You promised Ann, Old Gate" in str(game.model.requests[-1].messages)
    assert len(game.model.requests) == 3


def test_staff_read_why_nothing_was_noted(small, game, ann, admin):
    pytest.importorskip("evennia_ai.contrib.explanations")
    game.assistant("Old Otto", small.gate)
    whys = {
        "Mira, when you next see Old Otto, the boat leaves at noon.": overheard.NO_MESSAGE,
        "Mira, meet me at the old gate at dusk.": overheard.NOT_GRANTED,
        "Mira, good evening.": "",
    }
    replies = ("He has gone fishing.", "No, I will not do that.", "And to you, Ann.")
    for (line, why), reply in zip(whys.items(), replies, strict=True):
        game.model.add(reply)
        ann.do(f"say {line}")
        game.run(1)
        text = flat(admin.told("aiwhy Mira"))
        assert f"heard (say, named{'; ' * bool(why)}{why})" in text, line


def test_only_who_is_addressed_agrees_and_it_says_so_once(town, game, ann):
    """Each line, what Mira has noted after it, and what she says to it in which words."""
    game.assistant("Brannoc", town.gate)
    wanderer = game.player("Wanderer", town.tavern)
    ann.do("say Mira, good day.")
    game.run(3)
    letter = [("letter", "that the boat is ready.")]
    lines = {
        "Brannoc, meet me at the old gate at dusk.": ([], ""),
        "Meet me here at dusk, Brannoc.": ([], ""),
        "Mira, tell Wanderer that the boat is ready.": (letter, "I will tell Wanderer."),
        "Tell Wanderer that the boat is ready.": (letter, "I will tell Wanderer."),
        "Mira, please give Wanderer this message: the boat is ready.": (
            [("letter", "the boat is ready.")],
            "I will tell Wanderer.",
        ),
        "Mira, let Wanderer know the boat is ready.": (
            [("letter", "know the boat is ready.")],
            "I will tell Wanderer.",
        ),
        "Mira, meet me at the moon at dusk.": ([], "I know no way there"),
        "Mira, could we meet at the old gate at dusk?": (
            [("own", "could we meet at the old gate at dusk?")],
            "Agreed, Ann: Old Gate",
        ),
        "Mira, meet me here at dusk.": ([("own", "meet me here at dusk.")], "Agreed, Ann: Tavern"),
    }
    for line, (expected, answer) in lines.items():
        Promises.of(town.mira).remove(*[item["id"] for item in town.records()])
        town.go(wanderer.character, town.tavern)
        wanderer.do("say Mira, good day to you.")
        game.run(3)
        town.go(wanderer.character, town.square)
        before = len(ann.heard())
        ann.do(f"say {line}")
        game.run(5)
        said = [text for text in ann.heard()[before:] if text.startswith("Mira says")]
        assert [(r["kind"], r["content"]) for r in town.records()] == expected, (line, said)
        if answer:
            assert len(said) == 1 and answer in said[0], (line, said)
        else:
            assert not [text for text in said if "Agreed" in text or "forget" in text], (line, said)
