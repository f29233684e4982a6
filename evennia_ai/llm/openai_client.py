"""Chat-completions endpoints, through the openai SDK on the loop thread.

Only that thread imports the SDK, because the import takes most of a second. Messages and tools go
through ``extra_body``: the SDK's own transform of them takes 50 ms at 400 messages, and the reactor
would wait that long for the interpreter's lock.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from twisted.internet.defer import Deferred, fail

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    ProviderError,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from evennia_ai.llm.endpoints import Endpoint, find_endpoint
from evennia_ai.llm.http_client import (
    UnwantedBody,
    body_cap,
    causes_of,
    clean_http_logs,
    connection_trouble,
    http_library,
)
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_stream import (
    STREAM,
    BrokenStream,
    OnDelta,
    StreamedBody,
    stream_completion,
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
from evennia_ai.policy.probe.cases import NO_HOST, NO_TLS, REFUSED, TIMEOUT
from evennia_ai.policy.secrecy import mask_key
from evennia_ai.ports import LLMReply, LLMRequest

if TYPE_CHECKING:
    import openai

NO_KEY = "none"
CONNECT_TIMEOUT_S = 5.0
MAX_REPLY_BYTES = 4_000_000
LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")
TROUBLES = {
    NO_HOST: "there is no such host",
    REFUSED: "nothing listens there",
    NO_TLS: "its certificate or encryption is not acceptable",
}
utc_now = partial(datetime.now, UTC)


@dataclass(frozen=True)
class RawReply:
    """An HTTP response as received, with the key masked."""

    status: int
    content_type: str
    content: bytes


class OpenAIClient:
    """`ports.LLMClient` over ``openai.AsyncOpenAI``, without redirects and retries."""

    def __init__(
        self,
        loop_thread: LoopThread,
        environ: Mapping[str, str],
        read_timeout_s: float = 120.0,
        most_bytes: int = MAX_REPLY_BYTES,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Set the client up; the first request opens the connection pool."""
        self._loop_thread = loop_thread
        self._environ = environ  # holds the keys
        self._read_timeout_s = read_timeout_s  # of a silent server; the gateway keeps deadlines
        self._most_bytes = most_bytes  # of a body that is read
        self._now = now  # in UTC, to read a ``Retry-After`` that is a date
        self._http: Any = None
        self._sdks: dict[Endpoint, openai.AsyncOpenAI] = {}
        self._stream_fields: dict[tuple[Endpoint, str], Body] = {}  # where not all were accepted
        loop_thread.on_stop(self._close)

    def warm_up(self) -> Deferred[None]:
        """Import the SDK in the loop thread, ahead of the first call. Fires when done."""
        return self._loop_thread.submit(self._open())

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
        await self._open()
        base_url = endpoint.base_url.rstrip("/") + "/"
        response = await self._http.request(
            method,
            urljoin(base_url, path),
            headers={"Authorization": f"Bearer {endpoint.key or NO_KEY}"},
            json=body,
        )
        content_type = response.headers.get("content-type", "")
        content = mask_key(response.content.decode("latin-1"), endpoint.key).encode("latin-1")
        return RawReply(response.status_code, content_type, content)

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
            problem = explain(error, endpoint, profile, self._now(), body)
        if streamed.begun:
            problem = broken_off(problem, endpoint)
        # Raised outside the handler: chained to it, the SDK's error would show the key.
        raise problem

    async def _send(
        self, endpoint: Endpoint, profile: ModelProfile, body: Body, headers: Headers
    ) -> bytes:
        sdk = await self._sdk(endpoint)
        raw = await sdk.chat.completions.with_raw_response.create(
            model=profile.model, messages=[], extra_body=body, extra_headers=headers
        )
        return raw.content

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
        sdk = await self._sdk(endpoint)
        fields = self._stream_fields.get((endpoint, profile.model), STREAM)
        while True:
            asked = {**fields, **body}
            try:
                if fields:
                    model = profile.model
                    data = await stream_completion(sdk, model, asked, headers, streamed, on_delta)
                else:
                    data = await self._send(endpoint, profile, body, headers)
            except importlib.import_module("openai").APIStatusError as error:
                refusal = refusal_of(error, endpoint, self._now())
                kept = without_refused(fields, refusal, error.response.content)
                if kept == fields:
                    raise
                fields = kept
            else:
                self._stream_fields[endpoint, profile.model] = fields
                return data

    async def _open(self) -> None:
        """Import the SDK with its lazy parts, and open the connection pool."""
        if self._http is None:
            sdk = importlib.import_module("openai")
            importlib.import_module("openai.resources.chat")
            clean_http_logs()
            client_class = sdk.DefaultAsyncHttpxClient
            self._http = client_class(
                timeout=sdk.Timeout(self._read_timeout_s, connect=CONNECT_TIMEOUT_S),
                headers={"Accept-Encoding": "identity"},
                event_hooks={"response": [body_cap(client_class, self._most_bytes)]},
                follow_redirects=False,
                mounts=dict.fromkeys(LOOPBACK),  # these go past a proxy from the environment
            )

    async def _sdk(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        """Return the SDK's client for an endpoint, made at its first use."""
        await self._open()
        if endpoint not in self._sdks:
            self._sdks[endpoint] = importlib.import_module("openai").AsyncOpenAI(
                base_url=endpoint.base_url,
                api_key=endpoint.key or NO_KEY,
                http_client=self._http,
                max_retries=0,
            )
        return self._sdks[endpoint]

    async def _close(self) -> None:
        if self._http is not None:
            await self._http.aclose()


def read_reply(data: bytes, endpoint: Endpoint, profile: ModelProfile, asked: Body) -> LLMReply:
    """Return the reply to a request's body; raise a ProviderError if there is none."""
    try:
        return parse_reply(data, lambda: uuid.uuid4().hex[:9])
    except ValueError:
        refusal = refusal_in_success(data, endpoint.key) or Refusal(0)
    raise explain_refusal(refusal, profile, endpoint, asked.get("messages"))


def explain(
    error: Exception, endpoint: Endpoint, profile: ModelProfile, now: datetime, asked: Body
) -> ProviderError:
    """Return the ProviderError for an exception of the SDK; it quotes nothing that was asked."""
    sdk = importlib.import_module("openai")
    address = endpoint.address
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, sdk.APIStatusError):
        refusal = refusal_of(error, endpoint, now)
        return explain_refusal(refusal, profile, endpoint, asked.get("messages"))
    unwanted = next((cause for cause in causes_of(error) if isinstance(cause, UnwantedBody)), None)
    if unwanted is not None:
        return ProviderUnavailable(f"{address} sent {unwanted}: it was not read.")
    if isinstance(error, BrokenStream):
        return ProviderUnavailable(f"{address} sent no complete reply: {error}.")
    if isinstance(error, sdk.APITimeoutError) or connection_trouble(error) == TIMEOUT:
        return ProviderUnavailable(f"{address} did not answer in time.")
    library = http_library(sdk.DefaultAsyncHttpxClient)
    if isinstance(error, sdk.APIConnectionError | library.TransportError):
        trouble = TROUBLES.get(connection_trouble(error), "the connection broke")
        return ProviderUnavailable(f"{address} could not be reached: {trouble}.")
    if isinstance(error, TypeError | ValueError):
        return ProviderRejected(f"The request cannot be written as JSON ({type(error).__name__}).")
    return ProviderUnavailable(f"A request to {address} failed ({type(error).__name__}).")


def refusal_of(error: openai.APIStatusError, endpoint: Endpoint, now: datetime) -> Refusal:
    """Return the refusal in the SDK's error for an unsuccessful response."""
    response = error.response
    headers = {name.lower(): value for name, value in response.headers.items()}
    return read_refusal(response.status_code, headers, response.content, endpoint.key, now)
