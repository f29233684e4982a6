"""What a model of the mode `PLAIN` is shown beside the talk: a short persona, examples, notes.

The template and its figures: a real 1.5B model answers 38 of 60 fresh lines sensibly with it, and
22 with rules and a JSON object (judged blind). Notes by code stand behind the line that they are
about, where small models follow them: 15 of 16, before the line 9 of 16 (Qwen2.5-Coder 1.5B).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evennia_ai.messages import MARK, WireMessage
from evennia_ai.policy.context.situation_updates import LORE, REMEMBERED, Row
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.texts import sentences

PERSONA_WORDS = 60
MOST_RECALLED, LEAST_FIT = 2, 0.07  # memories, and how well the least of them fits the line
STRANGER = "Eve"  # who speaks in the examples
RECALLED = f"You remember, two days ago: {STRANGER}: My cloak is red."
# What somebody else says to the character, between what stands before it and behind it.
EXCHANGES = (
    ("", "Good evening!", "", "Good evening. {who}"),
    (RECALLED, "What colour is my cloak?", "", "Red, you told me."),
    ("", "Could you hand me that lamp?", "", "*gives lamp* Take it. Mind the glass."),
    ("", "My father had such a lamp.", "", "Did he? They are hard to come by."),
    ("", "It is cold. Shall we go to the garden?", "", "*goes garden* After you."),
    ("", "You are an ugly fool.", "", "Mind your tongue."),
    ("", "Guten Tag, wie heißt du?", "Answer in German.", "Guten Tag. Ich heiße {name}."),
)


class LineNote(NamedTuple):
    """What code tells of a line, with the example that shows how to answer it."""

    fact: str
    words: str
    answer: str


NOT_KNOWN = LineNote(
    "You have no idea: nobody told you.",
    "Who was my grandfather?",
    "How should I know that? Nobody told me.",
)
NOT_UNDERSTOOD = LineNote(
    "You do not understand these strange words.",
    "Write me a computer program.",
    "What is that? I do not know such words.",
)
REFUSE = LineNote("You refuse.", "Help me to rob the baker!", "No. I will not do that.")


def note(text: str) -> str:
    """Return a line of code's own for a prompt, as no player can write it."""
    return f"{MARK} {text}"


def short_persona(name: str, persona: Persona) -> str:
    """Return the first whole sentences of a persona, about `PERSONA_WORDS` words.

    What others may not know and what it never does are left out: a small model tells it. Code
    minds them (`turn.plain_turns`).
    """
    texts = [persona.text, persona.voice and f"Your voice: {persona.voice}.", persona.manner]
    kept = [f"You are {name}."] if name not in persona.text else []
    left = PERSONA_WORDS
    for sentence in (part.strip() for text in texts if text for part in sentences(text)):
        left -= len(sentence.split())
        if left < 0 and len(kept) > 0:
            break
        kept.append(sentence)
    return " ".join(kept)


def introduction(name: str, persona: Persona) -> str:
    """Return how the character tells who it is, by the first sentence of its persona."""
    first, you = next(iter(sentences(persona.text)), "").strip(), f"You are {name}"
    return f"I am {first.removeprefix('You are ')}" if first.startswith(you) else f"I am {name}."


def examples(name: str, persona: Persona, notes: Iterable[LineNote]) -> list[WireMessage]:
    """Return exchanges that show how the character answers; only its name and who it is vary.

    The example of a note comes with the note alone: it would be copied in other talk.
    """
    who, messages = introduction(name, persona), list[WireMessage]()
    own = [("", item.words, item.fact, item.answer) for item in notes]
    for before, words, behind, answer in (*EXCHANGES, *own):
        rows = [before and note(before), f"{STRANGER} says: {words}", behind and note(behind)]
        reply = answer.format(name=name, who=who)
        messages.append({"role": "user", "content": "\n".join(filter(None, rows))})
        messages.append({"role": "assistant", "content": reply})
    return messages


def parted(rows: Iterable[Row], recalled: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return what a prompt tells of the moment, and the few rows that may answer its line.

    More than a piece of lore and two memories make a small model speak of something else. A line
    and what changes it fit equally well, and count as one.
    """
    listed = list(rows)
    lore = [row for row in listed if row[0] == LORE]
    fits = {line.score for _label, line in recalled if line.score >= LEAST_FIT}
    best = sorted(fits, reverse=True)[:MOST_RECALLED]
    memories = [row for row in recalled if row[1].score in best]
    return [row for row in listed if row not in lore], [*lore[:1], *memories]


def plain_scene(rows: Iterable[Row]) -> str:
    """Return what a scene tells in few words: the situation in one line, each memory in its own."""
    seen, apart = list[str](), list[str]()
    for label, line in rows:
        if label == REMEMBERED:
            apart.append(note(f"{label}, {line.text}"))
        elif label == LORE:
            apart.append(note(f"{label}: {line.text}"))
        else:
            seen.append(f"{label}: {line.text.rstrip('.')}")
    return "\n".join([*([note(f"{'; '.join(seen)}.")] if seen else []), *apart])
