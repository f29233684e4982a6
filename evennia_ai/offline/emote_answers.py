"""Answers to emotes: an emote for an emote, and words if they fit better."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.request_view import RequestView

# A pattern for the emote, the emote in answer, and the key of the words; either may be empty.
TABLE: tuple[tuple[str, str, str], ...] = (
    (r"punch|slap|kick|hits?\b|stab|attack|shove|push|spits?\b|bites?\b|strikes?\b|throws? .{0,60} at|draws? (?:a|his|her|their) (?:sword|knife|dagger)", "takes a step back.", "struck"),
    (r"\bwav(?:es?|ing)\b", "waves back at {speaker}.", "greet"),
    (r"\b(?:bows?|curtsies|curtseys|curtsy|kneels?)\b", "bows to {speaker} in turn.", "greet"),
    (r"\bsalutes?\b", "returns the salute of {speaker}.", "greet"),
    (r"\bnods?\b", "nods to {speaker}.", ""),
    (r"\b(?:smiles?|grins?|beams?)\b", "smiles at {speaker}.", ""),
    (r"\bwinks?\b", "raises an eyebrow at {speaker}.", ""),
    (r"\b(?:laughs?|chuckles?|giggles?)\b", "laughs with {speaker}.", ""),
    (r"\b(?:cries|weeps?|sobs?|sniffs?|sighs?|trembles?|shivers?|groans?)\b", "looks at {speaker} with concern.", "comfort"),
    (r"\b(?:hugs?|embraces?|kisses)\b", "", "hug"),
    (r"\b(?:toasts?|(?:raises?|lifts?) (?:a|his|her|their|the) (?:\w+ )?(?:mug|glass|cup|tankard|goblet))\b", "", "health"),
    (r"\b(?:sits?|settles?|takes? a seat|leans? (?:on|against|back))\b", "nods to {speaker}.", "seat"),
    (r"\b(?:dances?|sings?|juggles?|whistles?|plays?)\b", "claps a few times for {speaker}.", ""),
    (r"\bshrugs?\b", "shrugs too.", ""),
    (r"\b(?:glares?|frowns?|scowls?|growls?|sneers?|sticks? out)\b", "meets the eye of {speaker} and waits.", ""),
)  # fmt: skip
ROWS = tuple((re.compile(pattern, re.I), emote, words) for pattern, emote, words in TABLE)


def answer_emote(view: RequestView, text: str, greet: str) -> tuple[str, str]:
    """Return the emote and the words that answer an emote; either may be "".

    ``greet`` is the greeting to use.
    """
    deed = text.removeprefix(view.speaker).strip()
    quoted = re.match(r'[^"“]*+["“](.+)["”]', deed, re.DOTALL)
    for pattern, emote, key in ROWS:
        if pattern.search(deed):
            words = greet if key == "greet" else view.phrase(key) if key else ""
            return emote.format(speaker=view.speaker), words
    return "", "" if quoted else view.phrase("seen")
