"""A forwarding proxy on loopback that records every request to a model and its reply.

    with Recorder("https://api.example/v1", tmp_path / "requests.jsonl") as recorder:
        ...  # the game uses recorder.base_url
    recorder.exchanges()

Bytes pass as they come, in both directions, so that streaming stays streaming. If the client hangs
up, so does the recorder, and the endpoint can stop its work. No header, and so no key, is recorded.
"""

import asyncio
import io
import itertools
import json
import re
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

CHUNK = 65_536
START_WAIT_S = 60.0
HEAD_END = b"\r\n\r\n"
COMPLETIONS = "/chat/completions"
# The recorder handles one request for each connection and reads replies itself.
REPLACED_HEADERS = ("host", "connection", "accept-encoding")
STREAMED = re.compile(r"^data:(.*)$", re.M)
LENGTH = re.compile(rb"^content-length:\s*(\d+)", re.I | re.M)


@dataclass(frozen=True)
class Exchange:
    """One request and its reply; times are unix seconds.

    ``status`` is 0 if the client or the endpoint hung up before the reply's head. Token counts are
    None if the reply does not report them.
    """

    number: int
    path: str
    at: float
    ended_at: float
    status: int
    request: Mapping[str, Any] = field(default_factory=dict)
    reply: str = ""

    @property
    def is_completion(self) -> bool:
        """Return True for a request of a chat completion."""
        return self.path.partition("?")[0].endswith(COMPLETIONS)

    @property
    def prompt_tokens(self) -> int | None:
        """Return the tokens of the prompt, cached ones included."""
        return self._usage()[0]

    @property
    def cached_tokens(self) -> int | None:
        """Return the tokens of the prompt that the endpoint's cache served."""
        return self._usage()[1]

    @property
    def completion_tokens(self) -> int | None:
        """Return the tokens of the reply."""
        return self._usage()[2]

    @property
    def read_anew(self) -> int | None:
        """Return the tokens of the prompt that the cache did not serve."""
        prompt, cached, _ = self._usage()
        return None if prompt is None or cached is None else prompt - cached

    def _usage(self) -> tuple[int | None, int | None, int | None]:
        return read_usage(self.reply)


def read_usage(reply: str) -> tuple[int | None, int | None, int | None]:
    """Return the prompt's, the cached and the reply's tokens of a reply, whole or streamed.

    They come from ``usage``, or else from the ``timings`` of llama.cpp.
    """
    usage: dict[str, Any] = {}
    timings: dict[str, Any] = {}
    for part in parts_of(reply):
        usage = part.get("usage") or usage
        timings = part.get("timings") or timings
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens", timings.get("cache_n"))
    read = timings.get("prompt_n")
    total = None if read is None else read + timings.get("cache_n", 0)
    written = usage.get("completion_tokens", timings.get("predicted_n"))
    return usage.get("prompt_tokens", total), cached, written


def parts_of(reply: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a reply: one, or one for each line of a stream."""
    texts = STREAMED.findall(reply) or [reply]
    found = []
    for text in texts:
        with suppress(ValueError):
            found.append(json.loads(text))
    return [part for part in found if isinstance(part, dict)]


class Recorder:
    """The proxy, in a thread of its own; a context manager.

    Args:
        upstream: The base address of the endpoint, such as ``http://127.0.0.1:8080/v1``.
        log: The file to which it appends the exchanges, as JSON lines.
    """

    def __init__(self, upstream: str, log: Path) -> None:
        self._upstream = urlsplit(upstream.rstrip("/"))
        self._log = log
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True, name="recorder")
        self._is_ready = threading.Event()
        self.port = 0

    @property
    def base_url(self) -> str:
        """Return the address for the game."""
        return f"http://127.0.0.1:{self.port}{self._upstream.path}"

    def exchanges(self) -> list[Exchange]:
        """Return the exchanges that have ended, in the order of their ends."""
        lines = self._log.read_text(encoding="utf-8").split("\n")[:-1]
        return [Exchange(**json.loads(line)) for line in lines]

    def __enter__(self) -> Self:
        self._log.write_text("", encoding="utf-8")
        self._thread.start()
        assert self._is_ready.wait(START_WAIT_S), "The recorder did not start."
        return self

    def __exit__(self, *details: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_WAIT_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._is_ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one request and its reply; close both connections."""
        at, got = time.time(), bytearray()
        head, body = b"", b""
        try:
            head, body = await read_request(reader)
            await self._forward(head, body, reader, writer, got)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # one side hung up; the other side sees its connection end
        finally:
            if head:
                self._record(head, body, bytes(got), at)
            writer.close()

    async def _forward(
        self,
        head: bytes,
        body: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        got: bytearray,
    ) -> None:
        """Send a request on; pass the reply back until either side ends. ``got`` collects it."""
        up = self._upstream
        is_secure = up.scheme == "https"
        port = up.port or (443 if is_secure else 80)
        back, out = await asyncio.open_connection(up.hostname, port, ssl=is_secure or None)
        try:
            out.write(rewrite_head(head, up.netloc.rpartition("@")[2]) + body)
            copying = asyncio.create_task(copy(back, writer, got))
            leaving = asyncio.create_task(reader.read(1))
            await asyncio.wait({copying, leaving}, return_when=asyncio.FIRST_COMPLETED)
            for task in (copying, leaving):
                task.cancel()
            await asyncio.gather(copying, leaving, return_exceptions=True)
        finally:
            out.close()

    def _record(self, head: bytes, body: bytes, got: bytes, at: float) -> None:
        status, reply = read_response(got)
        try:
            request = json.loads(body or b"{}")
        except ValueError:
            request = {"unreadable": body.decode(errors="replace")}
        entry = {
            "number": next(self._numbers), "path": head.split(b" ")[1].decode(), "at": at,
            "ended_at": time.time(), "status": status, "request": request, "reply": reply,
        }  # fmt: skip
        with self._log.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry, ensure_ascii=False) + "\n")


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Return the head and the body of a request."""
    head = await reader.readuntil(HEAD_END)
    length = LENGTH.search(head)
    return head, await reader.readexactly(int(length[1])) if length else b""


async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter, got: bytearray) -> None:
    """Pass bytes on as they come, until the source ends; ``got`` collects them."""
    while data := await source.read(CHUNK):
        got += data
        target.write(data)
        await target.drain()


def rewrite_head(head: bytes, host: str) -> bytes:
    """Return the head of a request for another host, for one uncompressed reply."""
    first, *headers = head.removesuffix(HEAD_END).decode("latin-1").split("\r\n")
    kept = [one for one in headers if one.partition(":")[0].lower() not in REPLACED_HEADERS]
    own = [f"Host: {host}", "Connection: close", "Accept-Encoding: identity"]
    return "\r\n".join([first, *own, *kept]).encode("latin-1") + HEAD_END


class Received:
    """Stands in for a socket from which a whole response was read."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: Any, **__: Any) -> io.BytesIO:
        """Return the bytes as a file."""
        return io.BytesIO(self._data)


def read_response(data: bytes) -> tuple[int, str]:
    """Return the status and the text of a response; 0 and what came if its head is missing."""
    response = HTTPResponse(Received(data))  # type: ignore[arg-type]
    try:
        response.begin()
    except (HTTPException, OSError):
        return 0, data.decode(errors="replace")
    try:
        body = response.read()
    except HTTPException as error:  # it broke off in the middle
        body = getattr(error, "partial", b"")
    return response.status, body.decode(errors="replace")
