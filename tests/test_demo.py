"""The decisions of `make demo`: what to think with, whose account, which interpreter."""

import os
import runpy
import stat
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from server import demo, demo_game, environment, interpreters, mind, record, running
from server.record import Record


def test_the_environments_endpoint_is_taken_without_asking_anybody():
    def never():
        raise AssertionError

    chosen = mind.choose_mind({"OPENAI_API_KEY": "sk-1", "EVENNIA_AI_MODEL": "m-1"}, never)
    assert "m-1 at the OpenAI API" in chosen.sentence
    assert chosen.environ == {}
    chosen = mind.choose_mind({"OPENAI_BASE_URL": "http://here/v1"}, never)
    assert "http://here/v1" in chosen.sentence


def test_a_key_is_never_shown():
    chosen = mind.choose_mind({"OPENAI_API_KEY": "sk-secret"}, list)
    assert "sk-secret" not in chosen.sentence


def test_of_an_address_neither_password_nor_query_is_printed_or_kept(tmp_path):
    chosen = mind.choose_mind({"OPENAI_BASE_URL": "https://me:pw@here/v1?key=k#f"}, list)
    assert "https://here/v1," in chosen.sentence
    record.save(tmp_path / "demo.json", Record(mind=chosen.sentence))
    kept = (tmp_path / "demo.json").read_text()
    assert not any(part in chosen.sentence + kept for part in ("me:pw", "pw@", "key=k", "#f"))


def test_of_a_record_of_before_no_password_is_printed(tmp_path):
    said = "m-1 at https://me:pw@here/v1, as your environment says"
    record.save(tmp_path / "demo.json", Record(mind=said))
    expected = mind.choose_mind(
        {"EVENNIA_AI_MODEL": "m-1", "OPENAI_BASE_URL": "https://me:pw@here/v1"}, list
    )
    assert record.load(tmp_path / "demo.json").mind == expected.sentence


def test_an_address_that_cannot_be_read_is_not_printed():
    chosen = mind.choose_mind({"OPENAI_BASE_URL": "me:pw@here/v1"}, list)
    assert "an unreadable address" in chosen.sentence
    assert "pw" not in chosen.sentence


def test_the_stand_in_stays_if_the_environment_names_it():
    chosen = mind.choose_mind({"EVENNIA_AI_MODEL": "offline"}, lambda: ["qwen3:8b"])
    assert chosen.sentence == mind.OFFLINE
    assert chosen.environ == {}


def test_a_local_ollama_is_taken_with_a_model_it_has():
    chosen = mind.choose_mind({}, lambda: ["nomic-embed-text", "qwen3:8b"])
    assert chosen.environ == {
        "OPENAI_BASE_URL": mind.OLLAMA,
        "OPENAI_API_KEY": "ollama",
        "EVENNIA_AI_MODEL": "qwen3:8b",
    }


def test_the_wanted_model_is_taken_if_ollama_has_it():
    models = ["a", "b"]
    assert mind.choose_mind({"EVENNIA_AI_MODEL": "b"}, lambda: models).environ[
        "EVENNIA_AI_MODEL"
    ] == ("b")
    assert mind.pick_model(models, "c") == "a"
    assert mind.pick_model(["only-embed"], "") == "only-embed"


def test_with_nothing_the_offline_brain_answers():
    chosen = mind.choose_mind({}, list)
    assert "stand-in" in chosen.sentence
    assert chosen.environ == {}


def test_the_first_screen_says_how_to_connect_a_model_if_there_is_none(monkeypatch, capsys):
    ports = demo_game.Ports(4000, 4001, 4002, 4005, 4006)
    monkeypatch.setattr(demo_game, "load_settings", lambda: ports)
    demo.tell(Record(mind=mind.OFFLINE))
    offline = capsys.readouterr().out
    assert all(way in offline for way in ("ollama pull", "OPENAI_API_KEY", "OPENAI_BASE_URL"))
    assert max(map(len, offline.splitlines())) <= 80
    demo.tell(Record(mind="m-1 at the OpenAI API"))
    assert "ollama" not in capsys.readouterr().out


def nobody(name):
    return False


def everybody(name):
    return True


