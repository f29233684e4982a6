"""Facts: found in what players say, looked for in what is left of it, and put into bullets."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import heard_line, make_message, wire_call
from evennia_ai.policy.facts.check import as_bullets, extract_facts, missing_facts
from evennia_ai.policy.facts.terms import MOST_CHARS, sentences_of, with_digits
from evennia_ai.policy.tokens import estimate_tokens
from tests.growth import text_grows_like_a_square


def heard(speaker, text, seq=1, **metadata):
    return make_message(
        "user", f"{speaker} says: {text}", seq=seq, speaker_name=speaker, **metadata
    )


def whispered(speaker, text, seq=1, audience=("#7",)):
    return make_message(
        "user",
        f"{speaker} whispers to you: {text}",
        seq=seq,
        speaker_name=speaker,
        audience=list(audience),
        private=True,
    )


def talk(*lines):
    return [heard(speaker, text, seq) for seq, (speaker, text) in enumerate(lines, 1)]


def facts_of(text, speaker="Ann", own_name=""):
    return extract_facts([heard(speaker, text)], own_name)


def terms_of(text, **options):
    return {term for fact in facts_of(text, **options) for term in fact.terms}


@pytest.mark.parametrize(
    ("text", "kind", "terms"),
    [
        ("I promise to bring you the ledger by Thursday.", "promise", {"Thursday"}),
        ("You owe me three hundred and five crowns.", "debt", {"three hundred and five crowns"}),
        ("I'll wait for you at the old mill at dawn", "time", {"dawn"}),
        ("My sister Lina keeps bees.", "name", {"Lina"}),
        ("Mirelle hid 42 silver pieces under the stairs.", "number", {"Mirelle", "42 silver"}),
        ("Ich schulde dir drei Silberlinge.", "debt", {"drei Silberlinge"}),
    ],
)
def test_a_sentence_s_kind_and_its_names_numbers_and_times(text, kind, terms):
    (fact,) = facts_of(text)
    assert kind in fact.kinds
    assert set(fact.terms) == terms


@pytest.mark.parametrize(
    "text",
    ["hello!", "how are you today?", "thanks a lot, bye", "ok", "...", "Good evening!", "no",
     "Good morning", "Well, come in", "Tell me more", "Yes please", "I hate eels."],
)  # fmt: skip
def test_a_sentence_without_a_mark_is_no_fact(text):
    assert facts_of(text) == ()


@pytest.mark.parametrize("text", ["Mira, wave at me for k2", "Come here, Mira!", "MIRA!"])
def test_the_name_by_which_it_is_addressed_is_no_fact(text):
    assert terms_of(text, own_name="Mira") == set()


def test_the_character_s_own_words_count_whether_said_by_tool_or_not():
    calls = [
        wire_call("1", "say", json.dumps({"text": "I promise you the bone flute."})),
        wire_call("2", "add_journal_entry", json.dumps({"text": "Dalla is a spy."})),
        wire_call("3", "say", "not json"),
        wire_call("4", "whisper", json.dumps({"text": None})),
    ]
    (fact,) = extract_facts(
        [make_message("assistant", "", tool_calls=calls, seq=3)], own_name="Odile"
    )
    assert (fact.source.speaker, fact.sentence) == ("Odile", "I promise you the bone flute.")
    plain = make_message("assistant", "I promise you the bone flute.", seq=3)
    assert extract_facts([plain], own_name="Odile") == (fact,)


def test_a_bullet_tells_that_its_words_were_whispered():
    facts = extract_facts([whispered("Ann", "I owe Bob 3 silver.")])
    assert as_bullets(facts, 99) == ("Ann (whispered): I owe Bob 3 silver.",)


def test_what_happened_is_told_apart_from_what_was_acted_out_or_said():
    words = "gives you 40 gold."
    facts = extract_facts(
        [
            make_message(
                "user", heard_line(kind, "Rudi", text), speaker_name="Rudi", evidence=evidence
            )
            for kind, text, evidence in (
                ("emote", f"Rudi {words}", "performed"),
                ("say", f"Rudi {words}", "claimed"),
                ("give", "40 gold", "perceived"),
            )
        ]
    )
    assert as_bullets(facts[:1], 99) == (f"Rudi acts out: {words}",)
    assert as_bullets(facts[1:2], 99) == (f"Rudi: Rudi {words}",)
    assert as_bullets(facts[2:], 99) == (f"It happened: Rudi {words}",)


def test_the_looks_of_somebody_are_no_act_of_the_character():
    looks = make_message("tool", "You gave Ann 40 gold: a tall man.", tool_call_id="1", seq=4)
    assert extract_facts([looks]) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My daughter is Wilna.", "My daughter is Tess."),
        ("The code of the north post is 4471.", "The code of the south post is 9023."),
    ],
)
def test_one_of_two_facts_alike_does_not_stand_for_the_other(first, second):
    facts = extract_facts(talk(("Ann", first), ("Ann", second)))
    assert missing_facts(facts, [first]) == facts[1:]


def test_the_same_sentence_is_kept_once_but_not_across_speakers_and_audiences():
    said = heard("Ann", "Dalla has the key.", 1)
    again = heard("Ann", "Dalla has the key.", 2)
    assert [fact.source.seq for fact in extract_facts([said, again])] == [1]
    others = [heard("Bob", "Dalla has the key.", 3), whispered("Ann", "Dalla has the key.", 4)]
    facts = extract_facts([said, *others])
    assert len(facts) == 3
    assert len(as_bullets(facts, 500)) == 1


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("She got forty-two silver pieces.", "she was paid 42 silver pieces"),
        ("I owe three hundred and five crowns.", "Ann owes a debt of 305 crowns"),
        ("We had two dozen eggs.", "24 eggs"),
        ("I met Zoë.", "zoe came"),
        ("I owe you three silver.", "Ann owes me 3 silver."),
    ],
)
def test_a_fact_is_found_again_in_other_words(said, text):
    facts = facts_of(said)
    assert facts and missing_facts(facts, [text]) == ()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("She got 42 silver pieces.", "41 silver pieces"),
        ("I owe you three silver.", "Ann owes me 4 silver."),
        ("Lina met Tobin.", "Lina " + "walked and slept " * 80 + "and Tobin left"),
    ],
)
def test_what_a_text_does_not_say_is_missing(said, text):
    facts = facts_of(said)
    assert missing_facts(facts, [text]) == facts != ()


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("three hundred and five", "305"),
        ("forty-two men", "42 men"),
        ("two or three", "2 or 3"),
        ("two thousand three hundred and forty-one", "2341"),
        ("2,000 and a dozen", "2000 and a 12"),
        ("zwölf Kerzen", "12 Kerzen"),
        ("the elf left once", "the elf left once"),
    ],
)
def test_numbers_in_words_are_numbers(text, digits):
    assert with_digits(text) == digits


def test_a_long_sentence_comes_in_pieces_that_lose_nothing():
    text = ", ".join(f"the {adjective} chest holds {n} coins" for n, adjective in enumerate(
        ["red", "blue", "grey", "iron", "oaken", "small", "long", "wide", "tall"], 11))  # fmt: skip
    pieces = sentences_of(text + " " + "x" * 900)
    assert all(0 < len(piece) <= MOST_CHARS for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join((text + "x" * 900).split())
    assert {"11 coins", "19 coins"} <= terms_of(text)


KINDS = {"name", "number", "time", "debt", "promise"}
ANY_MESSAGE = st.one_of(
    st.builds(heard, st.text(max_size=20), st.text(max_size=400)),
    st.builds(whispered, st.text(max_size=20), st.text(max_size=200)),
    st.builds(lambda text: make_message("tool", f"You {text}", tool_call_id="1"), st.text()),
    st.builds(
        lambda raw: make_message("assistant", raw, tool_calls=[wire_call("1", "say", raw)]),
        st.text(),
    ),
)
SPOKEN = st.lists(
    st.sampled_from(
        """Ann Rudi the a my owe promise 42 three hundred and silver pieces of Isle Glass is at to
        eels hate "thistle" , . ? ! : Мирелла обещаю 答应 四十二枚 в 'x' sister's I'll don't — 3rd
        Harvest dawn 1,000 7:30 ÉLISE _ a_b's (whispered)""".split()
    ),
    max_size=40,
).map(" ".join)


