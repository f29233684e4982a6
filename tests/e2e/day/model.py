"""The model of a day of play: it answers as that of the crash campaigns, and its endpoint fails.

It takes the orders of `tests.provider.faulty`.
"""

import sys

from tests.e2e.crash.model import answer
from tests.provider import stub as provider
from tests.provider.faulty import FaultyOrders
from tests.provider.stub_process import StubProvider


class DayModel(StubProvider):
    """A running provider with this model."""

    module = __name__


if __name__ == "__main__":
    provider.answer_politely = answer
    provider.main(sys.argv[1:], FaultyOrders)
