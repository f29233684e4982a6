"""Whose words an entry holds, and which lines they stand in."""

import pytest

from evennia_ai.messages import make_message
from evennia_ai.policy.facts.origin import (
    MOST_SOURCES,
    ShownContext,
    SpokenWords,
    origin_of,
    shown_line,
)
from evennia_ai.policy.facts.terms import normal_words

ANN, BOB, CID = "#5", "#6", "#7"
NAMES = {ANN: "Ann", BOB: "Bob", CID: "Cid", "": ""}


def line(seq, speaker, text):
    content = f"{NAMES[speaker]} says: {text}" if speaker else f"({text})"
    return shown_line(
        make_message(
            "user", content, seq=seq, speaker=speaker, speaker_name=NAMES[speaker], at=f"at {seq}"
        )
    )


TALK = (
    line(1, ANN, "I am a smith in Dunmore."),
    line(2, BOB, "The ferry costs forty crowns."),
    line(3, ANN, "I owe you 12 crowns for the saddle."),
    line(4, CID, "What a night!"),
    line(5, "", "Rudi gives you a bone flute."),
)


@pytest.mark.parametrize(
    ("text", "speakers", "seqs"),
    [
        ("Ann is a smith in Dunmore.", {ANN}, (1,)),
        ("Somebody owes twelve crowns for a saddle.", {ANN}, (3,)),
        ("The ferry costs 40 crowns; there is a smith in Dunmore.", {ANN, BOB}, (1, 2)),
        ("Rudi gave me a bone flute.", set(), (5,)),
        ("Bob knows a smith in Dunmore.", {ANN, BOB}, (1, 2)),
        ("They were friendly.", {ANN, BOB, CID}, ()),
    ],
)
def test_an_entry_holds_the_words_of_those_who_said_them(text, speakers, seqs):
    origin = origin_of(text, ShownContext(TALK))
    assert origin.speakers == speakers
    assert origin.seqs == seqs
    assert origin.said_at == (f"at {seqs[-1]}" if seqs else "")


def test_whoever_said_the_same_counts_too():
    talk = (*TALK, line(6, BOB, "Ann owes 12 crowns for the saddle."))
    origin = origin_of("Ann owes 12 crowns for the saddle.", ShownContext(talk))
    assert (origin.speakers, origin.seqs) == ({ANN, BOB}, (3, 6))


def test_words_that_stand_in_no_line_may_come_from_the_summary():
    shown = ShownContext(TALK, frozenset(normal_words("Cid keeps bees.")), frozenset({CID}))
    assert origin_of("Ann, a smith, keeps bees.", shown).speakers == {ANN, CID}
    assert origin_of("Ann is a smith in Dunmore.", shown).speakers == {ANN}
    assert origin_of("They were friendly.", shown).speakers == {ANN, BOB, CID}


def test_of_many_sources_the_newest_are_named():
    talk = [line(seq, ANN, "I am a smith.") for seq in range(50)]
    origin = origin_of("Ann is a smith.", ShownContext(talk))
    assert origin.seqs == tuple(range(50 - MOST_SOURCES, 50))


def test_of_no_talk_there_is_no_origin():
    assert origin_of("Ann is a smith.", ShownContext(())).speakers == frozenset()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ben asks about Ann's marigold.", "Ben asks about Ann's …."),
        ("MARIGOLDS, and marigold!", "…, and …!"),
        ("The number 4711 of 3 doors.", "The number … of 3 doors."),
        ('{"words": "the marigold", "n": 4711, "of": [null, 3]}',
         '{"words": "the …", "n": "…", "of": [null, 3]}'),
        ('{"words": "nothing",  "n": 3}', '{"words": "nothing",  "n": 3}'),
        ('{"words": "the m\\u00e4rigold"}', '{"words": "the …"}'),
        ("See red boats and green sails there.", "See … … … … sails there."),
        ("翡翠钥匙在这里", "…在这里"),
        ("A harbour.", "A harbour."),
    ],
)  # fmt: skip
def test_each_word_that_only_they_use_is_hidden(text, left):
    words = SpokenWords()
    for own in ("a marigold märigold, 4711 or 3", "red boats and green", "翡翠钥匙", "harbour"):
        words.add(own)
    words.take_out("The harbour has green and red sails, no boats")
    assert words.without(text) == left
    assert words.without(left) == left


def test_of_a_result_only_what_it_quotes_is_hidden_unless_all_of_it_is_theirs():
    words = SpokenWords()
    words.add("keep my marigold lantern")
    assert words.without_in_quotes("You keep that.\n- a lantern") == "You keep that.\n- a …"
    assert words.without_in_quotes("Seen: a marigold lantern") == "Seen: a … …"


def test_who_is_named_is_known_by_any_part_of_the_name():
    words = SpokenWords()
    words.add_name("Ann the Bold")
    assert words.names("Ben asks for Ann.") and not words.names("Ben asks for Anna.")
    assert not SpokenWords().names("Ann")


@pytest.mark.parametrize(
    ("entry", "is_held"),
    [
        ("Ann's dog is called Bo.", True),
        ("Ann has a boat, moored at berth 7.", False),
        ("Ann is a miner.", False),
        ("Ann.", True),
    ],
)
def test_what_nobody_stated_is_held_by_no_line(entry, is_held):
    supposed = line(1, ANN, "Suppose I had a boat, would you sail with me?")
    origin = origin_of(entry, ShownContext((supposed, line(2, ANN, "My dog is Bo."))))
    assert (origin.is_held, origin.speakers) == (is_held, {ANN})  # she can have it forgotten


def test_what_a_summary_states_is_held():
    shown = ShownContext((), frozenset(normal_words("Ann has a boat.")), frozenset({ANN}))
    assert origin_of("Ann's boat leaks.", shown).is_held
