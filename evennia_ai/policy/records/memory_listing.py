"""A character's memories in plain text, without markup, for builders and admins."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from evennia_ai.policy.audience import people_among
from evennia_ai.policy.read_permissions import PRIVATE_MEMORIES, Reader, memory_kind
from evennia_ai.policy.records.entity_profiles import (
    ATTRIBUTE,
    OBSERVATION,
    RELATIONSHIP,
    familiarity_at,
)
from evennia_ai.policy.records.forgetting import FORGOTTEN, is_lasting, retention_of
from evennia_ai.policy.records.journal_entry import memory_of
from evennia_ai.policy.records.record import Record, is_known_to
from evennia_ai.policy.retrieval.words import shared_words

NamesByDbref = Mapping[str, str]

BUILDER = "builder"
SOURCES = {
    BUILDER: "a builder's word",
    "compaction": "a summary of old talk",
    "reflection": "its own reflection",
    "inference": "its own inference",
    "observation": "noticed by itself",
    "environmental": "noticed by itself",
    "direct": "unknown source",
}
DAY_CHARS = 10
MOST_WORDS = 6
SHOWN_OBSERVATIONS = 20


def may_read(reader: Reader, record: Record) -> bool:
    return reader.may(memory_kind(not is_known_to(record, None)))


def count_shown(reader: Reader, *records: Record) -> None:
    """Count the private ones among records that the reader is shown."""
    reader.count(PRIVATE_MEMORIES, sum(not is_known_to(record, None) for record in records))


def named(dbrefs: Iterable[str], names: NamesByDbref) -> str:
    """Return the names for dbrefs; who has none any more is named by what became of them."""
    gone = {FORGOTTEN: "somebody forgotten"}
    names_shown = (names.get(who) or gone.get(who, f"somebody deleted ({who})") for who in dbrefs)
    return ", ".join(names_shown) or "nobody"


def whose_word(record: Record, names: NamesByDbref) -> str:
    """Return an entry's source in words."""
    source = record["source_entity"]
    told_by = [source] if source else sorted(people_among(record["speakers"]))
    if record["source_type"] in (BUILDER, "compaction", "inference") or not told_by:
        kind = str(record["source_type"])
        return SOURCES.get(kind, kind)
    return f"from {named(told_by, names)}"


def who_may_know(record: Record, names: NamesByDbref) -> str:
    """Return an entry's audience in words."""
    if record["audience"] is None:
        return "known to all"
    return f"private to {named(record['audience'], names)}"


def entry_facts(entry: Record, names: NamesByDbref) -> str:
    """Return an entry's other columns: "weight 6 (rule), from Ann, known to all; pinned"."""
    weight = f"weight {entry['importance']} ({entry['importance_by']})"
    facts = [weight, whose_word(entry, names), who_may_know(entry, names)]
    pinned = ["pinned"] if entry["pinned"] else []
    stored = ["in long-term memory"] if entry["consolidated"] and memory_of(entry) else []
    return "; ".join([", ".join(facts), *pinned, *stored])


def origin_of(entry: Record, turns: Mapping[int, int | None]) -> str:
    """Return an entry's source such as "turns 12 to 15"; ``turns`` lacks deleted messages."""
    if not entry["source_seqs"]:
        return ""
    turn_numbers = [turn for seq in entry["source_seqs"] if (turn := turns.get(seq))]
    return (
        spanned("turn", turn_numbers) if turn_numbers else spanned("message", entry["source_seqs"])
    )


def spanned(noun: str, numbers: Sequence[int]) -> str:
    """Return a range of numbers in words: "turn 12", "turns 12 to 15"."""
    first, last = min(numbers), max(numbers)
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


