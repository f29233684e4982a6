"""Forgetting a player while the game runs.

The service deletes rows and records in steps (`store.forget`), also those that a restart left. Then
it overwrites lines of the log files, writes the database file anew, and has the digests journalled
that replaced summaries.
"""

import codecs
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from glob import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings as django_settings
from twisted.internet.defer import Deferred, DeferredLock, inlineCallbacks
from twisted.internet.task import deferLater
from twisted.logger import Logger

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import MemoryUnavailable, StoreUnavailable, TurnAborted
from evennia_ai.memory.worker import Worker
from evennia_ai.models import Message
from evennia_ai.policy.facts.origin import SpokenWords
from evennia_ai.scheduling import Clock, Coroutine, Enqueue, yield_to_reactor
from evennia_ai.store.conversation import assistants_to_archive
from evennia_ai.store.forget import Forgetting, database_file, is_too_large, overwrite_deleted
from evennia_ai.store.personal_data import assistants_who_know
from evennia_ai.store.server_settings import change_wishes, deletion_marks, tell_shards, wishes

log = Logger()

SOON_S = 3.0
AGAIN_AFTER_S = 60.0
BUSY_PAUSE_S, MOST_TRIES = 0.5, 60
PROGRESS_S = 5.0
# The pause after the file was written anew, in times as long as that took.
PAUSE_FACTOR = 50.0
TOO_LARGE = (
    "evennia_ai: a player was forgotten, but {path} is too large to be written anew while the game "
    "runs: a few deleted words may stand in it. Stop the game and run: sqlite3 {path} VACUUM"
)
FILE_TIMEOUT_S = 300.0
DONE = (  # numbers only: the log is no place for names and words
    "evennia_ai: {people} was forgotten by {by}: {gone} rows and records; journals with copies "
    "in long-term memory that are still to be deleted: {copies}"
)


class ForgettingService:
    """Forgets people, one wish at a time."""

    def __init__(self, clock: Clock, call_from_thread: Callable[..., object], put: Enqueue) -> None:
        self._clock: Any = clock
        self._put = put
        self.worker = Worker(clock, call_from_thread, "evennia-ai-forgetting")
        self._planned: dict[Callable[[], Deferred[None]], Any] = {}
        self._paused_until = 0.0
        self._one_at_a_time = DeferredLock()
        self._held: set[int] = set()  # assistants that may not think meanwhile
        self.era = uuid4().hex  # another one after each run, and after a restart

    def start(self) -> None:
        """Resume what an earlier process left undone; may be called again."""
        if wishes() and not self._one_at_a_time.locked:
            self._plan(SOON_S, self._resume)

    def stop(self) -> None:
        """Begin nothing more; a restart resumes what is left."""
        for call in self._planned.values():
            if call.active():
                call.cancel()

    @inlineCallbacks
    def forget(
        self,
        people: Collection[str],
        assistant: int | None = None,
        tell: Callable[[int], object] = lambda _gone: None,
        is_resumed: bool = False,
    ) -> Coroutine[None]:
        """Delete the words of some people, by all characters or by one ``assistant``.

        Calls ``tell`` every `PROGRESS_S` with the number of rows and records gone so far. Fires
        when all are gone; the files follow soon. Fails with StoreUnavailable if the database stays
        busy: the next start of the server resumes it. With several servers the others do the same
        for what their memory holds, unless ``is_resumed``.
        """
        yield self._one_at_a_time.acquire()
        told_at, gone = self._clock.seconds(), 0
        try:
            for tries_left in reversed(range(MOST_TRIES)):
                try:
                    if assistant is None and not is_resumed:
                        tell_shards(people)
                    forgetting = self.begin(people, assistant)
                    for step in forgetting.steps():
                        gone += step
                        if self._clock.seconds() - told_at > PROGRESS_S:
                            told_at = self._clock.seconds()
                            tell(gone)
                        yield yield_to_reactor(self._put)
                except StoreUnavailable:
                    if not tries_left:
                        raise
                    yield deferLater(self._clock, BUSY_PAUSE_S, int)
                else:
                    self.finish(forgetting)
                    return
        finally:
            self.release()
            self._one_at_a_time.release()

    def begin(self, people: Collection[str], assistant: int | None = None) -> Forgetting:
        """Note that some people are to be forgotten; returns the run that deletes their words.

        With an ``assistant`` only that one forgets them. Whoever forgets does not think until
        `release`: a thought of this time could hold the words when they are gone from all else.
        """
        change_wishes(people, assistant, wait=True)
        AssistantScript.shared_services.inbox_queue.flush()  # words of this moment, too
        who_know = {id_ for dbref in people for id_ in assistants_who_know(dbref)}
        self.hold(who_know if assistant is None else {assistant})
        return Forgetting(people, assistant, self.hold)

    def hold(self, assistants: Collection[int]) -> bool:
        """Let assistants not think until `release`; returns True if one of them could before."""
        new = {*assistants} - self._held
        for script in scripts_in_memory(new):
            script.mind.break_off()  # if the database is busy, the next run begins with this one
            self._held.add(script.id)
        self._held |= new
        return bool(new)

    def holds(self, assistant_id: int) -> bool:
        """Return True while an assistant forgets somebody."""
        return assistant_id in self._held

    def release(self) -> None:
        """Let everybody go on with what waits, after a run or after its error."""
        held, self._held, self.era = self._held, set(), uuid4().hex
        for script in scripts_in_memory(held):
            script.wake()

    def finish(self, forgetting: Forgetting) -> None:
        """Clean up after all rows and records were deleted; returns at once."""
        change_wishes(forgetting.people, forgetting.assistant, wait=False)
        for script in AssistantScript.get_all_cached_instances():
            for dbref in forgetting.people:
                if forgetting.assistant in (None, script.id):
                    script.mind.forget(dbref)
                    script.mind.renew(list(forgetting.traces.hidden[Message]))
        log.info(
            DONE,
            people=", ".join(sorted(forgetting.people)),
            by="all characters" if forgetting.assistant is None else "one character",
            gone=forgetting.gone,
            copies=len(deletion_marks()),
        )
        words = forgetting.traces.words
        guarded(AssistantScript.shared_services.nearness.forget(self._put, words.is_in))
        guarded(self._hide_in_logs(words))
        self._plan(SOON_S, self._clean_file)
        self._plan(SOON_S, self._journal_digests)

    def _plan(self, after_s: float, work: Callable[[], Deferred[None]]) -> None:
        """Do some work in a moment, unless it is planned for then or sooner."""
        planned = self._planned.get(work)
        if not (planned and planned.active()):
            self._planned[work] = self._clock.callLater(after_s, lambda: guarded(work()))
        elif planned.getTime() > self._clock.seconds() + after_s:
            planned.reset(after_s)

    @inlineCallbacks
    def _resume(self) -> Coroutine[None]:
        """Complete what a restart interrupted."""
        for assistant, people in wishes().items():
            try:
                yield self.forget(people, assistant, is_resumed=True)
            except StoreUnavailable as error:
                message = "evennia_ai: cannot forget a player now ({error}); retrying in {s} s"
                log.warn(message, error=error, s=AGAIN_AFTER_S)
                self._plan(AGAIN_AFTER_S, self._resume)

    @inlineCallbacks
    def _hide_in_logs(self, words: SpokenWords) -> Coroutine[None]:
        """Overwrite the lines of the log files that hold somebody's words, in the thread."""
        names = (django_settings.SERVER_LOG_FILE, django_settings.PORTAL_LOG_FILE)

        def hide() -> int:
            holds = partial(words.is_in, digits=DIGITS)
            return sum(hide_lines(path, holds) for path in log_files(names))

        try:
            yield self.worker.submit(hide, FILE_TIMEOUT_S)
        except TurnAborted:
            return

    @inlineCallbacks
    def _clean_file(self) -> Coroutine[None]:
        """Write the database file anew, in the thread, and rarely if that takes long."""
        path, wait_s = database_file(), self._paused_until - self._clock.seconds()
        if path is None:
            return
        if wait_s > 0:
            self._plan(wait_s, self._clean_file)
            return
        try:
            took_s, done = yield self.worker.submit(
                partial(overwrite_deleted, path), FILE_TIMEOUT_S
            )
            self._paused_until = self._clock.seconds() + PAUSE_FACTOR * took_s
        except TurnAborted:
            return
        except (MemoryUnavailable, sqlite3.Error, OSError) as error:
            message = "evennia_ai: {path} may still hold deleted words ({error}); retrying in {s} s"
            log.warn(message, path=path, error=error, s=AGAIN_AFTER_S)
            done = False
        if not done:
            self._plan(AGAIN_AFTER_S, self._clean_file)
        elif is_too_large(path):
            log.warn(TOO_LARGE, path=path)

    @inlineCallbacks
    def _journal_digests(self) -> Coroutine[None]:
        """Let the journals take in the digests that replaced summaries."""
        for script in AssistantScript.objects.filter(id__in=assistants_to_archive()):
            script.conversation.forget_view()
            yield script.mind.compactor.archive.archive()


