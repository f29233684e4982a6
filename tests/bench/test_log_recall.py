"""What recall from the log costs: a prompt, a stored line, and a start."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred

from evennia_ai import models
from evennia_ai.memory import embedders
from evennia_ai.messages import InboxEvent, IncomingEvent
from evennia_ai.store.rows import message_to_row
from evennia_ai.turn.prompt_building import PromptRequest
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from evennia_ai.turn.recall import memory_query
from tests.bench import worlds
from tests.bench.conftest import furnished
from tests.bench.figures import Sheet, percentile
from tests.bench.planted import BARE, PLAYERS, Talk, make_talk
from tests.bench.probed import ProbedServer
from tests.bench.remembering import EVERYBODY, heard
from tests.bench.worlds import ASSISTANTS
from tests.game.conftest import service  # noqa: F401  # the game that it is played in

EVICTED = 10_000
SHOWN = 40  # lines in the prompt
PROMPT_MS, STORE_MS = 10.0, 0.5
STORED = 400
FACTS = 160
START_S = 2.0
ANEW_S, TURN_S, TURN_MS = 180.0, 0.001, 20.0
REMEMBER_S = 1_500.0


def finish(service: Any, done: Deferred[Any], step_s: float | None = None) -> Any:  # noqa: F811
    """Let time pass until a Deferred fires, real time without a step; return its result."""
    results: list[Any] = []
    done.addCallback(results.append)
    while not results:
        turn(service, step_s)
    return results[0]


def turn(service: Any, step_s: float | None = None) -> None:  # noqa: F811
    """Run what is due in the reactor's thread, and what other threads handed over."""
    main: Any = reactor
    main.runUntilCurrent()
    real_s = max(0.0, time.time() - service.clock.seconds())
    service.clock.advance(real_s if step_s is None else step_s)


@pytest.fixture
def embedder_setting() -> str:
    return embedders.DEFAULT


def make_assistant(name: str) -> Any:
    """Return the assistant of a new character."""
    from evennia.objects.objects import DefaultRoom
    from evennia.utils.create import create_object

    from evennia_ai.assistant_character import AssistantCharacter

    room = create_object(DefaultRoom, key=f"House of {name}")
    persona = [("ai_persona", f"You are {name}.")]
    made = create_object(AssistantCharacter, key=name, location=room, attributes=persona)
    return made.assistant


def fill(script: Any, talk: Talk) -> None:
    """Store a talk, all but its last lines evicted."""
    now = script.services.now()
    began = now - timedelta(seconds=20 * len(talk.lines))
    rows = [
        message_to_row(
            script.id,
            heard(line.speaker, PLAYERS[line.speaker], line.text, line.private),
            began + timedelta(seconds=20 * number),
        )
        for number, line in enumerate(talk.lines)
    ]
    stored = models.Message.objects.bulk_create(rows, batch_size=1_000)
    models.Compaction.objects.create(
        assistant_id=script.id, at=now, reason="manual", from_seq=stored[0].id,
        upto_seq=stored[-SHOWN].id, compacted_count=len(stored) - SHOWN, original_token_count=1,
        summary_token_count=1, summary={"public": "Nothing worth a word was said."},
    )  # fmt: skip


def questions(script: Any, talk: Talk) -> Iterator[InboxEvent]:
    """Yield the bare questions about the facts of a talk, asked before everybody."""
    for fact in talk.facts:
        asked = fact.questions[BARE]
        who = PLAYERS[asked.asker]
        said = IncomingEvent("say", who, asked.asker, asked.text, EVERYBODY, addressed=True)
        yield InboxEvent(0, script.services.now(), said)


