"""What the stand-in is asked, and the messages before it: who said what, and what it did."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evennia_ai.contrib.stand_in.likeness import TextVectors
from evennia_ai.contrib.stand_in.words import lowered
from evennia_ai.messages import MARK, NOOP, SPEECH, Situation, WireMessage
from evennia_ai.policy.audience import select_visible
from evennia_ai.policy.conversation.persona_and_lore import Persona, is_of_talk
from evennia_ai.policy.conversation.requested_acts import READ_CHARS
from evennia_ai.policy.facts.check import HAPPENED, RECALLED, RECALLED_AGE
from evennia_ai.policy.texts import read_object
from evennia_ai.ports import LLMRequest, ToolContext
from evennia_ai.turn.prompt_contexts import lore_text


@dataclass(frozen=True)
class HeardLine:
    """One line that the character just heard."""

    kind: str
    speaker: str
    text: str
    private: bool


@dataclass(frozen=True)
class StandInRequest:
    """A request with what was selected for its audience."""

    name: str
    persona: Persona
    lines: tuple[HeardLine, ...]  # the new lines
    situation: Situation = field(default_factory=Situation)  # what the character perceives
    lore: tuple[str, ...] = ()
    step: int = 1  # number of the turn's model call, from 1
    certain: bool = False  # whether it says nothing but what it surely knows
    material: tuple[str, ...] = ()  # of a summary: the previous one, then each message's line
    room_tokens: int = 0  # the most tokens for a summary
    excuses: tuple[str, ...] = ()  # said lately in place of an answer; no message has them
    assistants: frozenset[str] = frozenset()  # names of the other assistants among the speakers
    undone: frozenset[str] = frozenset()  # ids of the turn's tool calls that were not done
    talk_rules: tuple[str, ...] = ()  # of what the persona never does: what it never talks about
    messages: Sequence[WireMessage] = ()
    prices: str = ""  # of what it sells, where only what is certain is asked; else it looks them up
    tools: frozenset[str] = frozenset()  # their names
    vectors: TextVectors = field(default_factory=dict, compare=False, repr=False)  # by text


def read_source(request: LLMRequest) -> StandInRequest:
    """Return a request as the stand-in reads it; nothing in it is hidden from its audience."""
    source, events = request.source, [event.heard for event in request.events]
    scene = StandInRequest(
        "",
        Persona(),
        tuple(HeardLine(line.kind, line.speaker_name, line.text, line.private) for line in events),
        request.situation,
        step=request.trace.step if request.trace else 1,
        certain=request.certain,
        assistants=frozenset(line.speaker_name for line in events if line.hops),
        messages=request.messages,
        tools=frozenset(tool["function"]["name"] for tool in request.all_tools),
    )
    if source is None:
        return scene
    excuses = source.mind.log.current.excuses if source.turn else ()
    seen = select_visible(excuses, source.turn.audience) if source.turn else ()
    persona = source.mind.who.persona
    prices = source.mind.services.toolbox.tools.get("prices") if request.certain else None
    people = frozenset(line.speaker for line in events)
    context = ToolContext(source.mind.character, frozenset(), True, people, askers=people)
    return replace(
        scene,
        name=source.mind.who.name,
        persona=persona,
        talk_rules=tuple(filter(is_of_talk, persona.never)),
        lore=tuple(lore_text(entry) for entry in source.prompt.lore) if source.prompt else (),
        material=source.material,
        room_tokens=source.room_tokens,
        excuses=tuple(excuse["content"] for excuse in seen),
        undone=source.undone,
        prices=str(prices.run(context, prices.arguments())) if prices else "",
    )


SAID = re.compile(r"\A([^:\n]{1,80}?) (says|whispers to you|acts out): (.*)", re.DOTALL)
KINDS = {"says": "say", "whispers to you": "whisper", "acts out": "acted"}
NAME = r'(?:"([^"]{1,80})"|([^"]{1,80}?))'  # in quotes if it is long, see `messages.as_name`
CAME = re.compile(rf"\A{NAME} (arrives|leaves)\.")
GAVE = re.compile(rf'\A{NAME} gives you (?:"([^"]*)"|([^"]*))\.')
MOST_ROWS = 400  # of a summary
TALK = SPEECH | {"give"}
SHOWN = SPEECH | {"emote", NOOP}

# Labels of recalled lines.
RECALLS = re.compile(r"^(?:You remember|Keep in mind|At hand):(?P<rows> .+|(?:\n- .+)+)", re.M)
GOALS = re.compile(r"^You are after:(?P<rows> .+|(?:\n- .+)+)", re.M)
# A goal with its state, such as "Find the thief [g1, 50% done]".
GOAL_STATE = re.compile(r"\A(?:a step towards that: )?(?P<goal>.+?)(?: \[g\d[^\[\]]*\])?\Z")
BULLET = "- "
# A row of a model's summary that tells of the character from outside.
HEADLINE = re.compile(r"\A\W{0,3}(?:Aim|Constraints|Progress|Decisions|Next|Context)\b[^:]*:")
LONG_AGO = -1  # before every line in the context window


@dataclass(frozen=True)
class TranscriptLine:
    """One line that the character heard.

    ``kind`` is say, whisper, acted (an emote), give, arrives, leaves, seen (another event) or note.
    ``answers`` is the number of lines that the character had said by then; `LONG_AGO` marks what is
    recalled from outside the context window.
    """

    kind: str
    speaker: str
    text: str
    answers: int = 0


@dataclass
class TranscriptToolCall:
    """One tool call of this turn and its result."""

    name: str
    arguments: Mapping[str, object]
    result: str = ""
    id: str = ""
    failed: bool = False  # True if it was not done

    @property
    def text(self) -> str:
        """Return the words of the call, "" if it has none."""
        return str(self.arguments.get("text") or "")

    @property
    def item(self) -> str:
        """Return the thing that the call is about, "" if it has none."""
        return str(self.arguments.get("item", ""))


@dataclass
class Transcript:
    """The conversation in the prompt, oldest first.

    ``own`` are the character's spoken lines, ``talk`` all spoken lines and things that it handled,
    ``since`` is what it heard after its last deed, ``acts`` are this turn's calls.
    """

    heard: list[TranscriptLine] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    talk: list[str] = field(default_factory=list)
    emotes: list[str] = field(default_factory=list)
    since: list[TranscriptLine] = field(default_factory=list)
    deeds: list[str] = field(default_factory=list)
    acts: list[TranscriptToolCall] = field(default_factory=list)
    prices: str = ""
    sold: list[str] = field(default_factory=list)  # what it offered to sell, if not for sale now
    time: str = ""
    goals: tuple[str, ...] = ()
    _pending: list[TranscriptToolCall] = field(default_factory=list)

    @property
    def goods(self) -> dict[str, str]:
        """Return the prices, in words, by the names of things, as `prices` told them now."""
        shown = [self.prices, *(act.result for act in self.acts if act.name == "prices")]
        rows = (row.partition(": ") for result in shown for row in result.split("; "))
        return {name: price for name, colon, price in rows if colon}

    def answers_to(self, speaker: str) -> list[str]:
        """Return what the character said right after a line of this speaker, oldest first."""
        last = {line.answers: line.speaker for line in self.heard}
        return [own for number, own in enumerate(self.own) if last.get(number) == speaker]

    def met(self, speaker: str) -> bool:
        """Return True if the character answered this speaker before."""
        own = (spoken for spoken in self.heard if spoken.speaker == speaker and spoken.kind in TALK)
        return any(spoken.answers < len(self.own) for spoken in own)

    def hear(self, text: str) -> None:
        """Add a line of somebody else; the acts before it belong to an earlier turn."""
        self.acts = []
        line = _read_line(text[:READ_CHARS])
        if line:
            self.heard.append(replace(line, answers=len(self.own)))
            self.since.append(line)
            self.talk.append(line.text)
        elif not text.startswith("<you>"):
            self.heard += _read_summary(text)

    def recall_own(self, text: str, calls: list[TranscriptToolCall]) -> None:
        """Add one of the character's replies."""
        spoken = [text] if text else []
        spoken += [act.text for act in calls if act.name in SPEECH and act.text]
        shown = [act.text for act in calls if act.name == "emote"]
        self.own += spoken
        self.talk += spoken
        self.emotes += shown
        sales = ", ".join(act.item for act in calls if act.name == "sell")
        self.sold += filter(None, sales.split(", "))
        names = [*("say" for _ in spoken[: bool(text)]), *(act.name for act in calls)]
        self.deeds += [name for name in names if name in SHOWN]
        if spoken or shown:
            self.since = []
        self._pending = list(calls)
        self.acts += calls

    def take_result(self, text: str) -> None:
        """Add the result of the next pending call."""
        if self._pending:
            act = self._pending.pop(0)
            act.result = text
            self.talk += [act.item] if act.name in {"give", "get", "drop"} else []


