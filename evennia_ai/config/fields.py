"""The settings of an assistant.

The last of these that sets a value wins: the default here, the Django setting ``AI_ASSISTANT``, the
named profile, the assistant's own attribute. ``None`` means "inherit"; 0 means zero.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from evennia_ai.config.declared import (
    OWNERS,
    Bounds,
    characters,
    check_value,
    days,
    declare_settings,
    seconds,
    setting,
    tokens,
)
from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.ai_disclosure import ensure_says_so
from evennia_ai.policy.sleep_schedule import ANYBODY, GAME, NOBODY, REAL, STAFF, read_schedule

P = TypeVar("P")

ALWAYS_ON = ("speech", "control")  # families of tools


@lru_cache(maxsize=64)
def read_families(text: str | None) -> frozenset[str]:
    """Return the families in a value of ``tools_off``; raises ConfigError for one always on."""
    families = frozenset(filter(None, (part.strip().lower() for part in (text or "").split(","))))
    if kept := sorted(families & set(ALWAYS_ON)):
        raise ConfigError(f"tools_off: a character always has the tools of {kept[0]}.")
    return families


@dataclass(frozen=True)
class AssistantConfig:
    """The effective settings of one assistant."""

    profile: str = setting("default", "Name of the model profile to use.")
    llm_model: str | None = setting(None, "Model name. None uses the profile's model.")
    max_context_tokens: int = setting(
        100_000,
        "Maximum part of the model's context window to use. If nobody sets it, a model's working "
        "window applies (12,000, or 6,000 for small models); the default is for the stand-in.",
        tokens(1_000),
    )
    max_reply_tokens: int = setting(
        800,
        "Maximum length of one reply. If nobody sets it, 120 for models of the form plain.",
        tokens(16, 32_000),
    )
    temperature: float | None = setting(
        None, "Sampling temperature. None uses the model's default.", Bounds(0.0, 2.0)
    )
    turn_deadline: float = setting(
        20.0,
        "Time for all model calls of one turn; then the fallback line is said. While it is "
        "unset, a local model gets 60 to 180 s, as its speed needs.",
        seconds(0.5, 600.0),
    )
    confirm_within: float = setting(
        60.0,
        "Time in which a player can confirm an act that needs their word.",
        seconds(10.0, 600.0),
    )
    max_iterations: int = setting(6, "Maximum number of model calls in one turn.", Bounds(1, 50))
    max_tool_calls: int = setting(
        8, "Maximum number of tool calls that run from one reply.", Bounds(1, 50)
    )
    max_bot_replies: int = setting(
        3,
        "Maximum answers among the assistants of a place until a player speaks there. 0 lets them "
        "answer players only.",
        Bounds(0, 50),
    )
    conversation_timeout: float = setting(
        60.0,
        "Time after an exchange in which a speaker may omit the name. 0 always requires it.",
        seconds(0.0, 3_600.0),
    )
    event_max_age: float = setting(
        300.0, "Age after which words are no longer answered.", seconds(1.0)
    )
    max_speech_chars: int = setting(
        1_000, "Maximum length of a line that the character says.", characters(20, 6_000)
    )
    max_heard_chars: int = setting(
        2_000,
        "Maximum length of a heard line in a prompt; the rest is cut.",
        characters(100, 20_000),
    )
    game_topics_only: bool = setting(
        False,
        "True: a player who speaks of killing or hurting themselves reads the line help_line of "
        "TEXTS instead of an answer; a request that is not about the game gets the line off_topic.",
    )
    tools_off: str | None = setting(
        None,
        "Families of tools that the character does not have, separated by commas: world, company, "
        "journal, memory, entity, goals, or the last part of the name of a module in TOOLS. None "
        "leaves it all tools.",
        check=read_families,
    )
    tick_rate: float = setting(
        5.0, "Time between ticks while players are near.", seconds(0.5, 3_600.0)
    )
    autonomous_calls_per_hour: int = setting(
        4,
        "Maximum turns per hour that no player asked for: autonomous ones, which need a player "
        "near, and answers to other assistants. With 0 there are no autonomous turns, and only "
        "max_bot_replies limits the answers to other assistants.",
        Bounds(0, 3_600),
    )
    autonomy_quiet: float = setting(
        30.0, "Time without speech in the room before the character acts unasked.", seconds(0.0)
    )
    lore_tokens: int = setting(
        600, "Token budget in a prompt for lore. 0 disables lore.", tokens(0, 20_000)
    )
    sleep_schedule: str | None = setting(
        None,
        "Hours of sleep, such as 23:00-06:30, by sleep_clock. None disables scheduled sleep.",
        check=read_schedule,
    )
    sleep_clock: str | None = setting(
        None,
        "Clock for sleep_schedule. real: the server's time zone. game: Evennia's game time. None: "
        "the world's clock, WORLD_CLOCK.",
        choices=(REAL, GAME),
    )
    sleep_after_quiet: float = setting(
        120.0, "Time without speech before the character falls asleep.", seconds(0.0)
    )
    sleep_after_long_quiet: float = setting(
        3_600.0,
        "Time after a conversation before a nap, with nobody near. 0 disables naps.",
        seconds(0.0),
    )
    sleep_wake_within: float = setting(
        30.0,
        "Maximum wait for a speaker while a sleep pass ends. 0 interrupts it.",
        seconds(0.0, 240.0),
    )
    sleep_on_request: str = setting(
        STAFF,
        "Who may send the character to sleep. staff: builders and admins.",
        choices=(NOBODY, STAFF, ANYBODY),
    )
    tick_rate_sleep: float = setting(
        60.0,
        "Longest time from when the character should fall asleep or wake until it does.",
        seconds(5.0),
    )
    compact_enabled: bool = setting(
        True,
        "Summarise old messages when the context window fills. If false, the oldest messages "
        "leave the prompt without a summary.",
    )
    compact_sleep_threshold: float = setting(
        0.7, "Used fraction of the context window at which a sleep pass compacts.", Bounds(0.1, 1.0)
    )
    compact_emergency_threshold: float = setting(
        0.8, "Used fraction of the context window at which any tick compacts.", Bounds(0.1, 1.0)
    )
    compact_target: float = setting(
        0.45,
        "Maximum used fraction of the conversation's space after a compaction.",
        Bounds(0.05, 0.9),
    )
    compact_preserve_window: int = setting(
        20,
        "Number of newest messages that compaction keeps unchanged if they fit. With the default, "
        "as many as fill 20 % of the context window stay in any case.",
        Bounds(0, 10_000),
    )
    compact_reserve_tokens: int | None = setting(
        None,
        "Free space for the reply. None uses max_reply_tokens; 0 keeps none.",
        tokens(0, 100_000),
    )
    mask_threshold: float = setting(
        0.6,
        "Used fraction of the context window at which old tool results are masked.",
        Bounds(0.05, 1.0),
    )
    mask_keep_last: int = setting(
        3, "Number of newest tool results that are never masked.", Bounds(0, 1_000)
    )
    pre_compact_extraction_enabled: bool = setting(
        True,
        "Let the character write facts into its journal before a compaction evicts messages. A "
        "model without tool calls answers with JSON objects; without a model nothing is written, "
        "and the log is searched.",
    )
    pre_compact_max_iterations: int = setting(
        5, "Maximum model calls for this extraction; at most 3 in an emergency.", Bounds(1, 20)
    )
    pre_compact_prompt: str | None = setting(
        None, "Instructions for this extraction. None uses the built-in ones."
    )
    background_model: str | None = setting(
        None, "Model for work that nobody waits for. None uses the assistant's own model."
    )
    compact_model: str | None = setting(None, "Model for summaries. None uses background_model.")
    compact_fallback_profile: str | None = setting(
        None, "Model profile for summaries if the assistant's own model fails. None disables it."
    )
    compact_prompt: str | None = setting(
        None, "Instructions for summaries. None uses the built-in ones."
    )
    compact_check_enabled: bool = setting(
        True,
        "Ask the model which doubtful sentences of a new summary, or of what it wrote into the "
        "journal before, are true: at most one more request for each. Only models with native "
        "tool calls are asked. If false, words and the embedder decide.",
    )
    prune_enabled: bool = setting(
        True, "Archive faded journal entries in sleep, except sources still in use."
    )
    prune_keep_at_least: int = setting(
        500, "Number of entries that a journal always keeps.", Bounds(0, 1_000_000)
    )
    prune_age_days: float = setting(14.0, "Minimum age of an entry to archive.", days(0.0))
    prune_importance: int = setting(
        4, "Maximum importance (1-10) of an entry to archive. 0 disables pruning.", Bounds(0, 10)
    )
    prune_retention: float = setting(
        0.05,
        "Maximum retention of an entry to archive: e^(-days/(1+recalls+importance/2)).",
        Bounds(0.0, 1.0),
    )
    archive_days: float = setting(
        90.0,
        "Time until archived entries and ended goals are deleted. 0 keeps them until the next "
        "sleep.",
        days(0.0),
    )
    pin_tokens: int = setting(
        300, "Token budget in a prompt for pins and goals. 0 disables both.", tokens(0, 5_000)
    )
    person_pins: int = setting(
        3,
        "Maximum pins that one person's words may cause; a further one replaces that person's "
        "oldest. 0 allows none.",
        Bounds(0, 100),
    )
    person_entries_per_day: int = setting(
        60,
        "Maximum journal entries, and as many observations, in 24 hours that one person's words "
        "may cause. 0 allows none.",
        Bounds(0, 500),
    )
    entity_tokens: int = setting(
        200,
        "Token budget in a prompt for profiles of those present. 0 disables them.",
        tokens(0, 5_000),
    )
    recall_tokens: int = setting(
        400,
        "Token budget in a prompt for what is recalled: evicted conversation, journal entries, "
        "profiles, and what others told. 0 disables recall.",
        tokens(0, 20_000),
    )
    thinking_after: float = setting(
        2.0,
        "Time before the character shows a filler, such as rubbing its chin, and then every 20 s. "
        "0 disables fillers.",
        seconds(0.0, 600.0),
    )
    whisper_policy: str = setting(
        "strict",
        "strict: whispers stay between their parties. trusting: the character may repeat those "
        "that it hears from now on. Only admins change it.",
        choices=("strict", "trusting"),
    )
    fallback_line: str | None = setting(
        None,
        "What the character says if no model answers in time. None uses the stand-in, or the "
        "game's line.",
    )
    ai_disclosure_line: str | None = setting(
        None,
        "What the character answers when it is asked whether it is a machine; it must say that it "
        "is one. None uses the package's line.",
        check=ensure_says_so,
    )

    # The values of extensions' settings that are set; `part` reads them.
    of_extensions: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        own = ((name, getattr(self, name)) for name in OWN_NAMES)
        for name, value in (*own, *self.of_extensions):
            check_value(name, value)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "AssistantConfig":
        """Return the settings with these values, those of extensions among them."""
        own = {name: value for name, value in values.items() if name in OWN_NAMES}
        others = tuple((name, values[name]) for name in sorted(set(values) - set(own)))
        return cls(**own, of_extensions=others)

    def part(self, kind: type[P]) -> P:
        """Return the settings of an extension, as an instance of its dataclass of settings."""
        return cast(P, make_part(cast(Hashable, kind), self.of_extensions))

    if not TYPE_CHECKING:  # for a game's own code, which reads `script.config.x`

        def __getattr__(self, name: str) -> Any:
            """Return an extension's setting."""
            if name not in OWNERS:
                raise AttributeError(name)
            return getattr(self.part(OWNERS[name]), name)


@lru_cache(maxsize=256)
def make_part(kind: Any, values: tuple[tuple[str, Any], ...]) -> Any:
    """Return the settings that are declared by ``kind``, from those of all extensions."""
    names = {item.name for item in fields(kind)}
    return kind(**{name: value for name, value in values if name in names})


declare_settings(AssistantConfig)
OWN_NAMES = tuple(OWNERS)
