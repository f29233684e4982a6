"""What a builder writes of a character and its world: persona and lore."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from evennia_ai.errors import ConfigError
from evennia_ai.messages import Authors
from evennia_ai.policy.audience import BUILDER
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import find_words, language_of, phrase_of, shared_words
from evennia_ai.policy.texts import linear_score, read_weights
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

    def map_texts(self, change: Callable[[str], str]) -> Persona:
        """Return a persona with each of its texts changed."""
        changed: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            is_text = isinstance(value, str)
            changed[item.name] = change(value) if is_text else tuple(map(change, value))
        return Persona(**changed)


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
        shown_value = f"{value!r:.80}"
        raise ConfigError(
            f"The persona's field '{name}' must be text or a list, not {shown_value}."
        )
    return tuple(str(entry).strip() for entry in entries if str(entry).strip())


def stored_fields(persona: Persona) -> dict[str, object]:
    """Return the fields that are not empty, as plain data to store."""
    values = {name: getattr(persona, name) for name in FIELD_NAMES}
    return {n: list(v) if n in LISTS else v for n, v in values.items() if v}


def render_persona(persona: Persona) -> str:
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


# How character cards, and prompts that are pasted from elsewhere, write who speaks with whom.
CHAR = re.compile(r"\{\{ *char *\}\}|<(?:char|bot)>", re.IGNORECASE)
USER = re.compile(r"\{\{ *user *\}\}|<user>", re.IGNORECASE)
LISTENER = "the person you talk to"


def with_names(text: str, name: str) -> str:
    """Return a text with a character's name for ``{{char}}``, and words for ``{{user}}``.

    Many players talk to one character, so that no name can stand for the latter.
    """
    if "{{" not in text and "<" not in text:
        return text
    return USER.sub(LISTENER, CHAR.sub(lambda _: name, text))


EVERYBODY = "all"
KNOWERS = ("tag", "faction", "room")
QUEST = "quest"


@dataclass(frozen=True)
class LoreEntry:
    """One piece of knowledge.

    Its title, and each of its ``keys``, words or phrases, brings it into a prompt when somebody
    says it. If it is ``always`` there, nobody needs to.
    """

    title: str
    text: str
    scopes: tuple[str, ...] = (EVERYBODY,)
    authors: Authors = frozenset({BUILDER})
    keys: tuple[str, ...] = ()
    always: bool = False

    @property
    def searched(self) -> str:
        """Return the text by which a search finds the piece."""
        return ". ".join(filter(None, (self.title, self.text)))


def split_keys(raw: Any) -> tuple[str, ...]:
    """Return key words and phrases, given as a list or as a text with commas."""
    listed = raw.split(",") if isinstance(raw, str) else raw or ()
    return tuple(key for item in listed if (key := " ".join(str(item).split())))


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


# What tells rules of talk ("names the thief") from those of deeds ("names a price below ten"): of
# three strangers' 150 it tells all; nearness to examples told 132.
TALK_RULE_WEIGHTS = Path(__file__).with_name("talk_rule_weights.json")
OF_TALK = 0.1
NEVER = re.compile(r"\A\s*(?:you )?never ", re.IGNORECASE)
# How near to a rule of talk a text is that breaks it; and, of the nearest text and those about as
# near, how near, unless a line asks for it plainly: by ``PLAINLY``, and more by `PER_RULE` times
# its nearness to the rule. Of what five strangers forbade, 113 of 119 questions that would find a
# secret are not that plain, 71 of 111 for other texts near the subject are (MiniLM).
UNTOLD, NEAREST_UNTOLD, ABOUT_AS_NEAR = 0.34, 0.15, 0.05
PLAINLY, PER_RULE = 0.43, 0.8


def breaks_rule(fits: Sequence[float], to_line: Sequence[float] = ()) -> list[bool]:
    """Return which of some texts break a rule of talk, given how near it and a line each is."""
    least = min(UNTOLD, max(NEAREST_UNTOLD, max(fits, default=0.0) - ABOUT_AS_NEAR))
    near = zip(fits, to_line or [0.0] * len(fits), strict=True)
    return [fit >= UNTOLD or (least <= fit and to < PLAINLY + PER_RULE * fit) for fit, to in near]


def is_of_talk(rule: str) -> bool:
    """Return True for a rule of what is not talked about: "never names the thief"."""
    return linear_score(NEVER.sub("", rule), read_weights(TALK_RULE_WEIGHTS)) > OF_TALK


def names_title(rule: str, entry: LoreEntry) -> bool:
    """Return True if a rule has all words of a piece's title."""
    language = language_of(rule) or ENGLISH
    title = words_in(entry.title, language)
    return bool(title) and title <= words_in(rule, language)


