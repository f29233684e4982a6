"""`evennia ai_check` plays scenes of files and of the game's characters, and records turns."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from django.apps import apps
from django.core.management import CommandError, call_command
from twisted.internet.task import Clock

from evennia_ai.errors import ConfigError, ProviderMisconfigured, ProviderUnavailable
from evennia_ai.messages import ToolCallRequest
from evennia_ai.models import Turn
from evennia_ai.policy.scenes.reading import read_scenes
from evennia_ai.policy.scenes.results import failure_lines
from evennia_ai.testing.scenes.casting import cast_of
from evennia_ai.testing.scenes.check_models import CheckModels
from evennia_ai.testing.scenes.checking import load_scenes
from evennia_ai.testing.scenes.play import Player
from evennia_ai.testing.scenes.recording import record_scene, turn_range
from evennia_ai.tools.registry import load_registry
from tests.game.conftest import gateway_to
from tests.postgresql import URL
from tests.provider import FaultyProvider
from tests.scripted import ScriptedLLM, call

ROOT = Path(__file__).parents[2]
PROFILES = {
    "scripted": {"client": "openai", "model": "m", "form": "tools", "base_url": "http://x/v1"},
    "judge": {"client": "openai", "model": "wise", "form": "tools", "base_url": "http://x/v1"},
    "offline": {"client": "offline", "model": "offline"},
}
MIRA = {"name": "Mira", "persona": "You are Mira.", "people": ["Ann", "Rolf"]}
HELLO = {"who": "Ann", "says": "Hello, Mira"}


@pytest.fixture
def stage(db, settings):
    """Return a function that plays one scene with a scripted model."""
    settings.AI_ASSISTANT = {}

    def play(*replies, profile="scripted", **scene):
        model = ScriptedLLM(replies)
        clock, ended = Clock(), []
        data = {**MIRA, "steps": [HELLO], "scene": "One", **scene}
        (read,) = read_scenes({"scenes": [data]}, "x.yaml")
        models = CheckModels(gateway_to(model, clock), PROFILES, lambda told: told)
        player, cast = Player(load_registry(()).tools.values(), models, clock), cast_of(read)
        player.ensure_playable(read, cast, profile)
        player.play_scene(read, cast, profile).addBoth(ended.append)
        while not ended:
            clock.advance(1)
        if isinstance(ended[0], Exception) or hasattr(ended[0], "raiseException"):
            ended[0].raiseException()
        return ended[0], model

    return play


def rows():
    """How many rows all tables of the game hold."""
    return {model.__name__: model.objects.count() for model in apps.get_models()}


def prompt_of(request):
    return "\n".join(str(message["content"]) for message in request.messages)


# --- playing ---


def test_the_prompt_holds_what_the_scene_says(stage):
    result, model = stage(
        call("say", text="Hello."),
        lore=[{"title": "The bell", "text": "The bell hangs in the tower."}],
        place={"name": "The Gull", "exits": ["quay"], "things": ["bench"]},
        memories=["Ann once rang the bell."],
        earlier=[{"who": "Rolf", "says": "It rains."}, {"who": "Mira", "says": "So it does."}],
        steps=[{"who": "Ann", "says": "Mira, where is the bell?"}],
    )
    prompt = prompt_of(model.requests[0])
    for expected in (
        "You are Mira.", "The Gull", "quay", "bench", "hangs in the tower", "Ann once rang",
        "Rolf says: It rains.", "Ann says: Mira, where is the bell?",
    ):  # fmt: skip
        assert expected in prompt
    assert "So it does." in str(model.requests[0].messages)
    offered = {tool["function"]["name"] for tool in model.requests[0].tools}
    assert {"say", "whisper", "move", "get"} <= offered
    assert result.holds


def test_a_whisper_of_one_person_is_not_in_the_prompt_for_another(stage):
    earlier = [{"who": "Rolf", "whispers": "The key is under the mat."}]
    memory = {"text": "Rolf stole the lamp.", "told_by": "Rolf", "private": True}
    steps = [{"who": "Ann", "says": "Mira, what did Rolf do with the key and the lamp?"}]
    _, model = stage("I cannot say.", earlier=earlier, memories=[memory], steps=steps)
    assert "under the mat" not in prompt_of(model.requests[0])
    assert "stole" not in prompt_of(model.requests[0])
    steps[0] = {"who": "Rolf", "whispers": "Mira, where is the key, and who stole the lamp?"}
    _, model = stage("Under the mat.", earlier=earlier, memories=[memory], steps=steps)
    assert "under the mat" in prompt_of(model.requests[0])
    assert "stole" in prompt_of(model.requests[0])


def test_an_own_whisper_was_for_whoever_was_answered(stage):
    whispers = [
        {"who": "Rolf", "whispers": "Where is it?"},
        {"who": "Mira", "whispers": "In the loft."},
    ]
    _, model = stage("Who knows.", earlier=whispers)
    assert "loft" not in str(model.requests[0].messages)
    steps = [{"who": "Rolf", "whispers": "Again, where?"}]
    _, model = stage("There.", earlier=whispers, steps=steps)
    assert "loft" in str(model.requests[0].messages)


def test_an_overheard_line_is_in_the_next_prompt_and_needs_no_answer(stage):
    steps = [{"who": "Rolf", "says": "I saw a seal.", "overheard": True}, HELLO]
    result, model = stage("Hello.", steps=steps)
    assert len(model.requests) == len(result.runs[0].steps) == 1
    assert "I saw a seal" in prompt_of(model.requests[0])


def test_an_answer_to_a_whisper_is_whispered_whatever_tool_the_model_takes(stage):
    steps = [{"who": "Ann", "whispers": "Psst.", "answer": {"private": True}}]
    result, _ = stage(call("say", text="Yes?"), steps=steps)
    assert result.holds


def test_acts_are_checked_and_answered_but_never_done(stage):
    steps = [{**HELLO, "answer": {"must_do": [{"give": {"item": "mug", "to": "Ann"}}]}}]
    place = {"carrying": ["mug"]}
    result, model = stage(
        (call("give", item="mug", to="Ann"), call("look", target="Ann")),
        call("say", text="Here."),
        steps=steps,
        place=place,
        results={"look": "Ann is wet."},
    )
    assert result.holds
    told = [m["content"] for m in model.requests[1].messages if m["role"] == "tool"]
    assert told == ["Done.", "Ann is wet."]
    result, _ = stage(call("give", thing="mug"), call("say", text="Hm."), steps=steps, place=place)
    assert not result.holds


@pytest.mark.parametrize("arguments", ["{item", "[1]", '"mug"', "", "null"])
def test_arguments_that_cannot_be_read_are_a_failed_call(stage, arguments):
    steps = [{**HELLO, "answer": {"must_do": {"give": {"item": "mug"}}}}]
    broken = ToolCallRequest("c1", "give", arguments)
    result, _ = stage((broken,), call("say", text="Hm."), call("say", text="Well."), steps=steps)
    assert not result.holds


def test_words_that_the_engine_refuses_are_told_and_the_second_reply_counts(stage):
    result, _ = stage("As an AI language model, I cannot.", "Good evening.")
    (step,) = result.runs[0].steps
    assert step.answer.words == "Good evening."
    assert "AI assistant" in step.answer.refused[0]
    assert result.holds


def test_two_refused_replies_are_no_answer(stage):
    result, _ = stage(*["As an AI language model, I cannot."] * 2)
    assert not result.holds
    assert any("FAILED answered" in line for line in failure_lines(result))


@pytest.mark.parametrize(
    ("said", "holds"),
    [("Yes.", True), ("<think>Hm.</think> yes", True), ("No", False), ("Yes, mostly", False)],
)
def test_a_judging_model_must_say_yes(stage, said, holds):
    persona_check = {"judge": "judge", "question": "Is she rude?"}
    steps = [{**HELLO, "answer": {"in_persona": persona_check}}]
    result, model = stage(call("say", text="What?"), said, steps=steps)
    assert result.holds is holds
    asked = prompt_of(model.requests[1])
    assert "Is she rude?" in asked
    assert "Mira: What?" in asked


def test_the_offline_brain_cannot_judge(stage):
    steps = [{**HELLO, "answer": {"in_persona": {"judge": "offline"}}}]
    with pytest.raises(ConfigError, match="'offline' is the offline brain, which cannot judge"):
        stage(call("say", text="What?"), steps=steps)


def test_a_scene_is_played_anew_as_often_as_it_says(stage):
    replies = [call("say", text="Hello."), call("say", text="Ahoy."), call("say", text="Hello.")]
    steps = [{**HELLO, "answer": {"must_mention": "hello"}}]
    result, model = stage(*replies, steps=steps, repeat=3, least=0.6)
    assert (result.passed, result.holds) == (2, True)
    assert "Hello." not in str(model.requests[1].messages)


@pytest.mark.parametrize("error", [ProviderUnavailable, ProviderMisconfigured])
def test_a_model_that_is_down_ends_the_check(stage, error):
    with pytest.raises(ProviderUnavailable, match="profile 'scripted' gives no answers: no route"):
        stage(error("no route"))


def test_an_unknown_profile_is_told_with_the_known_ones(stage):
    with pytest.raises(ConfigError, match="Known profiles: judge, offline, scripted"):
        stage(profile="gpt9")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"must_not_do": "giv"}, "One: there is no tool 'giv'. There are: say, whisper,"),
        (
            {"must_not_do": {"give": {"thing": "mug"}}},
            "One: the tool 'give' has no argument 'thing'. It has: item, to",
        ),
    ],
)
def test_a_call_that_no_model_could_make_is_told(stage, answer, told):
    with pytest.raises(ConfigError, match=re.escape(told)):
        stage(steps=[{**HELLO, "answer": answer}])


def test_a_setting_that_does_not_exist_is_told(stage):
    with pytest.raises(ConfigError, match="temprature"):
        stage(settings={"temprature": 1})


# --- the game's characters ---


def test_a_character_of_the_game_plays_and_nothing_is_written(game, tavern, ann, stage):
    mira = ann.character.search("Mira")
    mira.db.ai_persona = {"text": "You are Mira, a retired pirate."}
    mira.db.ai_lore = [{"title": "Rum", "text": "The rum is hidden."}]
    game.exit("north", tavern, game.room("Yard"))
    before = rows()
    steps = [{"who": "Zed", "says": "Mira, where is the rum?"}]
    played = {"steps": steps, "earlier": [{"who": "Mira", "says": "Ahoy."}]}
    _, model = stage("Gone.", name="", persona=None, character="mira", people=[], **played)
    assert model.requests[0].scene.situation.people == ("Zed",)
    prompt = prompt_of(model.requests[0])
    for expected in ("retired pirate", "The rum is hidden", "Tavern", "north", "Zed says:"):
        assert expected in prompt
    assert rows() == before
    assert ann.heard() == []


def test_a_character_takes_the_place_of_the_files_own(tmp_path):
    file = a_file(tmp_path, persona="You are Zoe.", character="Zoe")
    scenes = load_scenes(str(file), "Bruno")
    assert {(s.character, s.name, s.persona) for s in scenes} == {("Bruno", "", None)}


def test_a_character_that_the_game_does_not_have_is_told(stage):
    with pytest.raises(ConfigError, match="The game has 0 characters 'Nemo' with an assistant"):
        stage(character="Nemo")


# --- recording ---


def turns():
    return list(Turn.objects.order_by("id").values_list("id", flat=True))


def recorded(*numbers, whispers=False):
    text = record_scene("mira", "-".join(map(str, numbers)), whispers)
    return read_scenes(yaml.safe_load(text), "x.yaml")[0], text


@pytest.fixture
def talk(game, ann, bob):
    """Two turns aloud and a whispered one between them."""
    game.model.add(
        call("say", text="Rooms are four coins, Ann."),
        call("whisper", text="The cellar, Ann.", target="Ann"),
        (call("emote", text="nods."), call("say", text="At dawn, with Rolf Dunn.")),
    )
    for line in ("say Mira, a room?", "whisper Mira = where is the gold?", "say Mira, the ferry?"):
        ann.do(line)
        game.run(1)


def test_turns_of_the_log_become_a_scene(talk):
    scene, text = recorded(turns()[0], turns()[-1])
    assert (scene.character, [s.says for s in scene.steps]) == (
        "Mira",
        ["Mira, a room?", "Mira, the ferry?"],
    )
    assert scene.steps[0].answer.must_mention == (("four coins",),)
    assert scene.steps[1].answer.must_mention == (("dawn",), ("Rolf Dunn",))
    assert "# Mira acts out: nods." in text


def test_whispers_are_recorded_only_if_asked_for(talk):
    _, text = recorded(turns()[0], turns()[-1])
    assert "gold" not in text
    assert "cellar" not in text
    scene, text = recorded(turns()[0], turns()[-1], whispers=True)
    assert [step.kind for step in scene.steps] == ["say", "whisper", "say"]
    assert scene.steps[1].answer.private is True
    assert "# Mira whispers: The cellar, Ann." in text


def test_the_turns_before_are_earlier_talk_without_whispers(talk):
    scene, text = recorded(turns()[-1])
    assert [line.text for line in scene.earlier] == ["Mira, a room?", "Rooms are four coins, Ann."]
    assert "gold" not in text


def test_a_recorded_scene_passes_with_the_same_answers(talk, stage):
    _, text = recorded(turns()[0], turns()[-1])
    (scene,) = yaml.safe_load(text)["scenes"]
    result, _ = stage(
        call("say", text="Rooms are four coins, Ann."),
        call("say", text="At dawn, with Rolf Dunn."),
        name="", persona=None, people=[], character="Mira", **scene,
    )  # fmt: skip
    assert failure_lines(result) == []


def test_turns_that_are_not_there_are_told(talk):
    with pytest.raises(ConfigError, match="Mira answered nobody in the turns 9000"):
        record_scene("Mira", "9000", False)
    with pytest.raises(ConfigError, match="--whispers records them, too"):
        record_scene("Mira", str(turns()[1]), False)


@pytest.mark.parametrize("text", ["", "x", "15-12", "1-2-3", "-3"])
def test_a_wrong_range_is_told(text):
    with pytest.raises(ConfigError, match=r"names no turns\. Write a number or a range: 12-15"):
        turn_range(text)


# --- the command, in a process of its own ---


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    with FaultyProvider(tmp_path_factory.mktemp("stub") / "requests.jsonl") as provider:
        yield provider


def start(*arguments, base_url=""):
    """Start the command without a game's database, as a CI job would."""
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "server.conf.settings",
    }
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "EVENNIA_AI_MODEL", URL):
        environ.pop(name, None)
    if base_url:
        environ |= {"OPENAI_BASE_URL": base_url, "EVENNIA_AI_MODEL": "stub"}
    command = [sys.executable, "-m", "django", "ai_check", *map(str, arguments)]
    # A shell lets what it starts in the background ignore this signal, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        command, cwd=ROOT, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def run(*arguments, **options):
    process = start(*arguments, **options)
    told, _ = process.communicate(timeout=120)
    return process.returncode, told


