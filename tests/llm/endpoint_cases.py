"""What servers really send, as rows: the bytes of an answer, and what to make of them.

Each row is a kind of answer that a public report of some client tells of, or a neighbour of one.
"""

import json
import select
import socket
import struct
from contextlib import suppress
from threading import Thread

from evennia_ai.errors import (
    ContextOverflow,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
)

LINES = ("Good day.", "What burns there?", "Is it warm?")  # what a player says
SAID = [("say", {"text": "Good evening."})]
SAY = '{"text": "Good evening."}'
BOTH = [("look", {"target": "fire"}), *SAID]


def done(reply):
    """Return what the calls of a reply do."""
    return [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]


def entry(index, name=None, arguments=None, call_id=None):
    made = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    made["function"] = {key: one for key, one in made["function"].items() if one is not None}
    return {key: one for key, one in made.items() if one is not None or key == "index"}


def events(*payloads, end="data: [DONE]\n\n"):
    lines = (p if isinstance(p, str) else f"data: {json.dumps(p)}\n\n" for p in payloads)
    return "".join([*lines, end])


def delta(finish_reason=None, **added):
    return {"choices": [{"index": 0, "delta": added, "finish_reason": finish_reason}]}


def calls(*entries):
    return delta(tool_calls=list(entries))


def message(finish_reason="stop", **fields):
    return json.dumps({"choices": [{"message": fields, "finish_reason": finish_reason}]})


END = delta("tool_calls")
SPOKEN = calls(entry(0, "say", SAY, "s"))


def native(name, arguments=SAY):
    return message(tool_calls=[{"id": "a", "function": {"name": name, "arguments": arguments}}])


STREAMS = {
    "interleaved": (
        calls(entry(0, "look", "", "a")), calls(entry(1, "say", "", "b")),
        calls(entry(0, arguments='{"target":"fire"}')), calls(entry(1, arguments=SAY)), END,
    ),
    "interleaved in one chunk": (
        calls(entry(0, "look", "", "a"), entry(1, "say", "", "b")),
        calls(entry(0, arguments='{"target":"fire"}'), entry(1, arguments=SAY)), END,
    ),
    "empty parts at the end": (
        calls(entry(0, "look", '{"target":"fire"}', "a")), calls(entry(1, "say", SAY, "b")),
        calls(entry(0, arguments=""), entry(1, arguments="")), END,
    ),
    "interleaved without ids": (
        calls(entry(0, "look", "")), calls(entry(1, "say", "")),
        calls(entry(1, arguments=SAY[:9])), calls(entry(0, arguments='{"target":"fire"}')),
        calls(entry(1, arguments=SAY[9:])), END,
    ),
}  # fmt: skip
UNSTEADY = {
    f"index then {later!r}": (
        calls(entry(0, "say", "", "s")), calls(entry(later, arguments=SAY[:7])),
        calls(entry(later, arguments=SAY[7:])), END,
    )
    for later in (None, "0", "x", 7)
} | {
    "index counting up": (
        calls(entry(0, "say", "", "s")), calls(entry(1, arguments=SAY[:7])),
        calls(entry(2, arguments=SAY[7:])), END,
    ),
    "no index at all": (
        delta(tool_calls=[{"id": "s", "function": {"name": "say"}}]),
        delta(tool_calls=[{"function": {"arguments": SAY}}]), END,
    ),
    "the old field": (
        delta(function_call={"name": "say", "arguments": ""}),
        delta(function_call={"arguments": SAY}), END,
    ),
    "a comment": (": keepalive\n\n", SPOKEN, ": keepalive\n\n", END),
    "a ping": ("data: [PING]\n\n", SPOKEN, "data: null\n\n", 'data: ""\n\n', END),
    "a byte-order mark": ("\ufeff", SPOKEN, END),
    "an event over lines": (
        "data: " + json.dumps(SPOKEN, indent=1).replace("\n", "\ndata: ") + "\n\n", END
    ),
    "single line ends": (
        "".join(f"data: {json.dumps(one)}\n" for one in (SPOKEN, END)) + "data: [DONE]\n",
    ),
    "wrapped twice": (f"data: data: {json.dumps(SPOKEN)}\n\n", END),
    "wrapped by two proxies": (f"data: data: data: {json.dumps(SPOKEN)}\n\n", END),
    "a heartbeat": ({"type": "heartbeat", "message": "still alive"}, SPOKEN, END),
    "a split answer": (
        {"choices": [{"index": 1, "delta": {"tool_calls": [entry(0, "say", SAY)]}}]},
        delta("stop", content="I will greet her."),
    ),
}  # fmt: skip
BODIES = {
    "a stream unasked": events(SPOKEN, END),
    "behind comments": f": PROCESSING\n\n: PROCESSING\n\n{native('say')}",
    "choices out of order": json.dumps({"choices": [
        {"index": 1, "message": {"tool_calls": [entry(0, "say", SAY)]}},
        {"index": 0, "message": {"content": "Hm."}, "finish_reason": "tool_calls"},
    ]}),
    "the old field": message(function_call={"name": "say", "arguments": SAY}),
    "no function wrapper": message(tool_calls=[{"name": "say", "arguments": json.loads(SAY)}]),
    "one object": message(tool_calls=entry(0, "say", SAY)),
    "functions.": native("functions.say"),
    "channel": native("say<|channel|>commentary"),
    "json behind": native("sayjson"),
    "brackets": native("say()"),
    "tool:": native("tool:say"),
    "encoded twice": native("say", json.dumps(SAY)),
    "fenced": native("say", f"```json\n{SAY}\n```"),
    "in a list": native("say", f"[{SAY}]"),
    "in arguments": native("say", f'{{"arguments": {SAY}}}'),
    "wrapped twice": native("say", json.dumps({"parameters": SAY})),
    "{} before": native("say", "{}" + SAY),
    "a brace too many": native("say", SAY + "}"),
    "with its name": native("say", f'{{"name": "say", "arguments": {SAY}}}'),
    "parameters": message(tool_calls=[
        {"function": {"name": "say", "parameters": json.loads(SAY)}}
    ]),
    "of another API": message(tool_calls=[
        {"type": "tool_use", "name": "say", "input": json.loads(SAY)}
    ]),
    "a name only": message(tool_calls=[{"function": "say", "arguments": json.loads(SAY)}]),
    "in capitals": native("Say"),
    "its name inside": native("", f'{{"function": {{"_name": "say", {SAY[1:]}}}<|eot_id|>'),
    "a reason that is an object": json.dumps({"choices": [
        {"message": {"tool_calls": [entry(0, "say", SAY)]}, "finish_reason": {"type": "stop"}}
    ]}),
}  # fmt: skip
CUT = ("max_tokens", "MAX_TOKENS", "LENGTH", "model_length", "max_output_tokens", "incomplete",
       "token_limit", "FinishReason.MAX_TOKENS", "FINISH_REASON_MAX_TOKENS")  # fmt: skip
