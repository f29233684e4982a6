"""``aitest``: dry turns and probes, as builders and admins see them."""

import time

import pytest
from twisted.internet.defer import Deferred

from evennia_ai import models
from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.probe import STEPS
from evennia_ai.messages import LLMReply, ToolCallRequest, Usage
from evennia_ai.policy.probe.grading import TOOL, WORD
from tests.provider import FaultyProvider
from tests.scripted import call

pytestmark = pytest.mark.engine

SECRET = "4f1c9e77-a2b8-tavern"
TWO_CALLS = {"tool_calls": [{"name": TOOL, "arguments": {"colour": c}} for c in ("red", "blue")]}


@pytest.fixture
def builder(game, tavern):
    return game.player("Bea", tavern, permissions=["Builder"])


@pytest.fixture
def admin(game, tavern):
    return game.player("Ada", game.room("Office"), permissions=["Admin"])


@pytest.fixture
def mira(game, tavern):
    return game.assistant("Mira", tavern, "You are Mira, a barkeep.")


def rows():
    """How many rows every log has, but for model calls and their sums."""
    logs = (models.Event, models.Message, models.Turn, models.ToolCall)
    return [log.objects.count() for log in logs]


# --- a dry turn ---


def test_a_builder_sees_what_it_would_say_and_nobody_hears_it(game, tavern, builder, mira):
    ann = game.player("Ann", tavern)
    game.model.add(call("say", text="Two |rales|n!"))
    text = builder.told("aitest Mira = Mira, two ales, please")
    assert "Asking default:offline ..." in text
    assert "If Bea says to Mira: Mira, two ales, please" in text
    assert "Bea, Ann would hear the answer." in text
    assert "would say: Two |rales|n!" in text
    assert "The turn would end here." in text
    game.run(1)
    assert ann.heard() == []
    assert rows() == [0, 0, 0, 0]
    prompt = game.model.requests[0].messages
    assert "You are Mira, a barkeep." in prompt[1]["content"]
    assert prompt[-1]["content"] == "Bea says: Mira, two ales, please"


def test_its_cost_is_counted(game, builder, mira):
    game.model.add(LLMReply("Hm.", usage=Usage(120, 5)))
    text = builder.told("aitest Mira = hello")
    assert "Step 1: prompt 120 tokens, reply 5, " in text
    row = models.ModelCall.objects.get()
    assert (row.purpose, row.turn_id, row.prompt_tokens) == ("rehearsal", None, 120)
    assert models.DailyUse.objects.get().calls == 1
    game.model.add(LLMReply("Hm.", usage=Usage(120, 5, 100)))
    assert "prompt 120 tokens (100 cached), reply 5, " in builder.told("aitest Mira = hello")
    game.model.add(LLMReply("Hm."))
    assert "prompt about " in builder.told("aitest Mira = hello")


def test_things_stay_where_they_are_and_errors_are_told(game, tavern, builder, mira):
    mug = game.thing("mug", mira)
    game.model.add(
        (
            call("give", item="mug", to="Bea"),
            call("fly", to="the moon"),
            ToolCallRequest("x", "give", '{"item": 3'),
        ),
        call("say", text="There."),
    )
    text = builder.told("aitest Mira = a mug, please")
    assert "would give: item mug, to Bea" in text
    assert "would not fly: to the moon" in text
    assert "There is no tool 'fly'. There are: " in text
    assert "would not give: " in text
    assert "Step 2: " in text and "would say: There." in text
    assert mug.location is mira
    assert "(not done: rehearsal)" in repr(game.model.requests[1].messages)


def test_bad_arguments_are_told(game, builder, mira):
    game.model.add(call("give", to="Bea"), call("noop"))
    assert "The arguments do not fit: item: Field required" in builder.told("aitest Mira = hello")


def test_a_character_with_too_many_rights_would_do_nothing(game, builder, mira):
    mira.permissions.add("Developer")
    game.model.add(call("say", text="x"), call("noop"))
    assert "a model must never have that" in builder.told("aitest Mira = hello")


