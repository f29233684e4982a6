"""Two players play the demo with the model of the environment; see docs/models.md.

The bars of the table are shown and not asserted, since they are met by some models and missed by
others. What must hold with every model is asserted.
"""

import pytest

from tests.real.figures import refused_by_template
from tests.real.report import Run

pytestmark = [pytest.mark.real, pytest.mark.timeout(6 * 3_600)]


def test_every_line_was_played(run: Run) -> None:
    assert len(run.course.answers) == run.wanted


def test_the_endpoint_answered(run: Run) -> None:
    assert run.course.of(lambda answer: answer.is_by_model)


def test_every_request_was_accepted(run: Run) -> None:
    assert [one.reply for one in refused_by_template(run.course.exchanges)] == []


def test_nothing_but_words_was_spoken(run: Run) -> None:
    assert [answer.words for answer in run.course.of(run.course.found_in)] == []
