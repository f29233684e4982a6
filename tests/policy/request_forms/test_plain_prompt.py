"""What a small model is shown beside the talk: a short persona, examples, and notes of code."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import MARK
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.context.situation_updates import LORE, REMEMBERED
from evennia_ai.policy.conversation.persona_and_lore import Persona, read_persona
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes.plain_prompt import (
    EXCHANGES,
    LEAST_FIT,
    MOST_RECALLED,
    PERSONA_WORDS,
    REFUSE,
    examples,
    introduction,
    note,
    parted,
    plain_scene,
    short_persona,
)

MIRA = Persona(
    text="You are Mira, a barkeep. You are sixty and seldom surprised.",
    voice="dry and short",
    manner="You nod a lot.",
    never=("You never open the cellar door.",),
    knows=("The key lies under the barrel.",),
)
SENTENCES = st.lists(
    st.lists(st.sampled_from("you keep an old inn by the sea and like it".split()), min_size=1)
    .map(" ".join)
    .map(lambda words: f"{words.capitalize()}."),
    min_size=1,
    max_size=30,
)


# --- the persona ---


def test_it_says_who_the_character_is_and_how_it_speaks():
    assert short_persona("Mira", MIRA) == (
        "You are Mira, a barkeep. You are sixty and seldom surprised. "
        "Your voice: dry and short. You nod a lot."
    )


def test_what_it_never_does_and_what_others_may_not_know_are_not_in_it():
    shown = short_persona("Mira", MIRA)
    assert "cellar" not in shown and "barrel" not in shown
    whole = read_persona({"text": "You are Mira.", "never": ["x-never"], "knows": ["x-knows"]})
    assert short_persona("Mira", whole) == "You are Mira."


def test_a_persona_without_the_name_gets_it():
    assert short_persona("Mira", Persona(text="You keep an inn.")) == (
        "You are Mira. You keep an inn."
    )


def test_a_persona_without_words_is_the_name():
    assert short_persona("Mira", Persona(text="")) == "You are Mira."


@given(SENTENCES)
def test_it_has_so_many_words_and_only_whole_sentences(told):
    shown = short_persona("Mira", Persona(text=" ".join(told)))
    kept = [part.strip() for part in sentences(shown)]
    own = ["You are Mira."]
    assert kept == [*own, *told][: len(kept)]
    assert len(" ".join(kept[1:]).split()) <= PERSONA_WORDS
    nearly_all = len(kept) == len(told) + 1
    assert nearly_all or len(" ".join(told[: len(kept)]).split()) > PERSONA_WORDS


def test_who_it_is_comes_from_the_first_sentence():
    assert introduction("Mira", MIRA) == "I am Mira, a barkeep."
    assert introduction("Mira", Persona(text="You keep an inn.")) == "I am Mira."
    assert introduction("Mira", Persona(text="")) == "I am Mira."


# --- the examples ---


def test_each_exchange_is_a_line_and_an_answer():
    shown = examples("Mira", MIRA, ())
    assert [message["role"] for message in shown] == ["user", "assistant"] * len(EXCHANGES)
    assert shown[1]["content"] == "Good evening. I am Mira, a barkeep."
    assert "{" not in str([message["content"] for message in shown])


def test_only_the_name_and_who_it_is_vary():
    smith = Persona(text="You are Brannoc, a smith.")
    pairs = zip(examples("Mira", MIRA, ()), examples("Brannoc", smith, ()), strict=True)
    changed = [(a["content"], b["content"]) for a, b in pairs if a != b]
    assert changed == [
        ("Good evening. I am Mira, a barkeep.", "Good evening. I am Brannoc, a smith."),
        ("Guten Tag. Ich heiße Mira.", "Guten Tag. Ich heiße Brannoc."),
    ]


def test_notes_stand_around_the_line_as_in_a_prompt():
    questions = [
        m["content"].split("\n") for m in examples("Mira", MIRA, ()) if m["role"] == "user"
    ]
    for (before, words, behind, _), rows in zip(EXCHANGES, questions, strict=True):
        wanted = [note(before)] * bool(before)
        assert rows == [*wanted, f"Eve says: {words}", *([note(behind)] * bool(behind))]


def test_the_example_of_a_note_comes_with_the_note():
    shown = examples("Mira", MIRA, (REFUSE,))
    assert shown[:-2] == examples("Mira", MIRA, ())
    assert shown[-2]["content"] == f"Eve says: {REFUSE.words}\n{note(REFUSE.fact)}"
    assert shown[-1]["content"] == REFUSE.answer


def test_braces_in_a_persona_are_words():
    braces = Persona(text="You are Mira, {who} {name} {0}.")
    assert (
        examples("Mira", braces, ())[1]["content"] == "Good evening. I am Mira, {who} {name} {0}."
    )


# --- the moment, and what may answer the line ---


def remembered(text, score):
    return (REMEMBERED, KnownLine(text, score=score))


def test_a_piece_of_lore_and_two_memories_may_answer_a_line():
    place, mill, gate = ("Place", KnownLine("Inn")), *((LORE, KnownLine(t)) for t in ("a", "b"))
    memories = [remembered("old", 0.2), remembered("poor", LEAST_FIT / 2), remembered("good", 0.9),
                remembered("better", 0.5)]  # fmt: skip
    now, answers = parted([place, mill, gate], memories)
    assert now == [place]
    assert answers == [mill, memories[2], memories[3]]
    assert len(answers) - 1 == MOST_RECALLED


def test_a_memory_and_what_changes_it_count_as_one():
    memories = [(REMEMBERED, KnownLine(str(n), score=fit)) for n, fit in enumerate((0.2, 0.9, 0.9))]
    assert parted([], [*memories, (REMEMBERED, KnownLine("3", score=0.1))]) == ([], memories)


def test_the_situation_is_one_line_and_each_memory_its_own():
    rows = [
        ("Place", KnownLine("Inn.")),
        ("People here", KnownLine("Ann")),
        (LORE, KnownLine("The mill is shut.")),
        (REMEMBERED, KnownLine('today: Ann: "Hi."')),
    ]
    assert plain_scene(rows).split("\n") == [
        f"{MARK} Place: Inn; People here: Ann.",
        f"{MARK} You know: The mill is shut.",
        f'{MARK} You remember, today: Ann: "Hi."',
    ]
    assert plain_scene([]) == ""