def test_the_characters_own_hook_is_not_asked(game, builder, mira):
    asked = []
    mira.at_ai_pre_act = lambda tool, args: asked.append(tool)
    game.model.add(call("say", text="x"))
    assert "would say: x" in builder.told("aitest Mira = hello")
    assert asked == []


def test_it_works_while_the_assistant_is_stopped(game, builder, mira):
    mira.locks.add("edit:perm(Builder)")
    builder.do("aistop Mira")
    game.model.add(call("say", text="Good evening."))
    assert "would say: Good evening." in builder.told("aitest Mira = hello")
    assert mira.assistant.db.stopped


def test_a_whispered_line_is_for_the_caller_alone(game, tavern, builder, mira):
    game.player("Ann", tavern)
    game.model.add(call("say", text="Hush."))
    text = builder.told("aitest/whisper Mira = psst")
    assert "If Bea whispers to Mira: psst" in text
    assert "Bea would hear the answer." in text
    assert "would say: Hush. (whispered)" in text
    assert "Bea whispers to you: psst" in repr(game.model.requests[0].messages)


def test_from_afar_it_is_as_if_the_caller_stood_there(game, admin, tavern, mira):
    game.player("Ann", tavern)
    game.model.add(call("say", text="Good evening."))
    text = admin.told("aitest Mira = Mira, hello")
    assert "Ada, Ann would hear the answer." in text or "Ann, Ada would hear the answer." in text


def test_what_it_would_only_overhear_is_not_asked(game, tavern, builder, mira):
    game.player("Ann", tavern)
    text = builder.told("aitest Mira = Ann, hello")
    assert "Mira would not answer: the line is not addressed to it (somebody else named)." in text
    assert game.model.requests == []


def test_the_offline_brain_can_be_tried_too(offline_game):
    tavern = offline_game.room()
    bea = offline_game.player("Bea", tavern, permissions=["Builder"])
    offline_game.assistant("Mira", tavern, "You are Mira, who keeps the Gilded Gull.")
    text = bea.told("aitest Mira = Good evening!")
    assert "would say" in text
    assert rows() == [0, 0, 0, 0]


def test_nothing_wanted_and_an_excuse(game, builder, mira):
    game.model.add("")
    text = builder.told("aitest Mira = hello")
    assert "no words and no tool call" in text
    assert "Mira would say its fallback line." in text


def test_words_that_would_not_be_spoken_are_told(game, builder, admin, mira):
    game.service.profiles["cloud"] = {"client": "openai", "model": "m"}
    mira.assistant.db.profile = "cloud"
    refused = call("say", text='{"name": "say"}')
    game.model.add(refused, call("say", text="Good evening."), refused, refused)
    text = builder.told("aitest Mira = hello")
    assert "would not say: " in text
    assert "= it was JSON, not words" in text
    assert "would say: Good evening." in text
    assert "The turn would end here." in text
    assert "Mira would say its fallback line." in builder.told("aitest Mira = hello again")
    game.model.add(refused)
    assert "is now 1" in admin.told("aisetup/set Mira/max_iterations = 1")
    assert "asked once more for other words" in builder.told("aitest Mira = and again")


def test_an_error_of_the_model_is_told(game, builder, mira):
    game.model.add(ProviderUnavailable("Nothing listens there."))
    text = builder.told("aitest Mira = hello")
    assert "The model gave no answer: Nothing listens there." in text
    assert models.ModelCall.objects.get().error_kind == "unavailable"


def test_an_error_of_our_own_is_told_without_its_words(game, builder, mira):
    game.model.add(lambda request: 1 / 0)
    text = builder.told("aitest Mira = hello")
    assert "aitest failed because of a bug" in text
    assert "ZeroDivision" not in text


def test_one_at_a_time_and_again_after_it(game, builder, mira):
    late = Deferred()
    game.model.add(late)
    builder.do("aitest Mira = hello")
    assert "A dry run of Mira is in progress" in builder.told("aitest Mira = hello")
    late.callback(call("say", text="Here I am."))
    assert "would say: Here I am." in builder.last()
    game.model.add(call("noop"))
    assert "would noop" in builder.told("aitest Mira = hello")


