"""The stub provider as a process of its own."""

import json
import os
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import evennia_ai

ROOT = Path(evennia_ai.__file__).resolve().parent.parent
STOP_WAIT_S = 60.0
CONTROL_WAIT_S = 120.0


class StubProvider:
    """A running stub provider; a context manager.

    `queue` and `rules` take the replies that `stub_replies` describes. ``module`` is the module
    that the process runs; a subclass may name another.
    """

    module = "tests.provider.stub"

    def __init__(self, log: Path, latency: float = 0.0) -> None:
        """Set up; ``log`` is the file for the requests, ``latency`` the seconds before a reply."""
        self.log = log
        self.latency = latency
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def base_url(self) -> str:
        """Return the ``base_url`` for a model profile."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> Self:
        """Start the process and wait until it listens; raise RuntimeError if it does not start."""
        command = [sys.executable, "-m", self.module, "--until-stdin-ends"]
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(  # our own interpreter and module
            [*command, "--log", str(self.log), "--latency", str(self.latency)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        line = self._process.stdout.readline().strip() if self._process.stdout else ""
        if not line.isdigit():
            self.stop()
            raise RuntimeError(f"The stub provider did not start: {line or 'it said nothing'}.")
        self.port = int(line)
        return self

    def stop(self) -> None:
        """End the process and wait for it; a second call does nothing."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.communicate(timeout=STOP_WAIT_S)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def control(self, **orders: Any) -> int:
        """Give orders, each instead of the earlier one; return how many queued replies are left.

        Raises:
            ValueError: There is no such order.
        """
        connection = HTTPConnection("127.0.0.1", self.port, timeout=CONTROL_WAIT_S)
        try:
            connection.request("POST", "/_control", json.dumps(orders))
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(answer["error"]["message"])
        return int(answer["queue"])

    def queue(self, *replies: dict[str, Any]) -> None:
        """Answer the next requests with these replies, in order."""
        self.control(queue=list(replies))

    def say(self, *texts: str) -> None:
        """Answer the next requests by saying these texts, in order."""
        self.queue(*({"tool_calls": [{"name": "say", "arguments": {"text": t}}]} for t in texts))

    def refuse(self, seconds: float) -> None:
        """Let nobody connect for some seconds, and drop all connections; in force on return."""
        self.control(refuse=seconds)

    def rules(self, rules: dict[str, dict[str, Any]]) -> None:
        """Answer by the first regex that is found in what was last heard."""
        self.control(rules=[{"match": match, "reply": reply} for match, reply in rules.items()])

    def clear(self) -> None:
        """Forget all orders, so that it answers at once and politely, and empty the log."""
        self.control(latency=0.0, queue=[], rules=[], require_key="", pages={}, stream={})
        os.truncate(self.log, 0)

    def records(self) -> list[dict[str, Any]]:
        """Return every complete line of the log: requests, and clients that left too early.

        The last line is left out if it is not yet complete.
        """
        lines = self.log.read_text(encoding="utf-8").split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def requests(self) -> list[dict[str, Any]]:
        """Return every request: ``at`` (unix seconds), ``number``, ``path``, ``auth``, ``body``.

        ``request_id`` is the header X-Client-Request-Id, None without one.
        """
        return [record for record in self.records() if "body" in record]
