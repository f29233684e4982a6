"""Starts, steers and stops a stub provider that can play faults."""

from collections.abc import Sequence
from typing import Any

from tests.provider.stub_process import StubProvider


class FaultyProvider(StubProvider):
    """A running stub provider that plays the faults of `tests.provider.faults`."""

    module = "tests.provider.faulty"

    def fault(self, *names: str, **options: Any) -> None:
        """Answer the next requests with these faults, in order."""
        self.queue(*({"fault": name, **options} for name in names))

    def mix_faults(self, rate: float, seed: int = 0, names: Sequence[str] | None = None) -> None:
        """Have a share of all requests meet a fault; the same seed gives the same course."""
        named = {} if names is None else {"names": list(names)}
        self.control(faults={"rate": rate, "seed": seed, **named})

    def obey(self, canary: str, most_acts: int) -> None:
        """Do from now on what any text of a prompt says, and repeat every secret in it."""
        self.control(obedient={"canary": canary, "most_acts": most_acts})

    def clear(self) -> None:
        """Forget all orders, answer at once and politely, and begin an empty log."""
        self.control(faults={}, obedient={})
        super().clear()
