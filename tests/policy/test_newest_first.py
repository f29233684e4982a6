"""Of notes that say the same thing with another value, the newest comes first."""

from datetime import UTC, datetime

import pytest

from evennia_ai.policy.retrieval.relevance import newest_first

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def note(content, day=1, source="#5"):
    at = datetime(2026, 1, day, tzinfo=UTC).isoformat()
    return {"id": content, "content": content, "timestamp": at, "source_entity": source}


def ordered(*notes, query="what does Ann owe?"):
    return [one.get("content", "a value") for one in newest_first(query, notes, NOW)]


OLD = note("Ann owes 3 crowns to Bob.", 1)
NEW = note("Ann owes 5 crowns to Bob now.", 9)
OTHER = note("Ann lives in Riverton.", 4)


def test_the_later_word_comes_before_the_earlier_and_all_else_stays():
    assert ordered(OLD, OTHER, NEW) == [NEW["content"], OLD["content"], OTHER["content"]]
    assert ordered(NEW, OTHER, OLD) == [NEW["content"], OTHER["content"], OLD["content"]]


def test_of_three_the_newest_is_first():
    between = note("Ann owes 4 crowns to Bob.", 5)
    assert ordered(between, OLD, NEW) == [one["content"] for one in (NEW, between, OLD)]


def test_what_another_said_of_it_changes_nothing():
    rumour = note("Ann owes 5 crowns to Bob now.", 9, source="#6")
    assert ordered(OLD, rumour) == [OLD["content"], rumour["content"]]


@pytest.mark.parametrize(
    "other",
    [
        "Ann has become a tanner.",
        "Ann owes her life to a stray dog.",
        "Ann sings.",
        "Bob owes rent.",
    ],
)
def test_another_thing_by_the_same_teller_changes_nothing(other):
    assert ordered(OLD, note(other, 9)) == [OLD["content"], other]


def test_whose_the_notes_are_makes_them_no_notes_on_one_subject():
    home, work = note("Ann lives in Riverton.", 4), note("Ann works as a tanner now.", 9)
    assert newest_first("Where is Ann's house?", [home, work], NOW, lambda source: "Ann") == [
        home,
        work,
    ]


@pytest.mark.parametrize(
    "query", ["what did Ann owe in January 2026?", "what did Ann owe yesterday?"]
)
def test_where_a_time_is_asked_for_the_ranking_stays(query):
    assert ordered(OLD, NEW, query=query) == [OLD["content"], NEW["content"]]


def test_of_lines_of_the_log_the_newest_is_first_as_well():
    old, new = ({**one, "kind": "line"} for one in (OLD, NEW))
    assert ordered(old, OTHER, new) == [NEW["content"], OLD["content"], OTHER["content"]]


def test_values_stay_where_they_are():
    value = {"kind": "attribute", "value": "5 crowns", "source_entity": "#5"}
    assert ordered(OLD, value, NEW) == [NEW["content"], OLD["content"], "a value"]
