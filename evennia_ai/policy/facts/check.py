"""Facts in messages that a compaction evicts: extraction, comparison, bullets.

Deterministic and generous: a sentence with a promise, number, name or place is a fact, and the
whole sentence is kept word for word. A fact is only what somebody said; nothing here believes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evennia_ai.messages import Audience, Message
from evennia_ai.policy.facts.cues import cues_of, is_question, slot_of
from evennia_ai.policy.facts.match import TextIndex, normal_term
from evennia_ai.policy.facts.sources import WHISPERED, Source, sentences_of, spoken
from evennia_ai.policy.facts.terms import (
    NAME,
    NUMBER,
    PLACE,
    QUOTED,
    THING,
    TIME,
    Term,
    find_terms,
    tokens_of,
)
from evennia_ai.policy.facts.vocabulary import RELATIONS
from evennia_ai.policy.token_estimate import estimate_tokens

DEBT, PROMISE, SECRET, RELATION, TASK = "debt", "promise", "secret", "relation", "task"
IDENTITY, PREFERENCE, ITEM, POSSESSION = "identity", "preference", "item", "possession"
STATEMENT = "statement"
WEIGHTS: Mapping[str, int] = {
    DEBT: 10, PROMISE: 10, SECRET: 9, RELATION: 9, IDENTITY: 8, PREFERENCE: 8, QUOTED: 8,
    NUMBER: 7, NAME: 7, TIME: 7, ITEM: 7, TASK: 6, PLACE: 5, POSSESSION: 5, STATEMENT: 5, THING: 3,
}  # fmt: skip
WEIGHTY = frozenset({NAME, NUMBER, TIME, QUOTED})
ASKABLE = frozenset({DEBT, PROMISE, TASK})
NAMELESS = frozenset({DEBT, PROMISE, SECRET})
OF_ITS_OWN = ASKABLE  # what the character's own words may add: all else may be a model's nonsense
LEAST_WORDS = 4  # of a debt, promise or secret that names nothing
ASKED = 4  # a fact in a question weighs this much less
OF_ONESELF = frozenset("i i'm i've my we we're we've our".split())
MOST_TERMS = 6
BULLET_OVERHEAD = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement that somebody made."""

    kind: str  # a key of ``WEIGHTS``
    terms: tuple[str, ...]  # as they were said; they must be found again
    sentence: str  # with the terms, at most ``MOST_CHARS`` long
    speaker: str = ""  # display name; empty for what was only seen
    seq: int = 0  # of the message; 0 without one
    audience: Audience | None = None  # who alone may know it; None if public
    weight: int = 0  # importance, 1 to 10
    # Whose value it gives, and of which attribute; both empty for most facts. A later fact of the
    # same speaker, subject and attribute replaces it.
    subject: str = ""
    attribute: str = ""
    dbref: str = ""  # the speaker's; empty if unknown


def extract_facts(
    messages: Iterable[Message], names: Iterable[str] = (), own_name: str = ""
) -> tuple[Fact, ...]:
    """Return the facts in messages, each once, without outdated ones, in order.

    Calls of speech tools are ``own_name``'s words. ``names`` are known ones beside the speakers'.
    """
    messages = list(messages)
    known = names_in(messages, [*names, own_name])
    found = [fact for message in messages for fact in facts_in(message, known, own_name)]
    return gather(found)


def names_in(messages: Iterable[Message], names: Iterable[str] = ()) -> frozenset[str]:
    """Return `known_names` of the speakers of messages, and of other names."""
    speakers = {str(message["metadata"].get("speaker_name") or "") for message in messages}
    return known_names([*names, *speakers])


def gather(found: Sequence[Fact]) -> tuple[Fact, ...]:
    """Settle what `facts_in` found, without "names" that occur elsewhere in lower case."""
    plain = {word for fact in found for word in fact.sentence.split() if word.islower()}
    return settle(
        fact
        for fact in found
        if fact.kind != NAME
        or fact.terms[0].lower() not in plain
        or not fact.sentence.startswith(fact.terms[0])
    )


def known_names(names: Iterable[str]) -> frozenset[str]:
    """Return names for ``facts_in``: in lower case, whole and word by word."""
    lower = [name.lower() for name in names if name]
    return frozenset([*lower, *(word for name in lower for word in name.split() if len(word) > 2)])


def facts_in(
    message: Message, known: Collection[str] = frozenset(), own_name: str = ""
) -> list[Fact]:
    """Return the facts in one message with its `known_names`; then call ``settle``."""
    return [
        fact
        for source, text in spoken(message, own_name)
        for sentence in sentences_of(text)
        for fact in _facts_of(sentence, source, known)
    ]


