"""Measure from inside a game's server process.

`probed.ProbedServer` copies this file into a game directory as ``world/bench_probe.py`` and adds it
to the server's plugins. The probe writes JSON lines to ``bench.jsonl``. On SIGUSR2 it runs the
command in ``bench.order``, so it costs nothing while it waits. ``BENCH_PROBE`` chooses what is
measured: ``queries`` counts database queries by table and by caller; ``beat`` measures the gaps
between beats of the reactor, and the time spent in hooks of evennia_ai.
"""

import json
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections
from django.db.backends.signals import connection_created
from twisted.internet import reactor
from twisted.internet.defer import maybeDeferred

import evennia_ai

GAME = Path(settings.GAME_DIR)
RECORDS = GAME / "bench.jsonl"
ORDER = GAME / "bench.order"
MODES = os.environ.get("BENCH_PROBE", "")
BEAT_S = 0.005
GUEST = "Ann"
TABLE = re.compile(r'(?:FROM|INTO|UPDATE|JOIN)\s+"?(\w+)"?', re.IGNORECASE)
OURS = f"{Path(evennia_ai.__file__).parent}{os.sep}"
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def write(what: str, **details: Any) -> None:
    """Append a record to the file."""
    line = json.dumps({"what": what, "pid": os.getpid(), "at": time.time(), **details})
    with RECORDS.open("a") as file:
        file.write(line + "\n")


def cpu_seconds() -> float:
    """Return the user and system time of this process in seconds."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


class Queries:
    """Counts queries on every connection of every thread."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def install(self) -> None:
        """Count on existing connections and on new ones."""
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
    """Measures the gaps between beats; a long gap means that something held the reactor."""

    def __init__(self) -> None:
        self.gaps: list[tuple[float, float]] = []
        self.busy: list[float] = []
        self.last = self.last_cpu = 0.0

    def start(self) -> None:
        """Start to beat."""
        self.last, self.last_cpu = time.monotonic(), time.thread_time()
        reactor.callLater(BEAT_S, self.beat)

    def beat(self) -> None:
        """Keep the gap since the last beat and beat again."""
        self.note()
        reactor.callLater(BEAT_S, self.beat)

    def note(self) -> None:
        """Keep the gap that ends now as (unix time, ms), without the time between beats.

        Also keep the CPU time in ms that this thread, the reactor's, used meanwhile.
        """
        now, cpu = time.monotonic(), time.thread_time()
        self.gaps.append((time.time(), round((now - self.last - BEAT_S) * 1000, 2)))
        self.busy.append(round((cpu - self.last_cpu) * 1000, 2))
        self.last, self.last_cpu = now, cpu

    def take(self) -> dict[str, list[Any]]:
        """Return the gaps and the CPU times, and forget them."""
        taken = {"gaps": self.gaps, "busy": self.busy}
        self.gaps, self.busy = [], []
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
        """Time each hook of evennia_ai that runs at a stop or a start."""
        from evennia.scripts.manager import ScriptDBManager

        from evennia_ai.assistant_script import AssistantScript
        from evennia_ai.services import assistant_service as services

        self.time(services, "start_plugin_services", "service made")
        self.time(services.AssistantService, "startService", "startService")
        self.time(services.AssistantService, "stopService", "stopService")
        self.time(services, "at_server_start", "at_server_start")
        self.time(services, "at_server_stop", "at_server_stop")
        self.time(AssistantScript, "at_server_reload", "scripts' at_server_reload")
        self.time(AssistantScript, "at_server_start", "scripts' at_server_start")
        self.time(ScriptDBManager, "update_scripts_after_server_start", "Evennia loads scripts")


QUERIES, BEAT, HOOKS = Queries(), Beat(), Hooks()


def snapshot() -> dict[str, Any]:
    """Return all measurements since the last snapshot; CPU and queries since the start."""
    return {
        "cpu_s": cpu_seconds(),
        "queries": dict(QUERIES.counts),
        **BEAT.take(),
        "hooks_ms": dict(HOOKS.ms),
        "hook_calls": dict(HOOKS.calls),
    }


def assistants() -> list[Any]:
    """Return all assistants, loaded into Evennia's cache as after a day of play."""
    from evennia_ai.assistant_script import AssistantScript

    return list(AssistantScript.objects.all())


def live_in() -> dict[str, Any]:
    """Load every character, and of each assistant all that a talk loads."""
    from evennia.objects.models import ObjectDB

    characters = len(list(ObjectDB.objects.all()))
    for script in assistants():
        _ = (
            script.config,
            script.mind.inbox,
            script.mind.presence.partners,
            script.conversation.view(),
        )
    return {"characters": characters}


def visit() -> dict[str, Any]:
    """Let the service attend to every assistant, as when something happens around it."""
    living = assistants()
    for script in living:
        script.services.attend(script)
    return {"attended": len(living)}


def attended() -> dict[str, Any]:
    """Return how many assistants the service ticks."""
    from evennia_ai.assistant_script import AssistantScript

    return {"attended": len(AssistantScript.shared_services.ticks.scripts)}


