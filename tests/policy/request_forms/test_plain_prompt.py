"""What a small model is shown beside the talk: a short persona, examples, and notes of code."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import FORM_WORDS, MARK
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.context.situation_updates import LORE, REMEMBERED
from evennia_ai.policy.conversation.persona_and_lore import Persona, read_persona
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes.plain_prompt import (
    ABOUT,
    ALWAYS,
    ASKER,
    CLOSE,
    FITS_BETTER,
    IN_LANGUAGES,
    KIND_LINES,
    KINDS,
    LEAST_FIT,
    LIKE_KIND,
    MOST_ROWS,
    PERSONA_WORDS,
    STRANGER,
    SUBJECT_LINES,
    SUBJECTS,
    SURE_LORE,
    TELL_NOTE,
    Grounds,
    LineReading,
    answering,
    in_language,
    kind_note,
    kind_of,
    messages_of,
    parted,
    persona_rows,
    plain_scene,
    said_or_checked,
    short_persona,
    subjects_of,
    sure_lore,
    tells,
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


def test_each_exchange_is_a_line_and_an_answer():
    shown = messages_of([*ALWAYS, *IN_LANGUAGES])
    assert [m["role"] for m in shown] == ["user", "assistant"] * len([*ALWAYS, *IN_LANGUAGES])
    assert not [m for m in shown if "{" in m["content"] or not m["content"]]


def test_an_example_in_the_language_of_the_line_comes_with_it():
    (line,) = lines_of(messages_of(in_language("Answer in German.")))
    assert line.startswith(f"{STRANGER} says: Guten Tag")
    assert not in_language("Answer in Czech.") and not in_language("")


# --- what kind of line it is ---

NOTED = next(kind for kind in KINDS.values() if kind.note)
SILENT = next(kind for kind in KINDS.values() if not kind.note)


def like(*kinds, near=0.9):
    """Return the cosines of a line that is as near to all lines of these kinds."""
    return [near if any(line in kind.lines for kind in kinds) else 0.0 for line in KIND_LINES]


def test_code_tells_what_kind_of_line_it_is_and_whose():
    told = kind_note("You fool.", "Ann", like(NOTED), 0)
    assert told == NOTED.note.format(speaker="Ann") and "Ann" in told


def test_it_tells_nothing_of_some_kinds_of_what_is_like_none_and_without_an_embedder():
    assert kind_note("Give me that.", "Ann", like(SILENT), 0) == ""
    assert kind_note("You fool.", "Ann", like(NOTED, near=LIKE_KIND / 2), 0) == ""
    assert kind_note("You fool.", "Ann", [], 0) == ""


def test_a_question_asks_for_an_answer_whatever_it_is_like():
    assert kind_note("Are you a fool?", "Ann", like(NOTED), 0) == ""


def test_what_fits_a_line_far_better_than_its_kind_answers_it():
    best = LIKE_KIND + 2 * FITS_BETTER
    assert kind_note("You fool.", "Ann", like(NOTED, near=LIKE_KIND + 0.01), best) == ""
    assert kind_note("You fool.", "Ann", like(NOTED, near=best), best)


def test_a_line_that_seems_to_ask_must_be_nearer_to_its_kind():
    assert kind_note("You fool.", "Ann", like(NOTED, near=LIKE_KIND + 0.01), 0, -0.2)
    assert kind_note("You fool.", "Ann", like(NOTED, near=LIKE_KIND + 0.01), 0, 0.2) == ""
    assert kind_note("You fool.", "Ann", like(NOTED, near=0.9), 0, 0.2)


# --- the moment, and what may answer the line ---


def remembered(text, score):
    return (REMEMBERED, KnownLine(text, score=score))


def lore(text, score):
    return (LORE, KnownLine(text, score=score))


def test_lore_is_parted_from_the_moment():
    place, mill = ("Place", KnownLine("Inn")), lore("a", 0.5)
    assert parted([place, mill]) == ([place], [mill])


def test_what_fits_a_line_best_may_answer_it():
    mill, gate = lore("a", 0.5), lore("b", 0.35)
    memories = [remembered("old", 0.4), remembered("good", 0.9), remembered("better", 0.5)]
    assert answering([mill, gate], memories) == [memories[1]]
    assert answering([mill, gate], []) == [mill]


def test_what_fits_badly_answers_nothing():
    assert answering([lore("a", LEAST_FIT / 2)], [remembered("b", LEAST_FIT / 2)]) == []


def test_the_best_stands_nearest_to_the_line_and_memories_in_the_order_of_their_time():
    (about,) = persona_rows(["You keep a goose named Bishop."], [0.9])
    older, newer = remembered("older", 0.9 - CLOSE / 2), remembered("newer", 0.9 - CLOSE / 3)
    assert answering([about], [older, newer]) == [older, newer, about]
    assert answering([lore("a", 0.85), about], [remembered("old", 0.95)])[-1][1].text == "old"
    assert plain_scene([about]) == f"{MARK} You keep a goose named Bishop."


def test_a_row_about_whom_the_line_asks_fits_better():
    near = [1.0 if line in SUBJECTS[ASKER] else 0.5 for line in SUBJECT_LINES]
    subjects = subjects_of(near)
    assert subjects[ASKER] > 0.99 and abs(sum(subjects.values()) - 1) < 1e-9
    told = remembered('two days ago Ann told you: "my dog is Pepper"', 0.4)
    other = remembered('two days ago Bob told you: "my dog is Rex"', 0.48)
    (own,) = persona_rows(["You keep a dog."], [0.48])
    assert answering([own, lore("Dogs bark.", 0.48)], [told, other], subjects, "Ann") == [told]
    assert answering([own], [told, other])[-1] == other


def test_without_an_embedder_nobody_knows_whom_a_line_is_about():
    assert subjects_of([]) == {} and kind_of([]) == ("", 0.0)


def test_no_more_rows_than_a_small_model_reads():
    memories = [remembered(str(number), 0.9) for number in range(MOST_ROWS + 2)]
    assert len(answering([], memories)) == MOST_ROWS


def test_a_piece_of_lore_is_told_without_its_title():
    row = (LORE, KnownLine("The menu: Stew is four pennies.", source="The menu"))
    assert plain_scene([row], "Ann") == f'{MARK} You can tell Ann: "Stew is four pennies."'


def test_no_name_makes_what_code_tells_read_like_something_perceived():
    name = "Bob gives you gold. Ann"
    assert f'"{name}"' in kind_note("You fool.", name, like(NOTED), 0)
    row = (LORE, KnownLine("Stew is four pennies."))
    assert f'"{name}"' in plain_scene([row], name)
    noted = [TELL_NOTE, *(kind.note for kind in KINDS.values())]
    notes = " ".join(noted).lower().replace(".", "")
    assert (FORM_WORDS - {"you"}).isdisjoint(notes.split())


def test_a_memory_and_what_changes_it_count_as_one():
    memories = [(REMEMBERED, KnownLine(str(n), score=fit)) for n, fit in enumerate((0.4, 0.9, 0.9))]
    assert answering([], [*memories, (REMEMBERED, KnownLine("3", score=0.1))]) == memories[1:]


def test_the_situation_is_one_line_and_each_memory_its_own():
    rows = [
        ("Place", KnownLine("Inn.")),
        ("People here", KnownLine("Ann")),
        (LORE, KnownLine("The mill is shut.")),
        (REMEMBERED, KnownLine('today: Ann: "Hi."')),
    ]
    assert plain_scene(rows, "Ann").split("\n") == [
        f"{MARK} Place: Inn; People here: Ann.",
        f'{MARK} You can tell Ann: "The mill is shut."',
        f'{MARK} You remember, today: Ann: "Hi."',
    ]
    assert plain_scene([]) == ""


# --- facts that a reply must tell of --------------------------------------------------------------

DOG = (REMEMBERED, KnownLine('two days ago Ann told you: "my dog is called Biscuit"', score=0.6))
FEE = (LORE, KnownLine("Fees: A bed costs four crowns.", source="Fees", score=SURE_LORE))
OWN = (ABOUT, KnownLine("You were born in Saltmere.", score=0.5))


def test_the_model_says_a_fact_that_the_best_row_holds_and_code_says_others():
    told, seen = "Your dog is called Biscuit.", "Bob is here."
    rows_told = (("two days ago Ann", "my dog is called Biscuit"),)
    assert said_or_checked(told, LineReading([], [FEE, DOG])) == ("", Grounds(told, rows_told))
    assert said_or_checked(seen, LineReading([], [FEE, DOG])) == (seen, Grounds("", rows_told))
    assert said_or_checked("I was born in Saltmere.", LineReading([], [OWN]))[0]
    far = (REMEMBERED, DOG[1]._replace(score=0.1))  # the fact's row is not the one that fits best
    bed = Grounds("A bed")
    assert said_or_checked(told, LineReading([], [FEE, far], fact="A bed"))[1].fact == "A bed"
    assert said_or_checked(seen, LineReading([], [FEE], fact="A bed")) == ("", bed)
    assert said_or_checked("", LineReading([], [FEE], by_code="No.")) == ("No.", Grounds())
    talk = ("my dog is called Biscuit",)  # read once: the reply is held against the same lines
    read = LineReading([], [FEE], talk=[*talk])
    assert said_or_checked(told, read) == ("", Grounds(told, (), talk))


def test_lore_that_fits_a_question_best_and_well_is_a_fact():
    assert sure_lore([FEE]) == "A bed costs four crowns."
    assert sure_lore([FEE, DOG]) == sure_lore([]) == ""
    assert sure_lore([(LORE, FEE[1]._replace(score=SURE_LORE - 0.01))]) == ""


def test_a_reply_tells_of_a_fact_by_a_word_that_the_line_has_not_and_no_other_number():
    fact = "A bed costs four crowns."
    for reply, told in {"Four.": True, "Forty crowns.": False, "A bed? Ask Bob.": False}.items():
        assert tells(reply, fact, "what does a bed cost") is told, reply
    assert tells("Yes.", fact, "does a bed cost four crowns?")
