"""Room is made where the context is nearly full, and nobody waits longer for it than must be."""

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import OFFLINE, LLMReply
from evennia_ai.sleep.emergency import SOMEBODY_WAITS
from tests.scripted import call
from tests.test_context_compaction import ANN, BOB, SUMMARY, make_script, outcome, talk

JOURNAL = {"add_journal_entry": "free"}


def entry(text):
    return call("add_journal_entry", content=text)


def extract_now(script):
    return script.mind.emergency._extract(script.mind.meter.measure())


def fill(script, ratio):
    """Make the context as full as this."""
    use = script.mind.meter.measure()
    script.mind.meter.sizes.overhead += int(ratio * use.window) - use.used + 1


@pytest.fixture
def nearly_full():
    """A function that makes an assistant whose context is filled to 85 %."""

    def make(replies=(), **settings):
        script = make_script(replies, **settings)
        script.services.toolbox.categories |= JOURNAL
        script.services.world.present = frozenset({ANN, BOB})
        script.purposes = []
        record = script.mind.turns.record_model_call

        def note(turn_id, model_call, also):
            script.purposes.append(model_call.purpose)
            record(turn_id, model_call, also)

        script.mind.turns.record_model_call = note
        talk(script, 30)
        fill(script, 0.85)
        return script

    return make


def test_where_there_is_room_nothing_is_asked_and_nothing_done(nearly_full):
    script = nearly_full()
    fill(script, 0.5)
    assert outcome(script.mind.emergency.make_room()) is None
    assert script.status.compactions == []


def test_where_nobody_waits_facts_are_journalled_first(nearly_full):
    script = nearly_full([entry("Ann is a smith."), call("noop"), SUMMARY])
    assert outcome(script.mind.emergency.make_room())["success"]
    assert script.purposes == ["pre_compaction", "pre_compaction", "summary"]
    callers = [request.caller for request in script.services.gateway.requests]
    assert not any(caller.background and caller.may_wait for caller in callers)


def test_who_waits_does_not_wait_for_a_journal(nearly_full):
    script = nearly_full([SUMMARY])
    script.hears("Mira, a beer!")
    assert outcome(extract_now(script)) == {"skipped": True, "reason": SOMEBODY_WAITS}
    assert outcome(script.mind.emergency.make_room())["success"]
    assert script.purposes == ["summary"]


def test_it_asks_three_times_at_most_and_less_where_the_setting_says_so(nearly_full):
    script = nearly_full([entry(f"Fact {number}.") for number in range(9)])
    assert outcome(extract_now(script))["iterations"] == 3
    script = nearly_full([entry(f"Fact {number}.") for number in range(9)],
                         pre_compact_max_iterations=1)  # fmt: skip
    assert outcome(extract_now(script))["iterations"] == 1


def test_where_the_talk_does_not_fit_it_sees_what_goes_in_pieces(nearly_full):
    script = nearly_full([call("noop")] * 3)
    fill(script, 1.0)
    assert script.mind.meter.measure().ratio > 1
    assert outcome(extract_now(script))["stopped_by"] == "noop"
    asked = [request.messages[1]["content"] for request in script.services.gateway.requests]
    assert all(text.startswith("<transcript>\nAnn says: line") for text in asked)
    assert "line 0 " in asked[0]


def test_what_went_while_somebody_waited_is_journalled_behind_the_answer(nearly_full):
    beer = call("say", text="A beer for Ann.")
    script = nearly_full([SUMMARY, beer, entry("Ann is a smith."), call("noop")])
    script.hears("Mira, a beer!")
    outcome(script.mind.tick())
    assert script.purposes == ["summary", "tick_event", "pre_compaction", "pre_compaction"]
    asked = script.services.gateway.requests[2].messages[1]["content"]
    assert ("line 0 " in asked, "a beer!" in asked) == (True, False)
    assert outcome(script.mind.emergency.journal_late())["skipped"]


def test_what_went_unread_is_journalled_in_sleep_at_the_latest(nearly_full):
    script = nearly_full([SUMMARY, entry("Ann is a smith."), call("noop")])
    script.hears("Mira, a beer!")
    outcome(script.mind.emergency.make_room())
    assert outcome(script.mind.emergency.journal_late()) == {
        "skipped": True, "reason": SOMEBODY_WAITS
    }  # fmt: skip
    result = outcome(script.mind.extraction.run())
    assert (result["success"], result["facts_recorded"], result["iterations"]) == (True, 1, 2)


def unread(script):
    return [record.upto_seq for record in script.conversation.to_journal()]


def test_what_went_unread_is_journalled_after_a_restart(nearly_full):
    script = nearly_full([SUMMARY, entry("Ann is a smith."), call("noop")])
    script.hears("Mira, a beer!")
    outcome(script.mind.emergency.make_room())
    assert unread(script)
    script.rebuild()  # nothing but what is stored is left
    result = outcome(script.mind.extraction.run())
    assert (result["success"], result["facts_recorded"]) == (True, 1)
    assert "line 0 " in script.services.gateway.requests[1].messages[1]["content"]
    assert unread(script) == []
    assert outcome(script.mind.emergency.journal_late())["skipped"]


