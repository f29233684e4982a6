"""Checks of what a long talk left behind: requests, tables and screens."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evennia_ai.ports import TASK_SUMMARY
from tests.e2e.harness import GameServer
from tests.e2e.long_talk.course import WINDOW, Utterance
from tests.e2e.long_talk.model import SECRET, count_request, is_summary
from tests.e2e.telnet import TelnetPlayer
from world.people import PEOPLE

JOURNALLING = "pre_compaction"
PERSONA = next(person["ai_persona"] for person in PEOPLE if person["key"] == "Mira")
COMPACTED = re.compile(r"compaction \((?P<reason>\w+)\): .*\bnew_tokens (?P<tokens>\d+)")
MOST_LEFT = 0.75
SPOKEN_TO = frozenset({"answered", "excused"})
CALLS = """
SELECT call.id, call.purpose, call.prompt_tokens, turn.audience, turn.private
FROM evennia_ai_modelcall AS call LEFT JOIN evennia_ai_turn AS turn ON turn.id = call.turn_id
ORDER BY call.id
"""
HEARD = """
SELECT event.text, event.state, event.reason, COUNT(message.id) AS messages
FROM evennia_ai_event AS event
LEFT JOIN evennia_ai_message AS message ON message.event_id = event.id
WHERE event.kind IN ('say', 'whisper') GROUP BY event.id
"""
SPEAKERS = "SELECT DISTINCT speaker, speaker_name FROM evennia_ai_event WHERE speaker_name != ''"


@dataclass(frozen=True)
class Asked:
    """A request, and who hears its answer: names in lower case, None for a summary."""

    number: int
    body: dict[str, Any]
    purpose: str
    audience: frozenset[str] | None

    @property
    def secrets_of(self) -> set[str]:
        """Return whose secrets it holds."""
        return owners(json.dumps(self.body["messages"]))

    def __str__(self) -> str:
        return f"request {self.number} ({self.purpose}, for {sorted(self.audience or ())})"


def owners(words: str) -> set[str]:
    """Return whose secrets a text holds."""
    return {found[1] for found in SECRET.finditer(words)}


def names_by_dbref(game: GameServer) -> dict[str, str]:
    """Return the players by dbref, in lower case."""
    return {row["speaker"]: row["speaker_name"].lower() for row in game.sql(SPEAKERS)}


def pair_up(game: GameServer, requests: Callable[[], list[dict[str, Any]]]) -> list[Asked]:
    """Pair each request with the call that the game logged.

    Calls come one after the other. They are read first: a request under way has no call yet.
    """
    names, calls = names_by_dbref(game), game.sql(CALLS)
    sent = requests()
    assert len(calls) <= len(sent), f"{len(calls)} calls were noted of {len(sent)} requests"
    pairs = []
    for request, call in zip(sent, calls, strict=False):
        body = request["body"]
        assert call["prompt_tokens"] in (None, count_request(body)), "requests and calls differ"
        assert is_summary(body) == (call["purpose"] == TASK_SUMMARY), "requests and calls differ"
        heard_by = None if call["audience"] is None else json.loads(call["audience"])
        audience = None if heard_by is None else frozenset(names[each] for each in heard_by)
        pairs.append(Asked(request["number"], body, call["purpose"], audience))
    return pairs


def check_window(asked: Iterable[Asked]) -> list[str]:
    """Check that no request and its reply exceed the window."""
    found = []
    for one in asked:
        room = one.body.get("max_completion_tokens") or one.body["max_tokens"]
        total = count_request(one.body) + room
        if total > WINDOW:
            found.append(f"{one} takes {total} tokens")
    return found


def check_progress(game: GameServer) -> list[str]:
    """Check that after each compaction the next line needs no other."""
    return [
        f"a compaction ({found['reason']}) left {found['tokens']} tokens"
        for found in COMPACTED.finditer(game.log())
        if int(found["tokens"]) > MOST_LEFT * WINDOW
    ]


def check_persona(asked: Iterable[Asked]) -> list[str]:
    """Check that every turn has the persona word for word."""
    return [
        f"{one} has not the persona"
        for one in asked
        if one.audience is not None
        and one.purpose != JOURNALLING  # it is shown what goes, as whoever sums that up
        and PERSONA not in one.body["messages"][1]["content"]
    ]


def check_confidence(asked: Iterable[Asked]) -> list[str]:
    """Check that a whisper is in no request except for its speaker alone."""
    found = []
    for one in asked:
        told = one.secrets_of
        if len(told) > 1 or (told and one.audience is not None and one.audience != told):
            found.append(f"{one} holds secrets of {sorted(told)}")
    return found


def check_stored(game: GameServer) -> list[str]:
    """Check that messages and summaries hold a secret for its owner alone."""
    names = names_by_dbref(game)
    found = []
    for row in game.sql("SELECT * FROM evennia_ai_message"):
        told = owners(row["content"] + row["tool_calls"])
        heard_by = {names[each] for each in json.loads(row["audience"])}
        if told and not (row["private"] and told == heard_by):
            found.append(f"message {row['id']} tells secrets of {told} to {heard_by}")
    for row in game.sql("SELECT id, summary FROM evennia_ai_compaction"):
        for key, part in json.loads(row["summary"]).items():
            told = owners(part)
            if told and told != {names.get(key)}:
                found.append(f"compaction {row['id']} tells secrets of {told} to {key}")
    return found


def check_screens(players: Iterable[TelnetPlayer]) -> list[str]:
    """Check that no screen shows another player's secret."""
    return [
        f"{player.name} read secrets of {sorted(told)}"
        for player in players
        if (told := owners(player.clean) - {player.name.lower()})
    ]


def has_mark(text: str, mark: str) -> bool:
    """Return True if the text has this mark."""
    return re.search(rf"\b{mark}\b", text) is not None


def check_nothing_is_lost(game: GameServer, said: Iterable[Utterance]) -> list[str]:
    """Check that each line is heard once, logged once, and answered or excused."""
    rows = game.sql(HEARD)
    found = []
    for utterance in said:
        heard = [row for row in rows if has_mark(row["text"], utterance.mark)]
        ends = [(row["state"] in SPOKEN_TO, row["messages"]) for row in heard]
        if ends != [(True, 1)]:
            found.append(f"{utterance.line!r} came to {[tuple(row) for row in heard]}")
    return found


def tellers(asked: Iterable[Asked]) -> set[str]:
    """Return whose secrets any request held. Without secrets the checks prove nothing."""
    return {owner for one in asked for owner in one.secrets_of}
