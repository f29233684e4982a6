"""What the game lets an assistant do, what it is told of it, and the assistant's ticks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import display_name, find_objects
from evennia_ai.game.texts import text, translated
from evennia_ai.messages import turn_label
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.sleep_schedule import ASLEEP, DREAMING
from evennia_ai.policy.staff_controls import AuthorNote, read_note
from evennia_ai.ports import Settings, TurnRecord
from evennia_ai.scheduling import Coroutine
from evennia_ai.signals import turn_finished
from evennia_ai.store.attributes import read_attribute, write_attribute
from evennia_ai.store.lore_records import by_builder
from evennia_ai.store.server_lock import is_here
from evennia_ai.store.transactions import store_errors
from evennia_ai.turn.turn_runner import TURNS_A_TICK

log = Logger()
T = TypeVar("T")

STORE_PAUSE_S = 5.0
NOTE, SIGNALS = "author_note", "context_signals"


class GameAssistantStatus:
    """An assistant in the game: the `AssistantStatus` port. ``shell`` is its `AssistantScript`."""

    def __init__(
        self, shell: Any, services: Any, settings: Settings, wake: Callable[[], None]
    ) -> None:
        self._shell, self._services, self._settings = shell, services, settings
        self.wake = wake

    @property
    def is_alive(self) -> bool:
        """Return False once the assistant is deleted, or its character on another server."""
        return bool(self._shell.pk and self._shell.obj and is_here(self._shell.obj))

    @property
    def is_on(self) -> bool:
        """Return False after ``aistop``."""
        return bool(self._shell.is_on)

    @property
    def lacks_model(self) -> str:
        """Return why nothing answers for its model profile, "" if something does."""
        missing: str = self._services.gateway.missing_client(self._settings.profile)
        return missing

    @property
    def is_forgetting(self) -> bool:
        """Return True while the words of somebody it knows are being deleted."""
        return bool(self._services.forgetting.holds(self._shell.id))

    def turn_off(self, off: bool) -> None:
        """Stop hearing and speaking, or go on; raises StoreUnavailable."""
        write_attribute(self._shell, "stopped", True if off else None)

    def may_think(self) -> bool:
        """Return True if the assistant may start a turn."""
        services, shell = self._services, self._shell
        if not services.accepting or services.switched_off or services.forgetting.holds(shell.id):
            return False
        who = shell.obj
        is_here_and_on = shell.pk and who and shell.is_on and is_here(who)
        if not (is_here_and_on and who.pk and who.location) or who.has_account:
            return False
        return not services.gateway.missing_client(self._settings.profile)

    def tell(self, key: str, dbrefs: Iterable[str], reason: str = "") -> None:
        """Tell people a line about the character that is not its own speech."""
        for person in find_objects(dbrefs):
            name = display_name(self._shell.obj, person)
            person.msg(text(key, name=clean_output(name), reason=clean_output(translated(reason))))

    def author_note(self) -> Sequence[KnownLine]:
        """Return the note of a builder as a line of a prompt, if one is in force."""
        if (note := self.note_in_force()) is None:
            return []
        return [KnownLine(note[0].text, False, by_builder(filter(None, [note[0].by])))]

    def note_in_force(self) -> tuple[AuthorNote, int] | None:
        """Return the builder's note that still stands, with the turns or seconds it has left."""
        note = read_note(read_attribute(self._shell, NOTE))
        if note is None:
            return None
        left = float("inf")
        if note.turns is not None:
            left = note.turns - self._shell.mind.turns.count_after(note.after_turn)
        elif note.until is not None:
            left = note.until - self._services.now().timestamp()
        return (note, int(min(left, 1e9))) if left > 0 else None

    def write_note(self, note: AuthorNote | None) -> None:
        """Store a note in place of the one before, or remove that; raises StoreUnavailable."""
        write_attribute(self._shell, NOTE, note.model_dump() if note else None)

    def signal(self, name: str, on: bool) -> None:
        """Note on the script what it is doing, for a game's code; raises StoreUnavailable."""
        signals = read_attribute(self._shell, SIGNALS) or {}
        write_attribute(self._shell, SIGNALS, {**signals, name: on})

    def end_signals(self) -> None:
        """Note that it does nothing of what `signal` told, after a crash; may not be stored."""
        signals = read_attribute(self._shell, SIGNALS) or {}
        if any(signals.values()):
            write_attribute(self._shell, SIGNALS, dict.fromkeys(signals, False))

    def thinking(self, turn: TurnRecord, begins: bool) -> None:
        """Announce that a turn starts or ended."""
        self._services.thinking(self._shell, turn, begins)

    def compacting(self, reason: str, result: Mapping[str, Any] | None) -> None:
        """Announce that a compaction starts (result None) or ended."""
        self._services.compacting(self._shell, reason, result)
        if result is None and read_attribute(self._shell, "operating_mode") == ASLEEP:
            with suppress(StoreUnavailable):
                write_attribute(self._shell, "sleep_phase", DREAMING)
        if result and result.get("success"):
            with suppress(StoreUnavailable):
                now = self._services.now().isoformat()
                write_attribute(self._shell, "last_compaction", now)