@pytest.mark.parametrize("client", ["openai", "offline"])
def test_what_the_stand_in_journalled_for_no_model_waits_for_one(nearly_full, client):
    script = nearly_full([SUMMARY, LLMReply("", model=OFFLINE)])
    script.hears("Mira, a beer!")
    outcome(script.mind.emergency.make_room())
    script.inbox.close([1], "answered")
    script.mind.settings.profile = ModelProfile("home", client=client, model="gpt-4o")
    assert outcome(script.mind.emergency.journal_late())["reason"] == "no model to ask"
    assert bool(unread(script)) == (client == "openai")


def test_what_a_model_failed_to_journal_waits_for_the_next_sleep(nearly_full):
    script = nearly_full(
        [SUMMARY, ProviderUnavailable("gone"), entry("Ann is a smith."), call("noop")]
    )
    script.hears("Mira, a beer!")
    outcome(script.mind.emergency.make_room())
    script.inbox.close([1], "answered")
    assert outcome(script.mind.emergency.journal_late())["success"] is False
    assert outcome(script.mind.emergency.journal_late())["skipped"]
    assert unread(script)
    assert outcome(script.mind.extraction.run())["facts_recorded"] == 1
    assert unread(script) == []


def test_what_was_undone_is_in_view_again_and_not_journalled_late(nearly_full):
    script = nearly_full([SUMMARY])
    script.hears("Mira, a beer!")
    outcome(script.mind.emergency.make_room())
    script.inbox.close([1], "answered")
    script.conversation.undo()
    assert outcome(script.mind.emergency.journal_late())["skipped"]


def test_an_interrupted_journal_goes_on_behind_the_answer(nearly_full):
    beer = call("say", text="A beer for Ann.")
    script = nearly_full([entry("Ann is a smith."), SUMMARY, beer, call("noop")])
    run, asked = script.services.toolbox.run, []

    def interrupted(context, request):
        if not asked:
            asked.append(script.hears("Mira, a beer!"))
        return run(context, request)

    script.services.toolbox.run = interrupted
    outcome(script.mind.tick())
    assert script.purposes == ["pre_compaction", "summary", "tick_event", "pre_compaction"]
    assert unread(script) == []


def test_without_extraction_nothing_waits_to_be_journalled(nearly_full):
    script = nearly_full([SUMMARY], pre_compact_extraction_enabled=False)
    outcome(script.mind.emergency.make_room())
    assert unread(script) == []


def test_it_ends_as_soon_as_somebody_speaks(nearly_full):
    script = nearly_full([entry("Ann is a smith."), entry("Ann owes forty crowns.")])
    run = script.services.toolbox.run

    def interrupted(context, request):
        script.hears("Mira, a beer!")
        return run(context, request)

    script.services.toolbox.run = interrupted
    result = outcome(extract_now(script))
    assert (result["facts_recorded"], result["stopped_by"]) == (1, "interrupted")
    assert not script.mind.turns.current


def test_it_has_the_time_of_one_turn(nearly_full):
    script = nearly_full([call("noop")], turn_deadline=7.0)
    talk(script, 1, private_to="#5")
    deadlines = []
    complete = script.services.gateway.complete

    def noting(request, profile, deadline_at):
        deadlines.append(deadline_at)
        script.services.clock.advance(3)
        return complete(request, profile, deadline_at)

    script.services.gateway.complete = noting
    outcome(extract_now(script))
    assert set(deadlines) == {7.0}


@pytest.mark.parametrize("failure", [ProviderUnavailable("gone"), RuntimeError("a slip of ours")])
def test_room_is_made_whatever_becomes_of_the_journal(nearly_full, failure, monkeypatch):
    script = nearly_full([SUMMARY])
    if isinstance(failure, RuntimeError):
        monkeypatch.setattr(type(script.extraction), "extract", lambda *_args: 1 / 0)
    else:
        script = nearly_full([failure, SUMMARY])
    assert outcome(script.mind.emergency.make_room())["success"]
    assert script.mind.meter.measure().ratio < 0.8


def test_room_is_made_between_two_turns_of_one_tick(nearly_full):
    script = nearly_full([call("say", text="A beer for Ann."), SUMMARY, call("say", text="Yes.")])
    fill(script, 0.6)
    first = script.mind.turns.begin

    def growing(*args, **fields):
        turn = first(*args, **fields)
        if script.mind.turns.fired == 0:
            talk(script, 25)
        script.mind.turns.fired += 1
        return turn

    script.mind.turns.fired = 0
    script.mind.turns.begin = growing
    script.hears("Mira, a beer!")
    script.hears("Mira, and me?", speaker="#6", name="Bob", private=True, kind="whisper")
    assert outcome(script.mind.turn_runner.answer_all()) == 2
    assert [reason for reason, result in script.status.compactions if result] == ["emergency"]
    assert script.purposes == ["tick_event", "summary", "tick_event"]
