"""Model calls of logged turns in a file, and the same calls asked again of another model.

Each line of a file is a JSON object: the prompt of one call as it was sent, and the reply.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import AssistantError, ConfigError, ProviderError
from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.models import Turn
from evennia_ai.policy.explanation.call_record import Sent
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.request_forms.form import Asked
from evennia_ai.ports import Caller
from evennia_ai.scheduling import Steps
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.call_records import calls_of_turn
from evennia_ai.testing.scenes.casting import find_character
from evennia_ai.testing.scenes.check_models import open_models
from evennia_ai.testing.scenes.checking import (
    BROKEN,
    CheckClock,
    Tell,
    ending,
    in_reactor,
    keep,
)
from evennia_ai.testing.scenes.recording import turn_range
from evennia_ai.turn.replay import replay_request

REPLY_S = 120.0
LINE_CHARS = 400


@dataclass(frozen=True)
class SavedCall:
    """One model call of a file; ``reply`` has the raw ``text`` and ``calls``."""

    character: str
    turn: int
    messages: Sequence[dict[str, Any]]
    sent: dict[str, Any]
    reply: dict[str, Any]


def save_calls(name: str, turns: str, whispers: bool) -> str:
    """Return the calls of a character's turns as JSON Lines; raises ConfigError without any.

    Without ``whispers``, prompts that hold anything private are left out.
    """
    numbers = turn_range(turns)
    character = find_character(name)
    script_id = character.scripts.get(SCRIPT_KEY)[0].id
    rows = Turn.objects.filter(assistant_id=script_id, id__range=numbers).order_by("id")
    lines = [
        json.dumps(asdict(call), ensure_ascii=False)
        for turn in rows
        for call in saved(str(character.key), turn.id, script_id, whispers)
    ]
    if not lines:
        aside = "" if whispers else " Whispers are left out; --whispers saves them, too."
        raise ConfigError(
            f"No prompt of {character.key} is kept from the turns {turns}. RETENTION says how "
            f"long prompts are kept.{aside}"
        )
    return "\n".join([*lines, ""])


def saved(name: str, turn_id: int, script_id: int, whispers: bool) -> Iterator[SavedCall]:
    """Yield the calls of a turn whose prompts can be rebuilt as they were sent."""
    for call in calls_of_turn(script_id, turn_id):
        if call.is_exact and (whispers or not call.kept.trace.private):
            kept = call.kept
            yield SavedCall(
                name, turn_id, list(call.messages), asdict(kept.sent), asdict(kept.reply)
            )


def read_calls(file: str) -> list[SavedCall]:
    """Return the calls of a file; raises ConfigError that names the line that is wrong."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}.") from error
    calls = []
    for number, line in enumerate(lines, 1):
        try:
            calls.append(SavedCall(**json.loads(line)))
        except (ValueError, TypeError) as error:
            raise ConfigError(f"{file}, line {number}: this is no saved call ({error}).") from error
    if not calls:
        raise ConfigError(f"{file} holds no calls. `evennia ai_replay --record` saves some.")
    return calls


def replay(file: str, profile: str, tell: Tell) -> int:
    """Ask for every call of a file again in this process's reactor; return the exit code."""
    try:
        calls = read_calls(file)
        outcome = in_reactor(lambda reactor: replay_all(reactor, calls, profile, tell))
    except AssistantError as error:
        tell(str(error))
        return BROKEN
    code = ending(outcome, (), 0, lambda _line: None)
    if code == BROKEN and outcome is not None:
        tell(str(getattr(outcome, "value", outcome)))
    return code


@inlineCallbacks
def replay_all(reactor: Any, calls: Sequence[SavedCall], name: str, tell: Tell) -> Steps[None]:
    """Ask call by call and tell both replies; fails with a ConfigError for a wrong profile."""
    clock = CheckClock(reactor)
    models, close = open_models(clock, os.environ, reactor.callFromThread)
    reactor.addSystemEventTrigger("during", "shutdown", close)
    profile = models.judge(name)  # a model, and not the offline brain
    for number, call in enumerate(calls, 1):
        sent = Sent(**call.sent)
        request = replay_request(call.character, sent, call.messages, Caller())
        asking: Deferred[LLMReply] = models.gateway.complete(
            request, profile, clock.seconds() + REPLY_S
        )
        tell(f"Call {number} of {len(calls)}, {call.character}, turn {call.turn}")
        tell(f"  then {told(recorded(call, sent))}")
        try:
            reply: LLMReply = yield asking
        except ProviderError as error:
            tell(f"  now  no reply: {error}")
        else:
            tell(f"  now  {told(reply)}")


def recorded(call: SavedCall, sent: Sent) -> LLMReply:
    """Return the recorded reply as it was read."""
    made = tuple(ToolCallRequest("", name, arguments) for name, arguments in call.reply["calls"])
    reader = reply_reader(sent.form, Asked(tools=sent.tools))
    return reader.finish(LLMReply(call.reply["text"], made))


def told(reply: LLMReply) -> str:
    """Return a reply's words and calls on one line."""
    calls = (f"{call.name}({call.arguments})" for call in reply.tool_calls)
    line = " ".join(filter(None, [" ".join(reply.content.split()), *calls]))
    return line[:LINE_CHARS] or "nothing"


def record(character: str, turns: str, whispers: bool, out: str, tell: Tell) -> int:
    """Write the calls of logged turns; return the exit code."""
    return keep(partial(save_calls, character, turns, whispers), out, tell)
