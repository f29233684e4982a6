"""Chat-completions endpoints, through the openai SDK on the loop thread.

Only that thread imports the SDK, because the import takes most of a second. The messages go past
its types, in ``extra_body``: transforming 400 of them takes 50 ms, most of a call, and the reactor
would wait that long for the interpreter's lock. `reply_body` reads what comes back.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, cast
from urllib.parse import urljoin

from twisted.internet.defer import CancelledError, Deferred, maybeDeferred
from twisted.internet.interfaces import IReactorTime

from evennia_ai import errors
from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import wire_style
from evennia_ai.llm import refusals
from evennia_ai.llm.endpoints import Endpoint, find_endpoint
from evennia_ai.llm.fields_beside import parse_body
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_stream import OnDelta, read_body
from evennia_ai.llm.refusals import REPLY_LIMITS, STREAM, quoted_words, refused_part, without_parts
from evennia_ai.llm.reply_body import BrokenReply, ReplyBody, unwrap
from evennia_ai.llm.sdk_clients import SdkClients, causes_of, connection_trouble
from evennia_ai.messages import Delta, LLMReply, ToolCallRequest
from evennia_ai.policy.provider_errors import ErrorResponse
from evennia_ai.policy.redaction import mask_key
from evennia_ai.policy.replies.reply_reader import parameters, reply_reader
from evennia_ai.policy.replies.text_tool_calls import read_text_calls
from evennia_ai.policy.tool_call_modes.form import TOOLS
from evennia_ai.policy.tool_call_modes.wire_order import WireStyle, arrange
from evennia_ai.ports import LLMRequest
from evennia_ai.scheduling import Clock

MAX_REPLY_BYTES = 4_000_000
utc_now = partial(datetime.now, UTC)
Body = Mapping[str, object]


@dataclass(frozen=True)
class RawResponse:
    """An HTTP response as received, with the key masked."""

    status: int
    content: bytes


@dataclass(frozen=True)
class ProviderRequest:
    """One request: what is sent where, and who hears of the parts of its reply."""

    profile: ModelProfile
    request: LLMRequest
    headers: Mapping[str, str]
    on_delta: OnDelta | None
    calls: Sequence[ToolCallRequest] | None  # passed on so far; None: the deltas themselves are

    @property
    def refused(self) -> Mapping[str, str]:
        """Return what the endpoint refuses; the body holds none of it."""
        return self.profile.told.refused

    @cached_property
    def body(self) -> Body:
        body = {"model": self.profile.model, **build_body(self.request, self.profile)}
        streamed = {**STREAM, **body} if self.on_delta else body
        return without_parts(streamed, self.refused)

    def without(self, part: str, words: str) -> ProviderRequest:
        """Return the request without a part that the endpoint refused with these words."""
        words = quoted_words(words, self.body) if self.request.is_public else ""
        facts = replace(self.profile.told, refused={**self.refused, part: words})
        return replace(self, profile=replace(self.profile, told=facts))


class OpenAIClient:
    """`ports.LLMClient` over the openai SDK, without redirects and retries."""

    def __init__(
        self,
        loop_thread: LoopThread,
        environ: Mapping[str, str],
        read_timeout_s: float = 120.0,
        most_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        """Set the client up; the first request imports the SDK."""
        self._loop_thread = loop_thread
        self._environ = environ  # holds the keys
        # The gateway keeps deadlines; ``read_timeout_s`` is for a silent server.
        self._clients = SdkClients(read_timeout_s, most_bytes)
        loop_thread.on_stop(self._clients.close)

    def warm_up(self) -> Deferred[None]:
        """Import the SDK in the loop thread, ahead of the first call. Fires when done."""
        return self._loop_thread.submit(self._clients.open())

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Send one request, without retries.

        If ``request.on_call`` or ``on_delta`` is set and the profile allows it, the reply is
        streamed. ``on_call`` is called in the reactor's thread, ``on_delta`` in the loop thread. A
        stream that breaks after a call (or delta, without ``on_call``) fails with
        ProviderUnavailable, whose ``begun`` is True. What a server refuses of the request is left
        out and asked for again (`refused_part`); the reply tells it.

        Fires with the reply, in whose ``raw`` it is as the endpoint sent it. Fails with
        ProviderMisconfigured (key, address, model's name),
        ProviderUnavailable (not reached, too slow, 408, 429, 5xx, no chat completion, too many
        bytes), QuotaExhausted, ContextOverflow or ProviderRejected (any other 4xx). Each error
        carries the status, the provider's code and the seconds to wait, if the server sent them.
        Cancelling closes the connection.
        """
        reader = reply_reader(request.form, request.all_tools)
        on_call, on_delta = request.on_call, request.on_delta
        calls: list[ToolCallRequest] = []

        def read(delta: Delta) -> None:
            for call in reader.hear(delta):
                calls.append(call)
                self._loop_thread.call_from_thread(on_call, call)

        if not profile.stream:
            on_delta = None
        elif on_call is not None:
            on_delta = read
        turn = request.caller.turn_id
        # OpenAI logs the header, so that its support finds the turn; other servers ignore it.
        number = {"X-Client-Request-Id": f"turn-{turn}-{uuid.uuid4().hex[:8]}"}
        asking = ProviderRequest(
            profile,
            request,
            {} if turn is None else number,
            on_delta,
            None if on_call is None else calls,
        )
        endpoint = maybeDeferred(find_endpoint, profile, self._environ)
        sent = endpoint.addCallback(partial(self._ask, asking)).addCallback(
            self._loop_thread.submit
        )
        return sent.addCallback(lambda raw: replace(reader.finish(raw), raw=raw))

    def exchange(
        self, profile: ModelProfile, method: str, path: str, body: Body | None = None
    ) -> Deferred[RawResponse]:
        """Send one request to a profile's endpoint and return the raw response.

        ``path`` is relative to the base_url, or to the server's root if it begins with ``/``;
        ``body`` is sent as JSON. Fires with the response, whatever its status. Fails with
        ProviderMisconfigured if the profile cannot work, and with the connection's own error.
        Cancelling closes the connection.
        """
        return maybeDeferred(find_endpoint, profile, self._environ).addCallback(
            lambda endpoint: self._loop_thread.submit(self._exchange(endpoint, method, path, body))
        )

    def page(
        self, profile: ModelProfile, path: str, clock: Clock, timeout_s: float
    ) -> Deferred[Any]:
        """Fire with the untrusted JSON of a page of an endpoint, None without one in time.

        ``path`` as for `exchange`. Fails with CancelledError if the server stops.
        """

        def read(raw: RawResponse) -> Any:
            return json.loads(raw.content) if 200 <= raw.status < 300 else None

        response = self.exchange(replace(profile, model=profile.model or "-"), "GET", path)
        response.addTimeout(timeout_s, cast(IReactorTime, clock)).addCallback(read)
        return response.addErrback(
            lambda failure: failure if failure.check(CancelledError) else None
        )

    # --- in the loop thread ----------------------------------------------------------------------

    async def _exchange(
        self, endpoint: Endpoint, method: str, path: str, body: Body | None
    ) -> RawResponse:
        client = self._clients.client_for(endpoint)
        send = client.get if method == "GET" else partial(client.post, body=body)
        try:
            response = await send(
                urljoin(endpoint.base_url, path) if path.startswith("/") else path,
                cast_to=self._clients.response_type,
            )
        except Exception as error:
            response = response_of(error)
            if response is None:
                raise
        masked = mask_key(response.content.decode("latin-1"), endpoint.key).encode("latin-1")
        return RawResponse(response.status_code, masked)

    async def _ask(self, asking: ProviderRequest, endpoint: Endpoint) -> LLMReply:
        """Return the reply; what the endpoint refuses of the request is left out."""
        body, content = ReplyBody(asking.profile.key), b""
        refusal: ErrorResponse | None = None
        try:
            await self._send(asking, endpoint, body)
            if body.failure is None:
                reply = body.reply(lambda: uuid.uuid4().hex[:9])
                return replace(reply, refused=asking.refused)
            refusal = refusals.read_refusal(body.failure, endpoint.key, utc_now())
        except Exception as error:  # noqa: BLE001  # the port promises a ProviderError for any error
            response, explanation = response_of(error), explain(error, endpoint)
            if response is not None:
                content, status = response.content, response.status_code
                headers = {name.lower(): value for name, value in response.headers.items()}
                failure = unwrap(parse_body(content))
                refusal = refusals.read_refusal(failure, endpoint.key, utc_now(), status, headers)
        if refusal is not None:
            tools = parameters(asking.request.all_tools)
            if not body.begun and read_text_calls(refusal.generation, tools).calls:
                return LLMReply(refusal.generation, refused=asking.refused)
            part = "" if body.begun else refused_part(refusal, content, asking.body)
            if part and part not in asking.refused:
                return await self._ask(asking.without(part, refusal.told), endpoint)
            explanation = refusals.explain_refusal(
                refusal, asking.profile, endpoint, asking.body, asking.request.is_public
            )
        # Raised outside the handler: chained to it, the first error would show the key.
        # An overflow stays one: the talk is compacted, unless a call of the reply has run.
        has_begun = body.begun if asking.calls is None else bool(asking.calls)
        is_broken = has_begun and not isinstance(explanation, errors.ContextOverflow)
        raise refusals.broken_off(explanation, endpoint) if is_broken else explanation

    async def _send(self, asking: ProviderRequest, endpoint: Endpoint, body: ReplyBody) -> None:
        client = self._clients.client_for(endpoint)
        async with client.chat.completions.with_streaming_response.create(
            model="",
            messages=[],
            extra_body=dict(asking.body),
            extra_headers=asking.headers,
            timeout=self._clients.timeouts(asking.request.silence_s),
        ) as response:
            silence_s = asking.request.silence_s
            await read_body(response.iter_bytes(), body, asking.on_delta, silence_s)


