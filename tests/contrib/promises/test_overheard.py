"""What was agreed without a tool is noted: by the meaning of a sentence, behind its structure."""

import pytest
from twisted.internet.defer import succeed

from evennia_ai.contrib.promises import agreements
from evennia_ai.contrib.promises.promise_records import Promises
from evennia_ai.game.texts import TEXTS
from evennia_ai.memory import embedders
from evennia_ai.memory.remote_vectors import LearnedKinds
from tests.contrib.promises.promises_scene import Town, extensions_scene
from tests.game.conftest import flat

asked_for = extensions_scene.asked_for
READ = {
    "Mira, meet me at the old gate at dusk.": [("own", "Old Gate")],
    "Mira, I will bring you the rope tomorrow.": [("theirs", "")],
    "Mira, what do you do at the old gate at dusk?": [],
    "Mira, let us meet here at half past six.": [("own", "Tavern")],
    "Mira, please tell Old Otto that the boat leaves at noon.": [],
    "Mira, could you pass a message to Old Otto: the boat leaves at noon": [],
    "Mira, tell me about Old Otto.": [],
    "Mira, I met Old Otto at the old gate yesterday.": [],
    "Mira, meet me at the moon at dusk.": [],
    "Mira, have my boots mended by Friday noon, cobbler.": [("own", "")],
    "Mira, they hang the thief on Friday at noon.": [],
    "Mira, be at the old gate at 1900.": [("own", "Old Gate")],
    "Mira, 20 mins. the old gate. come alone": [("own", "Old Gate")],
    "Mira, c u at the gate tmrw noon ok?": [("own", "Old Gate")],
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
        answers = [text for text in lines if "Agreed" in text]
        assert len(answers) == len(expected), (line, lines)


def test_what_is_agreed_in_a_whisper_is_said_once_and_to_nobody_else(town, game, ann, bob):
    ann.do("whisper Mira = Meet me at the market square tomorrow at noon.")
    game.run(3)
    for line in ("say Mira, when do we meet?", "say Mira, what did you promise me?"):
        ann.do(line)
        game.run(3)
    assert len([line for line in ann.heard() if "Agreed" in line]) == 1
    assert not [line for line in bob.heard() if "market square" in line.lower()]
    assert [ann.dbref in item["audience"] for item in town.records()] == [True]


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
        "Mira, meet me at the old gate at dusk.": agreements.NOT_GRANTED,
        "Mira, good evening.": "",
    }
    replies = ("No, I will not do that.", "And to you, Ann.")
    for (line, why), reply in zip(whys.items(), replies, strict=True):
        game.model.add(reply)
        ann.do(f"say {line}")
        game.run(1)
        text = flat(admin.told("aiwhy Mira"))
        assert f"heard (say, named{'; ' * bool(why)}{why})" in text, line


def test_only_who_is_addressed_agrees_and_it_says_so_once(town, game, ann):
    """Each line, what Mira has noted after it, and what she says to it in which words."""
    game.assistant("Brannoc", town.gate)
    ann.do("say Mira, good day.")
    game.run(3)
    lines = {
        "Brannoc, meet me at the old gate at dusk.": ([], ""),
        "Meet me here at dusk, Brannoc.": ([], ""),
        "Mira, meet me at the moon at dusk.": ([], "I know no way there"),
        "Mira, could we meet at the old gate at dusk?": (
            [("own", "could we meet at the old gate at dusk?")],
            "Agreed, Ann: Old Gate",
        ),
        "Mira, meet me here at dusk.": ([("own", "meet me here at dusk.")], "Agreed, Ann: Tavern"),
    }
    for line, (expected, answer) in lines.items():
        Promises.of(town.mira).remove(*[item["id"] for item in town.records()])
        before = len(ann.heard())
        ann.do(f"say {line}")
        game.run(5)
        said = [text for text in ann.heard()[before:] if text.startswith("Mira says")]
        assert [(r["kind"], r["content"]) for r in town.records()] == expected, (line, said)
        if answer:
            assert len(said) == 1 and answer in said[0], (line, said)
        else:
            assert not [text for text in said if "Agreed" in text], (line, said)


def test_a_later_line_moves_what_was_agreed(town, game, ann, bob):
    """Each line, and when and where Mira has agreed to be after it."""
    lines = {
        "meet me at the old gate tomorrow at dusk.": "Old Gate dusk",
        "no wait, make it nine.": "Old Gate 21:00",
        "The boat leaves at noon.": "Old Gate 21:00",
        "actually, the market square instead.": "Market Square 21:00",
        "sorry, better the old gate at noon": "Old Gate noon",
    }
    clock, start = game.service.world_clock, None
    for line, expected in lines.items():
        ann.do(f"say Mira, {line}")
        game.run(3)
        (record,) = town.records()
        start = start or record["due"] - record["due"] % clock.units["day"]
        where, _space, when = expected.rpartition(" ")
        hours = clock.day_parts.get(when) or float(when.partition(":")[0])
        assert (record["where"], record["due"] - start) == (where, hours * 3600), (line, record)
    assert len(record["source_seqs"]) == 4 and "no wait" in record["content"]
    assert [record["made"] for record in town.records()]
    bob.do("say Mira, no wait, make it ten.")
    game.run(3)
    assert [item["due"] for item in town.records()] == [record["due"]]


def test_a_bystander_takes_over_nothing_that_was_asked_of_another(town, game, ann, bob):
    brannoc = game.assistant("Brannoc", town.tavern)
    town.go(bob.character, town.square)
    town.go(bob.character, town.tavern)  # an arrival has no words
    ann.do("say Mira, meet me at the old gate at dusk.")
    game.run(3)
    ann.do("say Brannoc, is the mill haunted?")
    game.run(3)
    assert len(town.records()) == 1 and town.records(brannoc) == []
    assert not [line for line in ann.heard() if line.startswith('Brannoc says, "Agreed')]


def test_while_the_embedder_is_late_the_stand_in_agrees_to_no_appointment(
    town, game, ann, monkeypatch
):
    monkeypatch.setattr(LearnedKinds, "prepare", lambda *_: succeed(False))
    ann.do("say Mira, meet me at the old gate at dusk.")
    game.run(3)
    assert town.records() == []
    assert ann.last() == f'Mira says, "{TEXTS["fallback"].splitlines()[0]}"'
