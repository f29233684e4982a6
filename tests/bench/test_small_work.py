"""What is done for every text and every page: estimating tokens, changing a page for clients."""

import time
from collections.abc import Callable
from functools import partial

import evennia_ai.web.middleware as web
from evennia_ai.policy.tokens import estimate_tokens
from tests.bench.figures import Sheet
from tests.policy.test_token_estimate import GAME
from tests.web.test_middleware import CLIENT, answer, page

TIMES = 5


def test_what_is_done_everywhere_costs_next_to_nothing(sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("small work, in CPU time")
    text = GAME["dialogues/data"] * 4
    estimate = least_s(partial(estimate_tokens, text)) * 1e6 / len(text)
    paper.add("the estimate of tokens, a character", estimate, "µs", at_most=0.1)
    changed = least_s(lambda: answer(answer(page(CLIENT)), web.client_plugin)) * 1e3
    paper.add("the client's page, with our files in it", changed, "ms", at_most=5.0)
    paper.check()


def least_s(work: Callable[[], object]) -> float:
    """Return the least processor time of some runs, in seconds."""
    work()
    spent = []
    for _ in range(TIMES):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)
