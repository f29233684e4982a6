"""A client that turns a model's raw reply into tool calls, in the request's form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.policy.replies.reply_reader import ReplyReader, reply_reader
from evennia_ai.ports import Delta, LLMClient, LLMReply, LLMRequest, ToolCallRequest


class ReplyClient:
    """An `LLMClient` over one that returns raw replies."""

    def __init__(self, client: LLMClient, call_from_thread: Callable[..., object]) -> None:
        self._client = client
        # Runs ``f(*args)`` in the reactor's thread, since deltas come from another.
        self._call_from_thread = call_from_thread

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Send one request. Fires with the reply; fails as the client does."""
        # ``request.on_call`` gets the calls that are finished before the reply is.
        reader = reply_reader(request.form, request.asked)
        if request.on_call is not None and profile.stream:
            on_delta = partial(self._read, reader, request.on_call)
            request = replace(request, on_delta=on_delta)
        reply = self._client.complete(request, profile)
        return reply.addCallback(lambda raw: replace(reader.finish(raw), raw=raw))

    def _read(
        self, reader: ReplyReader, on_call: Callable[[ToolCallRequest], None], delta: Delta
    ) -> None:
        """Read one delta, in the thread of the connection."""
        calls = reader.feed(delta.content) if delta.content else []
        if delta.tool_index is not None:
            calls += reader.feed_call(delta.tool_index, delta.tool_name, delta.arguments)
        for call in calls:
            self._call_from_thread(on_call, call)