def response_of(error: Exception) -> Any:
    """Return the unsuccessful response of the SDK's ``APIStatusError``, None for other errors."""
    response = getattr(error, "response", None)
    return response if getattr(response, "is_closed", False) else None


def explain(error: Exception, endpoint: Endpoint) -> errors.ProviderError:
    """Return the ProviderError for an exception of a call; it quotes nothing that was asked."""
    address, kind = endpoint.address, type(error).__name__
    if isinstance(error, errors.ProviderError):
        return error
    broken = next((cause for cause in causes_of(error) if isinstance(cause, BrokenReply)), None)
    if broken is not None:
        return errors.ProviderUnavailable(f"{address} sent no complete reply: {broken}.")
    if trouble := connection_trouble(error):
        return errors.ProviderUnavailable(f"{address} {trouble}.")
    if isinstance(error, TypeError | ValueError):
        return errors.ProviderRejected(f"The request cannot be written as JSON ({kind}).")
    return errors.ProviderUnavailable(f"A request to {address} failed ({kind}).")


def build_body(
    request: LLMRequest, profile: ModelProfile, style: WireStyle | None = None
) -> dict[str, object]:
    """Return the request's body without the model's name.

    The messages are arranged for a chat template of ``style``, by default the model's by its name.
    ``profile.extra`` overrides the body: an entry replaces ours, None removes it. If ``extra`` has
    a reply limit under either name, ``request.max_tokens`` is not sent.
    """
    messages = arrange(request.messages, style or wire_style(profile, request.form))
    body: dict[str, object] = {"messages": messages}
    if request.tools and request.form == TOOLS:
        body["tools"] = [dict(tool) for tool in request.tools]
    if not any(name in profile.extra for name in REPLY_LIMITS):
        body["max_tokens"] = request.max_tokens
    body["temperature"] = request.temperature
    body["stop"] = list(request.stop) or None
    body |= profile.extra
    return {name: value for name, value in body.items() if value is not None}
