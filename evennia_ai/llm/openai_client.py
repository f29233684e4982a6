"""Any chat-completions endpoint, through the openai SDK on the loop thread.

The SDK is imported in that thread only, since importing it takes most of a second. Messages and
tools go through ``extra_body``: the SDK's own transform of them costs 50 ms at 400 messages, during
which the reactor waits for the interpreter's lock.
"""

from __future__ import annotations

import importlib
import socket
import ssl
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from twisted.internet.defer import Deferred, fail

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import missing_model
from evennia_ai.errors import (
    ProviderError,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from evennia_ai.llm.body_cap import UnwantedBody, body_cap
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_wire import build_body, check_address, parse_reply, shown_address
from evennia_ai.llm.refusals import Refusal, explain_refusal, read_refusal, refusal_in_success
from evennia_ai.ports import LLMReply, LLMRequest

if TYPE_CHECKING:
    import openai

OPENAI_ADDRESS = "https://api.openai.com/v1"
NO_KEY = "none"
CONNECT_TIMEOUT_S = 5.0
MOST_REPLY_BYTES = 4_000_000
LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")


@dataclass(frozen=True)
class Endpoint:
    """Where a request goes and with which key; empty where there is none."""

    base_url: str
    key: str = field(repr=False)

    @property
    def address(self) -> str:
        """Where it goes, as an admin may read it."""
        return shown_address(self.base_url)


@dataclass(frozen=True)
class RawReply:
    """An HTTP response as it came, but for the key."""

    status: int
    content_type: str
    content: bytes


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


class OpenAIClient:
    """`ports.LLMClient` over ``openai.AsyncOpenAI``: one try, no redirects, no retries."""

    def __init__(
        self,
        loop_thread: LoopThread,
        environ: Mapping[str, str],
        read_timeout_s: float = 120.0,
        most_bytes: int = MOST_REPLY_BYTES,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Open nothing yet.

        Args:
            loop_thread: where the SDK runs.
            environ: where the keys are.
            read_timeout_s: the longest silence of a server; a turn's deadline is the gateway's.
            most_bytes: the longest body that is read.
            now: the time in UTC, for servers that say by a date when they want to be asked again.
        """
        self._loop_thread = loop_thread
        self._environ = environ
        self._read_timeout_s = read_timeout_s
        self._most_bytes = most_bytes
        self._now = now
        self._http: Any = None
        self._sdks: dict[Endpoint, openai.AsyncOpenAI] = {}
        loop_thread.on_stop(self._close)

    def warm_up(self) -> Deferred[None]:
        """Import the SDK in the loop thread, so that the first call need not. Fires when done."""
        return self._loop_thread.submit(self._warm_up())

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Ask once.

        Fires with the reply; fails with ProviderMisconfigured (key, address, model's name),
        ProviderUnavailable (not reached, too slow, 408, 429, 5xx, no chat completion, too many
        bytes), QuotaExhausted, ContextOverflow or ProviderRejected (any other 4xx), each with the
        status, the provider's code and the seconds it asks to wait, where there were any.
        Cancelling closes the connection.
        """
        try:
            endpoint = find_endpoint(profile, self._environ)
        except ProviderMisconfigured as error:
            return fail(error)
        return self._loop_thread.submit(self._ask(endpoint, profile, build_body(request, profile)))

    def exchange(
        self, profile: ModelProfile, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Deferred[RawReply]:
        """Send one plain request to a profile's endpoint, for a probe that wants to see it all.

        Args:
            profile: whose address and key.
            method: ``GET`` or ``POST``.
            path: what comes after the base_url; one that begins with ``/`` counts from the
                server's root.
            body: sent as JSON.

        Fires with what came back, whatever its status; fails with ProviderMisconfigured where the
        profile cannot work, and with the connection's own error. Cancelling closes the connection.
        """
        try:
            endpoint = find_endpoint(profile, self._environ)
        except ProviderMisconfigured as error:
            return fail(error)
        return self._loop_thread.submit(self._exchange(endpoint, method, path, body))

    # --- in the loop thread ----------------------------------------------------------------------

    async def _exchange(
        self, endpoint: Endpoint, method: str, path: str, body: Mapping[str, Any] | None
    ) -> RawReply:
        self._open()
        base_url = endpoint.base_url.rstrip("/") + "/"
        response = await self._http.request(
            method,
            urljoin(base_url, path),
            headers={"Authorization": f"Bearer {endpoint.key or NO_KEY}"},
            json=body,
        )
        content_type = response.headers.get("content-type", "")
        return RawReply(response.status_code, content_type, without(response.content, endpoint.key))

    async def _ask(
        self, endpoint: Endpoint, profile: ModelProfile, body: Mapping[str, Any]
    ) -> LLMReply:
        try:
            sdk = self._sdk(endpoint)
            raw = await sdk.chat.completions.with_raw_response.create(
                model=profile.model, messages=[], extra_body=body
            )
            data = raw.content
        except Exception as error:  # noqa: BLE001  # the port promises ours for whatever is theirs
            problem = explain(error, endpoint, profile, self._now())
        else:
            return read_reply(data, endpoint, profile)
        # Raised out here so that it does not drag the SDK's error along, whose request has the key.
        raise problem

    async def _warm_up(self) -> None:
        self._open()

    def _open(self) -> None:
        """Import the SDK, with the parts it puts off, and open the connection pool."""
        if self._http is None:
            sdk = importlib.import_module("openai")
            importlib.import_module("openai.resources.chat")
            client_class = sdk.DefaultAsyncHttpxClient
            self._http = client_class(
                timeout=sdk.Timeout(self._read_timeout_s, connect=CONNECT_TIMEOUT_S),
                headers={"Accept-Encoding": "identity"},
                event_hooks={"response": [body_cap(client_class, self._most_bytes)]},
                follow_redirects=False,
                mounts=dict.fromkeys(LOOPBACK),  # a proxy in the environment is not for these
            )

    def _sdk(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        """The SDK's client for an endpoint, made once."""
        self._open()
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


def without(content: bytes, key: str) -> bytes:
    """What a server sent, with the key taken out where it told it back."""
    return content.replace(key.encode(), b"***") if key else content


def find_endpoint(profile: ModelProfile, environ: Mapping[str, str]) -> Endpoint:
    """Where a profile's requests go, checked without a network; raises ProviderMisconfigured."""
    key = environ.get(profile.api_key_env, "").strip() if profile.api_key_env else ""
    if profile.api_key_env and not key:
        raise ProviderMisconfigured(
            f"The profile '{profile.name}' needs the environment variable {profile.api_key_env}."
        )
    if not (key.isascii() and key.isprintable()):
        raise ProviderMisconfigured(
            f"The environment variable {profile.api_key_env} holds characters no key can have."
        )
    if not profile.model:
        raise ProviderMisconfigured(missing_model(profile.name))
    if not profile.base_url and not key:
        raise ProviderMisconfigured(
            f"The profile '{profile.name}' has neither a base_url nor an api_key_env."
        )
    base_url = profile.base_url or OPENAI_ADDRESS
    check_address(base_url, profile)
    return Endpoint(base_url, key)


def read_reply(data: bytes, endpoint: Endpoint, profile: ModelProfile) -> LLMReply:
    """`parse_reply`; raises the error that fits where the body is no chat completion."""
    try:
        return parse_reply(data, lambda: uuid.uuid4().hex[:9])
    except ValueError:
        refusal = refusal_in_success(data, endpoint.key) or Refusal(0)
    raise refused(refusal, endpoint, profile)


def refused(refusal: Refusal, endpoint: Endpoint, profile: ModelProfile) -> ProviderError:
    """The error for a refusal."""
    return explain_refusal(
        refusal, profile=profile, address=endpoint.address, has_key=bool(endpoint.key)
    )


def explain(
    error: Exception, endpoint: Endpoint, profile: ModelProfile, now: datetime
) -> ProviderError:
    """Turn what the SDK raised into one of our errors."""
    sdk = importlib.import_module("openai")
    address = endpoint.address
    if isinstance(error, sdk.APIStatusError):
        response = error.response
        headers = {name.lower(): value for name, value in response.headers.items()}
        refusal = read_refusal(response.status_code, headers, response.content, endpoint.key, now)
        return refused(refusal, endpoint, profile)
    unwanted = next((cause for cause in chain(error) if isinstance(cause, UnwantedBody)), None)
    if unwanted is not None:
        return ProviderUnavailable(f"{address} sent {unwanted}: it was not read.")
    if isinstance(error, sdk.APITimeoutError):
        return ProviderUnavailable(f"{address} did not answer in time.")
    if isinstance(error, sdk.APIConnectionError):
        return ProviderUnavailable(f"{address} could not be reached: {find_cause(error)}.")
    if isinstance(error, TypeError | ValueError):
        return ProviderRejected(f"The request cannot be written as JSON ({type(error).__name__}).")
    return ProviderUnavailable(f"A request to {address} failed ({type(error).__name__}).")


def find_cause(error: BaseException) -> str:
    """In three words, what is at the bottom of a connection error."""
    causes = list(chain(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return "there is no such host"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "nothing listens there"
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return "its certificate or encryption is not acceptable"
    return "the connection broke"


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, what caused it, and the members of groups on the way."""
    while error is not None:
        yield error
        for member in getattr(error, "exceptions", ()):
            yield from chain(member)
        error = error.__cause__ or error.__context__
