"""What a builder writes of a character and its world: persona and lore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from evennia_ai.errors import ConfigError
from evennia_ai.messages import Authors
from evennia_ai.policy.audience import BUILDER
from evennia_ai.policy.retrieval.relevance import score_texts
from evennia_ai.policy.tokens import estimate_tokens


@dataclass(frozen=True)
class Persona:
    """A persona; every field may be empty."""

    text: str = ""  # in the second person: "You are Mira, who keeps the Gull."
    voice: str = ""  # how it sounds: "low, dry, in short sentences"
    manner: str = ""  # how it behaves: "wipes mugs while she listens"
    knows: tuple[str, ...] = ()  # what others may not know
    wants: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()  # lines it might say


FIELD_NAMES = tuple(item.name for item in fields(Persona))
LISTS = frozenset({"knows", "wants", "never", "examples"})
HEADINGS = {
    "voice": "Your voice: {}",
    "manner": "Your manner: {}",
    "knows": "You know:",
    "wants": "You want:",
    "never": "You never:",
    "examples": "Things you might say:",
}


def read_persona(value: object) -> Persona:
    """Return a persona from text or from a mapping of its fields; raises ConfigError."""
    if isinstance(value, Persona):
        return value
    if value is None or isinstance(value, str):
        return Persona(text=value or "")
    if not isinstance(value, Mapping):
        raise ConfigError(f"A persona must be text or its fields, not {value!r:.80}.")
    strange = sorted(map(str, set(value) - set(FIELD_NAMES)))
    if strange:
        known = ", ".join(FIELD_NAMES)
        raise ConfigError(f"A persona has no field '{strange[0]}'. Use one of {known}.")
    return Persona(**{name: _read_field(name, value[name]) for name in value})


def _read_field(name: str, value: object) -> Any:
    if name not in LISTS:
        return str(value or "")
    # A list may be one text with semicolons between the entries.
    entries = value.split(";") if isinstance(value, str) else value or ()
    if not isinstance(entries, (list, tuple, set)):
        found = f"{value!r:.80}"
        raise ConfigError(f"The persona's field '{name}' must be text or a list, not {found}.")
    return tuple(str(entry).strip() for entry in entries if str(entry).strip())


def stored_fields(persona: Persona) -> dict[str, object]:
    """Return the fields that are not empty, as plain data to store."""
    values = {name: getattr(persona, name) for name in FIELD_NAMES}
    return {n: list(v) if n in LISTS else v for n, v in values.items() if v}


def render_persona(persona: Persona) -> str:
    """Return the persona as it stands in a prompt."""
    parts = [persona.text.strip() or "You have no past yet."]
    for name, heading in HEADINGS.items():
        value = getattr(persona, name)
        if not value:
            continue
        if name in LISTS:
            parts.append("\n".join([heading, *(f"- {entry}" for entry in value)]))
        else:
            parts.append(heading.format(value))
    return "\n".join(parts)


EVERYBODY = "all"
KNOWERS = ("tag", "faction", "room")
QUEST = "quest"


@dataclass(frozen=True)
class LoreEntry:
    """One piece of knowledge."""

    title: str
    text: str
    scopes: tuple[str, ...] = (EVERYBODY,)
    authors: Authors = frozenset({BUILDER})


def check_scope(scope: str) -> str:
    """Return a scope in its normal form; raises ConfigError."""
    kind, _, name = scope.strip().lower().partition(":")
    if kind == EVERYBODY and not name:
        return EVERYBODY
    if kind in (*KNOWERS, QUEST) and name.strip():
        return f"{kind}:{name.strip()}"
    raise ConfigError(
        f"'{scope.strip()}' is not a scope. Use all, tag:<tag>, faction:<name>, "
        "room:<tag or number> or quest:<flag>."
    )


def is_known(entry: LoreEntry, labels: frozenset[str]) -> bool:
    """Return True if a character knows a piece and its listeners may hear it."""
    return not why_unknown(entry, labels)


def why_unknown(entry: LoreEntry, labels: frozenset[str]) -> str:
    """Return why a character may not use a piece, "" if it may.

    ``labels`` holds ``all``, the character's and its room's scopes, and all listeners' quest flags.
    """
    quests = quests_of(entry)
    knowers = [scope for scope in entry.scopes if scope not in quests]
    if knowers and labels.isdisjoint(knowers):
        return f"neither the character nor its room has {' or '.join(knowers)}"
    if missing := [quest for quest in quests if quest not in labels]:
        return f"everybody who hears it needs {' and '.join(missing)}"
    return ""


def quests_of(entry: LoreEntry) -> list[str]:
    """Return the quest flags without which nobody may hear a piece."""
    return [scope for scope in entry.scopes if scope.startswith(f"{QUEST}:")]


def select_lore(
    entries: Iterable[LoreEntry], labels: frozenset[str], talk: str, budget_tokens: int
) -> list[LoreEntry]:
    """Return the known pieces with content words of the talk, best first, in a budget."""
    trials = try_lore(entries, labels, talk, budget_tokens)
    return [trial.entry for trial in trials if trial.is_chosen]


@dataclass(frozen=True)
class LoreTrial:
    """What becomes of one piece when a line is said; an unknown piece has no score."""

    entry: LoreEntry
    why_unknown: str = ""
    score: float = 0.0
    tokens: int = 0
    is_chosen: bool = False

    def verdict(self, was_asked: bool, found: str) -> str:
        """Return in words why the piece is in the prompt or not; ``found`` says why it fits."""
        if self.why_unknown:
            return f"no: {self.why_unknown}"
        if not was_asked:
            return "known"
        if not self.score:
            return "no: it shares no word with the line"
        return f"yes: {found}" if self.is_chosen else f"no: the budget is used up ({found})"


def try_lore(
    entries: Iterable[LoreEntry], labels: frozenset[str], talk: str, budget_tokens: int
) -> list[LoreTrial]:
    """Return what becomes of each piece, best first: those that nobody asked for, then unknown."""
    listed = list(entries)
    known: Sequence[LoreEntry] = [entry for entry in listed if is_known(entry, labels)]
    texts = [f"{entry.title} {entry.title} {entry.text}" for entry in known]
    scored = zip(score_texts(talk, texts), known, strict=True)
    trials = []
    for score, entry in sorted(scored, key=lambda pair: -pair[0]):
        cost = estimate_tokens(entry.title + entry.text)
        is_chosen = score > 0 and cost <= budget_tokens
        budget_tokens -= cost * is_chosen
        trials.append(LoreTrial(entry, "", score, cost, is_chosen))
    return [*trials, *(LoreTrial(e, why) for e in listed if (why := why_unknown(e, labels)))]
