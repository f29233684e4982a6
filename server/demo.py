"""`make demo` and `make stop`: install, start and stop the demo game.

Run as ``python -m server.demo start`` from the project's root, by any Python that can be found; it
goes on in the environment it makes. Everything it creates stays inside this folder and is ignored
by git.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from server import environment, interpreters, mind, patience, record, running

ROOT = environment.ROOT
VENV = ROOT / ".venv"
EXTRAS = "[all]"
RECORD = ROOT / "server" / ".demo.json"
LAUNCHER_LOG = ROOT / "server" / "logs" / "launcher.log"
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0


class DemoError(Exception):
    """The demo cannot go on. The text tells the user why and what to do."""


def say(text: str = "") -> None:
    """Print at once, so that the last line shows the current step."""
    print(text, flush=True)


def main(arguments: list[str]) -> int:
    """Run ``start`` or ``stop``; return the exit status."""
    steps = {"start": start, "stop": stop}
    if len(arguments) != 1 or arguments[0] not in steps:
        say("Usage: python -m server.demo start|stop")
        return 2
    os.chdir(ROOT)
    try:
        steps[arguments[0]]()
    except (DemoError, environment.InstallError, patience.Stalled) as error:
        print(f"\n{error}", file=sys.stderr, flush=True)
        return 1
    return 0


def start() -> None:
    """Install what is missing, start the server, and print how to connect."""
    enter_environment()
    known = record.load(RECORD)
    if running.is_ready(ROOT):
        say("The demo is running already.")
        use_ports(known)
        tell(known)
        if mind.choose_mind(os.environ).sentence != known.mind:
            say("Your environment now selects another model. To use it: make stop; make demo")
        return
    known.port_base = os.environ.get("EVENNIA_AI_PORT_BASE") or known.port_base
    use_ports(known)
    launch(known)
    tell(known)


def enter_environment() -> None:
    """Continue inside the project's environment; create it first if needed. May not return."""
    python = environment.venv_python(VENV)
    if not (environment.is_current(VENV, EXTRAS) or running.is_ready(ROOT)):
        create_environment()
    if Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [str(python), "-m", "server.demo", "start"])


def create_environment() -> None:
    """Install everything into ``.venv``; raises DemoError or InstallError."""
    found = interpreters.find_interpreters()
    best = interpreters.best_interpreter(found)
    if best is None:
        raise DemoError("No Python 3.11 or newer with venv was found. Install one and try again.")
    say(f"Installing Evennia and the other packages into {VENV.name}/ with Python {best}.")
    say("This happens only once. It takes one or two minutes, ten on a slow or busy computer ...")
    began = time.monotonic()
    environment.make_environment(VENV, found[best], EXTRAS, tell=say)
    say(f"  done in {time.monotonic() - began:.0f} s.")


def use_ports(known: record.Record) -> None:
    """Use the ports of this copy's last start, or of the environment; raises DemoError."""
    if known.port_base and not (known.port_base.isdecimal() and int(known.port_base) < 65_530):
        raise DemoError(
            f"EVENNIA_AI_PORT_BASE is '{known.port_base}', which is no valid port. "
            "Use a number below 65530, such as 5000."
        )
    if known.port_base:
        os.environ["EVENNIA_AI_PORT_BASE"] = known.port_base


def launch(known: record.Record) -> None:
    """Prepare everything, start the server, and wait until it is ready."""
    from server import demo_game

    os.umask(0o077)  # database and logs hold what players say
    demo_game.write_secrets(ROOT)
    ports = demo_game.load_settings()
    check_ports(ports.all())
    is_first = not (ROOT / "server" / "evennia.db3").exists()
    say("Creating the database ..." if is_first else "Checking the database ...")
    try:
        player_is_new = demo_game.prepare_database(known, os.environ)
    except demo_game.CannotStart as error:
        raise DemoError(str(error)) from error
    chosen = mind.choose_mind(os.environ)
    known.mind = chosen.sentence
    record.save(RECORD, known)
    say(
        "Building the tavern and starting the server ..." if is_first else "Starting the server ..."
    )
    start_server({**os.environ, **chosen.environ, **player_environ(known, player_is_new)})
    clock = patience.OwnTime(ROOT)
    if not patience.wait_until(lambda: running.answers(ports.telnet), STOP_TIMEOUT_S, clock):
        raise DemoError(f"The server runs, but nothing answers on port {ports.telnet}.")


