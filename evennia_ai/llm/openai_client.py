"""Chat-completions endpoints, through the openai SDK on the loop thread.

Only that thread imports the SDK, because the import takes most of a second. The messages go past
its types, in ``extra_body``: transforming 400 of them takes 50 ms, most of a call, and the reactor
would wait that long for the interpreter's lock. What comes back is read leniently by
`openai_stream` and `openai_wire`, since servers differ in every part of it.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urljoin

from twisted.internet.defer import Deferred, fail

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    ContextOverflow,
    EndpointSilent,
    ProviderError,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from evennia_ai.llm.endpoints import Endpoint, find_endpoint
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_stream import (
    STREAM,
    BrokenStream,
    OnDelta,
    Pulse,
    SilentStream,
    StreamedReply,
    Watch,
    read_body,
    without_refused,
)
from evennia_ai.llm.openai_wire import Body, Headers, build_body, parse_reply, request_headers
from evennia_ai.llm.refusals import (
    Refusal,
    broken_off,
    explain_refusal,
    read_refusal,
    refusal_in_success,
)
from evennia_ai.llm.sdk_clients import (
    NO_HOST,
    NO_TLS,
    REFUSED,
    TIMEOUT,
    SdkClients,
    UnwantedBody,
    causes_of,
    connection_trouble,
)
from evennia_ai.policy.limits.endpoints import EndpointFacts, longest_silence
from evennia_ai.policy.secrecy import mask_key
from evennia_ai.ports import LLMReply, LLMRequest

MAX_REPLY_BYTES = 4_000_000
TROUBLES = {
    NO_HOST: "there is no such host",
    REFUSED: "nothing listens there",
    NO_TLS: "its certificate or encryption is not acceptable",
}
# Of the SDK, and of the HTTP libraries while a body is read.
CONNECTION_ERRORS = ("APIConnectionError", "TransportError", "ClientError")
utc_now = partial(datetime.now, UTC)


@dataclass(frozen=True)
class RawReply:
    """An HTTP response as received, with the key masked."""

    status: int
    content_type: str
    content: bytes


@dataclass(frozen=True)
class Asking:
    """One request: what is sent where, who hears of its parts, how long it may be silent."""

    endpoint: Endpoint
    profile: ModelProfile
    body: Body
    headers: Headers
    on_delta: OnDelta | None
    patience_s: float | None


class OpenAIClient:
    """`ports.LLMClient` over the openai SDK, without redirects and retries."""

    def __init__(
        self,
        loop_thread: LoopThread,
        environ: Mapping[str, str],
        read_timeout_s: float = 120.0,
        most_bytes: int = MAX_REPLY_BYTES,
        now: Callable[[], datetime] = utc_now,
        patience: Callable[[EndpointFacts, int], float | None] = longest_silence,
    ) -> None:
        """Set the client up; the first request imports the SDK."""
        self._loop_thread = loop_thread
        self._environ = environ  # holds the keys
        self._patience = patience
        self._now = now  # in UTC, to read a ``Retry-After`` that is a date
        # The gateway keeps deadlines; ``read_timeout_s`` is for a silent server.
        self._clients = SdkClients(read_timeout_s, most_bytes)
        self._stream_fields: dict[tuple[Endpoint, str], Body] = {}  # where not all were accepted
        self._pulses: defaultdict[Endpoint, Pulse] = defaultdict(Pulse)
        loop_thread.on_stop(self._clients.close)

    def warm_up(self) -> Deferred[None]:
        """Import the SDK in the loop thread, ahead of the first call. Fires when done."""
        return self._loop_thread.submit(self._clients.open())

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Send one request, without retries.

        If ``request.on_delta`` is set and the profile allows it, the reply is streamed, and
        ``on_delta`` is called in the loop thread. A server that refuses to stream is asked again
        without. A stream that breaks after its first delta fails with ProviderUnavailable, whose
        ``begun`` is True.

        Fires with the reply. Fails with ProviderMisconfigured (key, address, model's name),
        EndpointSilent (see `longest_silence`), ProviderUnavailable (not reached, too slow, 408,
        429, 5xx, no chat completion, too many bytes), QuotaExhausted, ContextOverflow or
        ProviderRejected (any other 4xx). Each error carries the status, the provider's code and
        the seconds to wait, if the server sent them.
        Cancelling closes the connection.
        """
        try:
            endpoint = find_endpoint(profile, self._environ)
        except ProviderMisconfigured as error:
            return fail(error)
        on_delta = request.on_delta if profile.stream else None
        asking = Asking(
            endpoint,
            profile,
            {"model": profile.model, **build_body(request, profile)},
            request_headers(request, uuid.uuid4().hex[:8]),
            on_delta,
            self._patience(profile.told, request.tokens) if on_delta else None,
        )
        fields = self._stream_fields.get((endpoint, profile.model), STREAM) if on_delta else {}
        return self._loop_thread.submit(self._ask(asking, fields))

    def exchange(
        self, profile: ModelProfile, method: str, path: str, body: Body | None = None
    ) -> Deferred[RawReply]:
        """Send one request to a profile's endpoint and return the raw response.

        ``path`` is relative to the base_url, or to the server's root if it begins with ``/``;
        ``body`` is sent as JSON. Fires with the response, whatever its status. Fails with
        ProviderMisconfigured if the profile cannot work, and with the connection's own error.
        Cancelling closes the connection.
        """
        try:
            endpoint = find_endpoint(profile, self._environ)
        except ProviderMisconfigured as error:
            return fail(error)
        return self._loop_thread.submit(self._exchange(endpoint, method, path, body))

    # --- in the loop thread ----------------------------------------------------------------------

    async def _exchange(
        self, endpoint: Endpoint, method: str, path: str, body: Body | None
    ) -> RawReply:
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
        return RawReply(response.status_code, response.headers.get("content-type", ""), masked)

    async def _ask(self, asking: Asking, fields: Body) -> LLMReply:
        """Return the reply; leave out those of the ``fields`` for streaming that are refused."""
        endpoint, profile = asking.endpoint, asking.profile
        streamed = StreamedReply()
        clock, pulse = asyncio.get_running_loop().time, self._pulses[endpoint]
        watch = Watch(pulse, asking.patience_s, profile.is_local, clock)
        try:
            data = await watch.over(self._send(asking, fields, streamed, watch))
            if asking.on_delta:
                self._stream_fields[endpoint, profile.model] = fields
            return replace(self._read(data, asking), first_s=watch.first_s)
        except Exception as error:  # noqa: BLE001  # the port promises a ProviderError for any error
            response, problem = response_of(error), error
        if response is not None:
            refusal = self._read_refusal(response, endpoint)
            left = without_refused(fields, refusal, response.content)
            if left != fields:
                return await self._ask(asking, left)
            raise explain_refusal(refusal, profile, endpoint, asking.body.get("messages"))
        told = explain(problem, endpoint)
        # Raised outside the handler: chained to it, the first error would show the key.
        # An overflow stays one: the talk is compacted, unless a call of the reply has run.
        is_broken = streamed.begun and not isinstance(told, ContextOverflow)
        raise broken_off(told, endpoint) if is_broken else told

    async def _send(
        self, asking: Asking, fields: Body, streamed: StreamedReply, watch: Watch
    ) -> bytes | Mapping[str, object]:
        """Return the body of a successful response."""
        client = self._clients.client_for(asking.endpoint)
        async with client.chat.completions.with_streaming_response.create(
            model="",
            messages=[],
            extra_body={**fields, **asking.body},
            extra_headers=asking.headers,
        ) as response:
            return await read_body(response.iter_bytes(), streamed, asking.on_delta, watch.hear)

    def _read(self, data: bytes | Mapping[str, object], asking: Asking) -> LLMReply:
        """Return the reply in a body; raise a ProviderError if there is none."""
        endpoint = asking.endpoint
        refusal = refusal_in_success(data, endpoint.key, self._now())
        if refusal is None:
            try:
                return parse_reply(data, lambda: uuid.uuid4().hex[:9])
            except ValueError:
                refusal = Refusal()
        raise explain_refusal(refusal, asking.profile, endpoint, asking.body.get("messages"))

    def _read_refusal(self, response: Any, endpoint: Endpoint) -> Refusal:
        told = {name.lower(): value for name, value in response.headers.items()}
        content = response.content
        return read_refusal(response.status_code, told, content, endpoint.key, self._now())


