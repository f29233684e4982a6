"""The calls of a reply run one by one, also while it arrives."""

import json
from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig
from evennia_ai.errors import NothingDone, OutcomeUnknown
from evennia_ai.messages import LLMReply, ToolCallRequest, make_message, wire_call
from evennia_ai.policy.conversation.tool_call_rules import TOO_MANY, LoopState, begin_step
from evennia_ai.policy.replies.output_checks import CheckContext
from evennia_ai.ports import ToolResult
from evennia_ai.turn.guardrails import REPEATED, OutputGuardrail
from evennia_ai.turn.tool_call_runner import ToolCallRunner
from evennia_ai.turn.tool_executor import call_messages
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM

ANN = frozenset({"#5"})
JSON = '{"act": "none"}'


class Scene:
    """A turn, and the run of a reply's calls in it."""

    def __init__(self, *earlier, leaves="", **config):
        script = self.script = MemoryMind(ScriptedLLM(), AssistantConfig(**config))
        script.services.toolbox.categories["emote"] = "once"
        self.behaviours = script.services.toolbox.behaviours
        script.hears("Mira?")
        events = script.mind.inbox.in_state("waiting")
        turn = self.turn = script.mind.turns.begin(events, ANN, False, "tick")
        context = script.mind.tool_executor.context_for(turn, ANN, False, None)
        context = replace(context, deadline_at=100.0)
        specs = {spec.name: spec for spec in script.services.toolbox.offered(context)}
        if leaves:
            specs[leaves] = replace(specs["look"], name=leaves, world=True, leaves=True)
        check = OutputGuardrail(CheckContext("Mira"), earlier, 1_000)
        state = begin_step(LoopState(turn.id))
        parts = (script.tool_executor, script.moderation_gate, script.settings)
        self.calls = ToolCallRunner(*parts, turn, context, specs, state, check)

    def arrive(self, *calls):
        for call in calls:
            self.calls.arrive(call)
        return self

    def finish(self, *calls, finish_reason="stop"):
        """Run a whole reply; return what it did, or None while it runs."""
        fired = []
        reply = LLMReply("", calls, finish_reason)
        self.calls.finish(reply).addBoth(fired.append)
        self.ran = fired[0] if fired else None
        return self.ran

    @property
    def acts(self):
        return [(act.call.name, act.state) for act in self.script.mind.turns.acts]

    @property
    def spoken(self):
        return [text for _, text, _ in self.script.services.toolbox.spoken]

    def fails(self, *tools):
        def fail(context, arguments):
            raise NothingDone("That cannot be done.")

        for tool in tools:
            self.behaviours[tool] = fail


def act(name, call_id="a", **arguments):
    return ToolCallRequest(call_id, name, json.dumps(arguments))


def says(text, call_id="speech", name="say"):
    return act(name, call_id, text=text)


GIVE = act("give", item="mug", to="Ann")
ONE, TWO, THREE = says("Take it, Ann."), says("Mind the glass."), says("It is hot.")


def test_calls_run_in_their_order_whether_they_arrive_early_or_late():
    scene = Scene().arrive(GIVE, ONE)
    assert scene.spoken == ["Take it, Ann."]
    ran = scene.finish(GIVE, ONE, TWO)
    assert scene.acts == [("give", "done"), ("say", "done"), ("say", "done")]
    assert scene.spoken == ["Take it, Ann.", "Mind the glass."]
    assert (ran.done, ran.acted, ran.blocked) == ({"give", "say"}, True, False)


def test_a_call_waits_for_the_one_before_it():
    scene = Scene()
    slow = Deferred()
    scene.behaviours["give"] = lambda context, arguments: slow
    scene.arrive(GIVE, ONE)
    assert scene.finish(GIVE, ONE, TWO) is None
    assert scene.spoken == []
    slow.callback("You gave it.")
    assert scene.spoken == ["Take it, Ann.", "Mind the glass."]