def entry_details(entry: Record, names: NamesByDbref, now: datetime) -> list[str]:
    """Return the further details of an entry, one a line."""
    people = sorted(people_among(entry["speakers"]))
    words = f", perhaps with words of {named(people, names)}" if people else ""
    lasting = "never removed automatically" if is_lasting(entry) else "may be pruned"
    source = f"{entry['source_type']}, {whose_word(entry, names)}{words}"
    lines = [
        f"Source: {source}; trust {entry['trust']:.2f}",
        f"Looked up {entry['recalls']} times; retention {retention_of(entry, now):.0%}; {lasting}",
    ]
    return [*lines, *([f"Tags: {', '.join(entry['tags'])}"] if entry["tags"] else [])]


def profile_lines(records: Sequence[Record], names: NamesByDbref, at: datetime) -> list[str]:
    """Return what is known about somebody, one fact a line: relationship, values, observations.

    The values of an attribute stand below its name, the newest first.
    """
    kinds = (RELATIONSHIP, ATTRIBUTE, OBSERVATION)
    met, facts, seen = ([record for record in records if record["kind"] == kind] for kind in kinds)
    lines = [relationship_line(item, at) for item in met]
    values = {fact["id"]: fact for fact in facts}
    newest = sorted(facts, key=lambda value: str(value["valid_from"]), reverse=True)
    for attribute in sorted({value["attribute"] for value in facts}):
        group = (value for value in newest if value["attribute"] == attribute)
        lines += [attribute, *(f"  {attribute_line(value, names, values)}" for value in group)]
    if seen:
        lines.append("Observations")
    for item in seen[::-1][:SHOWN_OBSERVATIONS]:
        state = "consolidated" if item["consolidated"] else "not consolidated yet"
        facts_of_it = f"{whose_word(item, names)}; {who_may_know(item, names)}; {state}"
        lines.append(f"  {item['id']} {item['at'][:DAY_CHARS]} {item['content']} ({facts_of_it})")
    if len(seen) > SHOWN_OBSERVATIONS:
        lines.append(f"  and {len(seen) - SHOWN_OBSERVATIONS} older ones")
    return lines


def relationship_line(record: Record, at: datetime) -> str:
    times = "once" if record["contacts"] == 1 else f"{record['contacts']} times"
    last = f", last on {record['last_contact'][:DAY_CHARS]}" if record["last_contact"] else ""
    return (
        f"They met {times}{last}; familiarity {familiarity_at(record, at):.2f} of 1, "
        f"feelings {record['sentiment']:+.2f} of ±1."
    )


def attribute_line(record: Record, names: NamesByDbref, values: Mapping[str, Record]) -> str:
    """Return one attribute value as one line; ``values`` may be named in it, by id."""
    facts = [whose_word(record, names), who_may_know(record, names)]
    if record["sources"]:
        facts.append(f"made of {', '.join(record['sources'])}")
    others = [values[known] for known in record["contradicts"] if known in values]
    against = [f"{item['id']} {item['value']} ({whose_word(item, names)})" for item in others]
    if against:
        facts.append(f"against {', '.join(against)}")
    since, until = record["valid_from"][:DAY_CHARS], (record["valid_to"] or "")[:DAY_CHARS]
    held = f"{since} to {until}" if until else f"since {since}"
    return f"{record['id']} {record['value']}, {held}: {'; '.join(facts)}"


def why_found(query: str, text: str, score: float, has_meaning: bool) -> str:
    """Return why a search found a text; ``has_meaning`` if the game has an embedder."""
    words = " ".join(shared_words(query, text)[:MOST_WORDS])
    other = "by its meaning alone" if has_meaning else "by who said it, or what was said around it"
    return f"score {score:.2f}, " + (f"words: {words}" if words else other)


def why_withheld(record: Record, audience: Iterable[str], names: NamesByDbref) -> str:
    """Return in words which rule hides a record from an audience."""
    outside = sorted(set(audience) - set(record["audience"] or ()))
    exclusion = f", and {named(outside, names)} was not told" if outside else ""
    return f"{record['id']}, {who_may_know(record, names)}{exclusion}"
