"""What a request's messages say: who said what, what it said itself, what it did this turn."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evennia_ai.messages import WireMessage
from evennia_ai.ports import LLMRequest

SAID = re.compile(r"(.{1,80}?) (says|whispers to you): (.*)", re.DOTALL)
CAME = re.compile(r"\((.{1,80}?) (arrives|leaves)\.\)")
GAVE = re.compile(r"\((.{1,80}?) gives you (.*)\.\)", re.DOTALL)
# A line longer than this is read no further, so that nobody can hold the reactor with one.
READ_CHARS = 600
MOST_ROWS = 400  # of a summary
SPEECH = frozenset({"say", "whisper"})
TALK = SPEECH | {"give"}
SHOWN = SPEECH | {"emote", "noop"}
FAILED = re.compile(
    r"\b(no|not|nobody|never|can't|cannot|won't|couldn't|already|refus\w+|locked|closed|blocked|"
    r"wrong|holds you back|unknown|do not fit|fail\w*|bars? your)\b",
    re.I,
)

# What comes to mind of talk out of view; and a bullet of a summary: "- Ann (whispered): I am ill."
RECALL_LABELS = ("You remember: ", "Keep in mind: ", "At hand: ")
DATED = re.compile(r"\d{4}-\d\d-\d\d(?:, [^:]{1,80} told you)?(?:, from [^:]{1,80})?: ")
RECALLED = re.compile(
    rf"- (?:{DATED.pattern})?"
    r"(?P<speaker>(?!\d{4}-)[^:\n]{1,40}?)(?P<whispered> \(whispered\))?: (?P<words>.+)"
)
LONG_AGO = -1  # before anything it said that is still in view
DESCRIBED = re.compile(r"[^.:!?]{2,60}: ")
MACHINERY = re.compile(r"\b(?:do not fit|nothing was done|refused)\b", re.I)


@dataclass(frozen=True)
class Said:
    """One heard line of the past.

    ``kind`` is say, whisper, give, arrives, leaves, seen (an emote or an event) or note; ``after``
    is what the character had said last before it, ``answers`` how many lines it had said by then,
    `LONG_AGO` for what is remembered of talk out of view.
    """

    kind: str
    speaker: str
    text: str
    after: str = ""
    answers: int = 0


@dataclass(frozen=True)
class Act:
    """One tool call of this turn and what came back."""

    name: str
    arguments: Mapping[str, object]
    result: str

    @property
    def failed(self) -> bool:
        """True where the result reads like a refusal; "Name: what is seen" never does."""
        if DESCRIBED.match(self.result) and not MACHINERY.search(self.result):
            return False
        return bool(FAILED.search(self.result[:160]))


@dataclass(frozen=True)
class Transcript:
    """The conversation in the prompt, oldest first: ``own`` are its own spoken lines, ``talk`` all
    that was said by anybody, ``deeds`` everything it said, showed or left undone, ``since`` what
    was heard after that, ``sights`` what looking and walking showed, ``gifts`` what it gave to
    whom, ``about`` what its day has planned for now.
    """

    heard: tuple[Said, ...] = ()
    own: tuple[str, ...] = ()
    emotes: tuple[str, ...] = ()
    talk: tuple[str, ...] = ()
    deeds: tuple[tuple[str, str], ...] = ()
    since: tuple[Said, ...] = ()
    sights: tuple[str, ...] = ()
    gifts: tuple[tuple[str, str], ...] = ()
    acts: tuple[Act, ...] = ()
    time: str = ""
    about: str = ""
    length: int = 0

    def met(self, speaker: str) -> bool:
        """True where it answered this speaker before."""
        return any(
            said.speaker == speaker and said.kind in TALK and said.answers < len(self.own)
            for said in self.heard
        )

    def came_back(self, speaker: str) -> bool:
        """True where this speaker came in after they had talked, and nothing was said since."""
        own = [said for said in self.heard if said.speaker == speaker]
        last = max((i for i, said in enumerate(own) if said.kind == "arrives"), default=0)
        talked = any(said.kind in TALK for said in own[:last])
        return talked and own[last].answers == len(self.own)


def read_transcript(request: LLMRequest) -> Transcript:
    """Read the messages once; anything that is not understood is passed over."""
    reader = _TranscriptReader()
    for message in request.messages:
        role, content = message.get("role"), message.get("content")
        text = content if isinstance(content, str) else ""
        if role == "user" and _is_situation(text):
            reader.time = _row(text, "Time: ")
            reader.about = _row(text, "You are about: ")
            reader.remembered = _read_recalled_lines(text)
        elif role == "user":
            reader.hear(text)
        elif role == "assistant":
            reader.recall_own(text, _calls(message))
        elif role == "tool":
            reader.take_result(text)
    return Transcript(
        heard=(*reader.remembered, *reader.heard),
        own=tuple(reader.own),
        emotes=tuple(reader.emotes),
        talk=tuple(reader.talk),
        deeds=tuple(reader.deeds),
        since=tuple(reader.since),
        sights=tuple(reader.sights),
        gifts=tuple(reader.gifts),
        acts=_acts_of_turn(request.messages, request.scene.step),
        time=reader.time,
        about=reader.about,
        length=len(request.messages),
    )


class _TranscriptReader:
    """What is gathered while the messages are read from first to last."""

    def __init__(self) -> None:
        self.heard: list[Said] = []
        self.remembered: list[Said] = []
        self.own: list[str] = []
        self.emotes: list[str] = []
        self.talk: list[str] = []
        self.deeds: list[tuple[str, str]] = []
        self.since: list[Said] = []
        self.sights: list[str] = []
        self.gifts: list[tuple[str, str]] = []
        self.time = ""
        self.about = ""
        self._pending: list[tuple[str, dict[str, object]]] = []

    def hear(self, text: str) -> None:
        """A line of somebody else's."""
        after = self.own[-1] if self.own else ""
        for said in _read_heard(text, after):
            if said.answers == LONG_AGO:
                self.heard.append(said)
                continue
            self.heard.append(replace(said, answers=len(self.own)))
            self.since.append(said)
            self.talk.append(said.text)

    def recall_own(self, text: str, calls: list[tuple[str, dict[str, object]]]) -> None:
        """A reply of its own."""
        spoken = [text] if text else []
        spoken += [str(a["text"]) for name, a in calls if name in SPEECH and a.get("text")]
        self.own += spoken
        self.talk += spoken
        self.emotes += [str(a.get("text") or "") for name, a in calls if name == "emote"]
        deeds = [(name, str(a.get("text") or "")) for name, a in calls if name in SHOWN]
        self.deeds += [("say", text)] if text else []
        self.deeds += deeds
        if text or any(name != "noop" for name, _ in deeds):
            self.since = []
        self._pending = list(calls)

    def take_result(self, text: str) -> None:
        """What came back from the call next in line."""
        if not self._pending:
            return
        name, arguments = self._pending.pop(0)
        if name in {"look", "move"} and DESCRIBED.match(text) and not MACHINERY.search(text):
            self.sights.append(text)
        act = Act(name, arguments, text)
        if name == "give" and not act.failed:
            self.gifts.append((str(arguments.get("item", "")), str(arguments.get("to", ""))))
        if name in {"give", "get", "drop"}:
            self.talk.append(str(arguments.get("item", "")))