def test_each_call_has_its_own_id_in_the_log():
    scene = Scene()
    scene.finish(GIVE, ONE, TWO)
    assert len({stored.call.id for stored in scene.script.mind.turns.acts}) == 3


def test_words_that_depend_on_an_act_are_not_said_if_it_fails():
    scene = Scene()
    scene.fails("give")
    ran = scene.finish(GIVE, ONE)
    assert scene.acts == [("give", "failed")]
    assert (ran.blocked, ran.acted) == (True, False)


def test_nothing_of_a_reply_that_arrives_is_said_after_an_act_failed():
    scene = Scene()
    scene.fails("give")
    scene.arrive(GIVE, ONE).finish(GIVE, ONE, TWO)
    assert scene.acts == [("give", "failed")]


def test_words_of_any_reply_wait_for_its_acts():
    scene = Scene()
    scene.finish(ONE, GIVE)
    assert scene.acts == [("give", "done"), ("say", "done")]


def test_words_before_a_way_out_are_said_where_they_are_heard():
    scene = Scene(leaves="move")
    scene.finish(ONE, act("move", to="mill"), GIVE)
    assert [name for name, _ in scene.acts] == ["say", "move", "give"]


@pytest.mark.parametrize("arrives", [False, True])
@pytest.mark.parametrize("telling", [ONE, act("emote", text="hands Ann the mug."),
                                     act("whisper", text="Take it.", target="Ann")])  # fmt: skip
def test_nothing_is_told_after_an_act_of_the_same_reply_failed(telling, arrives):
    scene = Scene()
    scene.fails("give")
    scene.arrive(*[GIVE] * arrives)
    ran = scene.finish(GIVE, telling, act("look"), act("noop"))
    others = [] if arrives else [("look", "done")]
    assert scene.acts == [("give", "failed"), *others]
    assert ran.blocked and not ran.state.ended


@pytest.mark.parametrize("state", ["asked", "unknown"])
def test_nor_after_one_that_is_not_done_yet_or_may_not_be(state):
    scene = Scene()
    scene.behaviours["give"] = lambda context, arguments: ToolResult(state, "Wait.")
    assert scene.finish(GIVE, ONE).blocked
    assert scene.acts == [("give", state)]


def test_words_that_came_before_an_act_failed_can_be_put_right():
    scene = Scene().arrive(ONE)
    scene.fails("give")
    ran = scene.finish(ONE, GIVE, act("noop"))
    assert scene.acts == [("say", "done"), ("give", "failed")]
    assert not ran.state.ended and not ran.state.limited


def test_an_act_that_fails_for_the_third_time_ends_the_turn_all_the_same():
    scene = Scene()
    scene.fails("give")
    assert scene.finish(GIVE, GIVE, GIVE, ONE).state.ended
    assert scene.spoken == []


def test_words_do_not_depend_on_a_gesture():
    scene = Scene()
    scene.fails("emote")
    assert not scene.finish(act("emote", text="nods."), ONE).blocked
    assert scene.spoken == ["Take it, Ann."]


def test_the_sentences_of_one_speech_are_not_already_done():
    scene = Scene(max_tool_calls=1)
    scene.finish(ONE, TWO, THREE)
    assert scene.spoken == ["Take it, Ann.", "Mind the glass.", "It is hot."]


def test_a_second_speech_is_already_done():
    scene = Scene()
    scene.finish(ONE, says("And one more thing.", "other"))
    assert scene.acts == [("say", "done"), ("say", "refused")]


def test_a_speech_ends_with_the_sentence_that_failed():
    scene = Scene()
    scene.fails("say")
    scene.finish(ONE, TWO, THREE)
    assert scene.acts == [("say", "failed")]


def test_a_sentence_that_repeats_one_of_the_speech_is_left_out():
    scene = Scene()
    ran = scene.finish(ONE, TWO, TWO, THREE)
    assert scene.spoken == ["Take it, Ann.", "Mind the glass.", "It is hot."]
    assert ran.refused == ""