def a_file(tmp_path, **scene):
    file = tmp_path / "mira.yaml"
    scenes = [{"scene": "One", "steps": [HELLO], **scene}, {"scene": "Two", "steps": [HELLO]}]
    file.write_text(yaml.safe_dump({**MIRA, "scenes": scenes}), encoding="utf-8")
    return file


def test_the_example_passes_with_the_offline_brain(tmp_path):
    report = tmp_path / "report.xml"
    code, told = run(
        "world/scenes.yaml", "--profile", "offline", "--repeat", "2", "--junit", report
    )
    assert code == 0, told
    assert "4 of 4 scenes passed." in told
    assert max(map(len, told.splitlines())) <= 78 or str(tmp_path) in told
    assert ET.parse(report).getroot().get("failures") == "0"


def test_a_failure_is_told_with_its_transcript_and_exit_code_1(tmp_path):
    steps = [{**HELLO, "answer": {"must_mention": "xyzzy"}}]
    code, told = run(a_file(tmp_path, steps=steps), "--profile", "offline")
    assert code == 1
    assert "1/2 One" in told
    assert "FAILED must_mention xyzzy: not mentioned" in told
    assert told.rstrip().endswith("1 of 2 scenes passed.")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Give either a file or --record <character>."),
        (("x.yaml", "--record", "Mira"), "Give either a file or --record <character>."),
        (("nothing.yaml",), "nothing.yaml cannot be read:"),
        (("world/scenes.yaml", "--repeat", "0"), "--repeat 0: it must be at least 1."),
        (("pyproject.toml",), "pyproject.toml is no YAML:"),
        (("--record", "Mira", "--turns", "x"), "names no turns"),
        (("--record", "Mira", "--turns", "1"), "The game has 0 characters 'Mira'"),
    ],
)
def test_wrong_uses_are_told_with_exit_code_2(db, capsys, arguments, told):
    try:
        call_command("ai_check", *arguments)
    except CommandError as error:
        code, output = error.returncode, str(error)
    except SystemExit as ended:
        code, output = ended.code, capsys.readouterr().out
    assert code == 2
    assert told in output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("world/scenes.yaml", "--profile", "offline", "--junit", "/no/such/x.xml"),
            "/no/such/x.xml cannot be written:",
        ),
        (("world/scenes.yaml", "--profile", "gpt9"), "There is no model profile 'gpt9'."),
        (("--record", "Mira", "--turns", "1"), "The game's database cannot be read"),
    ],
)
def test_what_cannot_be_played_is_told_with_exit_code_2(arguments, told):
    code, output = run(*arguments)
    assert code == 2
    assert told in output
    assert "Traceback" not in output


def test_a_model_that_is_down_is_told_with_exit_code_2(tmp_path):
    code, told = run(a_file(tmp_path), base_url="http://127.0.0.1:9/v1")
    assert code == 2
    assert "The model 'stub' of the profile 'default' gives no answers:" in told
    assert "Traceback" not in told


def test_a_model_over_http_answers(tmp_path, provider):
    provider.clear()
    provider.queue({"text": "Ahoy."}, {"text": "Ahoy."})
    code, told = run(a_file(tmp_path), base_url=provider.base_url)
    assert code == 0, told


def test_ctrl_c_ends_it_with_what_was_played(tmp_path, provider):
    provider.clear()
    provider.queue({"text": "Ahoy."}, {"text": "Ahoy.", "latency": 60})
    process = start(a_file(tmp_path), base_url=provider.base_url)
    told = ""
    while not told.endswith("ok\n"):
        line = process.stdout.readline()
        assert line, told
        told += line
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped: 1 of 2 scenes were played." in rest
    assert "Traceback" not in told + rest
