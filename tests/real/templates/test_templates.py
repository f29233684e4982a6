"""Every chat template accepts every kind of request, and shows what it holds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evennia_ai.policy.tool_call_modes.form import PLAIN, choose_form
from tests.real.templates.caps import caps_from_props
from tests.real.templates.kinds import KINDS, Case, body_of, cases
from tests.real.templates.renderer import Renderer, installation, running_renderer

WHERE = installation()
ANY_SMALL_MODEL = "local-model"
LEAST_FAMILIES = 14
VENDOR = re.compile(
    r"^(?:google|microsoft|meta-llama|mistralai|Qwen(?=-Qwen)|deepseek-ai|ibm-granite|openai|openbmb"
    r"|NousResearch|HuggingFaceTB|CohereForAI-c4ai|NVIDIA|moonshotai|fireworks-ai|meetkai|llm-jp"
    r"|upstage|tencent|poolside|inclusionai|unsloth-mistral|unsloth|llama-cpp)-"
)
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(WHERE.missing), reason=WHERE.missing or "installed"),
]


@dataclass(frozen=True)
class Rendering:
    """A server with one template, and the model that a game would name for it."""

    renderer: Renderer
    model: str

    def body(self, case: Case) -> Mapping[str, Any]:
        """Return what the client sends."""
        return body_of(case, self.model)


@pytest.fixture(scope="module", params=WHERE.templates, ids=lambda file: file.stem)
def rendering(request: pytest.FixtureRequest) -> Iterator[Rendering]:
    template: Path = request.param
    with running_renderer(WHERE, template) as renderer:
        caps = caps_from_props(renderer.props())
        assert caps is not None
        name = VENDOR.sub("", template.stem)
        known = caps.tools or choose_form(name).name == PLAIN
        yield Rendering(renderer, name if known else ANY_SMALL_MODEL)


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_accepts_a_request_and_shows_its_words(rendering: Rendering, kind: str) -> None:
    check_rendering(rendering, cases(rendering.model)[kind])


def check_rendering(rendering: Rendering, case: Case) -> None:
    body = rendering.body(case)
    status, prompt = rendering.renderer.render(body)
    assert status == 200, prompt
    assert [words for words in case.shown if words not in prompt] == []
    assert [name for name in offered(body, rendering.model) if name not in prompt] == []
    assert roles_twice(body["messages"]) == []


def test_the_kinds_are_listed() -> None:
    assert tuple(cases(ANY_SMALL_MODEL)) == KINDS


def test_there_are_enough_families() -> None:
    assert (
        len({VENDOR.sub("", file.stem)[:4].lower() for file in WHERE.templates}) >= LEAST_FAMILIES
    )


def offered(body: Mapping[str, Any], model: str) -> list[str]:
    """Return what must stand in the prompt for the model to act."""
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def roles_twice(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return where a role follows itself, as strict templates count."""
    roles = [m["role"] for m in messages if m["role"] != "tool" and not m.get("tool_calls")]
    return [at for at, (role, after) in enumerate(pairwise(roles)) if role == after]
