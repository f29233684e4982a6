"""What an extension may add: a class whose methods are hooks, for contrib and for games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel
from twisted.internet.defer import Deferred, succeed
from twisted.logger import Logger

from evennia_ai.config import ModelProfile
from evennia_ai.messages import Audience, InboxEvent, Usage
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.staff_controls import PendingToolCall
from evennia_ai.ports.background import SleepStep
from evennia_ai.ports.log import ModelCallRecord
from evennia_ai.ports.mind import MemorySource, MindContext, ToolContext
from evennia_ai.ports.models import Embedder, LLMClient, LLMRequest, SemanticMemory
from evennia_ai.ports.records import RecordStore
from evennia_ai.ports.tool import Tool

log = Logger()
T = TypeVar("T")
E = TypeVar("E", "Extension", "type[Extension]")


@dataclass(frozen=True)
class Allow:
    """A tool call may run."""


@dataclass(frozen=True)
class Wait:
    """A tool call waits until somebody agrees (`game.confirmations.decide`); then it runs once.

    Attributes:
        text: what the model reads.
        within_s: seconds after which it expires.
        tell: called with the stored call, to ask whoever may agree.
    """

    text: str
    within_s: float
    tell: Callable[[PendingToolCall], object]


@dataclass(frozen=True)
class Deny:
    """A tool call may not run; the model reads why."""

    reason: str


@dataclass(frozen=True)
class Revision:
    """What becomes of words that a model would have a character say.

    Attributes:
        words: what may be said of them; "" for nothing.
        reason: why they may not be said as they are, which the model reads, "" if they may.
    """

    words: str
    reason: str = ""


class EntryReader(Protocol):
    """Reads the upper-case entries of ``AI_ASSISTANT``; `aistatus` shows what it complains of."""

    def read(
        self,
        name: str,
        make: Callable[[Any], T],
        default: Any,
        wrong: tuple[Any, str] | None = None,
    ) -> T:
        """Return ``make`` of an entry; if it is wrong, of the default or the first of ``wrong``."""

    def complain(self, complaint: str) -> None:
        """Tell staff."""


class Extension:
    """Adds a feature to the assistants of a game; every hook does nothing unless overridden.

    The server makes one instance. Whatever a hook shows or judges holds for one assistant and one
    audience at a time, and says whose words it holds.

    Attributes:
        name: what ``"name"`` in ``EXTENSIONS`` adds and ``"-name"`` leaves out, and log lines say.
        by_default: False for one of the package's own that a game has only if it names it.
        settings: a frozen dataclass whose fields, made by `config.setting`, are settings of an
            assistant; ``config.part(ThatClass)`` has their effective values. Its method
            ``complaints(profile)``, if any, yields what `aisetup` tells of an assistant's own ones.
        entries: the upper-case entries of ``AI_ASSISTANT`` that it reads.
        middleware: dotted paths of Django middleware for the game's web site.
        pages: the titles of its pages for staff, by the names of their addresses, for `/ai/`.
        overridden: the names of what a class has not from this one; set where a class is made.
    """

    name: ClassVar[str] = ""
    by_default: ClassVar[bool] = True
    settings: ClassVar[type[Any] | None] = None
    entries: ClassVar[frozenset[str]] = frozenset()
    middleware: ClassVar[tuple[str, ...]] = ()
    pages: ClassVar[Mapping[str, str]] = {}
    overridden: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        own = cls.__mro__[: cls.__mro__.index(Extension)]
        cls.overridden = frozenset().union(*map(vars, own))

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        """Read the settings and make what the other hooks need.

        Called once, before the server starts: start no thread, and use no table.

        Args:
            services: what all assistants share (`ports.Services`).
            settings: reads an entry of ``AI_ASSISTANT``, and tells staff if it is wrong.

        Returns:
            True if the extension has work to do, False to leave it out.

        Raises:
            Exception: the extension is left out, and staff are told.
        """
        return True

    def tools(self) -> Iterable[Tool]:
        """Return tools that assistants may use (`tools.base.tool` makes them).

        Asked without `set_up`, too, where a game's tools are tested (`attack_tools`).
        """
        return ()

    def sleep_steps(self) -> Iterable[SleepStep]:
        """Return steps for the end of a whole sleep pass, such as work with the journal.

        Each is run for one assistant at a time, and may be broken off when somebody speaks to it.

        Returns:
            The steps, the same ones at each call. One whose name is taken is left out.

        Raises:
            Exception: none of this extension's steps are run.
        """
        return ()

    @classmethod
    def personal_data(cls) -> Iterable[Any]:
        """Return what "forget me" does with the columns of the extension's own tables.

        Asked when the class is loaded. A table of a game is one of a Django app of the game; each
        of its columns that names people or holds their words needs an entry.

        Returns:
            A `store.personal_data.PersonalColumn` for columns that belong together: those that
            name people (``named``), those that hold words (``words``), the `ErasureRule`, and
            whether ``aboutme`` shows the words to whom they name (``shown``).

        If it raises, the extension is left out, and staff are told.
        """
        return ()

    @classmethod
    def records(cls) -> Mapping[type[RecordStore], str]:
        """Return the kinds of records that it keeps on characters, also while it is off.

        "Forget me", ``aboutme``, mind files and uninstalling reach them. ``aboutme`` counts each as
        the kind that is its value, such as "added".
        """
        return {}

    def prompt_rows(
        self, around: MindContext, audience: Audience
    ) -> Iterable[tuple[str, KnownLine]]:
        """Return what a prompt tells beside the talk, such as what the character is after.

        Asked for each prompt: it must be quick, and read what memory holds.

        Args:
            around: what the assistant's own parts are given: who it is, its settings, the world.
            audience: dbrefs of everybody who will hear the reply. All of them may know each row.

        Returns:
            Rows: a label, which rows of one kind have in common, and a line. Its ``authors`` wrote
            it (none: a stranger), it is ``private`` if only this audience may know it, and its
            ``source`` is the id of the record that it tells, if any.

        Raises:
            Exception: the prompt has no rows of this extension.
        """
        return ()

    def memory_sources(self, around: MindContext) -> Iterable[MemorySource]:
        """Return memories to search beside an assistant's own, such as what others told it.

        Called before each search: what needs time belongs into the source's ``prepare``. ``around``
        is as for `prompt_rows`.

        Returns:
            The sources. Each search of one says for which audience it is.

        Raises:
            Exception: the search goes on without this extension's sources.
        """
        return ()

    @classmethod
    def model_clients(cls, settings: EntryReader) -> Mapping[str, LLMClient]:
        """Return clients of models by the names that profiles use for them; asked before `set_up`.

        A client gets a request with its audience, and must show nothing else in its reply. The
        names `openai` and `offline` are known; `offline` stands for no model. ``settings`` is as
        for `set_up`.

        Raises:
            Exception: the server starts without these clients, and staff are told.
        """
        return {}

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        """Return Evennia commands for every character's command set; asked before `set_up`.

        A command with the key of one of the package's own takes its place.
        """
        return ()

    def long_term_memory(
        self, make_embedder: Callable[[], Embedder], game_name: Callable[[], str]
    ) -> SemanticMemory | None:
        """Return the copy of the journals that the game keeps for other programs.

        Called once, after every `set_up`; of several extensions the first one's is used. Sleep
        writes it, recall never reads it, and it forgets what the journal forgets.

        Args:
            make_embedder: returns an embedder that waits for no endpoint; the first call may load
                it, which takes up to half a second.
            game_name: returns what keeps this game apart from others in one store, "" if it is not
                needed; raises StoreUnavailable.

        Returns:
            The memory, None if this extension has none.
        """
        return None

    @classmethod
    def urls(cls, by_game: bool) -> Iterable[str]:
        """Return modules with Django's ``urlpatterns``, for the game's web site.

        Args:
            by_game: True if the game includes `evennia_ai.web.urls` at an address that it chose,
                False if the modules are included at ``/ai/``.

        Returns:
            Dotted paths. The views run in web threads: these may read tables, and ask the
            reactor's thread for the rest.

        Raises:
            Exception: the site is without the pages, and the log says so.
        """
        return ()

    def before_turn(self, events: Sequence[InboxEvent]) -> Deferred[Mapping[int, str]]:
        """Judge what was heard before a prompt may hold it.

        Args:
            events: what one assistant heard, asked and overheard.

        Returns:
            A Deferred of a reason by the id of each refused event. Such an event is closed with
            that reason, and its speaker is told.

        Raises:
            Exception: all these events are refused, as if the Deferred fails.
        """
        return succeed({})

    def before_speech(self, words: str, by_staff: bool) -> Deferred[str]:
        """Judge words before they are spoken or shown.

        Args:
            words: what the character is about to say.
            by_staff: True if staff wrote them, and no model.

        Returns:
            A Deferred of why they may not be said, "" if they may.

        Raises:
            Exception: a model's words are refused, as if the Deferred fails; staff's are said.
        """
        return succeed("")

    def revise_speech(self, context: ToolContext, words: str) -> Deferred[Revision]:
        """Hold words of a model against what the game knows, before anybody hears them.

        The first time in a turn (``context.refused`` is "") the model is asked once more, with the
        reason; after that what the revision leaves is said.

        Args:
            context: who speaks, for whom, and what they said (``heard``).
            words: what the character is about to say or whisper; of a streamed reply a sentence.

        Returns:
            A Deferred of a `Revision`. Its reason tells nothing that the audience may not know.

        Raises:
            Exception: the words are said as they are, as if the Deferred fails.
        """
        return succeed(Revision(words))

    def before_tool_call(
        self, context: ToolContext, tool: Tool, arguments: BaseModel
    ) -> Allow | Wait | Deny:
        """Judge a tool call that the tool's lock lets pass, before it runs.

        Called again when a call that waited is about to run; then `Wait` counts as `Allow`.

        Args:
            context: for whom the prompt was made, and whose words it holds; ``confirmed_by`` is
                the dbref of whoever agreed to this very call, else "".
            tool: the tool.
            arguments: what it is called with, an instance of ``tool.arguments``.

        Returns:
            `Allow`, `Wait` or `Deny`. The first `Deny` of an extension counts, then the first
            `Wait`.

        Raises:
            Exception: the call is refused.
        """
        return Allow()

    def before_model_call(
        self, request: LLMRequest, profile: ModelProfile
    ) -> Callable[[Usage], object] | None:
        """Let a call of a model begin, or refuse it. The stand-in's calls are not asked about.

        Args:
            request: what is asked, with its size in tokens and its ``caller``.
            profile: the model; a fallback is asked about in a call of its own.

        Returns:
            What is called once with the tokens that the call used, when it has ended, also by a
            failure; None for nothing.

        Raises:
            ProviderError: the call is refused for this reason, such as `BudgetExhausted`.
            Exception: the call is refused.
        """
        return None

    def request_fields(self, request: LLMRequest, profile: ModelProfile) -> Mapping[str, Any]:
        """Return fields for the body of a request, in the place of those of ``profile.extra``."""
        return {}

    def token_counter(self, model: str) -> Callable[[str], int] | None:
        """Return what counts a text's tokens for a model, always the same; None for an estimate."""
        return None

    def after_model_call(self, request: LLMRequest, record: ModelCallRecord, at: datetime) -> None:
        """Note a model call in the transaction that stores it, once.

        Args:
            request: what was asked.
            record: what is stored: tokens, prices, those who caused it, and the error, if any.
            at: the time of the row, in UTC.

        Raises:
            StoreUnavailable: the transaction is rolled back and tried again.
            Exception: what this hook wrote is rolled back; the call is stored.
        """


def overriding(extensions: Iterable[Extension], *hooks: str) -> list[Extension]:
    """Return the extensions that override one of these hooks."""
    return [item for item in extensions if not item.overridden.isdisjoint(hooks)]


def collect(extensions: Iterable[E], ask: Callable[[E], Iterable[T]]) -> list[T]:
    """Return what a hook of each extension gives; of one that raises nothing, and a log line."""
    items: list[T] = []
    for extension in extensions:
        try:
            items += list(ask(extension))
        except Exception:  # noqa: BLE001  # an extension's error must not stop an assistant
            log.failure("evennia_ai: a hook of the extension {name} failed", name=extension.name)
    return items


def memory_sources(around: MindContext) -> list[MemorySource]:
    """Return what extensions add to the memories of an assistant."""
    extensions = overriding(around.services.extensions, "memory_sources")
    return collect(extensions, lambda extension: extension.memory_sources(around))
