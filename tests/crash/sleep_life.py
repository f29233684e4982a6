"""One life of a character that is killed in its sleep, and what it must remember in the end.

Its stores are our tables; its long-term memory is a file. Django must be set up. Each life notes a
few things and then sleeps. A chronicle holds the notes before the sleep begins, so that they are
known after any kill.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, succeed

import evennia_ai.store.segments  # noqa: F401  # stores the records
from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.messages import LLMReply
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE, OBSERVATION
from evennia_ai.policy.records.forgetting import CITING
from evennia_ai.policy.records.journal_entry import (
    LINK,
    EntryForMemory,
    MemoryRow,
    digest_of,
    memory_of,
)
from evennia_ai.policy.records.record import Record
from evennia_ai.ports.goal_records import Goals
from evennia_ai.ports.journal import Journal, JournalArchive
from evennia_ai.ports.profiles import EntityProfiles
from tests.crash.child_life import Body, Chronicle, Executioner
from tests.crash.fast_points import AFTER, BEFORE, Kill
from tests.minds import MemoryMind, known_settings, own_extensions
from tests.semantic import StandInSemantic

SLEEPER = "#900"
ADDED = own_extensions("goals", "reflection")
LEFT_OUT = ("daily_plan", "shared_memory")
CONFIG = AssistantConfig.of(known_settings(prune_keep_at_least=5, reflection_threshold=30))
NOTES, FADED, NOTICED = 6, 3, 3
LONG_AGO = timedelta(days=400)
PUT, DELETED = "a memory put", "memories deleted"


class Notes:
    """What a character holds in memory alone, as Evennia's ``nattributes``."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        """Return a value, or None."""
        return self._held.get(key)

    def add(self, key: str, value: Any) -> None:
        """Set a value."""
        self._held[key] = value

    def remove(self, key: str) -> None:
        """Remove a value."""
        self._held.pop(key, None)


class Sleeper(Body):
    """A stand-in for a character, with its stores."""

    def __init__(self, dbref: str = SLEEPER) -> None:
        super().__init__(dbref)
        self.id = int(dbref[1:])
        self.nattributes = Notes()
        self.assistant: Any = None
        self.ai_mind = None  # nothing is let go

    journal = property(Journal.of)
    ai_profiles = property(EntityProfiles.of)
    ai_goals = property(Goals.of)


class FileSemantic(StandInSemantic):
    """Long-term memory that survives its process.

    As in mem0, each memory is stored by itself, and its owner is told when all are stored. A kill
    between the two leaves memories that the next pass stores again."""

    def __init__(self, path: Path, executioner: Executioner) -> None:
        super().__init__()
        self._path, self._executioner = path, executioner
        if path.exists():
            for agent, rows in json.loads(path.read_text()).items():
                self.stored[agent] = {row["id"]: (MemoryRow(**row), text) for row, text in rows}
        taken = [int(name[1:]) for rows in self.stored.values() for name in rows]
        for _ in range(max(taken, default=0)):
            next(self._numbers)

    def _put(self, agent: str, item: EntryForMemory) -> str:
        self._executioner.passes(f"{BEFORE} {PUT}")
        stored = super()._put(agent, item)
        self._save()
        self._executioner.passes(f"{AFTER} {PUT}")
        return stored

    def delete(self, ids: Sequence[str]) -> Any:
        """Store as the stand-in does, and into the file."""
        self._executioner.passes(f"{BEFORE} {DELETED}")
        done = super().delete(ids)
        self._save()
        self._executioner.passes(f"{AFTER} {DELETED}")
        return done

    def _save(self) -> None:
        held = {
            agent: [(asdict(row), text) for row, text in rows.values()]
            for agent, rows in self.stored.items()
        }
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(held))
        new.replace(self._path)


class Dreamer:
    """A model that makes a value of each observation, and one insight of each request."""

    def complete(self, request: Any, profile: Any, deadline_at: Any = None) -> Deferred[LLMReply]:
        """Answer at once."""
        material = str(request.messages[-1]["content"])
        owed = [
            {"attribute": f"debt to {to.lower()}", "value": f"{sum_} silver", "sources": [seen]}
            for seen, to, sum_ in re.findall(r"(p\d+): She owes (\w+) (\d+) silver", material)
        ]
        ids = re.findall(r"^(j\d+) \(", material, re.MULTILINE)[:12]
        thought = [{"insight": f"Promised up to {ids[-1]}.", "because": ids}] if ids else []
        return succeed(LLMReply("\n".join(map(json.dumps, [*owed, *thought]))))