@given(st.lists(ANY_MESSAGE, max_size=4), st.text(max_size=20))
def test_any_text_gives_facts_without_complaint_and_always_the_same(messages, own_name):
    facts = extract_facts(messages, own_name)
    assert facts == extract_facts(messages, own_name)
    missing_facts(facts, [own_name, *(message["content"] for message in messages)])
    for fact in facts:
        assert fact.kinds and fact.kinds <= KINDS and all(fact.terms)
        assert len(fact.sentence) <= MOST_CHARS


@given(SPOKEN)
def test_every_fact_stands_in_its_own_sentence(text):
    for fact in facts_of(text):
        assert missing_facts([fact], [fact.sentence]) == ()


@given(st.lists(SPOKEN, max_size=6))
def test_with_room_for_all_bullets_nothing_is_missing(texts):
    facts = extract_facts([heard("Ann", text, seq) for seq, text in enumerate(texts)])
    assert missing_facts(facts, as_bullets(facts, 10**6)) == ()


@given(st.lists(st.one_of(SPOKEN, st.text(max_size=300)), max_size=8), st.integers(-5, 200))
def test_bullets_keep_within_their_budget(texts, budget):
    facts = extract_facts([heard("Ann", text, seq) for seq, text in enumerate(texts)])
    bullets = as_bullets(facts, budget)
    assert sum(estimate_tokens(f"- {bullet}") for bullet in bullets) <= max(0, budget)


@pytest.mark.parametrize(
    "part",
    """a|A|A of|"a|'a'|three hundred and|hundred|million|1,|(|my sister|四十二枚|四|百|...|x,
    |the x is|x|X|Ann says:|a-b-|ア|a's|。|Ann 答应 42|\x00|\ud800|x;|- a: |é""".split("|"),
)
@pytest.mark.parametrize("joint", ["", " "])
def test_the_time_for_tiresome_text_grows_with_its_length_not_its_square(part, joint):
    def check(text):
        facts = extract_facts([heard("Ann", text)])
        missing_facts(facts, [text, *as_bullets(facts, 1_000)])

    assert not text_grows_like_a_square(check, part.strip() + joint)
