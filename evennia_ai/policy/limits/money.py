"""What a call costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from evennia_ai.errors import ConfigError

MICROS = 1_000_000
MILLION_TOKENS = 1_000_000
MOST_MONEY = 1_000_000_000  # the highest price or budget, in money
LEAST_SHOWN = 100  # micros: a ten-thousandth
INPUT, CACHED, OUTPUT = "input", "cached", "output"
EXAMPLE = "{'input': 0.20, 'cached': 0.05, 'output': 0.80}"


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in micros."""

    input: int
    cached: int
    output: int

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> int:
        """Return what tokens cost in micros, rounded half up; cached ones are of the prompt."""
        cached = min(cached_tokens, prompt_tokens)
        paid = (prompt_tokens - cached) * self.input + cached * self.cached
        paid += completion_tokens * self.output
        return (paid + MILLION_TOKENS // 2) // MILLION_TOKENS


FREE = Prices(0, 0, 0)


def read_prices(value: object, model: str) -> dict[str, Prices]:
    """Return prices by model; raises ConfigError.

    ``value`` has either the prices of ``model``, "" for all, or prices for each model.
    """
    if not isinstance(value, Mapping):
        raise ConfigError(f"it must be a dictionary such as {EXAMPLE}, not {value!r}.")
    if any(isinstance(entry, Mapping) for entry in value.values()):
        return {str(name): one_models_prices(entry) for name, entry in value.items()}
    return {model: one_models_prices(value)}


def one_models_prices(value: object) -> Prices:
    """Return the prices of one model, cached ones as the input if not given; raises ConfigError."""
    if not isinstance(value, Mapping) or not {INPUT, OUTPUT} <= set(value):
        raise ConfigError(f"prices need input and output, as in {EXAMPLE}.")
    if strange := [str(name) for name in value if name not in (INPUT, CACHED, OUTPUT)]:
        raise ConfigError(f"'{strange[0]}' is no price. Use {INPUT}, {CACHED} and {OUTPUT}.")
    given = {INPUT: value[INPUT], CACHED: value.get(CACHED, value[INPUT]), OUTPUT: value[OUTPUT]}
    return Prices(**{name: to_micros(price) for name, price in given.items()})


def to_micros(money: object) -> int:
    """Return money in micros; raises ConfigError unless it is a number from 0."""
    if isinstance(money, bool) or not isinstance(money, (int, float, Decimal)):
        raise ConfigError(f"money must be a number from 0, such as 0.15, not {money!r}.")
    amount = Decimal(str(money))
    if not amount.is_finite() or not 0 <= amount <= MOST_MONEY:
        raise ConfigError(f"money must be from 0 to {MOST_MONEY:,}, not {money!r}.")
    return int((amount * MICROS).to_integral_value(ROUND_HALF_UP))


def money_words(micros: int) -> str:
    """Return money with two decimals, or with four if it is less than 0.01."""
    if 0 < micros < LEAST_SHOWN:
        return "<0.0001"
    return f"{micros / MICROS:,.{4 if 0 < micros < MICROS // 100 else 2}f}"


CALLS, TOKENS_IN, TOKENS_OUT, MS = "calls", "tokens_in", "tokens_out", "ms"
NOTHING: Mapping[str, int] = {CALLS: 0, TOKENS_IN: 0, TOKENS_OUT: 0, MS: 0}


def add_call(
    cost: Mapping[str, int], tokens_in: int, tokens_out: int, duration_ms: int
) -> dict[str, int]:
    """Return a cost with one more call, successful or not."""
    more = {CALLS: 1, TOKENS_IN: tokens_in, TOKENS_OUT: tokens_out, MS: duration_ms}
    return {name: cost.get(name, 0) + more[name] for name in NOTHING}
