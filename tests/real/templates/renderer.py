"""llama.cpp's server with one chat template, and what it renders."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server import running
from tests.e2e.harness import free_ports

FOLDER = Path(os.environ.get("EVENNIA_AI_REAL_MODEL", "~/.cache/evennia_ai_real_model"))
START_S, REQUEST_S = 60.0, 30.0
# The model is never asked: whatever makes the start slow is off.
QUICKLY = "--no-warmup -fit off -c 512 -b 32 -ub 32 -np 1 -t 1 --jinja".split()


@dataclass(frozen=True)
class Installation:
    """Where the server, a model and the templates are."""

    server: Path
    model: Path | None
    templates: tuple[Path, ...]

    @property
    def missing(self) -> str:
        """Return what is missing, "" if nothing is."""
        if not self.server.is_file():
            return f"no llama.cpp server at {self.server}: set EVENNIA_AI_LLAMA_SERVER"
        if self.model is None or not self.templates:
            what = "model (*.gguf)" if self.model is None else "templates of llama.cpp's sources"
            return f"no {what} below {FOLDER.expanduser()}: set EVENNIA_AI_REAL_MODEL"
        return ""


def installation() -> Installation:
    """Return what is installed on this machine."""
    folder = FOLDER.expanduser()
    named = os.environ.get("EVENNIA_AI_LLAMA_SERVER")
    models = sorted(folder.glob("*.gguf"), key=lambda file: file.stat().st_size)
    templates = sorted((folder / "src/llama.cpp/models/templates").glob("*.jinja"))
    server = Path(named).expanduser() if named else folder / "bin/llama-server"
    return Installation(server, next(iter(models), None), tuple(templates))


class Renderer:
    """A running server with one template."""

    def __init__(self, address: str) -> None:
        self.address = address

    def fetch(self, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        """Return the status and the JSON of an answer; status 0 without one."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}{path}", data)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")
        except OSError as error:
            return 0, str(error)

    def is_ready(self) -> bool:
        """Return True once the server answers."""
        return self.fetch("/health")[0] == 200

    def render(self, body: Mapping[str, Any]) -> tuple[int, str]:
        """Return the status and the rendered prompt, or the error's text."""
        status, answer = self.fetch("/apply-template", body)
        return status, answer["prompt"] if status == 200 else json.dumps(answer)

    def props(self) -> Mapping[str, Any]:
        """Return what the server tells about its template."""
        status, answer = self.fetch("/props")
        assert status == 200, answer
        return answer


@contextmanager
def running_renderer(where: Installation, template: Path) -> Iterator[Renderer]:
    """Run the server with a template; stop it at the end."""
    (port,) = free_ports(1)
    command = [str(where.server), "-m", str(where.model), *QUICKLY]
    command += ["--host", "127.0.0.1", "--port", str(port), "--chat-template-file", str(template)]
    renderer = Renderer(f"http://127.0.0.1:{port}")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        ready = running.wait_until(
            lambda: process.poll() is not None or renderer.is_ready(), START_S
        )
        assert ready and process.poll() is None, f"the server did not start with {template.name}"
        yield renderer
    finally:
        process.terminate()
        process.wait()