def test_a_prompt_over_many_evicted_lines(
    service: Any,  # noqa: F811
    sheet: Callable[[str], Sheet],
) -> None:
    script, talk = make_assistant("Mira"), make_talk(EVICTED + SHOWN, FACTS, seed=1)
    fill(script, talk)
    paper = sheet(f"recall from the log, {EVICTED:,} evicted lines")
    finish(service, service.memory.embedder.embed_later(["what a start loads"]))
    began = time.perf_counter()
    finish(service, script.mind.memories().prepare(script.services, ["a word"]))
    paper.add("first preparation, words alone", time.perf_counter() - began, "s")
    turns = []
    while service.memory.indices.waiting:
        before = time.perf_counter()
        turn(service)
        time.sleep(TURN_S)  # the reactor of a quiet server sleeps, too
        turns.append(1_000 * (time.perf_counter() - before - TURN_S))
    paper.add("all vectors made in the background", time.perf_counter() - began, "s", ANEW_S)
    paper.add("  the reactor's turns meanwhile, p99", percentile(turns, 99), "ms", TURN_MS)
    paper.add("  the longest", max(turns), "ms")
    service.memory.indices.drop(script.id)
    began = time.perf_counter()
    finish(service, script.mind.memories().prepare(script.services, ["a word"]))
    paper.add("preparation, vectors loaded", time.perf_counter() - began, "s")
    took = []
    for event in questions(script, talk):
        finish(
            service,
            script.mind.memories().prepare(script.services, [memory_query([event.heard.text])]),
        )
        before = time.perf_counter()
        prompt = script.mind.prompts.build(CONTEXT_TICK_EVENT, EVERYBODY, PromptRequest([event]))
        took.append(1_000 * (time.perf_counter() - before))
        assert any("You remember:" in str(message["content"]) for message in prompt.messages)
    paper.add(f"prompt, median of {len(took)}", percentile(took, 50), "ms", PROMPT_MS)
    paper.add("prompt, p95", percentile(took, 95), "ms")
    paper.check()


def test_a_stored_line_costs_little_more_than_without_vectors(
    service: Any,  # noqa: F811
    sheet: Callable[[str], Sheet],
) -> None:
    script, talk = make_assistant("Mira"), make_talk(1_000 + STORED, FACTS, seed=1)
    lines = [
        heard(line.speaker, PLAYERS[line.speaker], line.text, line.private) for line in talk.lines
    ]

    def prepare() -> None:
        finish(service, script.mind.memories().prepare(script.services), 0.01)

    script.conversation.append(lines[:1_000])
    prepare()
    took: dict[str, list[float]] = {"stored": [], "taken in": [], "nothing new": []}
    for line in lines[-STORED:]:
        took["stored"].append(timed(script.conversation.append, [line]))
        took["taken in"].append(timed(prepare))
        took["nothing new"].append(timed(prepare))
    paper = sheet("a stored line")
    for name, values in took.items():
        paper.add(f"{name}, median", percentile(values, 50), "ms")
    more = mean(took["taken in"]) - mean(took["nothing new"])
    paper.add("more for its vector and the index, mean", more, "ms", STORE_MS)


def timed(act: Callable[..., object], *args: object) -> float:
    """Return how long a call takes, in ms."""
    began = time.perf_counter()
    act(*args)
    return 1_000 * (time.perf_counter() - began)


@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("each", [100, pytest.param(1_000, marks=pytest.mark.soak)])
def test_a_start_and_a_prompt_with_a_thousand_assistants_who_talked(
    crowd_template: Path, tmp_path: Path, sheet: Callable[[str], Sheet], each: int
) -> None:
    paper = sheet(f"recall from the log, {ASSISTANTS:,} assistants with {each:,} lines")
    texts = [line.text for line in make_talk(each + 100, each // 10, seed=1).lines[:each]]
    talked = furnished(crowd_template, tmp_path / "talked", worlds.logs(texts))
    seconds = {}
    for name, template in {"without lines": crowd_template, "with lines": talked}.items():
        with ProbedServer(template, tmp_path / name, "beat") as server:
            seconds[name] = server.order("memory")["cpu_s"]
            paper.add(f"CPU of a start {name}", seconds[name], "s")
            if template is talked:
                remember(server, paper)
    paper.add("  more with lines", seconds["with lines"] - seconds["without lines"], "s", START_S)
    paper.check()


def remember(server: ProbedServer, paper: Sheet) -> None:
    """Let every assistant build a prompt once, and keep what that took."""
    server.order("remember")
    done = server.await_record("remembered", timeout_s=REMEMBER_S)
    each_ms = 1_000 * done["cpu_s"] / ASSISTANTS
    paper.add("CPU of an assistant's preparation and prompt", each_ms, "ms")
