"""What is recalled from the log, with what belongs to it, for those who may know it."""

from datetime import timedelta

import pytest

from evennia_ai.config import AssistantConfig
from evennia_ai.messages import heard_line, make_message
from evennia_ai.turn.recall import RecallRequest, RecentTalk, fits, joined, memory_query
from tests.memory.bag_of_words import BagOfWords
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM

DBREFS = {"Ann": "#5", "Ben": "#6", "Cas": "#7"}
EVERYBODY = frozenset(DBREFS.values())
CHATTER = ("Fine weather.", "Pass the salt.", "What a crowd tonight!", "Cheers!")
ROOMY = 400
ANIMALS = ("dog", "cat", "goose", "sister's dog", "sister's cat")


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

    def ask(question, audience=EVERYBODY, budget=ROOMY, whole=False, **more):
        wanted = RecallRequest(audience, budget, **more)
        lines = script.mind.recall.recall(RecentTalk([question]), wanted)
        return lines if whole else [line.text for line in lines]

    return ask


def test_a_line_comes_with_its_answer_and_its_correction_in_the_order_they_were_said():
    ask = remembering(
        "Ann: The best bait?",
        "Ben: Frogs.",
        "Cas: Ale!",
        "Ben: No wait, green ones.",
        *map("Cas: {}".format, CHATTER),
    )
    shown = ask("Cas says: which bait is best?")
    assert shown[:2] == ["Ann: The best bait?", "Ben: Frogs."]
    assert "Ben: No wait, green ones." in shown


def test_what_is_nearest_to_a_line_comes_first_where_not_all_of_it_fits():
    ask = remembering(
        "Ann: The best bait for pike?",
        "Ben: Frogs.",
        "Cas: Worms are what my uncle swears by, and he has the scars to show for it.",
        *map("Cas: {}".format, CHATTER),
    )
    assert ask("Cas says: which bait is best for pike?", budget=20) == [
        "Ann: The best bait for pike?",
        "Ben: Frogs.",
    ]


def test_an_old_value_never_stands_without_its_correction():
    said = "Ann: Meet me behind the smithy at dusk."
    corrected = "Ann: Change of plan for tonight. Not the smithy, come to the boathouse."
    ask = remembering(said, *map("Ben: {}".format, CHATTER), corrected, hours=2)
    for budget in range(10, 60, 5):
        shown = " ".join(ask("Ben says: where does Ann meet me at dusk?", budget=budget))
        assert "behind the smithy" not in shown or "boathouse" in shown
    assert "boathouse" in shown


def test_a_value_comes_with_the_one_that_took_its_place_later():
    ask = remembering(
        "Ann: The toll at the bridge is five coppers.",
        *map("Ben: {}".format, CHATTER),
        "Ann: The toll at the bridge is seven coppers now.",
        hours=2,
    )
    shown = " ".join(ask("Ben says: what is the toll at the bridge?", budget=45))
    assert 0 < shown.index("five coppers.") < shown.index("seven coppers now.")
    (alone,) = ask("Ben says: what is the toll at the bridge?", budget=20)
    assert "seven" in alone


def test_two_of_a_kind_are_both_recalled():
    ask = remembering("Ann: My brother Ott tans hides.", "Ann: My brother Wil sails.")
    assert len(ask("Ann says: what do my brothers do?")) == 2


def test_nothing_is_recalled_that_the_prompt_holds():
    ask = remembering("Ann: I keep geese.", "Ben: Geese bite.")
    assert ask("Cas says: geese?", upto=1) == ["Ann: I keep geese."]
    assert ask("Cas says: geese?", told=["I keep geese."]) == ["Ben: Geese bite."]


def test_small_talk_and_an_empty_budget_recall_nothing():
    ask = remembering("Ann: I keep geese.")
    assert ask("Ann says: hello, good evening!") == []
    assert ask("Ann says: what about geese?", budget=0) == []


@pytest.mark.parametrize("budget", [10, 30, 60, 120])
def test_the_budget_holds(budget):
    ask = remembering(*(f"Ann: Goose number {number} is grey." for number in range(30)))
    shown = ask("Ben says: tell of the grey goose", budget=budget)
    assert sum(len(line) for line in shown) / 4 <= budget


def test_a_whisper_is_recalled_for_its_parties_alone_and_marked():
    ask = remembering(heard("Ann: the gold lies below the willow", private=True))
    assert ask("Ben says: where is the gold?") == []
    assert ask("Ben says: where is the gold?", audience=frozenset({"#6"})) == []
    mine = ask("Ann whispers to you: where is the gold?", audience=frozenset({"#5"}))
    assert mine == ["Ann (whispered): the gold lies below the willow"]


def test_a_line_of_another_day_is_dated():
    ask = remembering("Ann: I keep geese.", hours=48)
    (line,) = ask("Ben says: geese?")
    assert line.endswith(": Ann: I keep geese.") and line[:2] == "20"


def test_a_model_that_reads_slowly_gets_little_and_the_best_last():
    ask = remembering(
        *(f"Ann: Goose {number} likes the pond." for number in range(40)), "Ann: The gander bites."
    )
    shown = ask("Ben says: does the gander bite?", brief=True)
    assert 1 <= len(shown) < 10
    assert shown[-1] == "Ann: The gander bites."


def test_such_a_model_is_shown_what_was_told_before_what_was_asked():
    asked = [f"Ann: What is my {animal} called, and who called it so?" for animal in ANIMALS]
    ask = remembering("Ann: My sister is called Elin.", *asked, hours=1)
    assert ask("Ann says: What is my sister called?", brief=True)[-1].endswith("called Elin.")


def test_the_askers_name_is_in_the_query_only_if_they_ask_about_themselves():
    assert memory_query(["Ann says: where is my goose?"]) == "Ann where is my goose?"
    assert memory_query(["Ann says: where is the goose?"]) == "where is the goose?"


def test_groups_with_a_memory_in_common_are_one_and_hold_it_once():
    def line(number):
        at = timedelta(seconds=number)
        return {"id": str(number), "timestamp": f"2026-01-01T00:00:0{at.seconds}+00:00"}

    one, two, three, four = map(line, range(1, 5))
    assert joined([[two], [four], [three, two, four], [one]]) == [[two, three, four], [one]]


def test_what_chance_brings_up_is_told_apart_from_what_fits():
    ask = remembering(
        "Ann: My goose is called Berta.", *(f"Ben: {line}" for line in CHATTER * 5), hours=1
    )
    (line, *_) = ask("Cas says: what is the goose called?", whole=True)
    assert "Berta" in line.text and fits(line)
    assert not any(map(fits, ask("Cas says: who rules the elven empire?", whole=True)))


def test_the_characters_name_and_what_a_question_is_put_in_are_not_searched():
    query = memory_query(["Ann says: Hey Mira, quick question, do you remember the toll?"], "Mira")
    assert query == "Hey , the toll?"
