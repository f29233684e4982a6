"""The stretches of time that a question names."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.retrieval.time_expressions import DAY_S, age_in_words, find_spans

NOW = datetime(2023, 6, 14, 15, 30, tzinfo=UTC).timestamp()  # a Wednesday


def days(text, now=NOW):
    """The spans as first and last day."""

    def day(moment):
        return datetime.fromtimestamp(moment, UTC).date().isoformat()

    return [(day(span.start), day(span.end - 1)) for span in find_spans(text, now)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 8 May, 2023", "2023-05-08", "2023-05-08"),
        ("the 8th of May 2023", "2023-05-08", "2023-05-08"),
        ("on May 8, 2023?", "2023-05-08", "2023-05-08"),
        ("in May 2023", "2023-05-01", "2023-05-31"),
        ("in may 2022", "2022-05-01", "2022-05-31"),
        ("in December 2022", "2022-12-01", "2022-12-31"),
        ("in February", "2023-02-01", "2023-02-28"),
        ("in August", "2022-08-01", "2022-08-31"),
        ("in 2022", "2022-01-01", "2022-12-31"),
        ("on 31 February 2022", "2022-01-01", "2022-12-31"),
        ("yesterday", "2023-06-13", "2023-06-13"),
        ("Today?", "2023-06-14", "2023-06-14"),
        ("two days ago", "2023-06-12", "2023-06-12"),
        ("last Friday", "2023-06-09", "2023-06-09"),
        ("last Wednesday", "2023-06-07", "2023-06-07"),
        ("last night", "2023-06-13", "2023-06-13"),
        ("am 8. Mai 2023", "2023-05-08", "2023-05-08"),
        ("im Dezember 2022", "2022-12-01", "2022-12-31"),
        ("gestern", "2023-06-13", "2023-06-13"),
        ("vorgestern", "2023-06-12", "2023-06-12"),
        ("vor zwei Tagen", "2023-06-12", "2023-06-12"),
        ("letzten Freitag", "2023-06-09", "2023-06-09"),
        ("le 1er mai 2023", "2023-05-01", "2023-05-01"),
        ("il y a deux jours", "2023-06-12", "2023-06-12"),
        ("que s'est-il passé hier soir", "2023-06-13", "2023-06-13"),
        ("vendredi dernier", "2023-06-09", "2023-06-09"),
        ("el 8 de mayo de 2023", "2023-05-08", "2023-05-08"),
        ("hace dos días", "2023-06-12", "2023-06-12"),
        ("anoche", "2023-06-13", "2023-06-13"),
        ("el viernes pasado", "2023-06-09", "2023-06-09"),
        ("8 мая 2023", "2023-05-08", "2023-05-08"),
        ("в августе", "2022-08-01", "2022-08-31"),
        ("позавчера", "2023-06-12", "2023-06-12"),
        ("два дня назад", "2023-06-12", "2023-06-12"),
        ("в прошлую пятницу", "2023-06-09", "2023-06-09"),
    ],
)
def test_a_time_that_is_named_is_found(text, first, last):
    assert days(f"What happened {text}") == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "last week", "letzte Woche", "la semaine dernière", "la semana pasada", "на прошлой неделе",
    ],
)  # fmt: skip
def test_last_week_lies_within_the_ten_days_before(text):
    (span,) = find_spans(text, NOW)
    assert span.start < NOW - 7 * DAY_S < span.end <= NOW


@pytest.mark.parametrize(
    "text",
    [
        "You may go", "May I come in?", "march on", "room 2023b", "on 31 February", "December 9999",
        "Was ist hier los?", "Wo ist Julio?", "",
    ],
)  # fmt: skip
def test_what_is_no_time_names_none(text):
    assert find_spans(text) == find_spans("march on", NOW) == ()


def test_without_a_now_only_full_dates_name_a_time():
    assert find_spans("yesterday, two weeks ago, last May, in August") == ()
    assert len(find_spans("in August 2022")) == 1


@given(st.text(max_size=60), st.none() | st.floats(allow_nan=True))
def test_whatever_the_text_and_the_time_spans_have_a_length(text, now):
    for span in find_spans(text + " in 9999, last may, 3 years ago, 0 May 0000", now):
        assert span.start < span.end


@pytest.mark.parametrize(
    ("seconds", "age"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "one minute ago"),
        (3_599, "59 minutes ago"),
        (7_200, "two hours ago"),
        (DAY_S, "one day ago"),
        (13.9 * DAY_S, "13 days ago"),
        (14 * DAY_S, "two weeks ago"),
        (61 * DAY_S, "two months ago"),
        (729 * DAY_S, "23 months ago"),
        (731 * DAY_S, "two years ago"),
    ],
)
def test_an_age_is_told_in_words(seconds, age):
    assert age_in_words(seconds) == age
