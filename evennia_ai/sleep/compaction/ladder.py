"""The ladder of summaries: ask in full, then with fewer messages, then another model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import ModelProfile, resolve_profile, usable_window
from evennia_ai.errors import ConfigError, ContextOverflow, ProviderError
from evennia_ai.messages import Message
from evennia_ai.policy.tokens import stored_tokens
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps
from evennia_ai.turn.llm_interaction import SummaryTerms, generate_context_summary
from evennia_ai.turn.model_call import effective_profile, summary_profile

log = Logger()

SUMMARY, CLEARED, CHUNKS, OTHER = "summary", "cleared", "chunks", "other model"
DIGEST, LAST = "digest", "last turn"
RUNGS = (SUMMARY, CLEARED, CHUNKS, OTHER, DIGEST, LAST)
OF_A_MODEL = RUNGS[: RUNGS.index(DIGEST)]
CHUNK_PART = 1 / 3  # of the window


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


@inlineCallbacks
def climb_ladder(script: Script, material: Material, terms: SummaryTerms) -> Steps[tuple[str, str]]:
    """Ask for a summary step by step, until one comes.

    After an overflow the next step asks with fewer messages; after any other error the same model
    is not asked again. Fires with the summary and its ladder step, both empty if every step failed.
    """
    broken: ModelProfile | None = None
    for rung in rungs_of(script):
        if rung.profile == broken or is_late(script, terms):
            continue
        try:
            text: str = yield ask_by_rung(script, rung, material, terms)
        except ProviderError as error:
            log_problem(script, rung.name, error)
            if not isinstance(error, ContextOverflow):
                broken = rung.profile
            continue
        if text:
            return text, rung.name
    return "", ""


def rungs_of(script: Script) -> list[Rung]:
    """Return the steps of the ladder that ask a model, in their order."""
    first = summary_profile(script)
    others = {p.name + p.model: p for p in (effective_profile(script), *fallback_profile(script))}
    others.pop(first.name + first.model, None)
    same = [Rung(name, first) for name in (SUMMARY, CLEARED, CHUNKS)]
    return [*same, *(Rung(OTHER, profile) for profile in others.values())]


def fallback_profile(script: Script) -> list[ModelProfile]:
    """Return the ``compact_fallback_profile``, if any; tells the owner of an unknown name."""
    name = script.config.compact_fallback_profile
    if name is None:
        return []
    try:
        return [resolve_profile(name, script.services.profiles)]
    except ConfigError as error:
        script.tell_owner(f"compact_fallback_profile: {error}")
        return []


def is_late(script: Script, terms: SummaryTerms) -> bool:
    """Return True if no time is left to ask."""
    return terms.deadline_at is not None and script.services.clock.seconds() >= terms.deadline_at


def log_problem(script: Script, rung: str, problem: Exception) -> None:
    """Log that a step of the ladder failed."""
    message = "{name}: summary step {rung} failed: {problem}; going on without it"
    log.warn(message, name=script.character_name, rung=rung, problem=str(problem))


@inlineCallbacks
def ask_by_rung(script: Script, rung: Rung, material: Material, terms: SummaryTerms) -> Steps[str]:
    """Try one step of the ladder. Fires with the summary, empty if none came."""
    terms = replace(terms, profile=rung.profile)
    chunks: Sequence[Sequence[Message]] = [material.messages]
    text = material.previous
    if rung.name in (CHUNKS, OTHER):
        window = usable_window(replace(script.config, llm_model=None), rung.profile)
        chunks = in_chunks(material.messages, int(CHUNK_PART * window))
    for chunk in chunks:
        text = yield generate_context_summary(
            script,
            chunk,
            material.focus,
            previous=text,
            with_results=rung.name == SUMMARY,
            terms=terms,
        )
        if not text:
            return ""
    return text


def in_chunks(messages: Sequence[Message], size: int) -> list[list[Message]]:
    """Split messages into runs of about ``size`` tokens, each at least one message."""
    chunks: list[list[Message]] = [[]]
    left = size
    for message in messages:
        tokens = stored_tokens(message)
        if chunks[-1] and tokens > left:
            chunks.append([])
            left = size
        chunks[-1].append(message)
        left -= tokens
    return chunks
