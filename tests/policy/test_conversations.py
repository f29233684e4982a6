"""Running conversations, from the log."""

from datetime import UTC, datetime, timedelta

from evennia_ai.messages import make_message
from evennia_ai.policy.conversation.batching import began_at, is_stale

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
    assert began_at("#5", at(600), log, 60) == at(500)


def test_talks_are_told_apart():
    log = [said("#5", 0), said("#7", 10)]
    assert began_at("#7", at(10), log, 60) == at(10)


def test_a_partner_whose_words_are_out_of_view_talks_since_his_last_line():
    assert began_at("#5", at(9), [], 60) == at(9)


def test_a_silence_that_is_too_long_ends_a_talk():
    assert not is_stale(at(0), at(60), 60)
    assert is_stale(at(0), at(61), 60)
    assert is_stale(at(3_600), at(0), 60)  # the clock was set back
