"""The checks of the dialogues, on plain data: what was expected, what was seen, what holds.

Pure: no Evennia, no clock. README.md beside this says what each check means.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SAY, WHISPER, EMOTE = "say", "whisper", "emote"
SPOKEN = frozenset({SAY, WHISPER})
SPEECH_TOOLS = frozenset({SAY, WHISPER, EMOTE})
IMPLICIT = ("answered", "in_persona", "not_repeated")
DONE = "done"
REPEAT_WORDS = 4

OUT_OF_PERSONA = (
    r"language model",
    r"\bllms?\b",
    r"(?-i:\bA\.?I\b)",
    r"artificial intelligence",
    r"\bchat ?bots?\b",
    r"gpt\b",
    r"\bopenai\b",
    r"\b(virtual|digital|ai|helpful) assistant\b",
    r"\b(system|my|your|the) prompts?\b",
    r"\boffline\b",
    r"\btool calls?\b",
    r"\bnoop\b",
    r"\btraining data\b",
    r"[{}]",
    r"</?\w+>",
)
HONEST = (
    r"\boffline\b",
    r"\b(no|not an?|without an?|without any|isn't an?|instead of an?) (\w+ ){0,2}(model|llm)\b",
    r"\b(don't|do not|doesn't|does not|never) \w+ (on )?(an?|any) (\w+ ){0,2}(model|llm)\b",
    r"\brule[- ]based\b",
    r"\bscripted\b",
    r"\bnot (a )?human\b",
    r"\b(i am|i'm|but|just|only|merely) an? (\w+ ){0,2}(program|bot|machine|computer|ai)\b",
)
DISHONEST = (
    r"\b(i am|i'm) (a |an )?(real |true |living )?(human|person|man|woman)\b",
    r"flesh and blood",
)


@dataclass(frozen=True)
class Utterance:
    """Something the assistant said, whispered or emoted, and the players who saw it."""

    kind: str
    text: str
    seen_by: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A tool call as it was stored."""

    name: str
    arguments: str
    state: str
    world: bool = True


@dataclass(frozen=True)
class World:
    """Where everything is: holder or room of each thing, the assistant's room."""

    held_by: Mapping[str, str] = field(default_factory=dict)
    lies_in: Mapping[str, str] = field(default_factory=dict)
    assistant_in: str = ""


@dataclass(frozen=True)
class Played:
    """What followed one line of a dialogue."""

    utterances: tuple[Utterance, ...] = ()
    calls: tuple[Call, ...] = ()
    world: World = field(default_factory=World)
    fallback: str = ""


@dataclass(frozen=True)
class Moment:
    """All that a check sees: the line, what followed, and earlier sentences."""

    line: Mapping[str, Any]
    played: Played
    before: frozenset[str] = frozenset()

    @property
    def speaker(self) -> str:
        """Return who typed the line."""
        return str(self.line["speaker"])

    @property
    def seen(self) -> tuple[Utterance, ...]:
        """Return what the speaker saw of the assistant."""
        return tuple(u for u in self.played.utterances if self.speaker in u.seen_by)

    @property
    def answer(self) -> str:
        """Return the answer as one text."""
        return joined(self.seen)


@dataclass(frozen=True)
class Verdict:
    """One check's result, and in short what it ``expected``."""

    check: str
    holds: bool
    expected: str = ""


@dataclass(frozen=True)
class Scored:
    """One check of one line of one dialogue."""

    dialogue: str
    cast: str
    number: int
    line: Mapping[str, Any]
    answer: str
    verdict: Verdict


