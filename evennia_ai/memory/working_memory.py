"""A character's running conversations, which the log can rebuild after a restart."""

from operator import itemgetter
from typing import Any

from twisted.internet.defer import Deferred, succeed

from evennia_ai.policy.conversation.batching import began_at, is_stale
from evennia_ai.ports import MindContext


def clear_stale_conversations(script: Any, character: Any) -> Deferred[dict[str, Any]]:
    """End the conversations that were not continued within ``conversation_timeout``.

    ``script`` is an `AssistantScript`, ``character`` its character.

    Fires with ``success``, ``ended`` (a dict each: ``with``, a dbref; ``since`` and ``last_at``,
    ISO-8601 UTC) and ``running`` (the number that go on); or ``skipped`` True and ``reason``.
    """
    return succeed(script.mind.clear_stale())


def clear_stale(context: MindContext) -> dict[str, Any]:
    """End an assistant's conversations that were not continued; see above."""
    partners = context.presence.partners
    if not partners:
        return {"skipped": True, "reason": "no conversations"}
    timeout_s, now = context.config.conversation_timeout, context.now()
    ended = []
    for dbref, at in sorted(partners.items(), key=itemgetter(1)):
        if is_stale(at, now, timeout_s):
            since = began_at(dbref, at, context.log.view(), timeout_s).isoformat()
            ended.append({"with": dbref, "since": since, "last_at": at.isoformat()})
            del partners[dbref]
    return {"success": True, "ended": ended, "running": len(partners)}