def check_ports(ports: dict[str, int]) -> None:
    """Raise DemoError if another program uses one of our ports."""
    if running.portal_pid(ROOT):
        return
    taken = running.taken_ports(ports.values())
    if taken:
        words = ", ".join(f"{port} ({name})" for name, port in ports.items() if port in taken)
        raise DemoError(
            f"Another program uses port {words}.\nStop that program, or use other ports: "
            "EVENNIA_AI_PORT_BASE=5000 make demo"
        )


def player_environ(known: record.Record, is_new: bool) -> dict[str, str]:
    """Return the environment variables that let the server create the player's account."""
    if not is_new:
        return {}
    return {
        "EVENNIA_PLAYER_USERNAME": known.player,
        "EVENNIA_PLAYER_PASSWORD": known.player_password,
    }


def start_server(environ: dict[str, str]) -> None:
    """Start portal and server and wait until both are ready; raises DemoError."""
    (ROOT / "server" / "ready.pid").unlink(missing_ok=True)
    running.finish_start(ROOT, evennia("start", environ), lambda: evennia("start", environ))
    clock = patience.OwnTime(ROOT)
    if not patience.wait_until(
        lambda: running.is_ready(ROOT) or not running.portal_pid(ROOT), START_TIMEOUT_S, clock
    ):
        raise DemoError(f"The server did not start in {clock}.\n{last_words()}")
    if not running.is_ready(ROOT):
        raise DemoError(f"The server did not start.\n{last_words()}")


def evennia(command: str, environ: dict[str, str]) -> str:
    """Run Evennia's launcher; return its output; raises `patience.Stalled`."""
    LAUNCHER_LOG.parent.mkdir(mode=0o700, exist_ok=True)
    python = environment.venv_python(VENV)
    path = f"{python.parent}{os.pathsep}{environ.get('PATH', '')}"
    line = [str(python), "-m", "evennia", command]
    env = {**environ, "PATH": path}
    return patience.run_command(line, LAUNCHER_LOG, START_TIMEOUT_S, ROOT, env=env)[1]


def last_words() -> str:
    """Return the last lines of the logs, for an error message."""
    files = [LAUNCHER_LOG, *sorted(LAUNCHER_LOG.parent.glob("*.log"))]
    ends = []
    for file in dict.fromkeys(file for file in files if file.exists()):
        lines = file.read_text(errors="replace").splitlines()[-12:]
        ends.append("\n".join([f"--- {file.relative_to(ROOT)}", *lines]))
    return "\n".join(ends)


def tell(known: record.Record) -> None:
    """Print the addresses, the accounts and the model in use."""
    from server import demo_game

    ports = demo_game.load_settings()
    say(
        f"""
The Gilded Gull is open.

  Where    telnet localhost {ports.telnet}
           http://localhost:{ports.web}/webclient in a browser
           http://localhost:{ports.web}/ai/ for the staff pages
  As       {account(known.player, known.player_password)}   a player
           {account(known.admin, known.admin_password)}   the superuser
  Model    {known.mind}
{mind.HOW_TO_CONNECT if known.mind == mind.OFFLINE else ""}
Log in with `connect {known.player} <password>`, then `say hello`. `make stop` ends it.
"""
    )


def account(name: str, password: str) -> str:
    """Return an account's name and password in columns."""
    return f"{name:<12} {password or '(the password you gave it)':<14}"


def stop() -> None:
    """Stop portal and server; kill them if they do not respond."""
    pids = [pid for pid in (running.portal_pid(ROOT), running.server_pid(ROOT)) if pid]
    if not pids:
        say("The demo is not running.")
        return
    use_ports(record.load(RECORD))
    evennia("stop", dict(os.environ))
    # A process deletes its pid file before it closes the database, so the pids decide.
    clock = patience.OwnTime(ROOT)
    if not patience.wait_until(lambda: not any(map(running.is_alive, pids)), STOP_TIMEOUT_S, clock):
        running.kill_game(ROOT)
    say("The demo has stopped. `make demo` continues the same game.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