class SleepLife:
    """The ``number``-th life: some notes, then a sleep pass."""

    def __init__(self, number: int, kill: Kill | None, folder: Path) -> None:
        self.number = number
        self.chronicle = Chronicle(folder / "journal")
        self.executioner = Executioner(kill, self.chronicle)
        self.body = Sleeper()
        self.mind = MemoryMind(Dreamer(), CONFIG, character=self.body)
        self.mind.settings.profile = ModelProfile("test", client="openai", model="dreamer")
        services = self.mind.services
        services.clock.advance(number * 86_400.0)
        services.extensions = ADDED
        services.semantic = FileSemantic(folder / "memories.json", self.executioner)
        services.world.names = {"#5": "Ann", "#6": "Bob"}
        self.body.assistant = self.mind
        self.mind.rebuild()  # with that long-term memory

    def note(self) -> None:
        """Write notes, public and private, new and old, and chronicle them."""
        now, life = self.mind.services.now(), self.number
        for step in range(NOTES):
            who, ears = ("#5", None) if step % 3 else ("#6", ["#6"])
            text = f"Remember: on night {life} cask {step} was promised to the ferryman."
            self._chronicle("note", self.body.journal.add, text, who, ears)
        for step in range(FADED):
            text = f"It drizzled over roof {step} of row {life}."
            at = now - LONG_AGO
            self._chronicle("note", self.body.journal.add, text, "#5", None, timestamp=at)
        for step in range(NOTICED):
            who, ears = ("#5", None) if step % 2 else ("#6", ["#6"])
            text = f"She owes Guild{step} {life} silver."
            self.body.ai_profiles.observe(who, text, **origin(who, ears))
            self.chronicle.write("noticed", [who, f"debt to guild{step}", f"{life} silver"])
        self._chronicle("goal", self.body.ai_goals.add, f"Mend net {life}.", "#5", None)

    def sleep(self) -> dict[str, Any]:
        """Sleep for one pass, in which the kill may come."""
        came: list[Any] = []
        steps = [name for name in self.mind.sleep_pass.steps if name not in LEFT_OUT]
        self.mind.sleep_pass.run(names=steps).addBoth(came.append)
        (results,) = came
        troubles = {name: step for name, step in results.items() if "error" in step}
        if troubles:
            self.chronicle.write("trouble", troubles)
        return dict(results)

    def _chronicle(
        self, kind: str, add: Any, text: str, who: str, ears: Any, **fields: Any
    ) -> None:
        add(text, **origin(who, ears), **fields)
        self.chronicle.write(kind, text)


def origin(who: str, ears: Sequence[str] | None) -> dict[str, Any]:
    """Return the source and the audience of a note."""
    return {"source_type": "direct", "source_entity": who, "speakers": [who], "audience": ears}


# --- what is left ------------------------------------------------------------------------------


def judge(facts: Mapping[str, Sequence[Any]], folder: Path) -> list[str]:
    """Return what is wrong after the last passes, one line each."""
    body = Sleeper()
    journal, archive = body.journal.all(), JournalArchive.of(body).all()
    told = [entry for entry in (*journal, *archive) if entry["source_type"] not in CITING]
    insights = [entry for entry in (*journal, *archive) if entry["source_type"] in CITING]
    records = body.ai_profiles.all()
    broken = [
        *differing("notes", facts["note"], (entry["content"] for entry in told)),
        *differing("goals", facts["goal"], (goal["content"] for goal in body.ai_goals.all())),
        *(f"thought over twice: {one}" for one in repeated(chain(*map(thoughts_of, insights)))),
        *([] if insights or not own_extensions("reflection") else ["nothing was thought over"]),
        *judge_profiles(facts["noticed"], records),
        *judge_memories(journal, FileSemantic(folder / "memories.json", NOBODY).stored),
    ]
    rows = body.db_attributes.filter(db_key__startswith="broken_").count()
    return broken + ([f"{rows} segments cannot be read"] if rows else [])


def judge_profiles(noticed: Sequence[Any], records: Sequence[Record]) -> list[str]:
    """Check that each observation is used once, and only the newest value is in force."""
    seen = [record for record in records if record["kind"] == OBSERVATION]
    values = [record for record in records if record["kind"] == ATTRIBUTE]
    known = [(v["subject"], v["attribute"], v["value"]) for v in values]
    newest = {(who, what): (who, what, value) for who, what, value in noticed}
    held = [k for k, v in zip(known, values, strict=True) if v["valid_to"] is None]
    left = sum(not record["consolidated"] for record in seen)
    return [
        *([f"{len(seen)} of {len(noticed)} observations"] if len(seen) != len(noticed) else []),
        *([f"{left} observations were never made use of"] if left else []),
        *differing("values", [tuple(one) for one in noticed], known),
        *differing("values in force", newest.values(), held),
    ]


def judge_memories(journal: Iterable[Record], stored: Mapping[str, Any]) -> list[str]:
    """Check that each entry has one memory with its text and audience, and each memory an entry."""
    rows = [row for memories in stored.values() for row, _ in memories.values()]
    named = [(memory_of(entry), entry["id"], digest_of(entry)) for entry in journal]
    return differing("memories", named, [(row.id, row.entry, row.digest) for row in rows])


def differing(what: str, wanted: Iterable[Any], found: Iterable[Any]) -> list[str]:
    """Return what is missing and what is there too often."""
    due, there = Counter(wanted), Counter(found)
    lost = [f"{what}: lost {one!r}" for one in due - there]
    return lost + [f"{what}: too many {one!r}" for one in there - due]


def repeated(keys: Iterable[Any]) -> list[Any]:
    """Return what occurs more than once."""
    return [key for key, count in Counter(keys).items() if count > 1]


def thoughts_of(insight: Record) -> list[tuple[str, str]]:
    """Return each source entry of an insight, with the kind of insight."""
    kind = insight["content"].split(" ")[0]
    return [(kind, link) for link in insight["links"] if not link.startswith(LINK)]


class Nobody(Executioner):
    """Kills nobody."""

    def __init__(self) -> None:
        self.kill = None


NOBODY = Nobody()