def test_accounts_are_made_up_where_nothing_is_said():
    known = Record()
    known.choose_admin({}, existing=None)
    known.choose_player({}, nobody)
    assert (known.admin, known.player) == ("admin", "Wanderer")
    assert len(known.admin_password) == len(known.player_password) == 12
    assert known.admin_password != known.player_password


ZEUS, IO = ("Zeus", "thunder-1"), ("Io", "heifer-22")
PLAYER = {"EVENNIA_PLAYER_USERNAME": "Io", "EVENNIA_PLAYER_PASSWORD": "heifer-22"}
ADMIN = {"EVENNIA_SUPERUSER_USERNAME": "Zeus", "EVENNIA_SUPERUSER_PASSWORD": "thunder-1"}
HERA = {"EVENNIA_SUPERUSER_USERNAME": "Hera"}
LEDA = {"EVENNIA_PLAYER_USERNAME": "Leda", "EVENNIA_PLAYER_PASSWORD": "swan-3333"}


@pytest.mark.parametrize(
    ("known", "environ", "admin_there", "player_there", "expected"),
    [
        (Record(), {**ADMIN, **PLAYER}, None, nobody, (*ZEUS, *IO)),
        (Record(*ZEUS, *IO), HERA, "Zeus", everybody, (*ZEUS, *IO)),
        (Record(), {}, "Zeus", everybody, ("Zeus", "", "Wanderer", "")),
        (Record(*ZEUS, *IO), LEDA, "Zeus", nobody, (*ZEUS, "Leda", "swan-3333")),
    ],
    ids=["of the environment", "stay", "no password is made up", "another player later"],
)
def test_accounts_are_those_that_are_there_or_named(
    known, environ, admin_there, player_there, expected
):
    known.choose_admin(environ, existing=admin_there)
    known.choose_player(environ, player_there)
    assert (known.admin, known.admin_password, known.player, known.player_password) == expected


def test_the_record_is_for_its_owners_eyes(tmp_path):
    file = tmp_path / "record.json"
    record.save(file, Record(admin="Zeus"))
    record.save(file, Record(admin="Hera"))
    assert record.load(file) == Record(admin="Hera")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"unknown": 1}'])
def test_a_broken_record_is_an_empty_one(tmp_path, text):
    file = tmp_path / "record.json"
    file.write_text(text)
    assert record.load(file) == Record()
    assert record.load(tmp_path / "none") == Record()


def test_the_newest_tested_interpreter_is_best():
    assert interpreters.best_interpreter({"3.11": "a", "3.13": "b", "3.12": "c"}) == "3.13"
    assert interpreters.best_interpreter({"3.11": "a", "3.15": "b"}) == "3.11"
    assert interpreters.best_interpreter({"3.15": "b"}) == "3.15"
    assert interpreters.best_interpreter({}) is None


def test_what_is_no_interpreter_is_passed_over(tmp_path):
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert interpreters.probe(str(shim)) is None
    assert interpreters.probe(str(tmp_path / "none")) is None


def test_a_pid_file_counts_only_while_its_process_lives(tmp_path):
    file = tmp_path / "some.pid"
    assert running.read_pid(file) is None
    file.write_text(str(os.getpid()))
    assert running.read_pid(file) == os.getpid()
    file.write_text("not a pid")
    assert running.read_pid(file) is None