def _is_situation(content: object) -> bool:
    """True for the prompt's last part, which nobody said."""
    return isinstance(content, str) and content.startswith("<situation>")


def _row(text: str, label: str) -> str:
    rows = [row for row in text.splitlines() if row.startswith(label)]
    return rows[0].removeprefix(label) if rows else ""


def _read_heard(text: str, after: str) -> list[Said]:
    """What one message tells: a line that was heard, or a summary of many rows."""
    summary, text = text, text[:READ_CHARS]
    if text.startswith("("):
        gift, came = GAVE.fullmatch(text), CAME.fullmatch(text)
        if came:
            return [Said(came[2], came[1], "")]
        return [Said("give", gift[1], gift[2]) if gift else Said("seen", "", text.strip("()"))]
    said = SAID.fullmatch(text)
    if said:
        return [Said("say" if said[2] == "says" else "whisper", said[1], said[3], after)]
    return [
        _read_recalled(row) or Said("note", "", row)
        for row in (row[:READ_CHARS] for row in summary.splitlines()[:MOST_ROWS])
        if len(row.split()) > 3
    ]


def _read_recalled_lines(text: str) -> list[Said]:
    """What comes to mind, from the prompt's last part."""
    found = []
    for row in text.splitlines():
        label = next((label for label in RECALL_LABELS if row.startswith(label)), None)
        if label is not None:
            words = DATED.sub("", row.removeprefix(label)[:READ_CHARS], count=1)
            found.append(_read_recalled(f"- {words}") or Said("note", "", words, "", LONG_AGO))
    return found


def _read_recalled(row: str) -> Said | None:
    """A bullet as what somebody said long ago, None where it is another kind of note."""
    found = RECALLED.fullmatch(row)
    if found is None:
        return None
    kind = "whisper" if found["whispered"] else "say"
    return Said(kind, found["speaker"], found["words"], "", LONG_AGO)


def _calls(message: WireMessage) -> list[tuple[str, dict[str, object]]]:
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


def _acts_of_turn(messages: Sequence[WireMessage], step: int) -> tuple[Act, ...]:
    """The calls made since the last heard line, in a turn that is past its first step. A reply's
    calls may stand in one message or in one each."""
    found: list[int] = []
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        heard = message.get("role") == "user" and not _is_situation(message.get("content"))
        if step < 2 or heard:
            break
        if message.get("role") == "assistant" and message.get("tool_calls"):
            found.append(index)
    acts = []
    for index in reversed(found):
        results = _results_after(messages, index)
        for number, (name, arguments) in enumerate(_calls(messages[index])):
            acts.append(Act(name, arguments, results[number] if number < len(results) else ""))
    return tuple(acts)


def _results_after(messages: Sequence[WireMessage], index: int) -> list[str]:
    results = []
    for message in messages[index + 1 :]:
        if message.get("role") != "tool":
            break
        results.append(str(message.get("content") or ""))
    return results