OVERFLOW = "This model's maximum context length is 4096 tokens, your messages have 5000 tokens."
FAILURES = {
    "overflow in a success": (
        200, {"choices": [], "error": {"code": 400, "message": OVERFLOW}}, ContextOverflow
    ),
    "a choice with an error": (
        200, {"choices": [{"error": {"code": 502, "message": "upstream"}}]}, ProviderUnavailable
    ),
    "an error object": (200, {"object": "error", "message": OVERFLOW}, ContextOverflow),
    "a detail": (200, {"detail": OVERFLOW}, ContextOverflow),
    "errors": (200, {"errors": [{"message": OVERFLOW}]}, ContextOverflow),
    "a list": (200, [{"error": {"message": OVERFLOW}}], ContextOverflow),
    "an error in the end": (
        200, {"choices": [{"message": {"content": "Good ev"}, "finish_reason": "error"}]},
        ProviderUnavailable,
    ),
    "a network error in the end": (
        200, {"choices": [{"message": {"content": "G"}, "finish_reason": "network_error"}]},
        ProviderUnavailable,
    ),
    "an abort": (
        200, {"choices": [{"message": {"content": "Good ev"}, "finish_reason": "abort"}]},
        ProviderUnavailable,
    ),
    "MiniMax, a limit": (
        200, {"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}},
        ProviderUnavailable,
    ),
    "MiniMax, no credit": (
        200, {"choices": None, "base_resp": {"status_code": 1008,
                                             "status_msg": "insufficient balance"}}, QuotaExhausted,
    ),
    "a wrong key in a success": (
        200, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}},
        ProviderMisconfigured,
    ),
    "Zhipu, no credit": (429, {"error": {"code": "1113", "message": "余额不足"}}, QuotaExhausted),
    "Cerebras, a minute": (
        429, {"message": "Tokens per minute limit exceeded", "code": "token_quota_exceeded"},
        ProviderUnavailable,
    ),
    "Vertex, a minute": (
        429, {"error": {"message": "Quota exceeded for generate_content_requests_per_minute"}},
        ProviderUnavailable,
    ),
    "DashScope": (
        429, {"code": "insufficient_quota", "message": "Allocated quota exceeded: #token-limit"},
        ProviderUnavailable,
    ),
    "image and text": (
        400, {"error": {"message": "Total tokens of image and text exceed max message tokens"}},
        ContextOverflow,
    ),
    "max_seq_len": (
        422, {"message": "max_total_tokens (9) must be less than or equal to max_seq_len (4)"},
        ContextOverflow,
    ),
    "a bare 413": (413, {}, ContextOverflow),
    "a 413 for an image": (413, {"error": {"message": "The image is too big"}}, ProviderRejected),
    "llama.cpp": (
        400, {"error": {"code": 400, "message": "request (900 tokens) exceeds the available context"
                        " size (512 tokens), try increasing it",
                        "type": "exceed_context_size_error", "n_ctx": 512}}, ContextOverflow,
    ),
    "a wrong key": (401, {"error": {"message": "no"}}, ProviderMisconfigured),
    "no credit": (429, {"error": {"code": "insufficient_quota"}}, QuotaExhausted),
}  # fmt: skip
QUOTA = {"error": {"message": "You exceeded your current quota. Please retry in 2s."}}
RETRY_INFO = {"error": {"message": "You exceeded your current quota.",
                        "details": [{"@type": "x/RetryInfo", "retryDelay": "2s"}]}}  # fmt: skip
