"""`evennia ai_check` as a command: output, exit codes, wrong uses.

In a process of its own, which takes 4 s of CPU, it passes and is stopped.
"""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec

import pytest
import yaml
from django.core.management import CommandError, call_command
from twisted.internet.selectreactor import SelectReactor

from tests.contrib.evals.ai_check_scene import HELLO, ROOT, a_file
from tests.e2e.harness import QUICK_IMPORTS
from tests.postgresql import URL
from tests.provider import FaultyProvider

pytestmark = pytest.mark.game
FOREIGN = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "EVENNIA_AI_MODEL", URL)
by_stand_in = pytest.mark.skipif(
    find_spec("evennia_ai.contrib.stand_in") is None, reason="the stand-in is left out"
)


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    with FaultyProvider(tmp_path_factory.mktemp("stub") / "requests.jsonl") as provider:
        yield provider


def start(*arguments, base_url=""):
    """Start the command without a game's database, as a CI job would."""
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, QUICK_IMPORTS))),
        "DJANGO_SETTINGS_MODULE": "server.conf.settings",
    }
    for name in FOREIGN:
        environ.pop(name, None)
    if base_url:
        environ |= {"OPENAI_BASE_URL": base_url, "EVENNIA_AI_MODEL": "stub"}
    command = [sys.executable, "-m", "django", "ai_check", *map(str, arguments)]
    # A shell lets what it starts in the background ignore this signal, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        command, cwd=ROOT, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.fixture
def run(db, monkeypatch, capsys):
    """Return a function that runs the command in this process.

    It returns the exit code and what was told.
    """
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)

    def run(*arguments):
        # A reactor runs once.
        monkeypatch.setattr("twisted.internet.reactor", SelectReactor())
        code, error = 0, ""
        try:
            call_command("ai_check", *map(str, arguments))
        except CommandError as wrong:
            code, error = wrong.returncode, str(wrong)
        except SystemExit as ended:
            code = ended.code
        return code, capsys.readouterr().out + error

    return run


@by_stand_in
def test_the_example_passes_with_the_offline_brain():
    process = start("world/scenes.yaml", "--profile", "offline", "--repeat", "2")
    told, _ = process.communicate(timeout=120)
    assert process.returncode == 0, told
    assert "4 of 4 scenes passed." in told
    assert max(map(len, told.splitlines())) <= 78


@by_stand_in
def test_a_failure_is_told_with_its_transcript_and_exit_code_1(run, tmp_path):
    steps = [{**HELLO, "answer": {"must_mention": "xyzzy"}}]
    code, told = run(a_file(tmp_path, steps=steps), "--profile", "offline")
    assert code == 1
    assert "1/2 One" in told
    assert "FAILED must_mention xyzzy: not mentioned" in told
    assert told.rstrip().endswith("1 of 2 scenes passed.")


@by_stand_in
@pytest.mark.parametrize(
    ("profile", "code", "told"),
    [
        ({"client": "offline", "model": "offline"}, 0, "2 of 2 scenes passed."),
        (5, 2, "AI_ASSISTANT['PROFILES']: it must be a dictionary"),
    ],
)
def test_settings_count_and_a_wrong_one_ends_it(run, settings, tmp_path, profile, code, told):
    settings.AI_ASSISTANT = {"PROFILES": {"a": profile}}
    ended, output = run(a_file(tmp_path), "--profile", "a")
    assert (ended, told in output) == (code, True), output


def test_a_mistake_in_the_last_scene_is_told_before_the_first_is_played(run, tmp_path):
    file = a_file(tmp_path)
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    data["scenes"][1]["steps"] = [{**HELLO, "answer": {"must_do": "fly"}}]
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    code, told = run(file, "--profile", "offline")
    assert code == 2
    assert "Two: there is no tool 'fly'." in told and "1/2" not in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nothing.yaml",), "nothing.yaml cannot be read:"),
        (("world/scenes.yaml", "--repeat", "0"), "--repeat 0: it must be at least 1."),
        (("pyproject.toml",), "pyproject.toml is no YAML:"),
    ],
)
def test_wrong_uses_are_told_with_exit_code_2(run, arguments, told):
    code, output = run(*arguments)
    assert code == 2
    assert told in output


def test_a_model_that_is_down_is_told_with_exit_code_2(run, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("EVENNIA_AI_MODEL", "stub")
    code, told = run(a_file(tmp_path))
    assert code == 2
    assert "The model 'stub' of the profile 'default' gives no answers:" in told
    assert "Traceback" not in told


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