WORDS_FLOOR = 0.1  # share of a line's words, by their rarity, that a piece must have
MEANING_FLOOR = 0.85  # in standard deviations (measured: tests/memory/test_lore_index.py)
MOST_WORDS = 5  # that a reason names
SCORED = "score "  # how the reason of a piece begins that nothing but its fit brings in
MOST_BY_MEANING = 3  # pieces a line; what is further down is hardly ever asked for


class Fit(NamedTuple):
    """How well a piece fits a line.

    ``words`` is the share of the line's words that it has, ``meaning`` how many standard deviations
    nearer it is than to small talk, and the line nearer to questions; 0 without an embedder.
    ``score`` orders pieces.
    """

    score: float = 0.0
    words: float = 0.0
    meaning: float = 0.0


@dataclass(frozen=True)
class LoreTrial:
    """What becomes of one piece when a line is said; ``reason`` says why it fits, "" if not.

    ``score`` tells how well it fits the most important line.
    """

    entry: LoreEntry
    why_unknown: str = ""
    reason: str = ""
    is_chosen: bool = False
    score: float = 0.0

    @property
    def is_named(self) -> bool:
        """Return True if a builder's key, or that it is always told, brings it in."""
        return bool(self.reason) and not self.reason.startswith(SCORED)

    def verdict(self, was_asked: bool = True) -> str:
        if self.why_unknown:
            return f"no: {self.why_unknown}"
        if not was_asked and not self.reason:
            return "known"
        if not self.reason:
            return "no: the line does not ask for it"
        return f"yes: {self.reason}" if self.is_chosen else f"no: no room is left ({self.reason})"


def try_lore(
    entries: Iterable[LoreEntry],
    labels: frozenset[str],
    lines: Sequence[tuple[str, Mapping[LoreEntry, Fit]]],
    budget_tokens: int,
) -> list[LoreTrial]:
    """Return what becomes of each piece: first those that fit, in order, unknown ones last.

    ``lines`` are said lines with how well each known piece fits. What is always told comes first;
    then, line by line, what a key or a title brings in, then the best by words and meaning.
    """
    listed = list(entries)
    known = [entry for entry in listed if is_known(entry, labels)]
    known_ones = frozenset(known)
    reasons = {item: "always" for item in known if item.always}
    for line, fits in lines:
        for reasons_found in (keyed(known, line), reasons_of(line, fits)):
            new = known_ones & reasons_found.keys() - reasons.keys()
            reasons |= {reason: why for reason, why in reasons_found.items() if reason in new}
    trials = []
    for entry in reasons:
        cost = estimate_tokens(entry.title + entry.text)
        is_chosen = cost <= budget_tokens
        budget_tokens -= cost * is_chosen
        score = lines[0][1].get(entry, Fit()).score if lines else 0.0
        trials.append(LoreTrial(entry, "", reasons[entry], is_chosen, score))
    rest = [entry for entry in listed if entry not in reasons]
    unknown = {entry: why for entry in rest if (why := why_unknown(entry, labels))}
    trials += [LoreTrial(entry) for entry in rest if entry not in unknown]
    return [*trials, *(LoreTrial(entry, why) for entry, why in unknown.items())]


def keyed(known: Iterable[LoreEntry], line: str) -> dict[LoreEntry, str]:
    """Return the pieces of which a line has a key or the title, in their order."""
    language = language_of(line) or ENGLISH
    phrase, words = phrase_of(line, language), frozenset(find_words(line, (), language))

    def key_of(entry: LoreEntry) -> str:
        """Return what brings a piece in, "" if nothing does; endings of words may differ."""
        title = words_in(entry.title, language)
        key = next((key for key in entry.keys if phrase_of(key, language) in phrase), "")
        return f"key: {key}" if key else "title" if title and title <= words else ""

    return {item: why for item in known if (why := key_of(item))}


def reasons_of(line: str, fits: Mapping[LoreEntry, Fit]) -> dict[LoreEntry, str]:
    """Return why pieces fit a line, the best first; none for a line that asks for nothing.

    Without meaning, the words alone say what it asks for.
    """
    ranked = sorted(fits.items(), key=lambda item: -item[1].score)
    has_meaning = any(fit.meaning for _entry, fit in ranked)
    if has_meaning:
        asks = any(fit.meaning >= MEANING_FLOOR for _entry, fit in ranked)
        chosen = ranked[:MOST_BY_MEANING] if asks else []
    else:
        chosen = [item for item in ranked if item[1].words >= WORDS_FLOOR]
    reasons = {}
    for entry, fit in chosen:
        words = " ".join(shared_words(line, entry.searched)[:MOST_WORDS])
        alone = "by its meaning alone" if has_meaning else "by parts of words"
        why = f"words: {words}" if words else alone
        reasons[entry] = f"{SCORED}{fit.score:.2f}, {why}"
    return reasons


@lru_cache(maxsize=4_096)
def words_in(title: str, language: str) -> frozenset[str]:
    return frozenset(find_words(title, (), language))
