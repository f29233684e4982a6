"""What the gateway costs beside the openai SDK and beside a bare exchange, in one run."""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.bench.figures import Sheet
from tests.provider import FaultyProvider

LATENCY_S = 0.2
CALLS, AT_A_TIME, MESSAGES = 1_000, 100, 100
IDEAL_S = CALLS / AT_A_TIME * LATENCY_S
LONG_HISTORY = 400
FEW_CALLS = 200
ROUNDS = 3


def ask(
    way: str, stub: FaultyProvider, calls: int, at_a_time: int, messages: int
) -> dict[str, Any]:
    """One way, in a process of its own."""
    numbers = (str(calls), str(at_a_time), str(messages))
    command = [sys.executable, "-m", "tests.bench.call_paths", way, stub.base_url, *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def test_a_thousand_calls_a_hundred_at_a_time(
    stub: FaultyProvider, sheet: Callable[[str], Sheet]
) -> None:
    """Each way in turn, several rounds, so that whatever else the machine does meets all alike."""
    stub.control(latency=LATENCY_S)
    paper = sheet(f"{CALLS} calls of {MESSAGES} messages, {AT_A_TIME} at a time")
    took: dict[str, list[float]] = {"socket": [], "extra_body": [], "gateway": []}
    held: list[float] = []
    for _ in range(ROUNDS):
        for way, walls in took.items():
            figures = ask(way, stub, CALLS, AT_A_TIME, MESSAGES)
            walls.append(figures["wall_s"])
            held += figures.get("held_ms", [])
    paper.add("ideal", IDEAL_S, "s")
    paper.add("a bare exchange over loopback", statistics.median(took["socket"]), "s")
    paper.add("the SDK, extra_body", statistics.median(took["extra_body"]), "s")
    paper.add("the gateway", statistics.median(took["gateway"]), "s")
    ratios = [a / b for a, b in zip(took["gateway"], took["extra_body"], strict=True)]
    ideal = statistics.median(took["gateway"]) / IDEAL_S
    paper.add("the gateway / the ideal", ideal, "", at_most=1.25)
    paper.add("the gateway / the SDK", statistics.median(ratios), "", at_most=1.3)
    plain = ask("plain", stub, CALLS, AT_A_TIME, MESSAGES)["wall_s"]
    paper.add("the SDK as its manual has it", plain, "s")
    paper.add_held("reactor held", held, p99_at_most=20.0)
    paper.check()


def test_the_cpu_of_one_call_with_a_long_history(
    stub: FaultyProvider, sheet: Callable[[str], Sheet]
) -> None:
    paper = sheet(f"CPU of a call with {LONG_HISTORY} messages")
    spent = {
        way: 1000 * ask(way, stub, FEW_CALLS, 1, LONG_HISTORY)["cpu_s"] / FEW_CALLS
        for way in ("plain", "extra_body", "gateway", "gateway, streamed")
    }
    for way, ms in spent.items():
        paper.add(way, ms, "ms")
    for way, bar in (("gateway", 0.03), ("gateway, streamed", 0.06)):
        paper.add(f"{way} / plain create", spent[way] / spent["plain"], "", at_most=bar)
    paper.check()
