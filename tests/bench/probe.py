"""Measures from inside a game's server process.

`probed.ProbedServer` copies this file into a game directory as ``world/bench_probe.py`` and adds it
to the server's plugins. It writes one JSON line for everything that happens to ``bench.jsonl``, and
obeys the order in ``bench.order`` when it gets SIGUSR2, so that it costs nothing while it waits.
``BENCH_PROBE`` chooses what is measured: ``queries`` counts them by table and by who asked;
``beat`` takes the gaps between beats of the reactor, and the time spent in our own hooks.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections
from django.db.backends.signals import connection_created
from twisted.internet import reactor

import evennia_ai

GAME = Path(settings.GAME_DIR)
RECORDS = GAME / "bench.jsonl"
ORDER = GAME / "bench.order"
MODES = os.environ.get("BENCH_PROBE", "")
BEAT_S = 0.005
TABLE = re.compile(r'(?:FROM|INTO|UPDATE|JOIN)\s+"?(\w+)"?', re.IGNORECASE)
OURS = f"{Path(evennia_ai.__file__).parent}{os.sep}"
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def write(what: str, **details: Any) -> None:
    """Append a record."""
    line = json.dumps({"what": what, "pid": os.getpid(), "at": time.time(), **details})
    with RECORDS.open("a") as file:
        file.write(line + "\n")


def cpu_seconds() -> float:
    """User and system time of this process, all threads."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


class Queries:
    """Counts queries, on every connection of every thread."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def install(self) -> None:
        """Count on the connections there are and on those to come."""
        for connection in connections.all():
            self.watch(connection=connection)
        connection_created.connect(self.watch, weak=False)

    def watch(self, connection: Any, **_: Any) -> None:
        """Count on one connection."""
        if self.count not in connection.execute_wrappers:
            connection.execute_wrappers.append(self.count)

    def count(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        """Django's execute wrapper."""
        table = TABLE.search(sql)
        who = "evennia_ai" if asked_by_us() else "evennia"
        self.counts[f"{who} {sql.split(None, 1)[0].upper()} {table[1] if table else ''}"] += 1
        return execute(sql, *rest)


def asked_by_us() -> bool:
    """Tell whether any function of evennia_ai is on the stack."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith(OURS):
            return True
        frame = frame.f_back
    return False


class Beat:
    """Takes the gaps between beats: nothing else of the reactor's runs during a long one."""

    def __init__(self) -> None:
        self.gaps: list[tuple[float, float]] = []
        self.last = 0.0

    def start(self) -> None:
        """Begin to beat."""
        self.last = time.monotonic()
        reactor.callLater(BEAT_S, self.beat)

    def beat(self) -> None:
        """Note the gap since the last beat, less the time between beats."""
        self.note()
        reactor.callLater(BEAT_S, self.beat)

    def note(self) -> None:
        """Keep (unix time at its end, milliseconds) of the gap that ends now."""
        now = time.monotonic()
        self.gaps.append((time.time(), round((now - self.last - BEAT_S) * 1000, 2)))
        self.last = now

    def take(self) -> list[tuple[float, float]]:
        """Hand the gaps out and begin anew."""
        taken, self.gaps = self.gaps, []
        return taken


class Hooks:
    """Adds up the calls of functions and the time spent in them, by name."""

    def __init__(self) -> None:
        self.ms: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    def time(self, owner: Any, name: str, label: str) -> None:
        """Time a function from now on."""
        inner = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.calls[label] += 1
                self.ms[label] += (time.perf_counter() - began) * 1000

        setattr(owner, name, timed)

    def install(self) -> None:
        """Time everything of ours that runs at a stop or a start."""
        from evennia.scripts.manager import ScriptDBManager

        from evennia_ai import services
        from evennia_ai.assistant_script import AssistantScript

        self.time(services, "start_plugin_services", "service made")
        self.time(services.AssistantService, "startService", "startService")
        self.time(services.AssistantService, "stopService", "stopService")
        self.time(services, "at_server_start", "at_server_start")
        self.time(services, "at_server_stop", "at_server_stop")
        self.time(AssistantScript, "at_server_reload", "scripts' at_server_reload")
        self.time(AssistantScript, "at_server_start", "scripts' at_server_start")
        self.time(ScriptDBManager, "update_scripts_after_server_start", "Evennia loads scripts")