class TickScheduler:
    """Runs the ticks of one assistant, one at a time."""

    def __init__(self, shell: Any, services: Any) -> None:
        self._shell, self._services = shell, services
        self.is_ticking = False
        self._again = self._woken = False

    def wake(self) -> None:
        """Tick soon. Several calls before that tick make one tick."""
        if self._services.accepting and not self._woken:
            self._woken = True
            self._services.slices.put(self._tick_now)

    def _tick_now(self) -> None:
        self._woken = False
        self.tick()

    def tick(self) -> None:
        """Run `at_tick` and log its errors."""
        if self._shell.pk:
            self._shell.at_tick().addErrback(self._log_failure, self._shell.mind.who.name)

    def _log_failure(self, failure: Failure, name: str) -> None:
        """Log why a tick failed, and the turn that it left open, which the next tick closes."""
        turn = turn_label(self._shell.mind.turns.current)
        message = "{name}, {turn}: a tick failed; the next event starts another"
        log.failure(message, failure, name=name, turn=turn)
        self._services.look_for_damage(self.wake)

    @inlineCallbacks
    def run(self, work: Callable[[], Deferred[int]]) -> Coroutine[int]:
        """Do what a tick does, unless one is under way. Fires with the number of turns."""
        if self.is_ticking:
            self._again = True
            return 0
        mind = self._shell.mind
        if not mind.status.may_think():
            return 0
        self.is_ticking = True
        try:
            with store_errors():
                turns: int = yield work()
        except TurnAborted as error:
            log.info("evennia_ai: {error}", error=error)
            return 0
        except StoreUnavailable as error:
            message = "{name}: {error}; retrying in {pause_s:.0f} s"
            log.warn(message, name=mind.who.name, error=error, pause_s=STORE_PAUSE_S)
            self._services.clock.callLater(STORE_PAUSE_S, self.wake)
            return 0
        finally:
            self.is_ticking = False
            if self._shell.pk:
                self._services.loaded.note(mind)
                if self._again:
                    self._again = False
                    self.wake()
        if not self._shell.pk:  # deleted meanwhile; Django cannot hash the sender of a signal
            return turns
        if turns:
            self._services.attend(mind)  # its head is fuller now
            turn_finished.send_robust(sender=self._shell, character=mind.who.character, turns=turns)
        if turns == TURNS_A_TICK:
            self.wake()
        return turns

    @inlineCallbacks
    def run_instead(self, work: Callable[[], Deferred[T]]) -> Coroutine[T]:
        """Do some work instead of a tick; fails as the work, and with TurnAborted if busy."""
        mind = self._shell.mind
        if self.is_ticking or mind.status.is_forgetting:
            busy = "is thinking just now" if self.is_ticking else "forgets somebody"
            raise TurnAborted(f"{mind.who.name} {busy}: try again in a moment.")
        self.is_ticking = True
        try:
            mind.settings.resolve()
            result: T = yield work()
        finally:
            self.is_ticking = False
            if self._shell.pk:
                self.wake()
        return result
