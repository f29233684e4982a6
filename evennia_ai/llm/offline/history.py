"""What a request's messages say: who said what, what it said itself, what it did this turn."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.ports import LLMRequest

SAID = re.compile(r"(.{1,80}?) (says|whispers to you): (.*)", re.DOTALL)
GAVE = re.compile(r"\((.{1,80}?) gives you (.*)\.\)", re.DOTALL)
SPEECH = frozenset({"say", "whisper"})
FAILED = re.compile(
    r"\b(no|not|nobody|never|can't|cannot|won't|couldn't|already|refus\w+|locked|closed|blocked|"
    r"wrong|holds you back|unknown|do not fit|fail\w*|bars? your)\b",
    re.I,
)

DESCRIBED = re.compile(r"[^.:!?]{2,60}: ")
MACHINERY = re.compile(r"\b(?:do not fit|nothing was done|refused)\b", re.I)


@dataclass(frozen=True)
class Said:
    """One heard line of the past; ``kind`` is say, whisper, give or note."""

    kind: str
    speaker: str
    text: str


@dataclass(frozen=True)
class Act:
    """One tool call of this turn and what came back."""

    name: str
    arguments: Mapping[str, Any]
    result: str

    @property
    def failed(self) -> bool:
        """True where the result reads like a refusal; "Name: what is seen" never does."""
        if DESCRIBED.match(self.result) and not MACHINERY.search(self.result):
            return False
        return bool(FAILED.search(self.result[:160]))


@dataclass(frozen=True)
class Past:
    """The conversation in the prompt. ``own`` are its own spoken lines, oldest first."""

    heard: tuple[Said, ...] = ()
    own: tuple[str, ...] = ()
    emotes: tuple[str, ...] = ()
    acts: tuple[Act, ...] = ()
    time: str = ""
    length: int = 0


def read_past(request: LLMRequest) -> Past:
    """Read the messages once; anything that is not understood is passed over."""
    heard: list[Said] = []
    own: list[str] = []
    emotes: list[str] = []
    time = ""
    for message in request.messages:
        role, text = message.get("role"), message.get("content")
        text = text if isinstance(text, str) else ""
        if role == "user" and text.startswith("<situation>"):
            time = _row(text, "Time: ")
        elif role == "user":
            heard.extend(_read_heard(text))
        elif role == "assistant":
            own.extend([text] if text else [])
            for name, arguments in _calls(message):
                if name in SPEECH and arguments.get("text"):
                    own.append(str(arguments["text"]))
                elif name == "emote":
                    emotes.append(str(arguments.get("text") or ""))
    acts = _acts_of_turn(request.messages, request.scene.step)
    return Past(tuple(heard), tuple(own), tuple(emotes), acts, time, len(request.messages))


def _row(text: str, label: str) -> str:
    rows = [row for row in text.splitlines() if row.startswith(label)]
    return rows[0].removeprefix(label) if rows else ""


def _read_heard(text: str) -> list[Said]:
    if text.startswith("("):
        gift = GAVE.fullmatch(text)
        return [Said("give", gift[1], gift[2])] if gift else []
    said = SAID.fullmatch(text)
    if said:
        return [Said("say" if said[2] == "says" else "whisper", said[1], said[3])]
    return [Said("note", "", row) for row in text.splitlines() if len(row.split()) > 3]


def _calls(message: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for call in message.get("tool_calls") or ():
        function = call.get("function", {})
        try:
            arguments = json.loads(function.get("arguments") or "{}")
        except (ValueError, TypeError):
            continue
        if isinstance(arguments, dict):
            found.append((str(function.get("name", "")), arguments))
    return found


def _acts_of_turn(messages: Sequence[Mapping[str, Any]], step: int) -> tuple[Act, ...]:
    """The calls of the last ``step - 1`` replies that called anything."""
    wanted, found = step - 1, []
    for index in range(len(messages) - 1, -1, -1):
        if wanted <= 0:
            break
        if messages[index].get("role") == "assistant" and messages[index].get("tool_calls"):
            found.append(index)
            wanted -= 1
    acts = []
    for index in reversed(found):
        results = _results_after(messages, index)
        for number, (name, arguments) in enumerate(_calls(messages[index])):
            acts.append(Act(name, arguments, results[number] if number < len(results) else ""))
    return tuple(acts)


def _results_after(messages: Sequence[Mapping[str, Any]], index: int) -> list[str]:
    results = []
    for message in messages[index + 1 :]:
        if message.get("role") != "tool":
            break
        results.append(str(message.get("content") or ""))
    return results
