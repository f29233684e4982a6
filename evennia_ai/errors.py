"""The one tree of errors. Every message is a sentence its reader can act on."""


class AssistantError(Exception):
    """Root of every error this package raises on purpose."""


class ConfigError(AssistantError):
    """A setting has a value it cannot have. The text names the setting, the value and what fits."""


class ToolError(AssistantError):
    """A tool could not do what it was asked. The text goes back to the model."""


class ToolDenied(ToolError):
    """A tool exists but its lock refuses somebody whose words are in this turn."""


class BadRecord(AssistantError):
    """Something to be remembered is not well formed. The text names the field."""


class TurnAborted(AssistantError):
    """The turn may not go on (reload, stop, the character gone). Nothing is spoken."""


class StoreUnavailable(AssistantError):
    """The database cannot be written now. Nothing of what was to be written is there."""


class CannotUndo(AssistantError):
    """A compaction cannot be taken back: what it would bring back is there no more."""


class OutcomeUnknown(TurnAborted):
    """Words were given up before they had been said to an end: they may or may not have been heard,
    so that their turn is closed as one that a crash cut off."""


class ProviderError(AssistantError):
    """A model endpoint did not give a usable reply. The text never holds a key.

    Args:
        status: the HTTP status, where there was one.
        code: the provider's own name for the error.
        retry_after_s: seconds after which it asks to be tried again.
    """

    kind = "error"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


class ProviderUnavailable(ProviderError):
    """Unreachable, overloaded, too slow or broken on its side: another try later may work."""

    kind = "unavailable"


class DeadlineExceeded(ProviderUnavailable):
    """No reply within the time the turn had."""

    kind = "deadline"


class CircuitOpen(ProviderUnavailable):
    """The endpoint failed so often lately that it is left alone for a while: no call was made."""

    kind = "circuit"


class MemoryUnavailable(ProviderUnavailable):
    """The store of long-term memory is down, slow or broken. The journal is not."""

    kind = "memory"


class Busy(ProviderUnavailable):
    """The cap on calls in flight is reached and the queue is full: no call was made."""

    kind = "busy"


class QuotaExhausted(ProviderError):
    """The account at the provider is used up, or its limit lasts longer than any turn."""

    kind = "quota"


class BudgetExhausted(ProviderError):
    """The game's own budget of tokens is used up for today: no call was made."""

    kind = "budget"


class SwitchedOff(ProviderError):
    """An admin stopped all calls to models."""

    kind = "stopped"


class ProviderRejected(ProviderError):
    """The endpoint refused this request; the same request will be refused again."""

    kind = "rejected"


class ProviderMisconfigured(ProviderError):
    """A key, an address or a model's name is missing or wrong: the settings must be changed."""

    kind = "misconfigured"


class ContextOverflow(ProviderRejected):
    """The request is longer than the model's context window."""

    kind = "overflow"