SAID = make_message(
    "assistant", "", tool_calls=[wire_call("a", "say", '{"text": "Mind the glass."}')]
)


def test_a_speech_that_begins_with_what_was_said_before_goes_on_without_it():
    scene = Scene(SAID)
    ran = scene.arrive(TWO).finish(TWO, THREE, ONE)
    assert scene.spoken == ["It is hot.", "Take it, Ann."]
    assert (ran.refused, ran.acted) == ("", True)


@pytest.mark.parametrize("then", [(), (GIVE,)])
def test_a_speech_of_nothing_but_repeats_is_refused_and_nothing_behind_it_runs(then):
    scene = Scene(SAID)
    ran = scene.arrive(TWO).finish(TWO, TWO, *then)
    assert ran.refused == REPEATED
    assert scene.acts == [("say", "refused")]


@pytest.mark.parametrize(
    ("text", "acts", "spoken"),
    [
        ("*slams a tankard* Who asks?", [("emote", "done"), ("say", "done")], ["Who asks?"]),
        ('Mira laughs. "Who asks?"', [("emote", "done"), ("say", "done")], ["Who asks?"]),
        ("/me laughs", [("emote", "done")], []),
        ("Well met.\nWanderer: And you?", [("say", "done")], ["Well met."]),
        ("Mira, at your service.", [("say", "done")], ["Mira, at your service."]),
    ],
)
def test_a_speech_is_its_words_and_what_it_tells_beside_them_is_shown(text, acts, spoken):
    scene = Scene()
    ran = scene.finish(says(text))
    assert (scene.acts, scene.spoken) == (acts, spoken)
    assert ran.acted and not ran.refused


def test_a_deed_is_left_out_behind_the_first_sentence_and_where_no_gesture_is_offered():
    scene = Scene()
    scene.finish(ONE, says("*nods* Mind the glass."), says("*nods*"), THREE)
    assert scene.spoken == ["Take it, Ann.", "Mind the glass.", "It is hot."]
    scene = Scene()
    del scene.calls.specs["emote"]
    scene.finish(says("*nods* Mind the glass."))
    assert scene.acts == [("say", "done")]
    scene = Scene()
    del scene.calls.specs["emote"]
    assert "gesture" in scene.finish(says("*nods*")).refused


def test_the_label_of_another_speaker_ends_a_speech_that_arrives():
    scene = Scene()
    ran = scene.arrive(ONE, says("User: And you?")).finish(ONE, TWO, TWO, THREE)
    assert scene.spoken == ["Take it, Ann."]
    assert ran.refused == ""


def test_refused_words_end_the_run_and_leave_a_row_without_a_message():
    scene = Scene()
    ran = scene.arrive(says(JSON), GIVE).finish(says(JSON), GIVE, ONE)
    assert "JSON" in ran.refused
    assert scene.acts == [("say", "refused")]
    assert json.loads(scene.script.mind.turns.acts[0].call.arguments) == {"text": JSON}
    assert [m["role"] for m in scene.script.conversation.messages] == ["user"]
    assert not ran.acted


def test_what_was_said_before_refused_words_stays_said():
    ran = Scene().finish(ONE, says(JSON), TWO)
    assert (bool(ran.refused), ran.acted, ran.state.ended) == (True, True, True)


def test_a_repeated_gesture_is_left_out():
    nod = act("emote", text="nods slowly.")
    wired = wire_call("a", "emote", nod.arguments)
    scene = Scene(make_message("assistant", "", tool_calls=[wired]))
    scene.finish(nod, ONE)
    assert scene.acts == [("say", "done")]


def test_calls_that_arrive_after_the_end_are_dropped():
    scene = Scene()
    scene.finish(ONE)
    scene.arrive(TWO)
    assert scene.spoken == ["Take it, Ann."]


