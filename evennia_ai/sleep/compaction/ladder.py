"""The ladder of summaries: asked for in full, then with less of the talk, then of another model."""

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
from evennia_ai.turn.llm_interaction import (
    SummaryTerms,
    effective_profile,
    generate_context_summary,
    summary_profile,
)

log = Logger()

SUMMARY, CLEARED, CHUNKS, OTHER = "summary", "cleared", "chunks", "other model"
DIGEST, LAST = "digest", "last turn"
RUNGS = (SUMMARY, CLEARED, CHUNKS, OTHER, DIGEST, LAST)
OF_A_MODEL = RUNGS[: RUNGS.index(DIGEST)]
CHUNK_PART = 1 / 3  # of the window


@dataclass(frozen=True)
class Material:
    """What is to be summed up: messages of one audience, the summary so far, to be brought up to
    date, and what to keep above all."""

    messages: Sequence[Message]
    previous: str = ""
    focus: str | None = None


@dataclass(frozen=True)
class Rung:
    """One way to ask: its name, and whose model."""

    name: str
    profile: ModelProfile


def worst_of(rungs: Iterable[str]) -> str:
    """The rung furthest down; the first where there is none."""
    return max(rungs, key=RUNGS.index, default=SUMMARY)


@inlineCallbacks
def climb_ladder(script: Script, material: Material, terms: SummaryTerms) -> Steps[tuple[str, str]]:
    """Ask for a summary, and where that fails, with less of the talk where less may help, and then
    of another model.

    Args:
        script: the assistant.
        material: what is to be summed up.
        terms: the room for it, and until when it may be asked for.

    Fires with the summary and its rung, both empty where nothing came of it.
    """
    broken: ModelProfile | None = None
    for rung in rungs_of(script):
        if rung.profile == broken or is_late(script, terms):
            continue
        try:
            text: str = yield ask_by_rung(script, rung, material, terms)
        except ContextOverflow as error:
            tell(script, rung.name, error)
            continue
        except ProviderError as error:
            tell(script, rung.name, error)
            broken = rung.profile  # it does not answer at all: less talk would not help
            continue
        if text:
            return text, rung.name
    return "", ""


def rungs_of(script: Script) -> list[Rung]:
    """Every way to ask, in their order."""
    first = summary_profile(script)
    others = {p.name + p.model: p for p in (effective_profile(script), *fallback_profile(script))}
    others.pop(first.name + first.model, None)
    same = [Rung(name, first) for name in (SUMMARY, CLEARED, CHUNKS)]
    return [*same, *(Rung(OTHER, profile) for profile in others.values())]


def fallback_profile(script: Script) -> list[ModelProfile]:
    """The profile that ``compact_fallback_profile`` names, if any. The owner is told of a name that
    means nothing."""
    name = script.config.compact_fallback_profile
    if name is None:
        return []
    try:
        return [resolve_profile(name, script.services.profiles)]
    except ConfigError as error:
        script.tell_owner(f"compact_fallback_profile: {error}")
        return []


def is_late(script: Script, terms: SummaryTerms) -> bool:
    """True where there is no time left to ask."""
    return terms.deadline_at is not None and script.services.clock.seconds() >= terms.deadline_at


def tell(script: Script, rung: str, problem: Exception) -> None:
    """One line for the log: a rung of the ladder broke."""
    log.warn(
        "{name}: no summary ({rung}): {problem}",
        name=script.character_name,
        rung=rung,
        problem=str(problem),
    )


@inlineCallbacks
def ask_by_rung(script: Script, rung: Rung, material: Material, terms: SummaryTerms) -> Steps[str]:
    """One rung of the ladder. Fires with the summary, empty where there is none."""
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
    """Messages in runs of about ``size`` tokens, each at least one message."""
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
