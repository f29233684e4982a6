"""Cases of which `make test` runs a few, and `make test-more` or `make soak` the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def short_form(cases: Iterable[Any], every: int, rest: Any = pytest.mark.campaign) -> list[Any]:
    """Return cases as parameters; all but the first of each so many have the mark ``rest``.

    A tuple is a case of several parameters.
    """
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if number % every == 0 else rest,
        )
        for number, case in enumerate(cases)
    ]
