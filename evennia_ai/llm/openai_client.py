"""Chat-completions endpoints, through the openai SDK's HTTP client on the loop thread.

Only that thread imports the SDK, because the import takes most of a second. An endpoint's address
and headers are the SDK's. Its methods are not used: ``create`` takes 50 ms at 400 messages, most of
it for a transform of them, and the reactor would wait that long for the interpreter's lock. Without
the transform it takes twice as long as its HTTP client.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from twisted.internet.defer import Deferred, fail

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    ProviderError,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from evennia_ai.llm.endpoints import Endpoint, find_endpoint
from evennia_ai.llm.http_connections import (
    Connections,
    UnwantedBody,
    causes_of,
    connection_trouble,
    is_connection_error,
    read_pieces,
    read_whole,
)
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_stream import (
    STREAM,
    BrokenStream,
    OnDelta,
    StreamedBody,
    read_stream,
    without_refused,
)
from evennia_ai.llm.openai_wire import (
    Body,
    Headers,
    build_body,
    parse_reply,
    request_headers,
    write_json,
)
from evennia_ai.llm.refusals import (
    Refusal,
    broken_off,
    explain_refusal,
    read_refusal,
    refusal_in_success,
)
from evennia_ai.policy.probe import NO_HOST, NO_TLS, REFUSED, TIMEOUT
from evennia_ai.policy.secrecy import mask_key
from evennia_ai.ports import LLMReply, LLMRequest

COMPLETIONS = "chat/completions"
MAX_REPLY_BYTES = 4_000_000
TROUBLES = {
    NO_HOST: "there is no such host",
    REFUSED: "nothing listens there",
    NO_TLS: "its certificate or encryption is not acceptable",
}
ReadStream = Callable[[AsyncIterator[bytes]], Awaitable[bytes]]
utc_now = partial(datetime.now, UTC)


@dataclass(frozen=True)
class RawReply:
    """An HTTP response as received, with the key masked."""

    status: int
    content_type: str
    content: bytes


class Refused(Exception):
    """An unsuccessful response, and its body."""

    def __init__(self, refusal: Refusal, content: bytes) -> None:
        super().__init__(refusal.status)
        self.refusal = refusal
        self.content = content


class OpenAIClient:
    """`ports.LLMClient` over the openai SDK, without redirects and retries."""

    def __init__(
        self,
        loop_thread: LoopThread,
        environ: Mapping[str, str],
        read_timeout_s: float = 120.0,
        most_bytes: int = MAX_REPLY_BYTES,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Set the client up; the first request imports the SDK."""
        self._loop_thread = loop_thread
        self._environ = environ  # holds the keys
        self._most_bytes = most_bytes  # of a body that is read
        self._now = now  # in UTC, to read a ``Retry-After`` that is a date
        # The gateway keeps deadlines; ``read_timeout_s`` is for a silent server.
        self._connections = Connections(read_timeout_s)
        self._stream_fields: dict[tuple[Endpoint, str], Body] = {}  # where not all were accepted
        loop_thread.on_stop(self._connections.close)

    def warm_up(self) -> Deferred[None]:
        """Import the SDK in the loop thread, ahead of the first call. Fires when done."""
        return self._loop_thread.submit(self._connections.open())

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Send one request, without retries.

        If ``request.on_delta`` is set and the profile allows it, the reply is streamed, and
        ``on_delta`` is called in the loop thread. A server that refuses to stream is asked again
        without. A stream that breaks after its first delta fails with ProviderUnavailable, whose
        ``begun`` is True.

        Fires with the reply. Fails with ProviderMisconfigured (key, address, model's name),
        ProviderUnavailable (not reached, too slow, 408, 429, 5xx, no chat completion, too many
        bytes), QuotaExhausted, ContextOverflow or ProviderRejected (any other 4xx). Each error
        carries the status, the provider's code and the seconds to wait, if the server sent them.
        Cancelling closes the connection.
        """
        try:
            endpoint = find_endpoint(profile, self._environ)
        except ProviderMisconfigured as error:
            return fail(error)
        body = build_body(request, profile)
        on_delta = request.on_delta if profile.stream else None
        headers = request_headers(request, uuid.uuid4().hex[:8])
        return self._loop_thread.submit(self._ask(endpoint, profile, body, headers, on_delta))

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
        content = None if body is None else write_json(body)
        sent = self._connections.respond(endpoint, method, path, content)
        async with sent as response:
            found = (await read_whole(response, self._most_bytes)).decode("latin-1")
        content_type = response.headers.get("content-type", "")
        masked = mask_key(found, endpoint.key).encode("latin-1")
        return RawReply(response.status_code, content_type, masked)

    async def _ask(
        self,
        endpoint: Endpoint,
        profile: ModelProfile,
        body: Body,
        headers: Headers,
        on_delta: OnDelta | None,
    ) -> LLMReply:
        streamed = StreamedBody()
        try:
            if on_delta is None:
                data = await self._send(endpoint, profile, body, headers)
            else:
                data = await self._stream(endpoint, profile, body, headers, streamed, on_delta)
            return read_reply(data, endpoint, profile, body)
        except Exception as error:  # noqa: BLE001  # the port promises a ProviderError for any error
            problem = explain(error, endpoint, profile, body)
        if streamed.begun:
            problem = broken_off(problem, endpoint)
        # Raised outside the handler: chained to it, the first error would show the key.
        raise problem

    async def _send(
        self,
        endpoint: Endpoint,
        profile: ModelProfile,
        body: Body,
        headers: Headers,
        read: ReadStream | None = None,
    ) -> bytes:
        """Return the body of a response; raise `Refused` if it is not a success."""
        content = write_json({"model": profile.model, **body})
        sent = self._connections.respond(endpoint, "POST", COMPLETIONS, content, headers)
        async with sent as response:
            if response.is_success and read is not None:
                async with aclosing(read_pieces(response, self._most_bytes)) as pieces:
                    return await read(pieces)
            data = await read_whole(response, self._most_bytes)
        if response.is_success:
            return data
        told = {name.lower(): value for name, value in response.headers.items()}
        raise Refused(
            read_refusal(response.status_code, told, data, endpoint.key, self._now()), data
        )

    async def _stream(
        self,
        endpoint: Endpoint,
        profile: ModelProfile,
        body: Body,
        headers: Headers,
        streamed: StreamedBody,
        on_delta: OnDelta,
    ) -> bytes:
        """Return the body of a streamed reply; leave out what the server refuses for streaming."""
        fields = self._stream_fields.get((endpoint, profile.model), STREAM)
        while True:
            read = partial(read_stream, streamed=streamed, on_delta=on_delta) if fields else None
            try:
                data = await self._send(endpoint, profile, {**fields, **body}, headers, read)
            except Refused as error:
                kept = without_refused(fields, error.refusal, error.content)
                if kept == fields:
                    raise
                fields = kept
            else:
                self._stream_fields[endpoint, profile.model] = fields
                return data


def read_reply(data: bytes, endpoint: Endpoint, profile: ModelProfile, asked: Body) -> LLMReply:
    """Return the reply to a request's body; raise a ProviderError if there is none."""
    try:
        return parse_reply(data, lambda: uuid.uuid4().hex[:9])
    except ValueError:
        refusal = refusal_in_success(data, endpoint.key) or Refusal(0)
    raise explain_refusal(refusal, profile, endpoint, asked.get("messages"))


def explain(
    error: Exception, endpoint: Endpoint, profile: ModelProfile, asked: Body
) -> ProviderError:
    """Return the ProviderError for an exception of a call; it quotes nothing that was asked."""
    address = endpoint.address
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, Refused):
        return explain_refusal(error.refusal, profile, endpoint, asked.get("messages"))
    unwanted = next((cause for cause in causes_of(error) if isinstance(cause, UnwantedBody)), None)
    if unwanted is not None:
        return ProviderUnavailable(f"{address} sent {unwanted}: it was not read.")
    if isinstance(error, BrokenStream):
        return ProviderUnavailable(f"{address} sent no complete reply: {error}.")
    if connection_trouble(error) == TIMEOUT:
        return ProviderUnavailable(f"{address} did not answer in time.")
    if is_connection_error(error):
        trouble = TROUBLES.get(connection_trouble(error), "the connection broke")
        return ProviderUnavailable(f"{address} could not be reached: {trouble}.")
    if isinstance(error, TypeError | ValueError):
        return ProviderRejected(f"The request cannot be written as JSON ({type(error).__name__}).")
    return ProviderUnavailable(f"A request to {address} failed ({type(error).__name__}).")
