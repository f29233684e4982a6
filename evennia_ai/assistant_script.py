"""The assistant of one character: an Evennia Script that events wake."""

from typing import Any, ClassVar, cast

from evennia.scripts.scripts import DefaultScript
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig
from evennia_ai.messages import ChatMessage
from evennia_ai.store.attributes import SCRIPT_KEY, holder_of, read_attribute
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.lines import erase_vectors
from evennia_ai.store.names import own_name
from evennia_ai.store.server_settings import mark_for_deletion


class AssistantScript(DefaultScript):
    """The assistant of one character: Evennia's hooks around a `GameMind`.

    Its interval is 0, since a thousand timed scripts delay a reload by seconds (measured); events
    wake it. All its state in memory is in ``ndb``. ``shared_services`` are what all assistants of
    this process share, None before the start of the server.
    """

    shared_services: ClassVar[Any] = None

    def at_script_creation(self) -> None:
        """Set Evennia's fields. No setting is stored, so that all of them stay inherited."""
        self.key = SCRIPT_KEY
        self.desc = "the assistant of a character"
        self.interval = 0
        self.persistent = True
        if self.obj is not None:
            self.obj.ndb.ai_assistant = None

    def at_init(self) -> None:
        """Let the character hear as soon as this process has the assistant in memory."""
        if self.services:
            self.services.let_hear(self)

    def at_repeat(self, **kwargs: Any) -> None:
        """Tick at the interval that a builder set. Return None: Evennia ignores a Deferred."""
        if self.services:
            self.mind.ticker.tick()

    def at_script_delete(self) -> bool:
        """Drop what is in memory and mark long-term memory for deletion. True allows it."""
        if self.services:
            mind, services = self.mind, self.services
            services.inbox_queue.give_up(mind.hearing)
            mind.let_go()
            services.loaded.drop(mind)
            if self.obj and services.semantic.was_used:
                mark_for_deletion(self.obj.id)
        erase_vectors(self.id)  # in one query; with the log Django would load each
        return True

    def at_server_start(self) -> None:
        """Restart a timed script that a SIGKILL left active without a running task."""
        is_running = self.ndb._task and self.ndb._task.running
        if self.interval > 0 and self.db_is_active and not is_running:
            self.start(force_restart=True)

    def at_server_reload(self) -> None:
        """Let no new turn begin in this process."""
        if self.services:
            self.services.quiesce()

    @property
    def db(self) -> Any:
        """Return the Attributes, as of any typeclass."""
        return holder_of(self)

    @property
    def services(self) -> Any:
        """Return what all assistants share, None in a process without the service."""
        return self.ndb.services or self.shared_services

    @property
    def mind(self) -> Any:
        """Return the `GameMind`, made at the first use; None in a process without the service."""
        services, known = self.ndb.services or self.shared_services, self.ndb.mind
        if services is None:
            return None
        if known is None or known.services is not services:
            from evennia_ai.game.minds import GameMind  # a typeclass loads no NumPy (half the time)

            known = self.ndb.mind = GameMind(self, services)
        return known

    @property
    def character(self) -> Any:
        """Return the character of the assistant."""
        return self.obj

    @property
    def character_name(self) -> str:
        """Return the character's name, as others know it."""
        return own_name(self.obj)

    @property
    def conversation(self) -> TableConversation:
        """Return the log of everything said and done."""
        return cast(TableConversation, self.mind.log)

    @property
    def conversation_history(self) -> list[ChatMessage]:
        """Return the stored messages in the view, oldest first."""
        return list(self.conversation.view())

    @property
    def config(self) -> AssistantConfig:
        """Return the effective settings."""
        return cast(AssistantConfig, self.mind.settings.config)

    @property
    def is_on(self) -> bool:
        """Return False after ``aistop``, and in a process without the service."""
        return bool(self.services and not read_attribute(self, "stopped"))

    def at_tick(self) -> Deferred[int]:
        """Do everything that is due, one tick at a time. Fires with the number of turns."""
        return cast("Deferred[int]", self.mind.ticker.run(self.mind.tick))

    def wake(self) -> None:
        """Tick soon. Several calls before that tick make one tick."""
        if self.services:
            self.mind.ticker.wake()

    def notify(self, *args: Any, **kwargs: Any) -> None:
        """Tell the character one sentence; see `Hearing.notify`."""
        if self.services:
            self.mind.hearing.notify(*args, **kwargs)
