"""Measure how full the context window is."""

from math import ceil

from evennia_ai.config import AssistantConfig, ModelProfile, usable_window
from evennia_ai.messages import Usage
from evennia_ai.policy.compaction.plan import ContextUse, Thresholds
from evennia_ai.policy.tokens import UsageReport, is_silently_truncated, usual_ratio
from evennia_ai.ports import Conversation, RequestSizes, Settings

KEPT_REPORTS = 24


class ContextMeter:
    """Measures how full the context window is, by the largest projection of any audience.

    Our counts are multiplied by what the endpoint usually reports for each of our tokens. The whole
    talk counts, also if a model of the mode `PLAIN` is shown little of it: what was said is summed
    up and journalled as it grows, and another model can take over.
    """

    def __init__(self, settings: Settings, log: Conversation, sizes: RequestSizes) -> None:
        self._settings, self._log, self.sizes = settings, log, sizes
        self._reports: list[UsageReport] = []
        self._model, self._ratio = "", 1.0  # whose reports these are, and their ratio

    def note(self, estimate: int, usage: Usage, profile: ModelProfile, own: bool) -> None:
        """Compare an endpoint's count of a prompt with ours; ``own`` also learns from it.

        Tells the owner if a local server seems to have truncated the prompt silently.
        """
        report = UsageReport(estimate, usage.prompt_tokens, usage.cached_tokens)
        before = self._reports if profile.key == self._model else []
        if profile.is_local and is_silently_truncated(report, before):
            # Without numbers: the same trouble with others would be told again with each call.
            self._settings.tell_owner(
                f"The model '{profile.model}' counts far fewer tokens than it was sent: its server "
                "seems to cut long prompts. Give it more context, or set context_window in the "
                f"profile '{profile.name}' to what it takes."
            )
        elif own:
            self._model, self._reports = profile.key, [*before, report][-KEPT_REPORTS:]
            self._ratio = usual_ratio(self._reports)

    @property
    def ratio(self) -> float:
        """Return the model's tokens for each token of our estimate."""
        return self._ratio if self._model == self._settings.profile.key else 1.0

    @property
    def window(self) -> int:
        """Return the tokens of the context window that a request may use."""
        return usable_window(self._settings.config, self._settings.profile)

    def estimated(self, tokens: int) -> int:
        """Return what our estimate is of so many tokens of the model, such as its window."""
        return int(tokens / self.ratio)

    def measure(self) -> ContextUse:
        """Measure it now. Costs about 30 µs: sizes are kept as messages arrive (measured)."""
        config = self._settings.config
        conversation = self._log.sizes.largest()
        counted = ceil(self.ratio * (self.sizes.overhead + conversation))
        thresholds = Thresholds(
            mask=config.mask_threshold,
            sleep=config.compact_sleep_threshold,
            emergency=config.compact_emergency_threshold,
        )
        return ContextUse(
            counted + reserve(config), self.window, thresholds if config.compact_enabled else None
        )


def reserve(config: AssistantConfig) -> int:
    kept = config.compact_reserve_tokens
    return config.max_reply_tokens if kept is None else kept
