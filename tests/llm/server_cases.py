"""What servers do that call themselves compatible, by public reports: a row for each.

A row is (answers of the server, settings of the profile, what the character must say to a player's
lines, the answers of the server that this may cost).
"""

import json

from tests.llm.endpoint_cases import END, ENDINGS, LINES, calls, delta, entry, events, native

WORDS = "Good evening."
USAGE = {"choices": [], "usage": {"prompt_tokens": 400, "completion_tokens": 9}}
TWO = '{"text": "Good evening. Come in."}'
BOTH = "Good evening. Come in."


def row(*answers, lines=1, paid=None, words=WORDS, **profile):
    said = [words, "Oak and pine.", "Warm enough for me."][:lines]
    if lines > 1:
        answers = [for_line(answer, said) for answer in answers]
    return answers, profile, said, paid or lines


def for_line(answer, said):
    """Return an answer with the words that it has for the newest line."""

    def for_newest(body):
        text = json.dumps(body["messages"])
        newest = max(number for number, line in enumerate(LINES) if line in text)
        status, made, *rest = answer(body) if callable(answer) else answer
        return status, made.replace(said[0], said[newest]), *rest

    return for_newest


# --- the connection ends behind the finish reason ------------------------------------------------

SPEECH = calls(entry(0, "say", "", "s")), calls(entry(0, None, TWO)), END
OVER = {
    f"a streamed call, {ending}": row((200, events(*SPEECH, USAGE, end=""), (), ending), words=BOTH)
    for ending in ENDINGS
} | {
    "a streamed call without usage, reset": row(
        (200, events(*SPEECH, end=""), (), "reset"), words=BOTH
    ),
    "streamed words, cut": row(
        (200, events(delta(content=WORDS), delta("stop"), end=""), (), "cut"), form="text"
    ),
    "streamed words, silent": row(
        (200, events(delta(content=WORDS), delta("stop"), end=""), (), "silent"), form="text"
    ),
    "an event cut behind the end": row(
        (200, events(*SPEECH, end='data: {"id": "x'), ()), words=BOTH
    ),
    "an error behind the end": row(
        (200, events(*SPEECH, {"error": {"message": "stream closed", "code": 500}}), ()), words=BOTH
    ),
    "a whole reply, short": row((200, native("say"), (), "short"), stream=False),
    "a whole reply, reset": row((200, native("say"), (), "reset"), stream=False),
    "a whole reply, silent": row((200, native("say"), (), "silent"), stream=False),
}  # fmt: skip

ROWS = {
    f"{kind}: {name}": made
    for kind, table in {"over": OVER}.items()
    for name, made in table.items()
}