class Ears:
    """Notes when an assistant begins to hear something; can stop all ears for a comparison."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, str]] = []
        self.deaf = False

    def install(self) -> None:
        """Stand before every assistant's ears."""
        from evennia_ai.assistant_script import AssistantScript

        inner = AssistantScript.hear

        def hear(script: Any, kind: str, words: str, speaker: Any) -> None:
            if self.deaf:
                return
            self.heard.append((time.time(), words))
            inner(script, kind, words, speaker)

        AssistantScript.hear = hear

    def take(self) -> list[tuple[float, str]]:
        """Hand out what was heard and begin anew."""
        taken, self.heard = self.heard, []
        return taken


QUERIES, BEAT, HOOKS, EARS = Queries(), Beat(), Hooks(), Ears()


def snapshot() -> dict[str, Any]:
    """Everything measured since the last snapshot; CPU and queries since the start."""
    return {
        "cpu_s": cpu_seconds(),
        "queries": dict(QUERIES.counts),
        "gaps": BEAT.take(),
        "hooks_ms": dict(HOOKS.ms),
        "hook_calls": dict(HOOKS.calls),
        "heard": EARS.take(),
    }


def assistants() -> list[Any]:
    """All assistants, loaded into Evennia's cache as in a game that has run for a day."""
    from evennia_ai.assistant_script import AssistantScript

    return list(AssistantScript.objects.all())


def live_in() -> dict[str, Any]:
    """Load every character and let each assistant be as after a talk."""
    from evennia.objects.models import ObjectDB

    characters = len(list(ObjectDB.objects.all()))
    for script in assistants():
        _ = script.config, script.inbox, script.partners, script.conversation.view()
    return {"characters": characters}


def visit() -> dict[str, Any]:
    """Do for every assistant what the service does when something happens around it."""
    living = assistants()
    for script in living:
        script.services.attend(script)
    return {"attended": len(living)}


def attended() -> dict[str, Any]:
    """Tell how many assistants the service ticks at present."""
    from evennia_ai.assistant_script import AssistantScript

    return {"attended": len(AssistantScript.shared_services.ticks.scripts)}


def inserts() -> dict[str, Any]:
    """Time inserts at few and at many rows; see ``inserts.py``."""
    from world.bench_inserts import measure_inserts

    return measure_inserts()


def stop_ears() -> dict[str, Any]:
    """Let nobody hear anything."""
    EARS.deaf = True
    return {}


def open_ears() -> dict[str, Any]:
    """Let everybody hear again."""
    EARS.deaf = False
    return {}


ORDERS: dict[str, Callable[[], dict[str, Any]]] = {
    function.__name__: function
    for function in (snapshot, live_in, visit, attended, inserts, stop_ears, open_ears)
}


def obey() -> None:
    """Do what the order file says and write down what came of it."""
    order = json.loads(ORDER.read_text())
    began = time.perf_counter()
    result = ORDERS[order["do"]]()
    took_ms = (time.perf_counter() - began) * 1000
    write("obeyed", order=order["number"], took_ms=took_ms, **result)


def begin() -> None:
    """Called when the reactor runs."""
    signal.signal(signal.SIGUSR2, lambda *_: reactor.callFromThread(obey))
    if "beat" in MODES:
        BEAT.start()
        reactor.addSystemEventTrigger("after", "shutdown", end)


def end() -> None:
    """Called when the reactor has stopped: the last gap holds the stopping of all services."""
    BEAT.note()
    write("stopped", gaps=BEAT.take(), hooks_ms=dict(HOOKS.ms), hook_calls=dict(HOOKS.calls))


def start_plugin_services(server: Any) -> None:
    """Evennia's plugin hook: in the server process only, before any other plugin of the game."""
    if "queries" in MODES:
        QUERIES.install()
    if "beat" in MODES:
        HOOKS.install()
        EARS.install()
    reactor.callWhenRunning(begin)


def at_server_reload_stop() -> None:
    """Evennia's hook at the beginning of a reload, when all scripts have been told."""
    write("reload began")


def at_server_start() -> None:
    """Evennia's start hook; its maintenance runs every 60 s from this moment."""
    write("server started")