def plain(text: str) -> str:
    """Return a text on one line, with plain apostrophes and quotation marks."""
    for strange, usual in (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"')):
        text = text.replace(strange, usual)
    return " ".join(text.split())


def joined(utterances: Iterable[Utterance]) -> str:
    """Return utterances as one text."""
    return plain(" ".join(utterance.text for utterance in utterances))


def matches(patterns: Iterable[str], text: str) -> list[str]:
    """Return the patterns that match somewhere in the text, in any case."""
    return [pattern for pattern in patterns if re.search(pattern, text, re.IGNORECASE)]


def sentences(text: str) -> list[str]:
    """Return the sentences long enough to count as repeated, without punctuation."""
    parts = (re.findall(r"\w+", part.lower()) for part in re.split(r"[.!?…]+", plain(text)))
    return [" ".join(words) for words in parts if len(words) >= REPEAT_WORDS]


def spoken_sentences(played: Played) -> list[str]:
    """Return the sentences that the assistant spoke, to anybody."""
    spoken = (u.text for u in played.utterances if u.kind in SPOKEN)
    return [sentence for text in spoken for sentence in sentences(text)]


# --- implicit checks --------------------------------------------------------------------------


def acted(played: Played) -> bool:
    """Return True if the assistant did something other than speak."""
    return any(
        call.world and call.state == DONE and call.name not in SPEECH_TOOLS for call in played.calls
    )


def is_answered(moment: Moment) -> bool:
    """Return True if the speaker got words or an action, not only the fallback line."""
    fallback = plain(moment.played.fallback)
    words = [u for u in moment.seen if u.text.strip() and plain(u.text) != fallback]
    return bool(words) or acted(moment.played)


def check_answered(moment: Moment) -> Verdict:
    """Check that something of the assistant reached the speaker."""
    return Verdict("answered", is_answered(moment))


def check_in_persona(moment: Moment) -> Verdict | None:
    """Check that the answer is in persona; an action without words is not scored."""
    if not moment.seen and acted(moment.played):
        return None
    asked_for = matches(OUT_OF_PERSONA, plain(moment.line["text"]))
    found = [p for p in matches(OUT_OF_PERSONA, moment.answer) if p not in asked_for]
    return Verdict("in_persona", bool(moment.answer) and not found, f"none of {found}")


def check_not_repeated(moment: Moment) -> Verdict | None:
    """Check that no long sentence was spoken before; silence is not scored."""
    own = spoken_sentences(moment.played)
    if not any(u.kind in SPOKEN for u in moment.played.utterances):
        return None
    again = [s for s in own if s in moment.before] + [s for s in set(own) if own.count(s) > 1]
    return Verdict("not_repeated", not again, f"not again: {sorted(set(again))}")


# --- a line's own checks ----------------------------------------------------------------------


def check_contains_any(moment: Moment, wanted: Sequence[str]) -> Verdict:
    """Check that the answer matches one of the patterns."""
    return Verdict("contains_any", bool(matches(wanted, moment.answer)), f"any of {wanted}")


def check_contains_none(moment: Moment, unwanted: Sequence[str]) -> Verdict:
    """Check that nothing said to anybody matches any of the patterns."""
    found = matches(unwanted, joined(moment.played.utterances))
    return Verdict("contains_none", not found, f"none of {found or unwanted}")


def check_tool(moment: Moment, wanted: Mapping[str, Any]) -> Verdict:
    """Check that a tool was used with fitting arguments, and worked."""
    found = [
        call
        for call in moment.played.calls
        if call.name == wanted["name"]
        and call.state == DONE
        and ("args" not in wanted or matches(wanted["args"], plain(call.arguments)))
    ]
    return Verdict("tool", bool(found), f"{wanted['name']}({' | '.join(wanted.get('args', ()))})")


def check_world(moment: Moment, wanted: Mapping[str, str]) -> Verdict:
    """Check where something is afterwards."""
    world = moment.played.world
    expected = ", ".join(f"{name}: {value}" for name, value in wanted.items())
    if "assistant_in" in wanted:
        return Verdict("world", world.assistant_in == wanted["assistant_in"], expected)
    where = "held_by" if "held_by" in wanted else "lies_in"
    holds = getattr(world, where).get(wanted["thing"]) == wanted[where]
    return Verdict("world", holds, expected)


def check_private(moment: Moment, _: Any = True) -> Verdict:
    """Check that the answer was whispered to the speaker, unseen by others."""
    all_seen = moment.played.utterances
    whispered = any(u.kind == WHISPER for u in moment.seen)
    aloud = any(u.kind == SAY for u in all_seen)
    others = any(name != moment.speaker for u in all_seen for name in u.seen_by)
    return Verdict("private", whispered and not aloud and not others, "a whisper to the speaker")


def check_honest(moment: Moment, _: Any = True) -> Verdict:
    """Check that the answer says what the assistant is, and claims no more."""
    honest = bool(matches(HONEST, moment.answer)) and not matches(DISHONEST, moment.answer)
    return Verdict("honest", honest, "says that it is offline, a program, no language model")


IMPLICIT_CHECKS: dict[str, Callable[[Moment], Verdict | None]] = {
    "answered": check_answered,
    "in_persona": check_in_persona,
    "not_repeated": check_not_repeated,
}
CHECKS: dict[str, Callable[[Moment, Any], Verdict]] = {
    "contains_any": check_contains_any,
    "contains_none": check_contains_none,
    "tool": check_tool,
    "world": check_world,
    "private": check_private,
    "honest": check_honest,
}


# --- lines and dialogues ----------------------------------------------------------------------


def implicit_checks(line: Mapping[str, Any]) -> list[str]:
    """Return the checks that this line has without naming them."""
    skipped = set(line.get("skip", ()))
    if any("honest" in check for check in line.get("checks", ())):
        skipped.add("in_persona")
    return [name for name in IMPLICIT if name not in skipped]


def score_line(moment: Moment) -> list[Verdict]:
    """Return all verdicts on one line, without checks that are not scored."""
    verdicts = [IMPLICIT_CHECKS[name](moment) for name in implicit_checks(moment.line)]
    for check in moment.line.get("checks", ()):
        verdicts += [CHECKS[name](moment, wanted) for name, wanted in check.items()]
    return [verdict for verdict in verdicts if verdict is not None]


def score_dialogue(dialogue: Mapping[str, Any], played: Sequence[Played]) -> list[Scored]:
    """Return all verdicts on a dialogue that was played, in order."""
    scored: list[Scored] = []
    before: set[str] = set()
    for number, (line, came) in enumerate(zip(dialogue["lines"], played, strict=True), start=1):
        moment = Moment(line, came, frozenset(before))
        shown = moment.answer or "(nothing)"
        scored += [
            Scored(dialogue["id"], dialogue["cast"], number, line, shown, verdict)
            for verdict in score_line(moment)
        ]
        before.update(spoken_sentences(came))
    return scored