def test_an_assistant_deleted_meanwhile(game, builder, mira):
    late = Deferred()
    game.model.add(late)
    builder.do("aitest Mira = hello")
    mira.assistant.delete()
    late.callback("too late")
    assert "no longer current" in builder.last()
    assert not models.ModelCall.objects.exists()


# --- what cannot be done ---


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("aitest", "Usage: aitest <assistant> = <line>"),
        ("aitest = hello", "Usage: aitest <assistant> = <line>"),
        ("aitest Mira", "Which line?"),
        ("aitest Mira =", "Which line?"),
        ("aitest/whisper Mira", "Which line?"),
        ("aitest/whisper", "Usage: aitest"),
        ("aitest Nobody = hello", "There is no character called 'Nobody'."),
        ("aitest rock = hello", "rock has no assistant."),
        ("aitest/frob Mira = x", "There is no switch /frob. There are: /whisper, /provider."),
        ("aitest/whisper/provider Mira = x", "Use one switch at a time"),
        ("aitest/provider", "Only admins may test an endpoint"),
        ("aitest/provider offline", "Only admins may test an endpoint"),
        ("aitest Mira = " + "9" * 50_000, "would say: Much."),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(game, builder, mira, tavern, line, answer):
    game.thing("rock", tavern)
    game.model.add(call("say", text="Much."))
    text = builder.told(line)
    assert answer in text
    assert "Traceback" not in text


def test_an_ambiguous_name_lists_the_numbers(game, tavern, builder, mira):
    second = game.assistant("Mira", tavern)
    text = builder.told("aitest Mira = hello")
    assert "Several match" in text
    assert mira.dbref in text and second.dbref in text
    game.model.add(call("noop"))
    assert "would noop" in builder.told(f"aitest {second.dbref} = Mira, hello")


def test_nowhere_there_is_nobody_to_speak_to(game, admin, mira):
    mira.location = None
    assert "Mira is in no room" in admin.told(f"aitest {mira.dbref} = hello")


def test_players_may_not(game, tavern, mira):
    ann = game.player("Ann", tavern)
    assert "is not available" in ann.told("aitest Mira = hello")
    assert "is not available" in ann.told("aitest/provider offline")


def test_help_is_there(builder):
    assert "aitest/provider <profile>" in builder.told("help aitest")


# --- a probe ---


@pytest.fixture(scope="module")
def provider_process(tmp_path_factory):
    with FaultyProvider(tmp_path_factory.mktemp("stub") / "requests.jsonl") as provider:
        yield provider


@pytest.fixture
def provider(provider_process):
    provider_process.clear()
    return provider_process


@pytest.fixture
def handed_over(service):
    """What the loop thread hands to the reactor, which does not run here."""
    jobs = []
    service.models.loop_thread._call_from_thread = lambda *job: jobs.append(job)
    return jobs


@pytest.fixture
def castle(service, provider, monkeypatch):
    service.profiles["castle"] = {
        "client": "openai", "model": "stub", "base_url": provider.base_url,
    }  # fmt: skip
    return service.profiles["castle"]


def probe(player, line, jobs, until="The profile '"):
    """Type the command and play the reactor until the verdict is there."""
    player.forget()
    player.do(line)
    end = time.monotonic() + 20
    while until not in player.last():
        assert time.monotonic() < end, player.heard()
        while jobs:
            function, *arguments = jobs.pop(0)
            function(*arguments)
        time.sleep(0.005)
    return "\n".join(player.heard())


def test_an_admin_sees_the_steps_and_the_verdict(admin, castle, provider, handed_over, service):
    in_schema = '{"act": "none", "target": "", "say": "Good evening."}'
    provider.queue({"text": WORD}, TWO_CALLS, {"text": "Noted."}, {"text": in_schema})
    text = probe(admin, "aitest/provider castle", handed_over)
    assert text.startswith(f"Testing 'castle': {provider.base_url}, stub")
    for number, title in enumerate(STEPS, 1):
        assert f"{number} of 5: {title}" in text
    assert "ok    It calls tools." in text
    assert "note  It does not tell its context window." in text
    assert "ok    It will be asked by tools:" in text
    assert text.endswith("The profile 'castle' works.")
    told = service.endpoints.told(ModelProfile("castle", model="stub", base_url=provider.base_url))
    assert (told.told.form, told.told.system) == ("tools", True)


