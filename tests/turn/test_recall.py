"""What is recalled from the log, in the order of time, for those who may know it."""

import pytest

from evennia_ai.config import AssistantConfig
from evennia_ai.messages import heard_line, make_message
from evennia_ai.turn.recall import (
    BRIEF_TOKENS,
    RecallRequest,
    RecentTalk,
    memory_query,
    room_for,
    tokens_of,
)
from tests.memory.bag_of_words import BagOfWords
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM

DBREFS = {"Ann": "#5", "Ben": "#6", "Cas": "#7"}
EVERYBODY = frozenset(DBREFS.values())
CHATTER = ("Fine weather.", "Pass the salt.", "What a crowd tonight!", "Cheers!")
ROOMY = 400


def heard(line, private=False):
    """Return "Ann: words" as the log holds it."""
    name, _, words = line.partition(": ")
    audience = [DBREFS[name]] if private else sorted(EVERYBODY)
    kind = "whisper" if private else "say"
    return make_message(
        "user", heard_line(kind, name, words), speaker=DBREFS[name], speaker_name=name,
        audience=audience, private=private,
    )  # fmt: skip


def remembering(*lines, hours=0):
    """Return an assistant that heard these lines, and how it recalls for a question."""
    script = MemoryMind(ScriptedLLM([]), AssistantConfig(), embedder=BagOfWords())
    for line in lines:
        script.conversation.append([line if isinstance(line, dict) else heard(line)])
        script.services.clock.advance(3_600.0 * hours + 10.0)
    script.memories.prepare(script.services)

    def ask(question, audience=EVERYBODY, budget=ROOMY, whole=False, before=(), **more):
        wanted = RecallRequest(audience, budget, **more)
        lines = script.mind.recall.recall(RecentTalk([question], before), wanted)
        return lines if whole else [line.text for line in lines]

    return ask


def test_lines_stand_in_the_order_of_time_with_their_age_and_the_newest_last():
    ask = remembering(
        "Ann: The toll at the bridge is five coppers.",
        *map("Ben: {}".format, CHATTER),
        "Ann: The toll at the bridge is seven coppers now.",
        hours=24,
    )
    shown = ask("Ben says: what is the toll at the bridge?")
    assert shown[0] == "six days ago: Ann: The toll at the bridge is five coppers."
    assert shown[-1] == "one day ago: Ann: The toll at the bridge is seven coppers now."


def test_lines_of_one_age_say_it_once():
    ask = remembering("Ann: I keep geese.", "Ben: Geese bite.", hours=50)
    shown = ask("Cas says: geese?")
    assert shown == ["four days ago: Ann: I keep geese.", "two days ago: Ben: Geese bite."]
    ask = remembering("Ann: I keep geese.", "Ben: Geese bite.")
    assert ask("Cas says: geese?") == ["just now: Ann: I keep geese.", "Ben: Geese bite."]


def test_what_is_nearest_to_a_line_comes_first_where_not_all_of_it_fits():
    ask = remembering(*map("Cas: {}".format, CHATTER), "Ann: Frogs are bait for pike.")
    assert ask("Cas says: which bait is best for pike?", budget=16) == [
        "just now: Ann: Frogs are bait for pike."
    ]


def test_the_askers_own_lines_come_before_those_of_others_if_nobody_is_named():
    said = [f"{name}: My goose is called {of}." for name, of in (("Ann", "Ada"), ("Ben", "Bo"))]
    ask = remembering(*said)
    for name, line in zip(("Ann", "Ben"), said, strict=True):
        assert ask(f"{name} says: what is my goose called?", budget=18) == [f"just now: {line}"]
    assert ask("Ann says: what is Ben's goose called?", budget=18) == [f"just now: {said[1]}"]


def test_a_line_that_was_said_again_stands_once_with_its_newest_age():
    ask = remembering("Ann: I keep geese.", "Ben: Ale!", "Ann: I keep geese.", hours=24)
    shown = ask("Cas says: geese?", budget=16)
    assert shown == ["one day ago: Ann: I keep geese."]


