"""A character's working memory: listeners, conversations, recently used records.

All of it is derived from the world and the log, so a restart loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from twisted.internet.defer import Deferred, succeed
from twisted.logger import Logger

from evennia_ai.messages import Audience
from evennia_ai.policy.conversation.conversations import RunningTalk, is_stale, talks_with
from evennia_ai.ports import Character, Script

log = Logger()


@dataclass(frozen=True)
class WorkingMemory:
    """A character's working memory.

    Attributes:
        present: dbrefs of everybody who hears the character.
        talks: the running conversations, the latest last.
        consulted: the records it used recently, as the last compaction stored them.
    """

    present: Audience
    talks: Sequence[RunningTalk]
    consulted: Mapping[str, Any] = field(default_factory=dict)


def working_memory(script: Script) -> WorkingMemory:
    """Return the character's current working memory."""
    timeout_s, now = script.config.conversation_timeout, script.services.now()
    view = script.conversation.current
    running = {
        dbref: at for dbref, at in script.partners.items() if not is_stale(at, now, timeout_s)
    }
    return WorkingMemory(
        present=script.services.world.listeners(script.character),
        talks=talks_with(running, script.conversation.view(), timeout_s),
        consulted=view.record.consulted if view.record else {},
    )


def clear_stale_conversations(script: Script, character: Character) -> Deferred[dict[str, Any]]:
    """End the conversations that were not continued within ``conversation_timeout``.

    Args:
        script: the assistant.
        character: its character.

    Fires with ``success``, ``ended`` (a dict each: ``with``, a dbref; ``since`` and ``last_at``,
    ISO-8601 UTC) and ``running`` (the number that go on); or ``skipped`` True and ``reason``.
    """
    partners = script.partners
    if not partners:
        return succeed({"skipped": True, "reason": "no conversations"})
    timeout_s, now = script.config.conversation_timeout, script.services.now()
    stale = {dbref: at for dbref, at in partners.items() if is_stale(at, now, timeout_s)}
    ended = talks_with(stale, script.conversation.view(), timeout_s) if stale else []
    for dbref in stale:
        del partners[dbref]
    told = [
        {
            "with": talk.partner,
            "since": talk.since.isoformat(),
            "last_at": talk.last_at.isoformat(),
        }
        for talk in ended
    ]
    return succeed({"success": True, "ended": told, "running": len(partners)})