def test_each_endpoint_of_a_profile_is_tested(admin, castle, provider, handed_over):
    castle["endpoints"] = [castle["base_url"], {"base_url": castle["base_url"], "model": "nobody"}]
    unknown = {"raw": '{"error": {"message": "no"}}', "status": 404}
    provider.queue({"text": WORD}, TWO_CALLS, {"text": "Noted."}, {"text": "no schema"}, unknown)
    text = probe(admin, "aitest/provider castle", handed_over, until="does not work yet")
    assert text.index("stub") < text.index("The profile 'castle' works.") < text.index("nobody")


def test_what_is_wrong_comes_with_what_to_do(admin, castle, provider, handed_over):
    castle["model"] = "nobody"
    provider.queue({"raw": '{"error": {"message": "no"}}', "status": 404})
    text = probe(admin, "aitest/provider castle", handed_over)
    assert "wrong There is no model 'nobody' (HTTP 404).\n      There are: stub." in text
    assert text.endswith("The profile 'castle' does not work yet.")


def test_another_model_may_be_named(admin, castle, provider, handed_over):
    provider.queue({"text": WORD}, TWO_CALLS, {"text": "Noted."})
    probe(admin, "aitest/provider castle = big", handed_over)
    assert {request["body"]["model"] for request in provider.requests()} == {"big"}


def test_the_games_own_model_counts(admin, castle, provider, handed_over, settings):
    settings.AI_ASSISTANT = {"llm_model": "huge"}
    provider.queue({"text": WORD}, TWO_CALLS, {"text": "Noted."})
    probe(admin, "aitest/provider castle", handed_over)
    assert {request["body"]["model"] for request in provider.requests()} == {"huge"}


def test_what_a_server_says_is_shown_without_its_markup(admin, castle, provider, handed_over):
    refusal = {"raw": '{"error": {"message": "|lcquit|ltclick|le"}}', "status": 400}
    provider.queue(refusal, refusal, refusal)
    text = probe(admin, "aitest/provider castle", handed_over)
    assert "|lcquit|ltclick|le" in text


def test_a_key_is_never_shown(admin, castle, provider, handed_over, service):
    service.models.client._environ["CASTLE_KEY"] = SECRET
    castle["api_key_env"] = "CASTLE_KEY"
    provider.control(require_key="another")
    text = probe(admin, "aitest/provider castle", handed_over)
    assert "refuses the key in CASTLE_KEY" in text
    assert SECRET not in text


def test_one_probe_at_a_time(admin, castle, provider, handed_over):
    provider.control(pages={"GET /v1/models": {"raw": "[]", "latency": 60}})
    admin.do("aitest/provider castle")
    assert "Another probe is running" in admin.told("aitest/provider castle")


def test_a_server_that_stops_ends_the_probe_in_silence(admin, castle, provider, service):
    provider.control(pages={"GET /v1/models": {"raw": "[]", "latency": 60}})
    admin.do("aitest/provider castle")
    admin.forget()
    service.stopService()
    assert admin.heard() == []


def test_the_offline_brain_says_what_it_is(admin):
    assert "uses the offline brain" in admin.told("aitest/provider offline")


@pytest.mark.parametrize("line", ["aitest/provider", "aitest/provider x", "aitest/provider x = y"])
def test_no_profile_or_an_unknown_one_names_those_there_are(admin, line):
    text = admin.told(line)
    for name in ("default", "llamacpp", "offline", "ollama", "openai", "openrouter", "vllm"):
        assert name in text


def test_a_built_in_profile_works_at_once_but_wants_a_model(game, admin, mira):
    text = admin.told("aisetup/set Mira/profile = ollama")
    assert "profile is now ollama." in text
    assert "The profile 'ollama' names no model. Set " in text
    admin.told("aisetup/set Mira/llm_model = qwen3:8b")
    assert mira.assistant.profile.base_url == "http://localhost:11434/v1"
    assert mira.assistant.complaints == []
