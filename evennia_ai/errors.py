"""All errors of this package. Each message says what its reader can do."""


class AssistantError(Exception):
    """The base of all errors that this package raises on purpose."""


class ConfigError(AssistantError):
    """A setting has a wrong value. The text names setting, value and allowed values."""


class ToolError(AssistantError):
    """A tool call failed, perhaps after it had some effect. The model gets the text.

    If others notice the tool's effects, the act counts as of unknown outcome and is not repeated.
    """


class NothingDone(ToolError):
    """A tool call failed before it had any effect. The model gets the text and may try again."""


class ToolDenied(NothingDone):
    """The lock of a tool refuses somebody whose words are in this turn."""


class BadRecord(AssistantError):
    """A record has a wrong value. The text names the field."""


class TurnAborted(AssistantError):
    """The turn must end: a reload, a stop, or a deleted character. Nothing is spoken."""


class Moved(TurnAborted):
    """The character lives on another server now, which has its mind; nothing was stored."""


class StoreUnavailable(AssistantError):
    """The database cannot be written now; nothing of the write was stored."""


class Overwritten(StoreUnavailable):
    """What is stored is not what was read: other code changed it. Work the change out anew."""


class CannotUndo(AssistantError):
    """A compaction cannot be undone: messages that it would restore were deleted."""


class OutcomeUnknown(TurnAborted):
    """Speech ended too early and may have been heard; the turn is closed as after a crash."""


class ProviderError(AssistantError):
    """A model endpoint gave no usable reply. The text never contains a key.

    ``status`` is the HTTP status, None without one; ``code`` the provider's own name for the error;
    ``retry_after_s`` the wait in seconds that it asks for, None if it does not. ``begun`` is True
    if a part of a streamed reply was passed on: words may have been spoken, so the gateway does not
    retry the call.
    """

    kind = "error"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        retry_after_s: float | None = None,
        begun: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s
        self.begun = begun


class ProviderUnavailable(ProviderError):
    """The endpoint is unreachable, overloaded, slow or broken; a retry may work."""

    kind = "unavailable"


class DeadlineExceeded(ProviderUnavailable):
    """The endpoint did not reply within the deadline of the turn."""

    kind = "deadline"


class CircuitOpen(ProviderUnavailable):
    """The circuit breaker is open, since the endpoint failed often: no call was made."""

    kind = "circuit"


class MemoryUnavailable(ProviderUnavailable):
    """Long-term memory is down, slow or broken; the journal still works."""

    kind = "memory"


class NothingSpoken(ProviderUnavailable):
    """The model replied, but with nothing that could be spoken or done."""

    kind = "unspoken"


class Busy(ProviderUnavailable):
    """Too many calls are running and the queue is full: no call was made."""

    kind = "busy"


class QuotaExhausted(ProviderError):
    """The account at the provider is exhausted, or its limit outlasts any turn."""

    kind = "quota"


class BudgetExhausted(ProviderError):
    """The game's own token budget for today is exhausted: no call was made."""

    kind = "budget"


class SwitchedOff(ProviderError):
    """An admin stopped all model calls."""

    kind = "stopped"


class ProviderRejected(ProviderError):
    """The endpoint refused this request; a retry would be refused, too.

    ``is_unexplained`` is True if it named no cause.
    """

    kind = "rejected"
    is_unexplained = False


class ProviderMisconfigured(ProviderError):
    """A key, address or model name is missing or wrong; change the settings."""

    kind = "misconfigured"


class ContextOverflow(ProviderRejected):
    """The request is longer than the context window of the model.

    ``window`` is the window in tokens that the endpoint named, None if it named none.
    """

    kind = "overflow"
    window: int | None = None
