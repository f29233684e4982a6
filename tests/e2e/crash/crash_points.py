"""Kill or stop the server from inside at named moments, and keep a journal of what it did.

This file is copied into a test game's ``world`` and named as a service plugin in its settings; the
package knows nothing of it. `ORDER` names the point of the next kill, and `PLANT` a bug. Each
promise and each act of the server is a line in `JOURNAL`, which survives the kill.
"""

import json
import os
import signal
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from django.conf import settings
from twisted.internet.defer import Deferred

from evennia_ai.game import sleep_state
from evennia_ai.game.extensions import own_classes
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.models import Message
from evennia_ai.ports import SemanticMemory
from evennia_ai.services import assistant_service, startup
from evennia_ai.services.forgetting import ForgettingService
from evennia_ai.sleep import consolidation
from evennia_ai.store import turns
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.segments import AttributeSegments
from evennia_ai.store.turns import TableTurns
from evennia_ai.tools.registry import ToolRegistry
from evennia_ai.turn.llm_interaction import Summariser

own_classes()  # loads the package's extensions, one of which has long-term memory

ORDER = Path(settings.GAME_DIR, "crash.order")
PLANT = Path(settings.GAME_DIR, "crash.plant")
JOURNAL = Path(settings.GAME_DIR, "crash.journal")
SIGNAL = signal.Signals[os.environ.get("CRASH_SIGNAL", "SIGKILL")]
POINTS: dict[str, tuple[tuple[Any, str], ...]] = {
    "inbox row": ((assistant_service, "store_events"),),
    "turn begun": ((TableTurns, "begin"),),
    "model called": ((OpenAIClient, "complete"),),
    "call recorded": ((TableTurns, "record_model_call"),),
    "intent stored": ((TableTurns, "intend"),),
    "act executed": ((ToolRegistry, "run"),),
    "outcome stored": ((TableTurns, "record_outcome"),),
    "turn finished": ((TableTurns, "finish"),),
    "summary asked": ((Summariser, "summarise"),),
    "compaction stored": ((TableConversation, "compact"),),
    "compaction undone": ((TableConversation, "undo"),),
    "summary journalled": ((TableConversation, "note_archived"),),
    "memories stored": tuple((kind, "put") for kind in SemanticMemory.__subclasses__()),
    "links written": ((consolidation, "write_links"),),
    "journal written": ((AttributeSegments, "write"),),
    "sleep begun": ((sleep_state, "begin_pass"),),
    "people forgotten": ((ForgettingService, "begin"),),
    "turn recovered": ((turns, "recover_turn"), (turns, "recover_turn")),
}
DROPPED = 5


def start_plugin_services(server: Any) -> None:
    """Install the points; Evennia calls this before evennia_ai's services start."""
    if PLANT.exists():
        PLANTS[PLANT.read_text()]()
    note_all()
    for point, places in POINTS.items():
        for owner, name in places:
            replace(owner, name, at_point(point))
    if "evennia_shards" in settings.INSTALLED_APPS:  # after a move was committed
        from evennia_shards import messagebus

        replace(messagebus, "send_message", at_point("place told"))


def replace(owner: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Replace a function by ``change(function)``."""
    real = getattr(owner, name)
    setattr(owner, name, wraps(real)(change(real)))


# --- points -----------------------------------------------------------------------------------


def at_point(point: str) -> Callable[[Any], Any]:
    """Make a function, or the result of its Deferred, a moment at which to kill the server."""

    def watch(real: Any) -> Any:
        def watched(*args: Any, **kwargs: Any) -> Any:
            pass_by(f"before {point}")
            came = real(*args, **kwargs)
            return afterwards(came, lambda _: pass_by(f"after {point}"))

        return watched

    return watch


def afterwards(came: Any, do: Callable[[Any], None]) -> Any:
    """Call ``do`` with a result, now or when its Deferred fires."""

    def done(value: Any) -> Any:
        do(value)
        return value

    return came.addCallback(done) if isinstance(came, Deferred) else done(came)


def pass_by(moment: str) -> None:
    """Kill this process if the order names this point."""
    try:
        ordered = ORDER.read_text()
    except FileNotFoundError:
        return
    if ordered == moment:
        ORDER.unlink()
        os.kill(os.getpid(), SIGNAL)


# --- the journal ------------------------------------------------------------------------------


def note(what: str, **fields: Any) -> None:
    """Write a line to the journal in one piece."""
    moment = {"at": time.time(), "steady": time.monotonic()}
    line = json.dumps({"what": what, **moment, **fields}) + "\n"
    file = os.open(JOURNAL, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


def note_all() -> None:
    """Journal each promise and each act."""
    replace(assistant_service, "store_events", noting_puts)
    replace(TableTurns, "begin", noting_turns)
    replace(ToolRegistry, "run", noting_deeds)


def noting_puts(store: Any) -> Any:
    def noted(events: Any, at: Any) -> list[int]:
        ids: list[int] = store(events, at)
        for (assistant, heard), event_id in zip(events, ids, strict=True):
            note(
                "put",
                assistant=assistant,
                event_id=event_id,
                text=heard.text,
                speaker=heard.speaker,
            )
        return ids

    return noted


def noting_turns(begin: Any) -> Any:
    def noted(store: Any, events: Any, *args: Any) -> Any:
        turn = begin(store, events, *args)
        note("turn", turn_id=turn.id, events=[event.id for event in events])
        return turn

    return noted


def noting_deeds(run: Any) -> Any:
    def noted(toolbox: Any, context: Any, call: Any) -> Any:
        def write(result: Any) -> None:
            if result.state != "done":
                return
            item = toolbox.tools[call.name]
            heard_by = context.audience if result.heard_by is None else result.heard_by
            note(
                "deed",
                character=context.character.dbref,
                speaker=context.character.key,
                name=call.name,
                arguments=call.arguments,
                call_id=call.id,
                world=item.world,
                safe_to_retry=item.safe_to_retry,
                heard_by=sorted(heard_by),
            )

        return afterwards(run(toolbox, context, call), write)

    return noted


# --- bugs to be found -------------------------------------------------------------------------


def forget_what_was_done() -> None:
    """Recovery runs every act again."""
    turns.state_after_loss = lambda *about, **more: "waiting"
    TableTurns._acts_since = lambda *about, **more: ()


def drop_some_lines() -> None:
    """The inbox loses every fifth line."""
    count = iter(range(1, 1_000_000))

    def dropping(store: Any) -> Any:
        return lambda events, at: [
            0 if next(count) % DROPPED == 0 else store([event], at)[0] for event in events
        ]

    replace(assistant_service, "store_events", dropping)


def recover_nothing() -> None:
    """Turns of dead processes stay open."""
    startup.open_turns = lambda *about, **more: []


def drop_what_is_summed_up() -> None:
    """A compaction deletes its oldest messages."""

    def dropping(compact: Any) -> Any:
        def dropped(log: Any, record: Any) -> Any:
            Message.objects.filter(id=record.from_seq).delete()
            return compact(log, record)

        return dropped

    replace(TableConversation, "compact", dropping)


PLANTS = {
    "a compaction drops messages": drop_what_is_summed_up,
    "recovery forgets what was done": forget_what_was_done,
    "the inbox drops lines": drop_some_lines,
    "nothing is recovered": recover_nothing,
}
