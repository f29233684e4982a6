"""One question to the model that answers: which sentences of a reply contradict the world."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.contrib.world_check.facts import WorldFact
from evennia_ai.errors import ProviderError
from evennia_ai.messages import LLMReply, WireMessage, unmarked
from evennia_ai.policy.call_record import PromptTrace
from evennia_ai.policy.compaction.summary import WRONG, read_verdicts
from evennia_ai.policy.sanitize import strip_reasoning
from evennia_ai.policy.texts import request
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine

log = Logger()

REPLY_TOKENS = 200
CHECK = """\
You check what a character of a game is about to say, sentence by sentence. First comes what is so \
in the game just now. For each numbered sentence answer one word:
done: it agrees with that, or that does not tell.
said: it states nothing of here and now: a question, a wish, a guess, a jest, a rule for another \
time, the past, or another place.
wrong: what is so contradicts it."""
SHOWN = "What is so:\n{facts}\n\nSomebody says: {line}\n\nSentences of the answer:\n{sentences}"
EXAMPLE = SHOWN.format(
    facts="- the north door leads to Mill Lane\n- Bo is here\n- the price of eel is 4 coins",
    line="where does the north door go?",
    sentences="1. Straight to the harbour, love.\n2. An eel was two when I was young.\n3. Bo went "
    "home.\n4. Eels are four.",
)
JUDGED = "1 wrong\n2 said\n3 wrong\n4 done"


@inlineCallbacks
def ask_which_are_wrong(
    context: ToolContext, facts: Sequence[WorldFact], line: str, statements: Sequence[str]
) -> Coroutine[frozenset[str]]:
    """Fire with the statements that a model finds to contradict rows, none after a ProviderError.

    ``line`` is what they answer. Fails with TurnAborted.
    """
    character: Any = context.character
    calls, mind = character.ai_mind.calls, context.assistant
    audience = tuple(sorted(context.audience)) if context.private else ()
    check = replace(
        calls.background_request(question(facts, line, statements), REPLY_TOKENS),
        caller=calls.caller(context.speakers, background=False),
        trace=PromptTrace(audience=audience, private=context.private, step=0),
        authors=context.all_authors,
    )
    try:
        reply: LLMReply = yield calls.apart(
            check, "world_check", mind.profile, context.deadline_at or None
        )
    except ProviderError as error:
        log.warn("{name}: nobody said what is wrong: {error}", name=mind.name, error=error)
        return frozenset()
    verdicts = read_verdicts(strip_reasoning(reply.content), statements)
    return frozenset(text for text, verdict in verdicts.items() if verdict == WRONG)


def question(facts: Sequence[WorldFact], line: str, statements: Sequence[str]) -> list[WireMessage]:
    """Return the messages of the question."""
    shown = SHOWN.format(
        facts="\n".join(f"- {fact.truth}" for fact in facts),
        line=line,
        sentences="\n".join(f"{at}. {text}" for at, text in enumerate(statements, 1)),
    )
    return [
        *request(CHECK, EXAMPLE),
        {"role": "assistant", "content": JUDGED},
        {"role": "user", "content": unmarked(shown)},
    ]
