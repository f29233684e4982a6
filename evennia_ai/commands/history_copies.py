"""``aihistory``: its filters, and the lines that leave the screen: into a file, or as they come."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.commands.common import (
    NUMBER,
    AICommand,
    UsageError,
    log_private_reading,
)
from evennia_ai.commands.history_rendering import as_row, hearers, message_line
from evennia_ai.commands.players import objects_called
from evennia_ai.game.client_text import clean_address, clean_output, shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.game.settings import export_folder
from evennia_ai.messages import EXCUSE, Message
from evennia_ai.policy.amendments import Amendment
from evennia_ai.policy.disclosure import FIGURES, PRIVATE_WORDS, Reader, words_kind
from evennia_ai.policy.log_filter import LogFilter, read_filter
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.scheduling import Steps, pause
from evennia_ai.store.brief_transaction import store_errors
from evennia_ai.store.names import names_of, speakers_among, speakers_named
from evennia_ai.store.search import all_messages

log = Logger()

TEXT, JSON = "text", "json"
SUFFIXES = {TEXT: "txt", JSON: "jsonl"}


class HistoryCopies(AICommand):
    """The filters, and the switches ``export`` and ``follow``."""

    def read_wanted(self, typed: str, switches: Sequence[str]) -> tuple[LogFilter, str]:
        """Return the filter that was typed, and its player as a dbref, "" without one."""
        names = ["search" if switch == "find" else switch for switch in switches]
        now = self.services.now().astimezone(self.reader.zone)
        try:
            wanted = read_filter(typed, names, now)
        except (ValueError, OverflowError) as error:
            raise UsageError(clean_output(str(error), 300)) from error
        return wanted, self.find_player(wanted.player) if wanted.player else ""

    def find_player(self, name: str) -> str:
        """Return the dbref of somebody by name, who may be deleted; raises UsageError."""
        if NUMBER.fullmatch(name):
            return name
        known = objects_called(name) | speakers_named(name)
        found = sorted(speakers_among(known) or known)
        if not found:
            raise UsageError(f"No assistant ever heard anybody called '{clean_output(name, 60)}'.")
        if len(found) > 1:
            raise UsageError(f"Several match: {', '.join(found)}. Use a number: |wplayer #12|n.")
        return found[0]

    @inlineCallbacks
    def do_export(self, script: GameScript) -> Steps[None]:
        head, _, rest = (self.rhs or "").partition(",")
        form = head.strip().lower()
        typed = rest if form in SUFFIXES else self.rhs or ""
        form = form if form in SUFFIXES else JSON
        wanted, player = self.read_wanted(typed, ())
        export = Export(script, self.reader, script.conversation.amendments.shown)
        pages = all_messages(script.id, wanted, player, self.reader.may(PRIVATE_WORDS))
        path = export_path(script, self.services.now(), SUFFIXES[form])
        with writing(path) as file:
            count = 0
            for rows in pages:
                names = names_of({dbref for row in rows for dbref in row["audience"]})
                make = export.as_json if form == JSON else export.as_text
                file.writelines(f"{make(row, names)}\n" for row in rows)
                count += len(rows)
                yield pause(self.services.slices.put)
        where = clean_address(str(path))
        self.tell(
            f"{count:,} lines of {shown_name(script)} are in {where}. Only the game's own "
            "user can read the file. |wforgetme|n does not reach it: delete it in time."
        )

    def do_follow(self, script: GameScript) -> None:
        watchers, name = script.conversation.watchers, shown_name(script)
        if self.session is None:
            raise UsageError("Only somebody who is connected can follow.")
        if watchers.pop(self.session, None):
            self.msg(f"You no longer follow {name}.")
            return
        watch = Follower(script, self.caller, self.session, self.make_reader, self.describe_use())
        watchers[self.session] = watch
        self.msg(
            f"You follow {name}: new lines come as they are stored, what was heard at the "
            f"beginning of the next turn. To end it: |waihistory/follow {name}|n"
        )


def export_path(script: GameScript, now: datetime, suffix: str) -> Path:
    """Return the path of a new file in the folder for exports."""
    return export_folder() / f"aihistory-{script.character.id}-{now:%Y%m%dT%H%M%S%f}.{suffix}"


@contextmanager
def writing(path: Path) -> Generator[TextIO]:
    """Open a new file that only the game's own user can read; raises UsageError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with store_errors(), os.fdopen(number, "w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise UsageError(
            f"Cannot write {clean_address(str(path))}: {error.strerror}. The setting "
            "EXPORT_FOLDER of AI_ASSISTANT names the folder."
        ) from error