def guarded(work: Deferred[None]) -> None:
    """Let nobody wait for some work, and log its failure."""
    work.addErrback(
        partial(log.failure, "evennia_ai: cleaning up after forgetting a player failed")
    )


def scripts_in_memory(ids: Collection[int]) -> list[AssistantScript]:
    """Return the assistants with these ids that may have something under way."""
    return [script for script in AssistantScript.get_all_cached_instances() if script.id in ids]


FORGOTTEN = b"[forgotten]"
DIGITS = 5  # of a number in a log that is no date and no count
STAMP = re.compile(rb"(?:\d[\d:., T+-]{9,38} )?(?:\[[^\]]{1,3}\] )?")
# Places in the code, security, and who was forgotten: nobody can have them hidden.
KEPT = re.compile(
    r'\A(?:\s*+(?:File "|Traceback )|.{0,45}(?:\[SS\]|evennia_ai: [^:]{1,200} was forgotten by ))'
)


def log_files(names: Iterable[str]) -> Iterator[Path]:
    """Yield log files and their older pages, such as ``server.log.2026_01_31``."""
    for name in names:
        path = Path(name)
        yield from sorted(path.parent.glob(f"{escape(path.name)}*"))


def hide_lines(path: Path, holds_words: Callable[[str], bool]) -> int:
    """Overwrite the lines of a log that hold somebody's words behind their time; returns how many.

    The file keeps its length, since the server goes on writing at its end.
    """
    count = 0
    with suppress(FileNotFoundError), path.open("r+b") as file:
        at = 0
        for line in iter(file.readline, b""):
            end = at + len(line)
            stamp = STAMP.match(line)
            head = stamp[0] if stamp else b""
            text = readable(line[len(head) :])
            if not KEPT.match(readable(line)) and holds_words(text):
                file.seek(at)
                whole = line.rstrip(b"\r\n")
                file.write((head + FORGOTTEN)[: len(whole)].ljust(len(whole)))
                file.seek(end)
                count += 1
            at = end
    return count


def readable(line: bytes) -> str:
    """Return a log line as text, also as it reads without backslash escapes."""
    text = line.decode(errors="replace")
    if "\\" not in text:
        return text
    plain = codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape", "replace")
    return f"{text}\n{plain}"
