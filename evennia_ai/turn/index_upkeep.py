"""Keep a character's search index up with its log, before and after a turn."""

from __future__ import annotations

from itertools import takewhile

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.messages import Audience
from evennia_ai.ports import Script, TurnRecord
from evennia_ai.scheduling import Steps, pause

log = Logger()


@inlineCallbacks
def prepare_memories(
    script: Script, turn: TurnRecord, query: str, audience: Audience
) -> Steps[None]:
    """Make what a query recalls ready; memories of other assistants may have displaced it.

    It gives way before and after, since what a turn does before the model is asked would hold the
    reactor for 20 ms: at most 10 now, between two of them (measured). The turn's own lines, which
    the prompt holds, are taken in by `remember_turn`.
    """
    services = script.services
    yield pause(services.slices.put)
    upto = last_before(script, turn)
    yield script.memories.prepare(services, [query], upto, audience, whole=False)
    yield pause(services.slices.put)


def last_before(script: Script, turn: TurnRecord) -> int | None:
    """Return the number before a turn's first message, None while it has none."""
    known = (message["metadata"] for message in reversed(script.conversation.view()))
    own = [meta["seq"] for meta in takewhile(lambda meta: meta.get("turn_id") == turn.id, known)]
    return own[-1] - 1 if own else None


@inlineCallbacks
def remember_turn(script: Script) -> Steps[None]:
    """Take the lines of a turn into the index, so that the next answer need not wait for it."""
    if not script.may_think():
        return
    try:
        yield script.memories.prepare(script.services, whole=False)
    except TurnAborted:
        raise
    except StoreUnavailable:
        pass  # the next turn does it
    except Exception:  # noqa: BLE001  # whoever waits for the next turn must not wait for more
        log.failure("{name}: a turn's lines are not in memory", name=script.character_name)
