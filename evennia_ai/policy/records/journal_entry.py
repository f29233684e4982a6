"""Journal entries: their fields, importance, changes, archive form, and duplicate detection."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from pydantic import Field

from evennia_ai.policy.records.record import (
    NOTHING,
    BaseRecord,
    Labels,
    Record,
    Time,
    Words,
    make_record,
)

BASE = 3
LOWEST, HIGHEST = 1, 10

GRAVE = re.compile(
    r"\b(?:promis\w*|swor[en]\w*|swear\w*|oath|vow\w*|threat\w*|warn(?:ed|ing|s)?|g[ai]ve[ns]?"
    r"|gifts?|present(?:ed|s)|ste?al\w*|stole\w*|thie\w+|theft|rob(?:s|bed|ber\w*)|attack\w*"
    r"|murder\w*|kill\w*|d(?:ied|ies|ying|ead|eath)|buried"
    r"|versprech\w*|versproch\w*|versprich\w*|versprach\w*|schw[oö]r\w*|droh\w*|schenk\w*"
    r"|geschenk\w*|gestohlen|stiehl\w*|stahl|dieb\w*|raub\w*|geraubt|angriff\w*|greif\w+"
    r"|mord\w*|ermord\w*|t[oö]tet?\w*|tot|tod\w*|starb\w*|gestorben|begraben)\b",
    re.IGNORECASE,
)
PARTICULAR = re.compile(
    r"\d|\b(?:secret\w*|geheim\w*|password|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow"
    r"|tonight|midnight|noon|morgen|mitternacht|mittag|(?:mon|diens|donners|frei|sams|sonn)tag"
    r"|mittwoch|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|zwei|drei"
    r"|vier|fünf|sechs|sieben|acht|neun|zehn|dutzend|hundert|tausend)\b",
    re.IGNORECASE,
)
TO_KEEP = re.compile(r"\b(?:remember|don'?t forget|never forget|merk\w*|vergiss)\b", re.IGNORECASE)
GREETING = re.compile(
    r"\b(?:hello|hi|hail|greetings?|greet(?:ed|s)|good (?:morning|evening|day|night)|goodbye"
    r"|farewell|hallo|gr(?:ü|ue)(?:ß|ss)\w*|guten (?:morgen|tag|abend)|gute nacht|lebewohl)\b",
    re.IGNORECASE,
)
# Marks entries written from a prompt that may have held whispers (`whisper_policy` was "trusting").
UNGUARDED = "unguarded"
# If one of these fields of an entry changes, copies that others have are out of date.
COPIED_FIELDS = tuple(
    "content audience speakers source_type source_entity source_seqs tags pinned".split()
)
BY_RULE, GIVEN = "rule", "given"
OUTER_PUNCTUATION = " .!…;,\"'”“»«"


def is_as_copied(old: Record, new: Record | None) -> bool:
    """Return True if a changed entry still matches the copies that others have."""
    return new is not None and all(old[name] == new[name] for name in COPIED_FIELDS)


def score_importance(text: str, *, named: bool = False, first_meeting: bool = False) -> int:
    """Return a text's importance, 1 to 10; ``named``: it has the character's own name."""
    score = BASE + named + 2 * first_meeting
    score += 3 * bool(GRAVE.search(text))
    score += bool(PARTICULAR.search(text))
    score += 4 * bool(TO_KEEP.search(text))
    score -= 2 * bool(GREETING.search(text))
    return max(LOWEST, min(HIGHEST, score))


class JournalEntry(BaseRecord):
    """One journal entry; ids in ``links`` are of entries or of items in other stores."""

    timestamp: Time  # when it was written, ISO-8601 UTC
    content: Words  # in the character's own words
    importance: int = Field(ge=1, le=10)
    importance_by: str = BY_RULE  # ``rule``, ``model``, or ``given`` by code or a builder
    tags: Labels = Field(default_factory=list)
    links: Labels = Field(default_factory=list)
    pinned: bool = False  # nothing automatic may remove it
    consolidated: bool = False  # long-term memory holds it
    recalls: int = Field(default=0, ge=0)  # each slows the fading

    united: ClassVar[tuple[str, ...]] = (*BaseRecord.united, "tags", "links")
    texts: ClassVar[tuple[str, ...]] = ("content", "tags")

    @classmethod
    def changed(cls, record: Record, fields: Mapping[str, object]) -> Record:
        """Return an entry with some fields changed; raises BadRecord."""
        # If its content or audience changes, long-term memory no longer holds it.
        scored = {"importance_by": GIVEN} if "importance" in fields else {}
        content_fields = ("content", "audience")
        differs = any(fields.get(name, record[name]) != record[name] for name in content_fields)
        anew = {"consolidated": False} if differs else {}
        return super().changed(record, {**scored, **anew, **fields})

    @classmethod
    def merged(
        cls, record: Record, again: Record, fields: Mapping[str, object] = NOTHING
    ) -> Record:
        """Return an entry that was written again: as important as the weightier of both."""
        weightier = max(record, again, key=lambda item: item["importance"])
        weight = {name: weightier[name] for name in ("importance", "importance_by")}
        pinned = record["pinned"] or again["pinned"]
        return super().merged(record, again, {**weight, "pinned": pinned, **fields})


def make_entry(
    id: str,
    content: str,
    at: datetime,
    fields: Mapping[str, object],
    *,
    named: bool = False,
    first_meeting: bool = False,
) -> Record:
    """Return a new entry, written at ``at`` unless it has a timestamp; raises BadRecord.

    ``fields`` are any of `JournalEntry`. Without an importance the rule of thumb scores it, for
    which ``named`` (the character was called by its name) and ``first_meeting`` are.
    """
    scored = {
        "importance": score_importance(content, named=named, first_meeting=first_meeting),
        "importance_by": BY_RULE,
    }
    given = {name: value for name, value in fields.items() if value is not None}
    if "importance" in given:
        scored = {"importance_by": GIVEN}
    return make_record(
        JournalEntry, {"timestamp": at, **scored, **given, "id": id, "content": content}
    )


def normalised(content: str) -> str:
    """Return text for comparison: without case, extra spaces and outer punctuation."""
    folded = unicodedata.normalize("NFKC", content).casefold()
    plain = " ".join(folded.split())
    return plain.strip(OUTER_PUNCTUATION) or plain


def sameness(record: Record, *more: str) -> bytes:
    """Return a short key of a record's audience, content, and ``more`` texts."""
    audience = "*" if record["audience"] is None else ",".join(record["audience"])
    text = "\0".join([audience, *more, normalised(record["content"])])
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class ArchivedEntry(JournalEntry):
    """An archived entry; ``archived_at`` is when it was archived, ISO-8601 UTC."""

    archived_at: Time


