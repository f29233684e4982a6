"""Answers about sounds, smells, warmth, and about looks."""

from __future__ import annotations

import re

from evennia_ai.offline.answers import from_knowledge
from evennia_ai.offline.name_matching import match_name
from evennia_ai.offline.recalled_answers import from_statements
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.understanding import Reading

SENSES = {
    "sound": re.compile(
        r"\b(?:sounds?|noise|nois\w+|hum\w*|ring\w*|quiet|silen\w+|murmur\w*|squeak\w*|crackl\w*|roar\w*|drip\w*|"
        r"hiss\w*|creak\w*|whisper\w*|hammer\w*|sing\w*|gulls|echo\w*|rattl\w*|slap\w*|rustl\w*|grumbl\w*|buzz\w*)\b",
        re.I,
    ),
    "smell": re.compile(
        r"\b(?:smell\w*|scent\w*|stink\w*|reek\w*|odou?r|fragran\w+|perfume|aroma)\b", re.I
    ),
    "feel": re.compile(
        r"\b(?:warm\w*|cold|cool|heat|hot|damp|draught\w*|chill\w*|dry|wet|soft|smoky|air)\b", re.I
    ),
}
SENSE_OF = {"noise": "sound", "hear": "sound", "stink": "smell", "scent": "smell"}


def sensed(view: RequestView, reading: Reading) -> str:
    """Return what can be heard, smelt or felt, from the place's description."""
    sense = SENSES[SENSE_OF.get(reading.topic.lower(), reading.topic.lower())]
    found = [p.text for p in view.passages if p.source == "seen" and sense.search(p.text)]
    return view.told(found[0]) if found else view.phrase("nothing_sensed")


def other_seen(view: RequestView, reading: Reading) -> str:
    """Return how somebody looks or what they do, if known; else "see for yourself"."""
    named = next((v for k, v in reading.slots.items() if k.startswith("who")), "")
    other = match_name(named, view.scene.situation.people, loose=False)
    if not other and named[:1].isupper():
        return from_knowledge(view, named) or view.phrase("not_here", other=named)
    return from_knowledge(view, reading.text, shown=False) or view.phrase("see_yourself")


def looks_of_speaker(view: RequestView, reading: Reading) -> str:
    """Return how the speaker looks, if they told it; else that it cannot tell."""
    told = from_statements(view, reading.text)
    return told or view.phrase("see_yourself")
