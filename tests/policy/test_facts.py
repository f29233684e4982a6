"""Facts: found in what players say, looked for in what is left of it, and put into bullets."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.messages import make_message, wire_call
from evennia_ai.policy.facts.check import (
    WEIGHTS,
    Fact,
    as_bullets,
    bullet_of,
    extract_facts,
    facts_in,
    keep_facts,
    known_names,
    missing_facts,
    settle,
)
from evennia_ai.policy.facts.match import TextIndex
from evennia_ai.policy.facts.sources import MOST_CHARS, sentences_of
from evennia_ai.policy.tokens import estimate_tokens


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


def facts_of(text, speaker="Ann", names=()):
    return extract_facts([heard(speaker, text)], names)


def terms_of(text, kind=None, **options):
    return {
        term
        for fact in facts_of(text, **options)
        if kind is None or fact.kind == kind
        for term in fact.terms
    }


@pytest.mark.parametrize(
    ("text", "kind", "terms"),
    [
        ("I promise to bring you the blue ledger by the new moon.", "promise",
         {"blue ledger", "new moon"}),
        ("We have a deal: ten barrels for the brown mare.", "promise",
         {"ten barrels", "brown mare"}),
        ("You owe me three hundred and five crowns.", "debt", {"three hundred and five crowns"}),
        ("i still owe Tobin 12 pennies", "debt", {"Tobin", "12 pennies"}),
        ("Bring me the heron feather before Thursday.", "task", {"heron feather", "Thursday"}),
        ("I'll wait for you at the old mill at dawn", "task", {"old mill", "dawn"}),
        ("Will you fetch me the heron feather by dusk?", "task", {"heron feather", "dusk"}),
        ("The password is 'marigold'.", "secret", {"marigold"}),
        ("Don't tell anyone, the abbot drinks.", "secret", {"abbot"}),
        ("My sister Lina keeps bees.", "relation", {"sister", "Lina"}),
        ("Corwin's uncle is a thief.", "relation", {"Corwin", "uncle"}),
        ("I hate eels", "preference", {"eels"}),
        ("I am allergic to walnuts.", "preference", {"walnuts"}),
        ("My favourite colour is teal.", "preference", {"favourite colour", "teal"}),
        ("My name is Ysmay.", "identity", {"Ysmay"}),
        ("Dalla works for the harbour guard.", "identity", {"Dalla", "harbour guard"}),
        ("Petrok stole the bone flute from the reeve.", "item", {"Petrok", "bone flute", "reeve"}),
        ("Mirelle hid 42 silver pieces under the chapel stairs.", "number", {"42 silver pieces"}),
        ("Mirelle hid 42 silver pieces under the chapel stairs.", "place", {"chapel stairs"}),
        ("The ferry leaves at 6:30 in the morning.", "time", {"6:30"}),
        ("Count Aldemar rode to the Isle of Glass.", "name", {"Count Aldemar", "Isle of Glass"}),
    ],
)  # fmt: skip
def test_a_sentence_s_facts_and_their_key_terms(text, kind, terms):
    found = terms_of(text, kind)
    assert all(any(TextIndex(other).says([term]) for other in found) for term in terms), found


@pytest.mark.parametrize(
    "text",
    ["hello!", "how are you today?", "thanks a lot, bye", "ok", "...", "Good evening!", "no"],
)
def test_small_talk_holds_no_facts(text):
    assert facts_of(text) == ()


@pytest.mark.parametrize("text", ["Good morning", "Well, come in", "Tell me more", "Yes please"])
def test_a_capital_at_the_beginning_makes_no_name(text):
    assert terms_of(text, "name") == set()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Corwin is dead", "Corwin"),
        ("Corwin's boat sank", "Corwin"),
        ("Corwin owes her a boat", "Corwin"),
        ("Lady Ombrine came by", "Lady Ombrine"),
        ("the horse is called Ash", "Ash"),
    ],
)
def test_a_name_at_the_beginning_or_the_end_is_found(text, name):
    assert name in terms_of(text, "name")


def test_a_known_name_is_one_wherever_it_stands_and_however_it_is_typed():
    assert terms_of("ask hope, she saw it", "name") == set()
    assert terms_of("Hope, come here", "name") == set()
    assert terms_of("Hope, come here", "name", names=["Hope"]) == {"Hope"}


def test_a_word_that_stands_in_lower_case_elsewhere_was_no_name():
    lines = talk(("Ann", "Onions are cheap"), ("Bob", "i sell onions and leeks"))
    assert "Onions" not in {fact.terms[0] for fact in extract_facts(lines) if fact.kind == "name"}


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Мирелла обещала сорок монет.", "Мирелла"),
        ("Я обещаю принести письмо в Верхний Брод", "Верхний Брод"),
        ("Ich verspreche dir den Ring von Gisela", "Gisela"),
        ("Η Ελένη μένει στη Θήρα", "Θήρα"),
        ("我答应给你四十二枚银币", "四十二枚银币"),
        ("她的名字叫李雪梅", "李雪梅"),
        ("合言葉は「月夜」だ、約束だぞ", "月夜"),
        ("アルデマールを信じるな", "アルデマール"),
        ("Élise déteste les anguilles", "Élise"),
        ("제 이름은 박민수 씨입니다", "박민수"),
    ],
)
def test_other_scripts_give_names_and_numbers_too(text, term):
    found = terms_of(text)
    assert any(TextIndex(other).says([term]) for other in found), found


def test_a_fact_keeps_who_said_it_where_and_to_whom():
    (fact,) = [
        fact
        for fact in extract_facts([whispered("Ann", "The code is 7731.", seq=9)])
        if "7731" in fact.terms
    ]
    assert (fact.speaker, fact.seq, fact.audience) == ("Ann", 9, frozenset({"#7"}))
    assert fact.sentence == "The code is 7731."
    assert facts_of("The code is 7731.")[0].audience is None


def test_the_character_s_own_words_count_whether_said_by_tool_or_not():
    calls = [
        wire_call("1", "say", json.dumps({"text": "I promise you the bone flute."})),
        wire_call("2", "add_journal_entry", json.dumps({"text": "Dalla is a spy."})),
        wire_call("3", "say", "not json"),
        wire_call("4", "whisper", json.dumps({"text": None})),
    ]
    facts = extract_facts(
        [make_message("assistant", "", tool_calls=calls, seq=3)], own_name="Odile"
    )
    assert {fact.speaker for fact in facts} == {"Odile"}
    assert {term for fact in facts for term in fact.terms} == {"bone flute"}
    plain = make_message("assistant", "I promise you the bone flute.", seq=3)
    assert extract_facts([plain], own_name="Odile") == facts


def test_gifts_count_and_what_a_place_looks_like_does_not():
    given = make_message("tool", "You gave a copper compass to Rudi.", tool_call_id="1", seq=4)
    look = make_message("tool", "The Common Room: a fire, 3 tables. Exits: north", tool_call_id="2")
    received = make_message("user", "(Rudi gives you a bone flute.)", seq=5)
    facts = extract_facts([given, look, received])
    assert {fact.seq for fact in facts} == {4, 5}
    told = [fact.terms for fact in facts if fact.kind == "item"]
    assert told == [("copper compass", "Rudi"), ("Rudi", "bone flute")]


def test_a_question_s_names_weigh_less_than_an_answer_s():
    asked = [fact for fact in facts_of("Do you know where Lina is?") if "Lina" in fact.terms]
    told = [fact for fact in facts_of("I know where Lina is.") if fact.terms == ("Lina",)]
    assert 0 < max(fact.weight for fact in asked) < told[0].weight


@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        ("The password is marigold.", "No, the password is thistle!", "marigold", "thistle"),
        ("The room costs 4 pennies.", "The room costs six pennies now", "4 pennies", "6 pennies"),
        ("My favourite dish is eel pie", "my favourite dish is now lamb", "eel pie", "lamb"),
        ("I live in Saltmere.", "I live in Thornwick.", "Saltmere", "Thornwick"),
        ("My name is Ysmay", "Call me Dalla", "Ysmay", "Dalla"),
        ("I'm 33 years old", "I am 34 years old.", "33", "34"),
    ],
)
def test_of_contradicting_values_the_latest_wins(before, after, old, new):
    kept = "\n".join(map(bullet_of, extract_facts(talk(("Ann", before), ("Ann", after)))))
    assert TextIndex(kept).says([new]) and not TextIndex(kept).says([old])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The door is oak.", "The door is locked."),
        ("My sister is Lina.", "My sister is a nun."),
        ("The password is marigold.", "The passage is dark."),
    ],
)
def test_values_that_may_both_be_true_stay(before, after):
    kept = "\n".join(map(bullet_of, extract_facts(talk(("Ann", before), ("Ann", after)))))
    assert before in kept


def test_nobody_s_word_replaces_another_s():
    lines = talk(("Ann", "The password is marigold."), ("Bob", "The password is thistle."))
    assert len([fact for fact in extract_facts(lines) if fact.kind == "secret"]) == 2


def test_what_is_whispered_never_replaces_what_all_have_heard_but_the_reverse_does():
    openly, privately = "The password is marigold.", "The password is thistle."
    both = [heard("Ann", openly, 1), whispered("Ann", privately, 2)]
    assert len(extract_facts(both)) == 2
    later = [whispered("Ann", privately, 1), heard("Ann", openly, 2)]
    assert [fact.sentence for fact in extract_facts(later)] == [openly]


def test_the_same_fact_is_kept_once_but_not_across_audiences():
    said = heard("Ann", "Dalla has the key.", 1)
    again = heard("Ann", "Dalla has the key.", 2)
    assert len(extract_facts([said, again])) == len(extract_facts([said]))
    aside = whispered("Ann", "Dalla has the key.", 3)
    assert len(extract_facts([said, aside])) == 2 * len(extract_facts([said]))


def test_of_two_mentions_of_equal_weight_the_first_stays():
    lines = talk(("Ann", "Corwin went to Saltmere."), ("Bob", "We met Corwin at Thornwick."))
    (named,) = [fact for fact in extract_facts(lines) if fact.terms == ("Corwin",)]
    assert named.sentence == "Corwin went to Saltmere."


def test_a_sentence_that_tells_nothing_new_takes_no_room():
    lines = [heard("Ann", "Dalla has the key.", 1), whispered("Ann", "Dalla has the key.", 2)]
    assert len(as_bullets(extract_facts(lines), 500)) == 1


def test_messages_taken_one_by_one_give_the_same_facts():
    lines = talk(("Ann", "Petrok lives in Saltmere."), ("Petrok", "I owe Ann 9 crowns."))
    known = known_names(["Ann", "Petrok"])
    assert settle([fact for line in lines for fact in facts_in(line, known)]) == extract_facts(
        lines
    )


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("forty-two silver pieces", "she was paid 42 silver pieces"),
        ("42 silver pieces", "Forty-two silver pieces changed hands."),
        ("three hundred and five crowns", "a debt of 305 crowns"),
        ("two thousand sheep", "2,000 sheep"),
        ("two dozen eggs", "24 eggs"),
        ("2 or 3 men", "two or three men"),
        ("twenty-one", "21"),
        ("two thousand three hundred and forty-one", "2341"),
        ("blue ledger", "the BLUE ledgers"),
        ("Zoë", "zoe"),
        ("Ann's key", "a key of Ann: Ann key"),
        ("Мирелла", "у Миреллы"),
        ("四十二枚银币", "她有42枚银币"),
        ("Isle of Glass", "the isle of glass"),
        ("ＦＵＬＬ", "full"),
    ],
)
def test_a_fact_is_found_again_in_another_spelling(fact, text):
    assert missing_facts([Fact("thing", (fact,), fact)], [text]) == ()


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("42 silver pieces", "41 silver pieces"),
        ("42 silver pieces", "42 crowns and some silver"),
        ("six men", "three the three men"),
        ("five men", "two three men"),
        ("Lina", "Linnet's line"),
        ("Мирелла", "Марина"),
        ("四十二枚银币", "四十三枚银币"),
        ("blue ledger", "a ledger " + "and more " * 9 + "in blue"),
    ],
)
def test_what_a_text_does_not_say_is_missing(fact, text):
    lost = Fact("thing", (fact,), fact)
    assert missing_facts([lost], [text]) == (lost,)


def test_a_fact_is_kept_by_one_text_that_says_all_of_it():
    fact = Fact("relation", ("sister", "Lina"), "My sister Lina")
    assert missing_facts([fact], ["Lina came", "my sister left"]) == (fact,)
    assert missing_facts([fact], ["rain", "Lina is his sister"]) == ()
    assert missing_facts([fact], ["Lina " + "walked and " * 80 + "a sister"]) == (fact,)
    assert missing_facts([fact], []) == (fact,)


def test_bullets_tell_the_weightiest_first_and_each_sentence_once():
    lines = talk(
        ("Ann", "The old mill is near the brown river."),
        ("Bob", "I promise Dalla 40 crowns by Sunday."),
        ("Ann", "Corwin went to Saltmere."),
    )
    bullets = as_bullets(extract_facts(lines), 500)
    assert bullets[0] == "Bob: I promise Dalla 40 crowns by Sunday."
    assert len(bullets) == len(set(bullets)) == 3


def test_a_whisper_s_bullet_says_that_it_was_one():
    bullets = as_bullets(extract_facts([whispered("Ann", "The code is 7731.")]), 100)
    assert bullets == ("Ann (whispered): The code is 7731.",)


def test_bullets_in_a_summary_are_facts_of_the_same_speakers_again():
    facts = extract_facts(talk(("Bob", "I promise Dalla 40 crowns by Sunday.")))
    summary = "[CONTEXT SUMMARY]\nThey talked.\nFacts:\n" + "\n".join(
        f"- {bullet}" for bullet in as_bullets(facts, 100)
    )
    again = extract_facts([make_message("system", summary, type="compaction", seq=0)])
    assert {fact.terms for fact in facts} <= {fact.terms for fact in again}
    assert {fact.speaker for fact in again} == {"Bob"}


def test_a_long_sentence_comes_in_pieces_that_lose_nothing():
    text = ", ".join(f"the {adjective} chest holds {n} coins" for n, adjective in enumerate(
        ["red", "blue", "grey", "iron", "oaken", "small", "long", "wide", "tall"], 11))  # fmt: skip
    pieces = sentences_of(text + " " + "x" * 900)
    assert all(0 < len(piece) <= MOST_CHARS for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join((text + "x" * 900).split())
    assert {"11 coins", "19 coins"} <= terms_of(text)


def test_titles_and_decimals_end_no_sentence():
    assert sentences_of("Dr. Vane paid 3.50. Mr. Hale did not.") == [
        "Dr. Vane paid 3.50.",
        "Mr. Hale did not.",
    ]


ANY_MESSAGE = st.one_of(
    st.builds(heard, st.text(max_size=20), st.text(max_size=400)),
    st.builds(whispered, st.text(max_size=20), st.text(max_size=200)),
    st.builds(lambda text: make_message("tool", f"You {text}", tool_call_id="1"), st.text()),
    st.builds(lambda text: make_message("system", text, type="compaction"), st.text()),
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
@settings(max_examples=150)
def test_any_text_gives_facts_without_complaint_and_always_the_same(messages, own_name):
    facts = extract_facts(messages, ["Ann", own_name], own_name)
    assert facts == extract_facts(messages, ["Ann", own_name], own_name) == settle(facts)
    missing_facts(facts, [own_name, *(message["content"] for message in messages)])
    for fact in facts:
        assert fact.kind in WEIGHTS and fact.terms and all(fact.terms)
        assert 1 <= fact.weight <= 10 and len(fact.sentence) <= MOST_CHARS


@given(SPOKEN)
@settings(max_examples=300)
def test_every_fact_stands_in_its_own_sentence(text):
    for fact in facts_of(text):
        assert missing_facts([fact], [fact.sentence]) == ()


@given(st.lists(SPOKEN, max_size=6))
def test_with_room_for_all_bullets_nothing_is_missing(texts):
    facts = extract_facts([heard("Ann", text, seq) for seq, text in enumerate(texts)])
    assert missing_facts(facts, ["\n".join(as_bullets(facts, 10**6))]) == ()


@given(st.lists(st.one_of(SPOKEN, st.text(max_size=300)), max_size=8), st.integers(-5, 200))
def test_bullets_keep_within_their_budget(texts, budget):
    facts = extract_facts([heard("Ann", text, seq) for seq, text in enumerate(texts)])
    bullets = as_bullets(facts, budget)
    assert sum(estimate_tokens(f"- {bullet}") for bullet in bullets) <= max(0, budget)


def test_a_counter_of_one_s_own_is_used_for_the_budget():
    facts = extract_facts(talk(("Ann", "Corwin went to Saltmere."), ("Bob", "Dalla has a boat.")))
    assert len(as_bullets(facts, 24, lambda text: 10)) == 2
    assert len(as_bullets(facts, 23, lambda text: 10)) == 1


@pytest.mark.parametrize(
    "part",
    """a|A|A of|"a|'a'|three hundred and|hundred|million|1,|(|my sister|四十二枚|四|百|...|x,
    |the x is|x|X|Ann says:|a-b-|ア|a's|。|Ann 答应 42|\x00|\ud800|x;|- a: |é""".split("|"),
)
@pytest.mark.parametrize("joint", ["", " "])
def test_a_text_made_to_be_tiresome_is_read_quickly(part, joint):
    text = ((part.strip() + joint) * 20_000)[:20_000]
    start = time.process_time()
    facts = extract_facts([heard("Ann", text)])
    missing_facts(facts, [text, *as_bullets(facts, 1_000)])
    assert time.process_time() - start <= 1.0  # measured 0.06 at most


def test_where_there_are_too_many_every_sentence_keeps_its_weightiest_and_the_newest_stay():
    facts = [
        Fact("name", ("Lina",), "Lina owes me 4 crowns.", "Ann", 1, weight=7),
        Fact("debt", ("4 crowns",), "Lina owes me 4 crowns.", "Ann", 1, weight=10),
        Fact("name", ("Voss",), "Voss owes me 4 crowns.", "Ann", 2, weight=7),
        Fact("name", ("Voss",), "Voss owes me 4 crowns.", "Bob", 3, weight=7),
    ]
    assert keep_facts(facts, 4) == tuple(facts)
    assert keep_facts(facts, 3) == tuple(facts[1:])
    assert keep_facts(facts, 1) == (facts[3],)