def brought_back(entry: Record) -> Record:
    """Return an archived entry as it returns to the journal, without its long-term memory."""
    # Its importance counts as given, because somebody asked for it.
    plain = {name: value for name, value in entry.items() if name != "archived_at"}
    links = [link for link in plain["links"] if not link.startswith(LINK)]
    return {**plain, "links": links, "consolidated": False, "importance_by": GIVEN}


LINK = "mem0:"
PUBLIC = "public"


@dataclass(frozen=True)
class EntryForMemory:
    """One journal entry as long-term memory stores it."""

    entry: str
    text: str
    audience: str  # a key, see `audience_key`
    speakers: tuple[str, ...]  # dbrefs of those whose words may be in it
    digest: str  # a short hash of content and audience


@dataclass(frozen=True)
class MemoryRow:
    """One stored memory and its entry."""

    id: str
    entry: str
    audience: str = PUBLIC
    digest: str = ""


def agent_of(character_id: int) -> str:
    """Return a character's name in long-term memory."""
    return f"npc_{character_id}"


def audience_key(audience: Iterable[str] | None) -> str:
    """Return a name for an audience that a store can filter by: "public", "5_7"."""
    if audience is None:
        return PUBLIC
    return "_".join(sorted(dbref.lstrip("#") for dbref in audience)) or "nobody"


def make_item(entry: Record) -> EntryForMemory:
    """Return a journal entry as long-term memory stores it."""
    key, speakers = audience_key(entry["audience"]), tuple(entry["speakers"])
    return EntryForMemory(entry["id"], entry["content"], key, speakers, digest_of(entry))


def digest_of(entry: Record) -> str:
    """Return a short hash of an entry's content and audience."""
    identity = f"{audience_key(entry['audience'])}\0{entry['content']}"
    return hashlib.blake2b(identity.encode(), digest_size=12).hexdigest()


def memory_of(entry: Record) -> str:
    """Return the id of an entry's memory from its links, empty if there is none."""
    return next((link[len(LINK) :] for link in entry["links"] if link.startswith(LINK)), "")


def linked(entry: Record, memory_id: str) -> dict[str, object]:
    """Return the entry fields that name its memory; an empty id removes the link."""
    others = [link for link in entry["links"] if not link.startswith(LINK)]
    link = [f"{LINK}{memory_id}"] if memory_id else []
    return {"links": [*others, *link], "consolidated": bool(memory_id)}


def match_memories(entry: Record, rows: Sequence[MemoryRow]) -> tuple[str, list[str]]:
    """Return which of an entry's memories to keep, empty for none, and which to delete."""
    # Of several that fit, the one that the entry names stays.
    digest, named = digest_of(entry), memory_of(entry)
    fitting = sorted((row.id for row in rows if row.digest == digest), key=named.__ne__)
    keep = fitting[0] if fitting else ""
    return keep, [row.id for row in rows if row.id != keep]
