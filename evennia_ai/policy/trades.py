"""What people of a trade do with their day."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re

# Trades, what the work is, and what is left of it in the afternoon.
TRADES: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(rf"\b(?:{trade})\b", re.I), morning, afternoon)
    for trade, morning, afternoon in (
        (r"inn(?:keeper)?|tavern|alehouse|pub|bar(?:maid|keep|keeper|tender)?|landlord|landlady|brewer", "set the tables right", "look after the guests"),
        (r"\w*smith|forge|armourer|farrier", "work at the forge", "grind and polish what was made"),
        (r"chapel|temple|priest\w*|monk|nun|shrine|church|cleric|friar", "sweep the steps and pray", "listen to whoever needs it"),
        (r"guard|soldier|sentry|watchman|knight|sergeant|gatekeeper|warrior", "keep watch", "walk the rounds"),
        (r"healer|herbalist|apothecary|physician|doctor|midwife|alchemist|witch", "dry and sort herbs", "look after the sick"),
        (r"cook|baker|kitchen", "knead and bake", "stir the pots for the evening"),
        (r"librar\w+|scribe|scholar|clerk|archivist|wizard|mage|sage|teacher|chronicler", "read and make notes", "copy out a page or two"),
        (r"sailor|ferry\w*|fisher\w*|boat\w*|skipper|lighthouse|captain|mariner", "mend ropes and nets", "watch the water"),
        (r"merchant|trader|shop\w*|pedlar|peddler|stall|market|seller", "lay out the wares", "haggle with whoever comes"),
        (r"hunter|ranger|tracker|trapper|forester|scout|archer", "look for tracks", "wax the bowstring"),
        (r"farm\w*|shepherd|gardener|herder|miller|beekeeper|groom|stable\w*", "see to the beasts and the beds", "mend a fence"),
        (r"bard|minstrel|musician|singer|fiddler|piper|poet", "tune the strings", "try out a new song"),
        (r"carpenter|joiner|cooper|shipwright|wheelwright|tinker|potter|mason|tailor|weaver|cobbler", "work at the bench", "finish a piece of work"),
    )
)  # fmt: skip