def response_of(error: Exception) -> Any:
    """Return the unsuccessful response of the SDK's ``APIStatusError``, None for other errors."""
    response = getattr(error, "response", None)
    return response if getattr(response, "is_closed", False) else None


def explain(error: Exception, endpoint: Endpoint) -> ProviderError:
    """Return the ProviderError for an exception of a call; it quotes nothing that was asked."""
    address = endpoint.address
    if isinstance(error, ProviderError):
        return error
    causes = list(causes_of(error))
    unwanted = next((cause for cause in causes if isinstance(cause, UnwantedBody)), None)
    if unwanted is not None:
        return ProviderUnavailable(f"{address} sent {unwanted}: it was not read.")
    if isinstance(error, SilentStream):
        return EndpointSilent(f"{address} {error}; the call was given up.")
    if isinstance(error, BrokenStream):
        return ProviderUnavailable(f"{address} sent no complete reply: {error}.")
    trouble = connection_trouble(error)
    if trouble == TIMEOUT:
        return ProviderUnavailable(f"{address} did not answer in time.")
    if any(base.__name__ in CONNECTION_ERRORS for base in type(error).__mro__):
        told = TROUBLES.get(trouble, "the connection broke")
        return ProviderUnavailable(f"{address} could not be reached: {told}.")
    if isinstance(error, TypeError | ValueError):
        return ProviderRejected(f"The request cannot be written as JSON ({type(error).__name__}).")
    return ProviderUnavailable(f"A request to {address} failed ({type(error).__name__}).")
