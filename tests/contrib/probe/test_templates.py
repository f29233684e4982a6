"""Every chat template accepts the probe's questions, and shows what they hold."""

from collections.abc import Mapping
from typing import Any

import pytest

from evennia_ai.contrib.probe import prober
from evennia_ai.ports import LLMRequest
from tests.real.templates import test_templates as real
from tests.real.templates.kinds import Case

QUESTIONS = ("PLAIN_QUESTION", "TOOLS_QUESTION", "STREAM_QUESTION")
pytestmark, rendering = real.pytestmark, real.rendering


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_template_accepts_a_question_and_shows_its_words(
    rendering: real.Rendering, name: str
) -> None:
    question: Mapping[str, Any] = getattr(prober, name)
    contents = [m["content"] for m in question["messages"] if m["role"] == "user"]
    shown = [line for content in contents for line in content.splitlines()]
    real.check_rendering(rendering, Case(LLMRequest(**question), shown))
