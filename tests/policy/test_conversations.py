"""Running conversations, from the log."""

from datetime import UTC, datetime, timedelta

from evennia_ai.messages import make_message
from evennia_ai.policy.conversation.inbox import is_stale, talks_with

START = datetime(2026, 6, 1, tzinfo=UTC)


def said(speaker, second):
    at = (START + timedelta(seconds=second)).isoformat()
    message = make_message("user", "words", speaker=speaker)
    message["metadata"]["at"] = at
    return message


def at(second):
    return START + timedelta(seconds=second)


def test_a_talk_began_after_the_last_long_silence():
    log = [said("#5", 0), said("#5", 500), said("#7", 510), said("#5", 550), said("#5", 600)]
    (talk,) = talks_with({"#5": at(600)}, log, 60)
    assert (talk.partner, talk.since, talk.last_at) == ("#5", at(500), at(600))


def test_talks_are_told_apart_and_the_latest_is_last():
    log = [said("#5", 0), said("#7", 10)]
    talks = talks_with({"#7": at(10), "#5": at(0)}, log, 60)
    assert [talk.partner for talk in talks] == ["#5", "#7"]


def test_a_partner_whose_words_are_out_of_view_talks_since_his_last_line():
    (talk,) = talks_with({"#5": at(9)}, [], 60)
    assert talk.since == talk.last_at == at(9)


def test_a_silence_that_is_too_long_ends_a_talk():
    assert not is_stale(at(0), at(60), 60)
    assert is_stale(at(0), at(61), 60)
    assert is_stale(at(3_600), at(0), 60)  # the clock was set back