def test_a_taken_port_is_seen():
    import socket

    with socket.socket() as listener:
        listener.bind((running.LOOPBACK, 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert running.taken_ports([port]) == [port]
    assert running.taken_ports([port]) == []


@pytest.mark.parametrize("outputs", [["Evennia running."], [running.LAUNCHER_GAVE_UP] * 3])
def test_a_launcher_that_gave_up_is_started_again_but_not_for_ever(tmp_path, outputs):
    left = iter(outputs)
    output = running.finish_start(tmp_path, running.LAUNCHER_GAVE_UP, lambda: next(left))
    assert output == outputs[-1]
    assert next(left, None) is None


SETTINGS = environment.ROOT / "server" / "conf" / "settings.py"


@pytest.mark.parametrize(
    ("given", "noted", "ports"),
    [("", "5000", 5000), ("7000", "5000", 7000), ("", "", 4000), ("", "x", 4000)],
)
def test_in_another_shell_the_ports_are_those_of_the_last_start(monkeypatch, given, noted, ports):
    """So `evennia stop` finds a demo that was started on other ports."""
    monkeypatch.setenv("EVENNIA_AI_PORT_BASE", given)
    monkeypatch.setattr(record, "load", lambda file: Record(port_base=noted))
    found = runpy.run_path(str(SETTINGS))
    assert (found["PORT_BASE"], found["AMP_PORT"]) == (ports, ports + 6)


def test_a_failed_installation_ends_the_demo(monkeypatch):
    def install(*about, tell):
        raise environment.InstallError("No space left on device")

    monkeypatch.setattr(interpreters, "find_interpreters", lambda: {"3.14": "python3.14"})
    monkeypatch.setattr(environment, "make_environment", install)
    with pytest.raises(environment.InstallError, match="No space"):
        demo.create_environment()


@pytest.mark.parametrize("works", [True, False])
def test_pip_installs_where_uv_cannot(tmp_path, monkeypatch, works):
    commands = []

    def run(command, log, tell=None):
        commands.append(command[0])
        if command[0] == "uv" and not works:
            raise environment.InstallError("no route to host")

    monkeypatch.setattr(environment, "run", run)
    folder = tmp_path / "3.13"
    environment.make_environment(folder, "python3.13", "[test]", uv="uv")
    pip = ["python3.13", str(environment.venv_python(folder))]
    assert commands == (["uv", "uv"] if works else ["uv", *pip])
    assert (folder / "installed").read_text() == environment.fingerprint("[test]")


@pytest.mark.parametrize("gone", [False, True])
def test_a_version_that_is_gone_is_chosen_anew(tmp_path, monkeypatch, gone):
    commands = []

    def run(command, log, tell=None):
        commands.append("--constraint" in command)
        if gone and commands[-1]:
            raise environment.InstallError("No matching distribution found for numpy==2.5.5")

    monkeypatch.setattr(environment, "run", run)
    environment.make_environment(tmp_path / "3.13", "python3.13", "[test]")
    assert commands == [False, True, *([False] if gone else [])]
    assert (tmp_path / "3.13" / "installed").exists()


def test_an_installation_tells_what_it_does_while_it_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "PROGRESS_S", 0.01)
    log, told = tmp_path / "install.log", []
    seen = tmp_path / "seen"
    code = f"""if True:
        import pathlib, time
        print("Collecting evennia", flush=True)
        while not pathlib.Path({str(seen)!r}).exists():
            time.sleep(0.01)
        raise SystemExit("No space left")
    """

    def tell(line):
        told.append(line)
        if "Collecting" in line:
            seen.touch()

    with pytest.raises(environment.InstallError, match="No space left"):
        environment.run([sys.executable, "-c", code], log, tell)
    assert "  Collecting evennia" in told


# --- the lock ------------------------------------------------------------------------------------

PINS = [Requirement(line) for line in environment.LOCK.read_text().splitlines()]


def test_the_lock_holds_versions_and_nothing_of_where_they_come_from():
    assert len(PINS) > 100
    for pin in PINS:
        assert not (pin.url or pin.extras)
        assert [one.operator for one in pin.specifier] == ["=="]


@pytest.mark.parametrize("python", interpreters.TESTED)
def test_the_lock_fits_what_the_project_requires(python):
    """After a change of pyproject.toml, `make lock` makes it fit again."""
    place = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    pins = {
        canonicalize_name(pin.name): next(iter(pin.specifier)).version
        for pin in PINS
        if pin.marker is None or pin.marker.evaluate(place)
    }
    project = tomllib.loads((environment.ROOT / "pyproject.toml").read_text())["project"]
    extras = [project["optional-dependencies"][extra] for extra in environment.LOCKED_EXTRAS]
    wanted = map(
        Requirement, [*project["dependencies"], *(one for extra in extras for one in extra)]
    )
    own = canonicalize_name(project["name"])
    for one in wanted:
        if one.name != own and (one.marker is None or one.marker.evaluate(place)):
            assert one.specifier.contains(pins[canonicalize_name(one.name)]), one