def read_transcript(request: StandInRequest) -> Transcript:
    """Return a request's transcript, without recalled lines that the conversation still shows."""
    read, remembered = Transcript(prices=request.prices), list[TranscriptLine]()
    for message in request.messages:
        role, content = message.get("role"), message.get("content")
        text = content if isinstance(content, str) else ""
        if role == "user" and text.startswith("<situation>"):  # nobody said it
            rows = dict(row.partition(": ")[::2] for row in reversed(text.splitlines()))
            read.time = rows.get("Time", read.time)
            for match in RECALLS.finditer(text):
                remembered += map(_read_recalled, _rows_of(match["rows"]))
            for match in GOALS.finditer(text):
                bare = (GOAL_STATE.sub(r"\g<goal>", row) for row in _rows_of(match["rows"]))
                read.goals = tuple(map(lowered, bare))
        elif role == "user":
            read.hear(text)
        elif role == "assistant":
            read.recall_own(text, _calls(message))
        elif role == "tool":
            read.take_result(text)
    others = [line for line in remembered if line.speaker != request.name]
    in_view = [line.text for line in read.heard]
    new = [line for line in others if not any(line.text in text for text in in_view)]
    read.heard = [*new, *read.heard]
    read.acts = read.acts if request.step > 1 else []
    for act in read.acts:
        act.failed = act.id in request.undone
    return read