def inserts() -> dict[str, Any]:
    """Time inserts at few and at many rows; see ``inserts.py``."""
    from world.bench_inserts import measure_inserts

    return measure_inserts()


def memory() -> dict[str, Any]:
    """Return the resident memory of the process, and its CPU time since it began."""
    from evennia_ai.assistant_script import AssistantScript

    loaded = AssistantScript.shared_services.loaded
    return {"mb": resident_mb(), "cpu_s": cpu_seconds(), "minds_mb": loaded.nbytes / 1e6}


def remember() -> dict[str, Any]:
    """Begin to let every assistant build a prompt; "remembered" is written at the end."""
    return one_by_one(remember_one, "remembered")


def awaken() -> dict[str, Any]:
    """Begin to let every assistant answer a line; "awakened" is written at the end."""
    return one_by_one(awaken_one, "awakened")


def characters() -> dict[str, Any]:
    """Load every character."""
    from evennia.objects.models import ObjectDB

    return {"characters": len(list(ObjectDB.objects.all()))}


def one_by_one(work: Callable[[Any], Any], written: str) -> dict[str, Any]:
    """Begin to do some work for one assistant after the other; write a record at its end."""
    from evennia_ai.assistant_script import AssistantScript

    # Not the scripts: Evennia's cache may let go of those nobody used, and read them again.
    each = iter(AssistantScript.objects.values_list("id", flat=True))
    began = cpu_seconds()
    mb: list[float] = []

    def then(_result: object = None) -> None:
        mb.append(resident_mb())
        number = next(each, None)
        if number is None:
            figures = {"mb": mb[-1], "most_mb": max(mb)}
            write(written, **figures, cpu_s=cpu_seconds() - began)
        else:
            done = work(AssistantScript.objects.get(id=number))
            done.addCallbacks(lambda _: reactor.callLater(0, then), partial(failed, written))

    then()
    return {}


def remember_one(script: Any) -> Any:
    """Let an assistant take in its log and build a prompt; return a Deferred."""
    from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT

    ready = script.mind.memories().prepare(script.services, ["What about the toll at the bridge?"])
    build = script.mind.prompts.build
    return ready.addCallback(lambda _: build(CONTEXT_TICK_EVENT, frozenset()))


def awaken_one(script: Any) -> Any:
    """Let a player come, say a line and hear the answer; return a Deferred."""
    from evennia.objects.models import ObjectDB

    from evennia_ai.messages import IncomingEvent

    guest = ObjectDB.objects.get(db_key=GUEST)
    # Without a client; a flush of Evennia's cache leaves copies of it in rooms.
    type(guest).has_account = property(lambda one: one.id == guest.id)
    guest.move_to(script.obj.location, quiet=True, move_hooks=False)
    words = f"{script.obj.key}, what about the toll at the bridge?"
    heard = IncomingEvent(
        "say", guest.dbref, GUEST, words, frozenset({guest.dbref}), addressed=True
    )
    script.mind.inbox.put(heard)
    return script.at_tick()


def failed(written: str, failure: Any) -> None:
    """Write an error for the test that waits."""
    write(written, error=failure.getTraceback())


def resident_mb() -> float:
    """Return how much memory the process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


ORDERS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        snapshot, live_in, visit, attended, inserts, memory, remember, awaken, characters,
    )
}  # fmt: skip


def obey() -> None:
    """Run the command of the order file and write its result, or the error it raised.

    A command may return a Deferred of its result.
    """
    order = json.loads(ORDER.read_text())
    began = time.perf_counter()

    def report(result: Any) -> None:
        took_ms = (time.perf_counter() - began) * 1000
        if not isinstance(result, dict):  # a Failure
            result = {"error": result.getTraceback()}
        write("obeyed", order=order["number"], took_ms=took_ms, **result)

    # The test that waits raises the error.
    maybeDeferred(ordered(order["do"]), *order["numbers"]).addBoth(report)


def ordered(name: str) -> Callable[..., Any]:
    """Return the function of a command: one of `ORDERS`, or one of ``talks.py``."""
    if name in ORDERS:
        return ORDERS[name]
    from world import bench_talks

    found: Callable[..., Any] = getattr(bench_talks, name)
    return found


def begin() -> None:
    """Start to measure; called when the reactor runs."""
    signal.signal(signal.SIGUSR2, lambda *_: reactor.callFromThread(obey))
    if "beat" in MODES:
        BEAT.start()
        reactor.addSystemEventTrigger("after", "shutdown", end)


def end() -> None:
    """Write the last gap, which holds the stop of all services."""
    BEAT.note()
    write("stopped", **BEAT.take(), hooks_ms=dict(HOOKS.ms), hook_calls=dict(HOOKS.calls))


def start_plugin_services(server: Any) -> None:
    """Install the probe; Evennia calls this before any other plugin of the game."""
    if "queries" in MODES:
        QUERIES.install()
    if "beat" in MODES:
        HOOKS.install()
    reactor.callWhenRunning(begin)


def at_server_reload_stop() -> None:
    """Note that a reload began, and that all scripts were told."""
    write("reload began")


def at_server_start() -> None:
    """Note the start; Evennia's maintenance runs every 60 s from now on."""
    write("server started")
