"""How long a turn may take with a model on this machine or in a private network.

With llama.cpp a call that ends at its deadline is not lost: the server still reads the batch that
it began (2,048 tokens) and keeps it for the next call (measured).
"""

from __future__ import annotations

from evennia_ai.policy.limits.speed import Speed

LOCAL_DEADLINE_S = 60.0
FIRST_DEADLINE_S = 120.0  # the server may have to load the model first
LONGEST_DEADLINE_S = 180.0
LOAD = 2.0  # other calls share the machine
REPLY_SHARE = 0.5  # few replies use up max_reply_tokens


def local_deadline(speed: Speed, answered: bool, prompt_tokens: int, reply_tokens: int) -> float:
    """Return the turn deadline for a local model, `LOCAL_DEADLINE_S` to `LONGEST_DEADLINE_S`.

    Args:
        speed: the endpoint's measured speed.
        answered: True if the endpoint has answered since the server start.
        prompt_tokens: estimated size of the whole prompt; none of it may be in a cache.
        reply_tokens: the most tokens of a reply.
    """
    needed_s = LOAD * speed.seconds_for(prompt_tokens, REPLY_SHARE * reply_tokens)
    least_s = LOCAL_DEADLINE_S if answered else FIRST_DEADLINE_S
    return max(least_s, min(needed_s, LONGEST_DEADLINE_S))