def _rows_of(rows: str) -> list[str]:
    bare = (row.removeprefix(BULLET).strip() for row in rows.splitlines())
    return [row[:READ_CHARS] for row in bare if row]


def _read_line(text: str) -> TranscriptLine | None:
    if text.startswith(MARK):
        return _read_perceived(text.removeprefix(MARK).strip())
    match = SAID.fullmatch(text)
    return TranscriptLine(KINDS[match[2]], match[1], match[3]) if match else None


def _read_perceived(text: str) -> TranscriptLine:
    """Return what the game perceived: a gift, somebody coming or going, or any other event."""
    gift, came = GAVE.fullmatch(text), CAME.fullmatch(text)
    if came:
        return TranscriptLine(came[3], came[1] or came[2], "")
    if gift:
        return TranscriptLine("give", gift[1] or gift[2], gift[3] or gift[4])
    return TranscriptLine("seen", "", text)


def _read_summary(text: str) -> list[TranscriptLine]:
    """Return what a summary tells as somebody's words; all else in it is nobody's to repeat."""
    rows = (row.removeprefix(BULLET)[:READ_CHARS] for row in text.splitlines()[:MOST_ROWS])
    long = [row for row in rows if len(row.split()) > 3 and not HEADLINE.match(row)]
    lines = (_read_line(row) or _read_recalled(row) for row in long)
    return [replace(line, answers=LONG_AGO) for line in lines if line.speaker]


def _read_recalled(row: str) -> TranscriptLine:
    """Return a recalled line: what somebody said, an event, or a note; a note of others is theirs."""
    dated = RECALLED_AGE.match(row)
    text, source = (row[dated.end() :], dated["teller"] or dated["source"]) if dated else (row, "")
    for label in (MARK, f"{HAPPENED}:"):
        if text.startswith(label):
            return replace(_read_perceived(text.removeprefix(label).strip()), answers=LONG_AGO)
    match = RECALLED.fullmatch(text)
    if match is None:
        return TranscriptLine("say" if source else "note", source or "", text, LONG_AGO)
    kind = "acted" if match["acted"] else "whisper" if match["whispered"] else "say"
    return TranscriptLine(kind, match["speaker"], match["words"], LONG_AGO)


def _calls(message: WireMessage) -> list[TranscriptToolCall]:
    calls = message.get("tool_calls") or ()
    named = [(str(call.get("id", "")), call.get("function", {})) for call in calls]
    return [
        TranscriptToolCall(str(function.get("name", "")), arguments, id=id_)
        for id_, function in named
        if (arguments := read_object(function.get("arguments") or "{}")) is not None
    ]