def test_calls_that_arrive_while_the_last_ones_run_are_dropped():
    scene, slow = Scene(), Deferred()
    scene.behaviours["give"] = lambda context, arguments: slow
    scene.arrive(GIVE)
    settled = []
    scene.calls.settle().addBoth(settled.append)
    scene.arrive(ONE)
    slow.callback("You gave it.")
    assert settled[0].done == {"give"}
    assert scene.acts == [("give", "done")]


def test_a_failure_surfaces_at_the_end_and_nothing_runs_after_it():
    scene = Scene()

    def hang(context, arguments):
        raise OutcomeUnknown("say came to no end")

    scene.behaviours["say"] = hang
    scene.arrive(ONE, TWO)
    failure = scene.finish(ONE, TWO, GIVE)
    failure.trap(OutcomeUnknown)
    assert [name for name, _ in scene.acts] == ["say"]


def test_of_too_many_calls_the_first_over_the_limit_is_answered():
    scene = Scene(max_tool_calls=2)
    looks = [act("look", f"l{number}", target=str(number)) for number in range(5)]
    scene.finish(*looks)
    assert scene.acts == [("look", "done"), ("look", "done"), ("look", "refused")]
    assert scene.script.mind.turns.acts[-1].result == TOO_MANY


def test_a_speech_over_the_limit_is_not_said_in_part():
    scene = Scene(max_tool_calls=1)
    scene.finish(GIVE, ONE, TWO)
    assert scene.acts == [("give", "done"), ("say", "refused")]


def test_only_calls_that_arrived_whole_survive_a_reply_that_was_cut_off():
    scene = Scene().arrive(ONE)
    scene.finish(ONE, act("give", "b", item="mug", to="Ann"), finish_reason="length")
    assert scene.acts == [("say", "done"), ("give", "refused")]


@pytest.mark.parametrize("state", ["unknown", "asked"])
def test_an_act_that_may_yet_be_done_is_not_tried_anew(state):
    scene = Scene()
    scene.behaviours["give"] = lambda context, arguments: ToolResult(state, "Perhaps.")
    scene.finish(GIVE, act("give", "b", item="mug", to="Bob"))
    assert scene.acts == [("give", state), ("give", "refused")]


def test_a_refused_call_is_no_act_in_the_world():
    # As one, it would count as done after a crash before its outcome.
    scene = Scene().arrive(GIVE)
    scene.finish(GIVE, replace(GIVE, id="b"))
    given, refused = scene.script.mind.turns.acts
    assert (given.state, given.world) == ("done", True)
    assert (refused.state, refused.world) == ("refused", False)


@pytest.mark.parametrize(
    ("read", "changed"),
    [(("#7",), ()), ((), ("#7",)), (("#7",), ("#8",))],
    ids=["read", "changed", "both"],
)
def test_the_log_says_what_a_call_read_and_changed(read, changed):
    _, told = messages_of(ToolResult("done", "It is a mug.", read=read, changed=changed))
    assert told["metadata"]["consulted"] == {"read": list(read), "changed": list(changed)}


def test_the_log_names_the_game_as_author_only_of_what_nobody_else_wrote():
    for authors, expected in ((frozenset(), {"#5", "game"}), (frozenset({"#9"}), {"#5", "#9"})):
        for message in messages_of(ToolResult("done", "A note.", authors=authors)):
            assert set(message["metadata"]["authors"]) == expected


def messages_of(result):
    """Return the messages of a call with this result, in a turn of words by Ann."""
    scene = Scene()
    context = replace(scene.calls.context, authors=ANN)
    return call_messages(scene.turn, context, act("look", target="note"), result)


def test_a_call_has_the_authors_of_what_the_calls_before_it_in_its_reply_told():
    scene, asked = Scene(), []
    told = ToolResult("done", "A note: give me the mug.", authors=frozenset({"#9"}))
    scene.behaviours["look"] = lambda context, arguments: told
    scene.behaviours["give"] = lambda context, arguments: asked.append(context.all_authors)
    ran = scene.finish(ToolCallRequest("1", "look", "{}"), ToolCallRequest("2", "give", "{}"))
    assert "#9" in asked[0] and "#9" in ran.authors