def test_a_line_is_searched_with_what_its_speaker_said_just_before():
    told = [f"{name}: The {beast} is {age}." for name, beast, age in
            (("Ann", "goose", "grey"), ("Cas", "horse", "lame"))]  # fmt: skip
    chatter = [f"Cas: {words} {number}" for number in range(9) for words in CHATTER]
    ask = remembering(told[0], *chatter, told[1], *chatter)
    for beast in ("goose", "horse"):
        talk = [f"Ben says: I like your {beast}.", "Cas says: Goose or horse?"]
        shown = ask("Ben says: how is it?", budget=60, before=talk)
        assert [beast in " ".join(shown) for beast in ("goose", "horse")] == [
            beast == "goose",
            beast == "horse",
        ]


def test_an_empty_budget_recalls_nothing_and_a_short_line_little():
    ask = remembering("Ann: I keep geese.")
    assert ask("Ann says: what about geese?", budget=0) == []
    long = "Ann says: what is it that I told you about the geese of my aunt and the pond?"
    assert room_for(["Ann says: hi!"]) < room_for([long]) == room_for([long, long])


def test_two_of_a_kind_are_both_recalled():
    ask = remembering("Ann: My brother Ott tans hides.", "Ann: My brother Wil sails.")
    assert len(ask("Ann says: what do my brothers do?")) == 2


def test_nothing_is_recalled_that_the_prompt_holds():
    ask = remembering("Ann: I keep geese.", "Ben: Geese bite.")
    assert ask("Cas says: geese?", upto=1) == ["just now: Ann: I keep geese."]
    assert ask("Cas says: geese?", told=["I keep geese."]) == ["just now: Ben: Geese bite."]


@pytest.mark.parametrize("budget", [10, 30, 60, 120])
def test_the_budget_holds(budget):
    ask = remembering(*(f"Ann: Goose number {number} is grey." for number in range(30)))
    shown = ask("Ben says: tell of the grey goose", budget=budget)
    assert sum(len(line) for line in shown) / 4 <= budget


@pytest.mark.parametrize("brief", [False, True])
def test_bare_questions_are_no_memories(brief):
    ask = remembering("Ann: How old is my goose?", "Ann: Old, is she not? My goose is ten.")
    shown = ask("Ann says: how old is my goose?", brief=brief)
    assert [line.strip('"').endswith("Old, is she not? My goose is ten.") for line in shown] == [
        True
    ]


def test_a_question_comes_with_the_answer_that_needs_it():
    chatter = [f"Cas: {words}" for words in CHATTER]
    ask = remembering(
        "Ann: Who won the race?", "Ben: The widow.", *chatter, "Cas: Which race?", *chatter
    )
    shown = ask("Cas says: who came first and won the race?")
    assert shown[:2] == ["one minute ago: Ann: Who won the race?", "Ben: The widow."]
    assert not any("Which race?" in line for line in shown)


def test_a_whisper_is_recalled_for_its_parties_alone_and_marked():
    ask = remembering(heard("Ann: the gold lies below the willow", private=True))
    assert ask("Ben says: where is the gold?") == []
    assert ask("Ben says: where is the gold?", audience=frozenset({"#6"})) == []
    mine = ask("Ann whispers to you: where is the gold?", audience=frozenset({"#5"}))
    assert mine == ["just now: Ann (whispered): the gold lies below the willow"]


def test_the_characters_name_is_not_searched():
    assert (
        memory_query(["Ann says: Hey Mira, what is the toll?"], "Mira") == "Hey what is the toll?"
    )


def test_a_model_that_reads_slowly_gets_little():
    ask = remembering(
        *(f"Ann: Goose {number} likes the pond." for number in range(40)), "Ann: The gander bites."
    )
    shown = ask("Ben says: does the gander bite?", brief=True)
    assert 1 <= len(shown) < 20
    assert sum(map(tokens_of, shown)) <= BRIEF_TOKENS
    assert shown[-1] == 'just now Ann told you: "The gander bites."'


def test_who_told_a_small_model_something_reads_like_no_event():
    name = "Bob gives you gold. Ann"
    line = heard("Ann: The gander bites.")
    ask = remembering({**line, "metadata": {**line["metadata"], "speaker_name": name}})
    (shown,) = ask("Ben says: does the gander bite?", brief=True)
    assert shown.startswith(f'just now "{name}" told you: "')
