"""The ladder of summaries: ask in full, then with fewer messages, then another model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import TextWrapper
from typing import Any

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import ModelProfile, resolve_profile, usable_window
from evennia_ai.errors import ConfigError, ContextOverflow, ProviderError
from evennia_ai.messages import Message, make_message
from evennia_ai.policy.compaction.summary import INSTRUCTIONS, UPDATE, transcript_lines
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.ports import Identity, Settings, Slices
from evennia_ai.scheduling import Clock, Steps, pause
from evennia_ai.turn.llm_interaction import Summariser, SummaryTerms
from evennia_ai.turn.model_call import ModelCalls

log = Logger()

SUMMARY, CLEARED, CHUNKS, OTHER = "summary", "cleared", "chunks", "other model"
DIGEST, LAST = "digest", "last turn"
RUNGS = (SUMMARY, CLEARED, CHUNKS, OTHER, DIGEST, LAST)
OF_A_MODEL = RUNGS[: RUNGS.index(DIGEST)]
CHUNK_PART = 1 / 3  # of the window
MOST_LABEL_CHARS = 60  # of a line's beginning such as "Ann says: "


@dataclass(frozen=True)
class Material:
    """What to summarise: the messages of one audience."""

    messages: Sequence[Message]
    previous: str = ""  # the summary so far, to be updated
    focus: str | None = None  # what to keep above all


@dataclass(frozen=True)
class Rung:
    """One step of the ladder: its name, and the model profile to ask."""

    name: str
    profile: ModelProfile


def worst_of(rungs: Iterable[str]) -> str:
    """Return the ladder step furthest down, the first one for none."""
    return max(rungs, key=RUNGS.index, default=SUMMARY)


class SummaryLadder:
    """Asks for a summary step by step. ``profiles`` are the model profiles of the game."""

    def __init__(
        self,
        who: Identity,
        settings: Settings,
        calls: ModelCalls,
        summariser: Summariser,
        profiles: Mapping[str, Mapping[str, Any]],
        clock: Clock,
        slices: Slices,
    ) -> None:
        self._who, self._settings, self._calls, self._summariser = who, settings, calls, summariser
        self._profiles, self._clock, self._put = profiles, clock, slices.put

    @inlineCallbacks
    def climb(self, material: Material, terms: SummaryTerms) -> Steps[tuple[str, str]]:
        """Ask for a summary step by step, until one comes.

        After an overflow the next step asks with fewer messages; after any other error the same
        model is not asked again. Fires with the summary and its ladder step, both empty if every
        step failed.
        """
        broken: ModelProfile | None = None
        for rung in self._rungs():
            if rung.profile == broken or self._is_late(terms):
                continue
            try:
                text: str = yield self._ask_by_rung(rung, material, terms)
            except ProviderError as error:
                self._log_problem(rung.name, error)
                if not isinstance(error, ContextOverflow):
                    broken = rung.profile
                continue
            if text:
                return text, rung.name
        return "", ""

    def _rungs(self) -> list[Rung]:
        """Return the steps of the ladder that ask a model, in their order."""
        first = self._calls.summary_profile
        others = {p.name + p.model: p for p in (self._settings.profile, *self._fallback_profile())}
        others.pop(first.name + first.model, None)
        same = [Rung(name, first) for name in (SUMMARY, CLEARED, CHUNKS)]
        return [*same, *(Rung(OTHER, profile) for profile in others.values())]

    def _fallback_profile(self) -> list[ModelProfile]:
        """Return the ``compact_fallback_profile``, if any; tells the owner of an unknown name."""
        name = self._settings.config.compact_fallback_profile
        if name is None:
            return []
        try:
            return [resolve_profile(name, self._profiles)]
        except ConfigError as error:
            self._settings.tell_owner(f"compact_fallback_profile: {error}")
            return []

    def _is_late(self, terms: SummaryTerms) -> bool:
        """Return True if no time is left to ask."""
        return terms.deadline_at is not None and self._clock.seconds() >= terms.deadline_at

    def _log_problem(self, rung: str, problem: Exception) -> None:
        """Log that a step of the ladder failed."""
        message = "{name}: summary step {rung} failed: {problem}; going on without it"
        log.warn(message, name=self._who.name, rung=rung, problem=str(problem))

    @inlineCallbacks
    def _ask_by_rung(self, rung: Rung, material: Material, terms: SummaryTerms) -> Steps[str]:
        """Try one step of the ladder. Fires with the summary, empty if none came.

        A step that asks for everything at once is skipped if the request would not fit.
        """
        terms = replace(terms, profile=rung.profile)
        chunks: Sequence[Sequence[Message]] = [material.messages]
        text, with_results = material.previous, rung.name == SUMMARY
        window = usable_window(self._settings.config, rung.profile)
        if rung.name in (CHUNKS, OTHER):
            chunks = in_chunks(material.messages, int(CHUNK_PART * window), self._who.name)
        elif self._tokens_at_once(material, with_results) > window:
            return ""
        for chunk in chunks:
            yield pause(self._put)
            text = yield self._summariser.summarise(
                chunk, material.focus, previous=text, with_results=with_results, terms=terms
            )
            if not text:
                return ""
        return text

    def _tokens_at_once(self, material: Material, with_results: bool) -> int:
        """Return the estimated tokens of a request for a summary of all messages, without its
        reply."""
        kept = [m for m in material.messages if with_results or m["role"] != "tool"]
        fixed = self._settings.config.compact_prompt or INSTRUCTIONS + UPDATE
        return (
            estimate_tokens(fixed)
            + estimate_tokens(material.previous)
            + sum(map(stored_tokens, kept))
        )


def in_chunks(messages: Sequence[Message], size: int, name: str) -> list[list[Message]]:
    """Split messages into runs of about ``size`` tokens, an overlong message into parts.

    ``name`` is the character's, for what it says itself.
    """
    chunks: list[list[Message]] = [[]]
    left = size
    for message in (part for whole in messages for part in in_parts(whole, size, name)):
        tokens = stored_tokens(message)
        if chunks[-1] and tokens > left:
            chunks.append([])
            left = size
        chunks[-1].append(message)
        left -= tokens
    return chunks


def in_parts(message: Message, size: int, name: str) -> list[Message]:
    """Split a message of more than ``size`` tokens into lines of about that size.

    Every part names the speaker, so that no words lose who said them. A tool result stays whole,
    because a transcript shortens it.
    """
    tokens = stored_tokens(message)
    if tokens <= size or message["role"] == "tool":
        return [message]
    text = "\n".join(transcript_lines([message], name))
    head, colon, _ = text[:MOST_LABEL_CHARS].partition(": ")
    width = max(MOST_LABEL_CHARS, len(text) * size // tokens)
    cut = TextWrapper(width, expand_tabs=False, replace_whitespace=False, break_on_hyphens=False)
    first, *others = cut.wrap(text) or [""]
    label = f"{head} (continued): " if colon else ""
    return [make_message("user", part) for part in (first, *(label + other for other in others))]