def settle(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return each fact once, and the latest of contradicting values, in order.

    Of two mentions of the same name, place or thing, the more important one stays, or the first.
    One speaker's fact never replaces another's, and a private fact never replaces a public one.
    """
    latest: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        if fact.attribute:
            key: tuple[object, ...] = (fact.speaker, fact.subject, fact.attribute, fact.audience)
        else:
            words = tuple(" ".join(normal_term(term)) or term for term in fact.terms)
            key = (fact.kind, words, fact.audience)
            if key in latest and latest[key].weight >= fact.weight:
                continue
        latest.pop(key, None)
        latest[key] = fact
    outdated = {
        (fact.speaker, fact.subject, fact.attribute): fact.seq
        for fact in latest.values()
        if fact.attribute and fact.audience is None
    }
    kept = [
        fact
        for fact in latest.values()
        if fact.audience is None
        or outdated.get((fact.speaker, fact.subject, fact.attribute), -1) <= fact.seq
    ]
    return tuple(sorted(kept, key=lambda fact: fact.seq))


def keep_facts(facts: Sequence[Fact], most: int) -> tuple[Fact, ...]:
    """Return at most ``most`` facts: the main one of each sentence, then the newest."""
    if len(facts) <= most:
        return tuple(facts)
    kept: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        key = fact.speaker, fact.sentence, fact.audience, fact.seq
        if key not in kept or kept[key].weight < fact.weight:
            kept[key] = fact
    return tuple(kept.values())[-most:]


def missing_facts(facts: Iterable[Fact], texts: Iterable[str]) -> tuple[Fact, ...]:
    """Return the facts that none of the texts holds with all terms in one place."""
    indexes = [TextIndex(text) for text in texts]
    return tuple(fact for fact in facts if not any(index.says(fact.terms) for index in indexes))


def holds_more(text: str, before: str, facts: Sequence[Fact]) -> bool:
    """Return True if a text holds all facts of the text before it, and more."""
    lost, lost_before = missing_facts(facts, [text]), missing_facts(facts, [before])
    return set(lost) < set(lost_before)


def as_bullets(
    facts: Iterable[Fact], budget_tokens: int, count_text: Callable[[str], int] = estimate_tokens
) -> tuple[str, ...]:
    """Return sentences that hold these facts, most important first, in a budget; none twice."""
    bullets: list[str] = []
    written: list[set[str]] = []
    for group in _by_importance(facts):
        new = {" ".join(normal_term(term)) or term for fact in group for term in fact.terms}
        bullet = bullet_of(group[0])
        cost = count_text(bullet) + BULLET_OVERHEAD
        if cost > budget_tokens or any(new <= before for before in written):
            continue
        written.append(new)
        budget_tokens -= cost
        bullets.append(bullet)
    return tuple(bullets)


def bullet_of(fact: Fact) -> str:
    """Return a fact as one line with its speaker."""
    if not fact.speaker:
        return fact.sentence
    return f"{fact.speaker}{WHISPERED if fact.audience is not None else ''}: {fact.sentence}"


def _by_importance(facts: Iterable[Fact]) -> list[list[Fact]]:
    """Return facts by sentence: important and rich ones first, then the newest."""
    groups: dict[tuple[object, ...], list[Fact]] = {}
    for fact in facts:
        groups.setdefault((fact.speaker, fact.sentence, fact.audience), []).append(fact)

    def importance(group: Sequence[Fact]) -> tuple[float, int]:
        weight = max(fact.weight for fact in group) + min(2.0, 0.5 * (len(group) - 1))
        return -weight, -max(fact.seq for fact in group)

    return sorted(groups.values(), key=importance)


def _facts_of(sentence: str, source: Source, known: Collection[str]) -> list[Fact]:
    tokens = tokens_of(sentence)
    terms = find_terms(sentence, tokens, known)
    lower = [token.lower().replace("’", "'") for token in tokens]
    asks = is_question(sentence, lower)
    cues = [cue for cue in cues_of(lower, sentence) if not asks or cue in ASKABLE]
    main = next(iter(cues), "")
    if not terms and main in NAMELESS and not asks and len(lower) >= LEAST_WORDS:
        terms = [Term(sentence.strip(" .!"), THING)]
    if not terms or (source.own and main not in OF_ITS_OWN):
        return []
    slot = None if asks else slot_of(sentence, lower, source.speaker)

    def fact(kind: str, words: Iterable[str], slot: tuple[str, str] = ("", "")) -> Fact:
        return Fact(
            kind,
            tuple(words),
            sentence,
            source.speaker,
            source.seq,
            source.audience,
            max(1, WEIGHTS[kind] - ASKED * asks),
            *slot,
            dbref=source.dbref,
        )

    if slot is not None:
        return [fact(main or IDENTITY, _chosen(terms), slot)]
    found = []
    if main:
        found.append(fact(main, _chosen(terms, lower if main == RELATION else ())))
    elif not asks and _is_telling(terms, lower):
        named = any(term.kind in WEIGHTY for term in terms)
        found.append(fact(STATEMENT if named else THING, _chosen(terms)))
    return found + [
        fact(term.kind, (term.text,))
        for term in terms
        if term.kind != THING and not (asks and term.kind == PLACE)
    ]


def _is_telling(terms: Sequence[Term], lower: Sequence[str]) -> bool:
    """Return True if a sentence says something about a thing, beyond naming it."""
    things = [term.text for term in terms if term.kind == THING]
    return bool(things) and (
        len(things) < len(terms)
        or len(" ".join(things).split()) > 1
        or not OF_ONESELF.isdisjoint(lower[:1])
    )


def _chosen(terms: Sequence[Term], lower: Sequence[str] = ()) -> list[str]:
    """Return the terms that stand for a sentence; things go first if there are many."""
    kept = [term for term in terms if term.kind != THING or len(terms) <= MOST_TERMS]
    words = [term.text for term in (kept or terms)[:MOST_TERMS]]
    told = {word for text in words for word in text.lower().split()}
    related = [word for word in lower if word in RELATIONS and word not in told]
    return list(dict.fromkeys([*related[:1], *words]))