LIMITS = [
    (QUOTA, ()),
    (RETRY_INFO, ()),
    ({"error": {"message": "slow down"}}, ["Retry-After: 2s"]),
    ({"error": {"message": "slow down"}}, ["Retry-After: 2", "Retry-After: 2"]),
    ({"error": {"message": "Rate limit: try again in 2000ms"}}, ()),
    ({"error": {"message": "Rate limit: try again in 2000 milliseconds"}}, ()),
]
MARKS = ("</think>", "<|END_THINKING|>", "◁/think▷")
ARGUMENTS = ("", "null", "None", "[]", " ", "{}{}")
USAGES = [
    ({"choices": [{"message": {"content": "Aye."}, "usage": "U"}]}, (120, 7)),
    ({"choices": [{"message": {"content": "Aye."}}], "usage": "F"}, (120, 7)),
    ({"choices": [{"message": {"content": "Aye."}}], "usage": "C"}, None),
]


def usage_body(where):
    """Return the body of a reply with one of these usages."""
    usages = {
        '"U"': '{"prompt_tokens": 120, "completion_tokens": 7}',
        '"F"': '{"prompt_tokens": 120.0, "completion_tokens": 7.0}',
        '"C"': '{"prompt_tokens": 12, "completion_tokens": 7, "cached_tokens": 900}',
    }
    body = json.dumps(where)
    for mark, told in usages.items():
        body = body.replace(mark, told)
    return body


def reasoned(mark):
    """Return a stream whose reasoning began in the prompt."""
    parts = (delta(content=text) for text in ("R. ", mark, "Good evening."))
    return events(*parts, delta("stop"))


def cut_call(reason):
    """Return the body of a reply that was cut off within a call."""
    call = {"id": "a", "function": {"name": "look", "arguments": '{"target": "fi'}}
    return message(reason, tool_calls=[call])


class Server:
    """Answers requests for a completion, each with the next of some answers, then with the last.

    An answer is (status, body, lines of the header, how the connection ends), see `send`; or a
    function that returns one for the request's own body. ``asked`` counts the requests, and
    ``paid`` those that were answered with a success.
    """

    def __init__(self, *answers):
        self.answers, self.asked, self.paid = list(answers), 0, 0
        self.requests = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"
        Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:  # closed
                return
            Thread(target=self.answer, args=[connection], daemon=True).start()

    def answer(self, connection):
        with connection, connection.makefile("rb") as request, suppress(OSError):
            first, body = read_request(request)
            answer = (404, "{}", ())
            if b"/chat/completions" in first:
                answer = self.answers[min(self.asked, len(self.answers) - 1)]
                self.asked += 1
                self.requests.append(json.loads(body))
                answer = answer(self.requests[-1]) if callable(answer) else answer
                self.paid += answer[0] == 200
            send(connection, *answer)

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def read_request(file):
    """Read a whole request; returns its first line and its body."""
    first, length = file.readline(), 0
    while (line := file.readline()).strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return first, file.read(length)


RESET = struct.pack("ii", 1, 0)  # what SO_LINGER takes to reset a connection
ENDINGS = ("closed", "cut", "short", "reset", "silent", "alive")


def send(connection, status, body, headers=(), ending="closed"):
    """Send an answer and end the connection.

    It is closed in good order, or as if more were to come: ``cut`` of a body in chunks, ``short``
    of one whose length was announced. Or it is reset, or stays open: ``silent``, or ``alive`` with
    a sign of life now and then.
    """
    kind, data = (
        "Content-Type: application/json",
        body if isinstance(body, bytes) else body.encode(),
    )
    if ending == "short":
        headers = [*headers, f"Content-Length: {len(data) + 9}"]
    elif ending != "closed":
        headers = [*headers, "Transfer-Encoding: chunked"]
        data = in_chunk(data)
    lines = [f"HTTP/1.1 {status} X", kind, "Connection: close", *headers]
    connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
    if ending == "reset":
        select.select([connection], [], [], 0.2)  # until the client has read
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    while ending in ("silent", "alive"):
        gone, _, _ = select.select([connection], [], [], 0.1)
        if gone:
            return
        if ending == "alive":
            connection.sendall(in_chunk(b": alive\n\n"))


def in_chunk(data):
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"