@dataclass(frozen=True)
class Export:
    """Makes lines of a file, as far as a reader may see them."""

    script: GameScript
    reader: Reader
    amended: Mapping[int, Amendment]

    def as_json(self, row: Mapping[str, Any], names: Mapping[str, str]) -> str:
        """Return a message as a JSON object on one line."""
        known = {"number": row["id"], "at": row["at"].isoformat(), "role": row["role"]}
        known |= {"turn": row["turn_id"], "private": row["private"], "tokens": row["tokens"]}
        if not self.may_show(row):
            return json.dumps({**known, "withheld": True})
        change = self.amended.get(row["id"])
        known |= {"name": self.speaker_of(row), "speaker": row["speaker"]}
        known |= {"heard_by": row["audience"], "words": row["content"]}
        known |= {"calls": [call["function"] for call in row["tool_calls"]]}
        known |= {change.kind: change.text or True} if change else {}
        return json.dumps(known)

    def as_text(self, row: Mapping[str, Any], names: Mapping[str, str]) -> str:
        """Return a message as a line of text."""
        head = f"{self.reader.clock(row['at'], '%Y-%m-%d %H:%M:%S')} {row['id']}"
        private = " (private)" * row["private"]
        if not self.may_show(row):
            return f"{head}{private}: {self.reader.show(PRIVATE_WORDS, '', 'words')}"
        change = self.amended.get(row["id"])
        mark = "" if change is None else f" ({change.kind} {change.text}".rstrip() + ")"
        calls = (call["function"] for call in row["tool_calls"])
        acts = (f"{call['name']} {call['arguments']}" for call in calls)
        words = " ".join(filter(None, (row["content"], *acts)))
        whom = hearers(row, self.script.character_name, names)
        return clean_heard(f"{head} {self.speaker_of(row)} > {whom}{private}{mark}: {words}", 10**6)

    def may_show(self, row: Mapping[str, Any]) -> bool:
        """Return True, and count the message, if the reader may read it."""
        kind = words_kind(row["private"])
        if self.reader.may(kind):
            self.reader.count(kind)
            return True
        return False

    def speaker_of(self, row: Mapping[str, Any]) -> str:
        """Return the name of whoever spoke, of a tool's result "result"."""
        own = row["role"] in ("assistant", EXCUSE)
        who = self.script.character_name if own else row["speaker_name"]
        return "result" if row["role"] == "tool" else str(who)


@dataclass(frozen=True)
class Follower:
    """Shows somebody new messages as they are stored, until they leave their character."""

    script: GameScript
    caller: Any
    session: Any
    make_reader: Callable[[], Reader]
    use: str  # what was typed, for the security log

    def __call__(self, messages: Sequence[Message]) -> None:
        """Show messages; an error ends the following and nothing else."""
        watchers = self.script.conversation.watchers
        try:
            goes_on = self.session.puppet is self.caller and self.show(messages)
        except Exception:  # noqa: BLE001  # a turn must not fail because somebody reads along
            log.failure("{use} failed and ends", use=self.use)
            goes_on = False
        if not goes_on:
            watchers.pop(self.session, None)

    def show(self, messages: Sequence[Message]) -> bool:
        """Show messages as far as the caller may read them; False if they may read none now."""
        reader, name = self.make_reader(), self.script.character_name
        if not reader.may(FIGURES):
            return False
        lines = [message_line(as_row(message), name, reader) for message in messages]
        self.caller.msg("\n".join(lines), session=self.session)
        log_private_reading(reader, self.script.character, self.use)
        return True
