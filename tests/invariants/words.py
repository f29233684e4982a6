"""P13, nothing but words is spoken, and what was refused is in no later prompt."""

import json
import re

from tests.invariants.evidence import ActRow, Evidence, RequestRow, Violation

SHOWN = frozenset({"say", "whisper", "emote"})
# Written apart from the engine's own patterns, from the output of real models.
NO_WORDS = re.compile(
    r"```|</?\s?(?:think|tool_call|function|parameter|situation|you|\|)|<\|"
    r"|\[/?TOOL_CALLS|\[ARGS\]|[{(]\s?[\"'][a-z]+[\"']\s?:|[\"']\s?:\s?[\"'{\[(]"
    r"|^(?:Assistant|Whisper|System prompt|Ann|Bob|Cel|Ben|Cid)(?: says)?:"
    r"|\b(?:say|whisper|noop)\(|I can't help you with that"
)


def check_words_only(evidence: Evidence) -> list[Violation]:
    """Check that nobody heard or saw a call, a label, a tag, a fence or reasoning."""
    return [
        Violation("P13", deed.assistant, f"{deed.name} showed {deed.text!r}")
        for deed in evidence.deeds
        if deed.name in SHOWN and NO_WORDS.search(deed.text)
    ]


def check_refused_words(evidence: Evidence) -> list[Violation]:
    """Check that words which are none, and were refused, are in no later prompt."""
    found = []
    for act in evidence.acts:
        text = refused_text(act)
        asked = [row for row in evidence.requests if text and row.assistant == act.assistant]
        holding = [row for row in asked if text in row.text]
        if any(is_later(row, act) for row in holding) and all(is_later(r, act) for r in holding):
            words = f"refused words are in a later prompt: {text!r}"
            found.append(Violation("P13", act.assistant, words))
    return found


def refused_text(act: ActRow) -> str:
    """Return the text of refused speech that was no speech, "" for any other act."""
    if act.state != "refused" or act.name not in SHOWN:
        return ""
    try:
        text = str(json.loads(act.arguments).get("text", ""))
    except ValueError:
        return ""
    return text if NO_WORDS.search(text) else ""


def is_later(request: RequestRow, act: ActRow) -> bool:
    """Return True if a request was made after an act was refused."""
    return None not in (request.moment, act.moment) and request.moment > act.moment  # type: ignore[operator]
