"""What a small model is shown beside the talk: a short persona, examples, and notes of code."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import MARK
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.context.situation_updates import LORE, REMEMBERED
from evennia_ai.policy.conversation.persona_and_lore import Persona, read_persona
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes.plain_prompt import (
    ALWAYS,
    EXCHANGE_LINES,
    EXCHANGES,
    LEAST_FIT,
    MOST_RECALLED,
    NEAR,
    PERSONA_WORDS,
    REFUSE,
    STRANGER,
    in_language,
    messages_of,
    near_examples,
    note,
    parted,
    persona_rows,
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


# --- the examples ---


def lines_of(messages):
    return [m["content"] for m in messages if m["role"] == "user"]


def nearest_to(*words):
    """Return cosines by which the exchanges with these lines are the nearest, the first of all."""
    places = {line: len(words) - place for place, line in enumerate(words)}
    return [float(places.get(line, 0)) for line in EXCHANGE_LINES]


def test_each_exchange_is_a_line_and_an_answer():
    shown = messages_of([*ALWAYS, *EXCHANGES])
    assert [m["role"] for m in shown] == ["user", "assistant"] * len([*ALWAYS, *EXCHANGES])
    assert not [m for m in shown if "{" in m["content"] or not m["content"]]


def test_the_nearest_examples_are_shown_the_nearest_last():
    near = [item.words for item in EXCHANGES if not item.before][5:9]
    shown = lines_of(near_examples(nearest_to(*near), False, "", ()))
    assert shown == [f"{STRANGER} says: {words}" for words in reversed(near[:NEAR])]


def test_what_is_told_before_a_line_stands_before_the_nearest_example():
    told = [item for item in EXCHANGES if item.before]
    shown = lines_of(near_examples(nearest_to(told[2].words), True, "", ()))
    assert shown[-1] == f"{note(told[2].before)}\n{STRANGER} says: {told[2].words}"
    assert not [line for line in shown[:-1] if MARK in line]
    untold = lines_of(near_examples(nearest_to(told[2].words), False, "", ()))
    assert not [line for line in untold if MARK in line]


def test_without_an_embedder_there_are_as_many():
    assert len(lines_of(near_examples([], True, "", ()))) == NEAR


def test_an_example_in_the_language_of_the_line_is_the_last():
    shown = near_examples(nearest_to(EXCHANGE_LINES[0]), False, "Answer in German.", ())
    assert lines_of(shown)[-1].startswith(f"{STRANGER} says: Guten Tag")
    assert len(lines_of(shown)) == NEAR
    assert not in_language("Answer in Czech.") and not in_language("")


def test_the_example_of_a_note_comes_with_the_note():
    cosines = nearest_to(EXCHANGE_LINES[0])
    shown = near_examples(cosines, False, "", (REFUSE,))
    assert shown[:-2] == near_examples(cosines, False, "", ())[2:]
    assert shown[-2]["content"] == f"{STRANGER} says: {REFUSE.words}\n{note(REFUSE.fact)}"
    assert shown[-1]["content"] == REFUSE.answer


# --- the moment, and what may answer the line ---


def remembered(text, score):
    return (REMEMBERED, KnownLine(text, score=score))


def test_a_piece_of_lore_and_what_fits_best_may_answer_a_line():
    place, mill, gate = ("Place", KnownLine("Inn")), *((LORE, KnownLine(t)) for t in ("a", "b"))
    memories = [remembered("old", 0.4), remembered("poor", LEAST_FIT / 2), remembered("good", 0.9),
                remembered("better", 0.5)]  # fmt: skip
    now, answers = parted([place, mill, gate], memories)
    assert now == [place]
    assert answers == [mill, memories[2]]
    assert parted([place], memories) == ([place], memories[2:])
    assert MOST_RECALLED == 2


def test_memories_stand_in_the_order_of_their_time_behind_the_persona():
    (about,) = persona_rows(["You keep a goose named Bishop."], [0.5])
    older, newer = remembered("older", 0.4), remembered("newer", 0.9)
    _now, answers = parted([], [older, newer], [about])
    assert answers == [about, newer]
    assert parted([], [older, newer], persona_rows(["You sleep badly."], [0.1]))[1] == [
        older,
        newer,
    ]
    assert plain_scene([about]) == f"{MARK} You keep a goose named Bishop."


def test_a_piece_of_lore_is_told_without_its_title():
    row = (LORE, KnownLine("The menu: Stew is four pennies.", source="The menu"))
    assert plain_scene([row]) == f"{MARK} You know: Stew is four pennies."


def test_a_memory_and_what_changes_it_count_as_one():
    memories = [(REMEMBERED, KnownLine(str(n), score=fit)) for n, fit in enumerate((0.4, 0.9, 0.9))]
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
