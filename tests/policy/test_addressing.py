"""Who answers what was said, of all who heard it."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.conversation.addressing import (
    Listener,
    NamedEntity,
    Names,
    SpokenLine,
    decide_answers,
    name_parts,
    refuse,
)

MIRA, BOB = "#3", "#4"


def person(id, name, *aliases, **fields):
    names = (name, *aliases)
    listens = fields.pop("listens", True)
    return Listener(id, NamedEntity(id, names, name_parts(name), listens), **fields)


def assistant(id, name, *aliases, **fields):
    return person(id, name, *aliases, may_answer=True, **fields)


def guards(count, **fields):
    return [assistant(f"#{100 + n}", f"Guard {n:02}", **fields) for n in range(1, count + 1)]


def numbered(verdict):
    """Return the numbers of the guards that answer."""
    return sorted(int(dbref[1:]) - 100 for dbref in verdict.answering)


def alike(ids):
    return [(True, 0.0) for _ in ids]


def decide(text, listeners, standing=alike, **line):
    return decide_answers(SpokenLine(line.pop("kind", "say"), text, **line), listeners, standing)


HERE = assistant(MIRA, "Mira", "barkeep")
PLAYER = person(BOB, "Bob", is_player=True)


def test_one_that_came_along_answers_if_nobody_lives_here_or_it_is_named():
    along = replace(HERE, last_exchange=9.0, came_along=True)
    host = assistant("#5", "Otto")
    assert decide("good day", [along]).answering.keys() == {MIRA}
    assert decide("good day", [along, host]).answering.keys() == {"#5"}
    assert decide("Mira, good day", [along, host]).answering.keys() == {MIRA}


@pytest.mark.parametrize(
    ("text", "line", "mira", "addressed"),
    [
        ("nice weather", {}, {}, False),
        ("Mira, a beer!", {}, {}, True),
        ("a beer, BARKEEP", {}, {}, True),
        ("the admiral is late", {}, {}, False),
        ("nice weather", {}, {"last_exchange": 9.0}, True),
        ("and you, Bob?", {}, {"last_exchange": 9.0}, False),
        ("Bob says Mira knows", {}, {"last_exchange": 9.0}, True),
        ("nice weather", {"kind": "whisper"}, {}, True),
        ("a coin", {"kind": "give"}, {}, True),
        ("Ann waves at Mira.", {"kind": "emote"}, {}, True),
        ("Ann waves.", {"kind": "emote"}, {}, False),
        ("Hello!", {}, {}, True),
        ("good evening to you", {}, {}, True),
        ("does anybody know?", {}, {}, True),
        ("Hello Bob", {}, {}, False),
        ("hello there, I told you so", {}, {}, False),
        ("Mira!", {"from_assistant": True, "hops": 3}, {}, True),
        ("Mira!", {"from_assistant": True, "hops": 4}, {}, False),
        ("Mira", {"from_assistant": True, "hops": 4, "kind": "whisper"}, {}, False),
        ("Mira, more beer", {"from_assistant": True}, {}, True),
        ("nice weather", {"from_assistant": True}, {"last_exchange": 9.0}, False),
    ],
)
def test_in_company_what_calls_for_an_answer(text, line, mira, addressed):
    verdict = decide(text, [replace(HERE, **mira), PLAYER], **line)
    assert verdict.of(MIRA)[0] is addressed
    assert not verdict.of(BOB)[0]


@pytest.mark.parametrize(
    ("text", "line", "addressed"),
    [
        ("nice weather", {}, True),
        ("nice weather", {"from_assistant": True}, False),
        ("Mira?", {"from_assistant": True}, False),
        ("", {"kind": "arrive"}, False),
        ("Ann waves.", {"kind": "emote"}, True),
    ],
)
def test_alone_with_a_player_every_word_is_for_it(text, line, addressed):
    assert decide(text, [HERE], **line).of(MIRA)[0] is addressed


@pytest.mark.parametrize(
    ("text", "answering"),
    [
        ("Guard 07, what is your name?", [7]),
        ("what is your name, guard 7?", [7]),
        ("Guard 03 and Guard 05, come here", [3, 5]),
        ("Guard 03, Guard 05, GUARD 9: follow me", [3, 5, 9]),
        ("hey Guard 11!", [11]),
        ("Guard 03, where is Guard 05?", [3]),
        ("Where is Guard 05, Guard 03?", [3]),
        ("I was looking for Guard 05 and Guard 06", [5, 6]),
        ("Guard, 7 mugs of beer", [1]),
        ("Guard, what is your name?", [1]),
        ("guards, arrest that man", [1]),
        ("Hello everybody", [1]),
        ("all of you, listen", [1]),
        ("Guard 21, what is your name?", [1]),
        ("07", [1]),
    ],
)
def test_of_twenty_guards_those_answer_who_are_named_and_else_one(text, answering):
    assert numbered(decide(text, guards(20))) == answering


@pytest.mark.parametrize("text", ["Guard 07, hello", "Guard, hello", "hello"])
def test_a_shorter_name_that_all_of_them_have_does_not_make_them_all_answer(text):
    crowd = [assistant(f"#{n}", f"Guard {n:02}", "guard") for n in range(1, 21)]
    assert len(decide(text, crowd).answering) == 1


def test_a_first_name_counts_while_only_one_has_it():
    tom = assistant("#5", "Tom Baker")
    assert decide("Tom, a loaf", [tom, PLAYER]).answering == {"#5": "named"}
    other = assistant("#6", "Tom Smith")
    verdict = decide("Tom, a loaf", [tom, other, PLAYER])
    assert list(verdict.answering) == ["#5"]
    assert verdict.of("#6") == (False, "somebody else named")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Captain Aldous Brand", "Aldous, report!"),
        ("Captain Aldous Brand", "captain Aldous Brand?"),
        ("Сэр Андрей", "Андрей, привет"),
        ("José", "Hola Jose"),
        ("Jürgen Groß", "GROSS, komm her"),
        ("D'Artagnan", "I meant D’Artagnan"),  # as clients type it
        ("卫兵", "卫兵你好"),
        ("아라", "아라야, 안녕"),
        ("मीरा", "मीरा, नमस्ते"),
        ("R2.D2", "is R2.D2 broken"),
        ("Ⅶ Guard", "vii guard, halt"),
    ],
)
def test_names_are_known_in_any_script_and_without_accents(name, text):
    assert decide(text, [assistant("#7", name), PLAYER]).answering == {"#7": "named"}


@pytest.mark.parametrize(
    ("name", "text"), [("Мира", "Мирабель"), ("R2.D2", "R2xD2"), ("मीरा", "मरा"), ("Guard 1", "1")]
)
def test_a_part_of_a_word_is_no_name(name, text):
    assert not decide(text, [assistant("#7", name), PLAYER]).answering


def test_who_is_called_answers_and_who_is_only_talked_about_does_not():
    otto = assistant("#5", "Otto")
    assert list(decide("Mira, ask Otto", [HERE, otto, PLAYER]).answering) == [MIRA]
    assert not decide("Bob, do you know Mira?", [HERE, otto, PLAYER]).answering
    assert list(decide("Ann, nods to Mira", [HERE, otto], kind="emote").answering) == [MIRA]


def test_a_call_to_somebody_who_hears_nothing_is_for_nobody_else_and_a_mention_is():
    statue = person("#9", "Statue", listens=False)
    assert decide("Statue, speak!", [HERE, statue]).of(MIRA)[1] == "somebody else named"
    assert list(decide("I like the statue here", [HERE, statue]).answering) == [MIRA]
    stopped = person("#10", "Guard 02", listens=False)
    assert decide("Guard, hello", [*guards(1), stopped]).answering == {"#101": "named"}


@pytest.mark.parametrize("text", ["@Ann, what now", "I am Ann", "Ann and Mira, that is us"])
def test_the_speakers_own_name_calls_nobody(text):
    ann = person("#2", "Ann", listens=False)
    assert list(decide(text, [HERE, ann], speaker="#2").answering) == [MIRA]


def test_a_guard_who_says_its_name_calls_no_other_guard():
    seventh = guards(7)[6]
    others = [one for one in guards(20) if one != seventh]
    said = {"from_assistant": True, "hops": 1, "speaker": seventh.id}
    assert not decide("I am Guard 07.", [*others, seventh, PLAYER], **said).answering


def test_the_last_to_talk_goes_first_then_who_is_awake_then_whose_business_it_is():
    crowd = guards(4)
    standing = {"#101": (False, 9.0), "#102": (True, 1.0), "#103": (True, 2.0), "#104": (True, 2.0)}

    def told(ids):
        return [standing[dbref] for dbref in ids]

    assert numbered(decide("hello", crowd, told)) == [3]
    crowd[0] = replace(crowd[0], last_exchange=5.0)
    assert numbered(decide("hello", crowd, told)) == [1]


def test_who_is_under_a_players_control_answers_later_if_nobody_else_can():
    led = replace(HERE, is_player=True)
    assert list(decide("hello", [led]).answering) == [MIRA]
    assert numbered(decide("hello", [led, *guards(2)])) == [1]
    assert not decide("nice weather", [led, *guards(2)]).answering
    assert not decide("Mira?", [led, PLAYER], from_assistant=True, hops=1).answering


def test_an_assistant_who_tells_of_a_guard_calls_none_of_twenty():
    crowd = [*guards(20), PLAYER]
    assert not decide("The guard sleeps", crowd, from_assistant=True, hops=1).answering
    called = decide("Guard 03 and Guard 05?", crowd, from_assistant=True, hops=1)
    assert numbered(called) == [3]


NAMES = ["Mira", "Guard 01", "Guard 02", "the old guard", "Tom Baker", "Tom", "Bob", "卫兵", "a"]
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.0, 5.0])
    ),
    max_size=12,
).map(
    lambda rows: [
        person(f"#{n}", name, is_player=player, may_answer=answers, last_exchange=last)
        for n, (name, player, answers, last) in enumerate(rows, 1)
    ]
)
WORDS = ["Mira", "guard", "01", "02", "tom", "baker", "hello", "everybody", "and", ",", "?", "卫兵"]
SIGNS = st.text("aMiraGuTom 017,.?!-’'é\u0301卫兵मीाß", max_size=30)
TEXTS = st.one_of(SIGNS, st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))


@given(TEXTS, PEOPLE, st.booleans(), st.integers(0, 6), st.sampled_from(["say", "emote"]))
def test_only_those_named_answer_and_of_all_others_at_most_one(text, people, program, hops, kind):
    line = SpokenLine(kind, text, program, hops)
    verdict = decide_answers(line, people, alike)
    able = {one.id for one in people if one.may_answer}
    assert set(verdict.answering) <= able
    named = Names(one.named for one in people).called(text, kind == "say")
    assert len(verdict.answering) <= (1 if program else max(1, len(named)))
    for dbref in verdict.answering if named else ():
        assert any(dbref in ids for ids in named)
    if program and (hops > 3 or not any(one.is_player for one in people)):
        assert not verdict.answering


@given(TEXTS, PEOPLE, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_the_listeners_changes_nothing(text, people, program, dice):
    shuffled = dice.sample(people, len(people))
    line = SpokenLine("say", text, program)
    assert decide_answers(line, people, alike) == decide_answers(line, shuffled, alike)


@given(TEXTS, PEOPLE)
def test_alone_with_assistants_a_player_is_answered_unless_somebody_else_is_called(text, people):
    able = [replace(one, may_answer=True, is_player=False) for one in people]
    assert bool(decide(text, able).answering) is bool(able)


def test_one_of_a_thousand_is_found_in_a_long_line():
    crowd = guards(1_000)
    random.Random(3).shuffle(crowd)
    assert numbered(decide("Guard 777, hello " + "and so on " * 300, crowd)) == [777]


def test_who_is_refused_gets_the_reason_and_all_others_keep_theirs():
    verdict = decide("Guard 07, who knows?", [*guards(9), PLAYER], from_assistant=True, hops=1)
    refused = refuse(verdict, "no calls left")
    assert not refused.answering
    assert refused.of("#107") == (False, "no calls left")
    assert refused.of("#108") == verdict.of("#108")


def test_of_several_in_company_the_one_who_is_in_a_talk_goes_on():
    several = [*guards(3), replace(guards(4)[3], last_exchange=9.0), PLAYER]
    verdict = decide("and how are you?", several)
    assert verdict.answering == {"#104": "in conversation"}
