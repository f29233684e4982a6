"""A character's running conversations, which the log can rebuild after a restart."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred, succeed

from evennia_ai.policy.conversation.conversations import is_stale, talks_with
from evennia_ai.ports import Character, Script


def clear_stale_conversations(script: Script, character: Character) -> Deferred[dict[str, Any]]:
    """End the conversations that were not continued within ``conversation_timeout``.

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
        {"with": talk.partner, "since": talk.since.isoformat(), "last_at": talk.last_at.isoformat()}
        for talk in ended
    ]
    return succeed({"success": True, "ended": told, "running": len(partners)})
