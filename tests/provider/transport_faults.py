"""How endpoints fail: faults of the connection and of HTTP, as replies of the stub provider."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from tests.provider.stub_replies import (
    Body,
    Reply,
    answer_politely,
    build_completion,
    offered_tools,
)
from tests.provider.stub_stream import BREAKS, NO_DONE

DAYS_S = 2 * 86_400
FLOOD_BYTES = 50_000_000
WELCOME = "<!DOCTYPE html><html><body>Welcome to our network</body></html>"


@dataclass(frozen=True)
class Asked:
    """The request a fault answers; ``now`` is in unix seconds, ``number`` counts the requests."""

    body: Body
    number: int = 1
    now: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)

    def tool(self, wanted: str) -> str:
        """The wanted tool's name if it is offered, else that of some tool that is."""
        names = offered_tools(self.body)
        return wanted if wanted in names or not names else min(names)


Build = Callable[[Asked], Reply]


def always(reply: Reply) -> Build:
    """A reply that is the same for every request."""
    return lambda _: reply


def error_reply(status: int, message: str, code: str | None = None, **headers: str) -> Reply:
    """An error in the form of the protocol; header names are written with underscores."""
    kind = "invalid_request_error" if status < 429 else "server_error"
    body = {"error": {"message": message, "type": kind, "code": code}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"raw": json.dumps(body), "status": status, "headers": named}


def rate_limited(wait: Callable[[Asked], str]) -> Build:
    """A 429 with the ``Retry-After`` that ``wait`` makes."""
    message = "Rate limit reached: please slow down."
    return lambda asked: error_reply(429, message, "rate_limit_exceeded", Retry_After=wait(asked))


def in_manner(manner: str, **options: Any) -> Build:
    """The polite answer, sent in an impolite manner; see `stub_wire`."""

    def build(asked: Asked) -> Reply:
        completion = build_completion(answer_politely(asked.body), asked.body, asked.number)
        return {"completion": completion, "manner": manner, **options, **asked.options}

    return build


def rate_limited_until(asked: Asked) -> Reply:
    """A 429 that names an HTTP date some seconds after its own ``Date``.

    The server's own header is from when the request came, maybe in the second before.
    """
    until = formatdate(asked.now + asked.options.get("seconds", 2), usegmt=True)
    reply = rate_limited(lambda _: until)(asked)
    headers = {**reply["headers"], "Date": formatdate(asked.now, usegmt=True)}
    return {**reply, "headers": headers}


def redirected(asked: Asked) -> Reply:
    """A 307 to somewhere else."""
    elsewhere = asked.options.get("to", "http://127.0.0.1:9/v1/chat/completions")
    return {"raw": "", "status": 307, "headers": {"Location": elsewhere}}


def refusal(status: int, message: str, code: str | None = None) -> Build:
    """An error without more to it."""
    return always(error_reply(status, message, code))


def in_stream(how: str) -> Build:
    """The polite answer in a stream that breaks; see `stub_stream`. Unstreamed it is in order."""
    return lambda asked: {**answer_politely(asked.body), "stream": {"break": how, **asked.options}}


STREAM: dict[str, Build] = {f"stream_{how}": in_stream(how) for how in (*BREAKS, NO_DONE)}
TRANSPORT: dict[str, Build] = {
    "rate_limited": rate_limited(lambda asked: str(asked.options.get("seconds", 2))),
    "rate_limited_for_days": rate_limited(lambda _: str(DAYS_S)),
    "rate_limited_until": rate_limited_until,
    "rate_limited_oddly": rate_limited(lambda _: "in a while"),
    "quota_exhausted": refusal(
        429, "You exceeded your current quota, please check your plan.", "insufficient_quota"
    ),
    "payment_required": refusal(402, "Insufficient balance."),
    "server_error": refusal(500, "The server had an error."),
    "overloaded": refusal(503, "The engine is overloaded."),
    "wrong_key": refusal(401, "Incorrect API key provided.", "invalid_api_key"),
    "forbidden": refusal(403, "You are not allowed to use this model."),
    "unknown_model": refusal(404, "The model does not exist.", "model_not_found"),
    "reset": in_manner("reset"),
    "cut": in_manner("cut"),
    "hang": in_manner("hang"),
    "drip": in_manner("drip", every_s=1.0),
    "flood": in_manner("flood", size=FLOOD_BYTES),
    "html": always({"raw": WELCOME, "headers": {"Content-Type": "text/html"}}),
    "redirect": redirected,
}
