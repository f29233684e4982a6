"""Cases of which `make test` runs a few, and `make test-more` the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def short_form(cases: Iterable[Any], every: int) -> list[Any]:
    """Return cases as parameters; all but the first of each so many are campaigns.

    A tuple is a case of several parameters.
    """
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if number % every == 0 else pytest.mark.campaign,
        )
        for number, case in enumerate(cases)
    ]
