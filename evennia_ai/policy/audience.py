"""Who may know what (P9), and whose words a text holds (P8)."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from evennia_ai.messages import Audience, Authors, ChatMessage


def visible(item_audience: Audience | None, prompt_audience: Audience) -> bool:
    """Return True if an item may enter a prompt for this audience: all who will hear the answer.

    An ``item_audience`` of None is public; any other must include the whole ``prompt_audience``.
    An empty prompt audience sees no private item.
    """
    if item_audience is None:
        return True
    return bool(prompt_audience) and prompt_audience <= item_audience


def audience_of(message: ChatMessage) -> Audience | None:
    """Return a message's audience for comparison, None for public room talk."""
    metadata = message["metadata"]
    return frozenset(metadata.get("audience", ())) if metadata.get("private") else None


def select_visible(messages: Iterable[ChatMessage], prompt_audience: Audience) -> list[ChatMessage]:
    """Return the messages that may enter a prompt for this audience, in order."""
    return [
        m
        for m in messages
        if not m["metadata"].get("private") or visible(audience_of(m), prompt_audience)
    ]


def may_be_said(listeners: Audience, prompt_audience: Audience, private: bool) -> bool:
    """Return True if listeners may hear words from this prompt; if nothing is private, all may."""
    return not private or listeners <= prompt_audience


class KnownLine(NamedTuple):
    """One line of knowledge for a prompt."""

    text: str
    private: bool = False  # for the prompt's audience only
    authors: Authors = frozenset()  # `policy.audience`; none: unknown
    source: str = ""  # id of the memory that it tells, if any
    score: float = 0.0  # how well it fits the talk (`ports.MemoryMatch.fit`)


GAME, BUILDER, STRANGER = "game", "builder", "stranger"

STAFF = frozenset({"builder", "admin", "developer"})
PERMISSIONS = frozenset({"perm", "pperm", "perm_above", "pperm_above"})
NOBODY = frozenset({"false", "none", "superuser"})
LOCK_FUNCTION = re.compile(r"\b(\w+)\(([^()]*)\)")
NEGATION = re.compile(r"\bnot\b", re.IGNORECASE)


def known(authors: Iterable[str]) -> Authors:
    """Return the authors, a stranger if there are none."""
    return frozenset(authors) or frozenset({STRANGER})


def of_turn(authors: Iterable[str]) -> Authors:
    """Return the authors of a turn, with a stranger if nobody but builders wrote its prompt."""
    # The persona and the place are in every prompt and ask for nothing. So a turn behind which
    # nobody stands has a stranger's rights.
    people = frozenset(authors)
    return people if people - {BUILDER} else people | {STRANGER}


def of_message(message: ChatMessage) -> Authors:
    """Return the authors of a stored message: those stored, else its speaker."""
    return of_messages([message])


def of_messages(messages: Iterable[ChatMessage]) -> Authors:
    authors = set[str]()
    for message in messages:
        meta = message["metadata"]
        authors.update(meta.get("authors") or (meta.get("speaker") or STRANGER,))
    return frozenset(authors)


def of_record(record: Mapping[str, Any]) -> Authors:
    """Return the authors of a journal entry, a profile value, a goal or another record."""
    by_builder = [BUILDER] if record.get("source_type") == BUILDER else []
    return known([*record["speakers"], *by_builder])


def of_records(records: Iterable[Mapping[str, Any]]) -> Authors:
    return frozenset[str]().union(*map(of_record, records))


def of_parts(authors: Mapping[str, Iterable[str]], keys: Iterable[str]) -> Authors:
    """Return the authors of some parts of a summary, which are given by part."""
    return frozenset[str]().union(*(known(authors.get(key, ())) for key in keys))


def people_among(authors: Iterable[str]) -> Authors:
    return frozenset(author for author in authors if author.startswith("#"))


class Editors(NamedTuple):
    """Who may edit an object by a lock, besides staff: numbers of objects and of accounts."""

    objects: frozenset[int] = frozenset()
    accounts: frozenset[int] = frozenset()
    anybody: bool = False  # True if people pass whom the lock does not name


@lru_cache(maxsize=1024)
def editors_in(lock: str) -> Editors:
    """Return whom a lock such as ``id(5) or perm(Admin)`` lets edit an object."""
    # What cannot be read off the lock counts as anybody.
    objects, accounts, anybody = set[int](), set[int](), bool(NEGATION.search(lock))
    for name, arguments in LOCK_FUNCTION.findall(lock):
        first = arguments.split(",")[0].strip().lower()
        number = first.lstrip("#")
        if name in NOBODY or (name in PERMISSIONS and first.removesuffix("s") in STAFF):
            continue
        if name in ("id", "dbref") and number.isdecimal():
            objects.add(int(number))
        elif name in ("pid", "pdbref") and number.isdecimal():
            accounts.add(int(number))
        elif name not in ("id", "dbref", "pid", "pdbref"):
            anybody = True
    return Editors(frozenset(objects), frozenset(accounts), anybody)
