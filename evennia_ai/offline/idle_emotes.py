"""Emotes of an idle character: its habits, its work, its day plan, the things around it.

Each is a text to stand after the character's name. None changes a thing that a tool would have to
move. None says "he" or "she" unless the persona does.
"""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evennia_ai.offline.grammar import base_form, third_form
from evennia_ai.offline.words import ended, with_article
from evennia_ai.ports import Situation

SHOWN = (
    "wipe|polish|hum|whistle|fidget|tap|drum|stroke|scratch|rub|twist|braid|knit|sew|whittle|carve|sharpen|clean|"
    "sweep|stir|knead|fold|count|weigh|mend|coil|oil|pace|yawn|stretch|chew|gaze|squint|mutter|mumble|scribble|"
    "shuffle|juggle|toss|spin|pluck|tune|strum|crack|tug|adjust|straighten|brush|dust|trim|stoke|poke|hammer|file|"
    "sort|arrange|stack|roll|rock|clasp|wring|sniff|sip|nibble|pat|smooth|tend|water|rearrange|grind|push up|"
    "look (?=out|up|over|into|down|at the)|play with|toy with|lean on"
)
HABIT = re.compile(
    rf"\b(?:you|she|he|they)(?: (?:often|always|usually|sometimes|like to|likes to|tend to))? (?P<verb>{SHOWN})(?P<s>e?s)?(?P<rest> ?[^.;:,]*)",
    re.I,
)
MEANWHILE = re.compile(
    r"(?<!\s)\s*+\b(?:while|when|whenever|as|if|before|and (?:you|she|he|they))\b.*$", re.I
)
ALL = ".*"
# Words for a trade, the places for its work, and emotes of it.
WORK_ROWS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (r"inn|tavern|alehouse|pub|bar(?:maid|keep|keeper|tender)?|landlord|landlady|innkeeper|taproom|brewer|hostel", r"inn|tavern|bar|tap|alehouse|common room|counter|ale",
     ("wipes down the counter.", "rinses out a mug and sets it upside down to dry.", "pushes a bench straight.", "counts the cups under the breath.")),
    (r"smith|blacksmith|forge|armourer|farrier", r"forge|anvil|smithy|bellows",
     ("works the bellows for a while.", "turns a piece of iron in the coals.", "tries a fresh edge with one thumb.", "knocks a rivet flat with two blows.")),
    (r"chapel|temple|priest(?:ess)?|monk|nun|shrine|church|cleric|abbot|abbess|friar|vicar", ALL,
     ("folds both hands for a moment.", "moves the lips without a sound.", "bows the head, and looks up again.")),
    (r"guard|soldier|sentry|watchman|knight|warrior|sergeant|bodyguard|gatekeeper|mercenary", ALL,
     ("shifts from one foot to the other.", "runs an eye over everybody here.", "tightens the strap of a belt.")),
    (r"healer|herbalist|herbs?|apothecary|physician|doctor|midwife|alchemist|witch", ALL,
     ("crumbles a dry leaf and sniffs at it.", "wipes both hands on a cloth.", "stoppers a small bottle.")),
    (r"cook|baker|bakery|kitchen", r"kitchen|oven|bake|hearth|stove|inn|tavern",
     ("stirs a pot.", "brushes flour from both hands.", "tastes something and adds a pinch of salt.")),
    (r"librar\w+|scribe|scholar|clerk|archivist|wizard|mage|sage|teacher|chronicler|notary", ALL,
     ("makes a note in the margin of something.", "turns a page.", "looks for a word, and finds it.")),
    (r"sailor|ferry\w*|fisher\w*|boat\w*|skipper|lighthouse|light on|pilot|captain|mariner|ships?", ALL,
     ("coils a length of rope.", "tries a knot and ties it again.", "listens for the wind.")),
    (r"merchant|trader|shop\w*|pedlar|peddler|stall|market|moneylender|pawnbroker|seller", ALL,
     ("counts a few coins from one hand into the other.", "sets something straight that was straight already.", "adds up a sum under the breath.")),
    (r"hunter|ranger|tracker|trapper|forester|scout|archer", ALL,
     ("sits quite still and listens.", "runs a bit of wax along a string.", "picks a burr off a sleeve.")),
    (r"farm\w*|shepherd|gardener|herder|miller|beekeeper|groom|stable\w*", ALL,
     ("chews on a straw.", "brushes dust from a sleeve.", "looks at a broken nail and shrugs.")),
    (r"bard|minstrel|musician|singer|fiddler|piper|poet", ALL,
     ("hums the beginning of a tune.", "taps a rhythm with two fingers.", "tries a line under the breath, and another.")),
    (r"carpenter|joiner|cooper|shipwright|wheelwright|woodcarver|tinker|clock\w*|potter|mason", ALL,
     ("turns something small over, looking for the flaw in it.", "blows dust off a piece of work.", "measures something with thumb and finger.")),
    (r"tailor|weaver|seamstress|sailmaker|cobbler|tanner|dyer", ALL,
     ("bites off a thread.", "holds a seam up to the light.", "threads a needle at the first try.")),
    (r"thief|beggar|gambler|rogue|smuggler|spy|pirate", ALL,
     ("glances over one shoulder.", "lets a coin wander across the knuckles.", "counts the ways out with the eyes.")),
    (r"cat|dog|hound|wolf|dragon|horse|fox|bear|raven|beast", ALL,
     ("yawns at length.", "stretches, and settles again.", "sniffs the air.")),
)  # fmt: skip
WORK = tuple(
    (re.compile(rf"\b(?:{trade})\b", re.I), re.compile(rf"\b(?:{where})\b" if where != ALL else ALL, re.I), deeds)
    for trade, where, deeds in WORK_ROWS
)  # fmt: skip
THING_ROWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"hearth|fire|campfire|stove|brazier|forge|oven|embers", ("holds both hands out to {thing}.", "watches {thing} for a while.")),
    (r"lantern|candle|lamp|torch|light", ("looks into the light of {thing} for a moment.", "checks that {thing} will last the night.")),
    (r"book|ledger|logbook|scroll|map|letter|slate|board|notice|sign|chart|page", ("glances over {thing} and nods.", "reads something on {thing} once more.")),
    (r"mug|cup|tankard|goblet|glass|bowl|plate|jug|pot|kettle|jar", ("gives {thing} a wipe in passing.", "holds {thing} against the light and puts it back.")),
    (r"sword|dagger|knife|axe|bow|spear|blade|hammer|tool|saw|anvil", ("runs a hand along {thing}.", "looks {thing} over for nicks.")),
    (r"window|door|gate", ("glances at {thing} as if somebody were due.",)),
    (r".", ("gives {thing} a thoughtful look.", "glances at {thing}.")),
)  # fmt: skip
THING_TABLE = tuple((re.compile(rf"\b(?:{kind})s?\b" if kind != "." else ".", re.I), deeds) for kind, deeds in THING_ROWS)  # fmt: skip
CARRIED = ("makes sure of {thing}.", "turns {thing} over in one hand.")
ANYBODY = (
    "looks round.",
    "hums a few notes.",
    "shifts a little and is still again.",
    "gazes at nothing in particular for a while.",
    "tilts the head as if listening for something.",
    "takes a deep breath and lets it go.",
    "rubs both hands together.",
)
# An event, and emotes that show it was noticed.
NOTICE_ROWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"scream\w*|attack\w*|blood|fights?|dies|dead|wolf|wolves|danger|alarm|burn\w*|smoke|collaps\w*|explo\w+", ("starts, and looks round in alarm.", "draws a sharp breath.")),
    (r"bells?|knock\w*|horns?|cr(?:y|ies)|shout\w*|drums?|crash\w*|thunder\w*|howl\w*|noise|bang|tolls?|chimes?|rings?|voices?", ("looks up and listens.", "turns towards the sound.", "counts under the breath until it is quiet again.")),
    (r"rain\w*|storm\w*|snow\w*|wind|fog|mist|hail|sun|clouds?|dark\w*|dusk|dawn|night|cold|warm\w*|lightning", ("looks to see what the weather is doing.", "pulls up a collar against the weather.", "sniffs the air.")),
    (r"music|songs?|sings?|laugh\w*|cheer\w*|feast|gifts?|presents?|smell of", ("smiles.", "looks up, pleased.")),
    (r".", ("looks up at that.", "raises an eyebrow.", "takes note of it without a word.")),
)  # fmt: skip
NOTICES = tuple((re.compile(rf"\b(?:{kind})\b" if kind != "." else ".", re.I), deeds) for kind, deeds in NOTICE_ROWS)  # fmt: skip
# The day plan: "mend the nets, until 12:00" gives "mends the nets."
PLANNED = re.compile(r"(?P<what>.+?)(?P<elsewhere>, at [^,]+)?, until \d\d:\d\d")
VERB = re.compile(r"[a-z]{2,}")
# Emotes for kinds of entries, besides the entry's own words.
DEEDS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(rf"\b(?:{words})\b", re.I), deeds)
    for words, deeds in (
        (r"eat|meal|breakfast|lunch|supper|dinner", ("eats a piece of bread.", "brushes a few crumbs from a sleeve.")),
        (r"rest|nap|doze|sit", ("leans back for a moment.", "stretches both legs.")),
        (r"talk|chat|gossip|company|guests", ("looks round for somebody to talk to.",)),
        (r"watch|guard|rounds|patrol", ("walks a few steps to and fro.", "runs an eye over everybody here.")),
        (r"sweep|clean|tidy|wipe", ("sweeps a corner clean.",)),
        (r"think|plan|ponder|consider", ("frowns at nothing in particular.", "counts something off on the fingers.")),
        (r"read|write|copy|notes|accounts", ("turns a page.", "makes a note of something.")),
    )
)  # fmt: skip


def habits_in(text: str) -> list[str]:
    """Return the habits in a text: "you wipe mugs as you talk" gives "wipes mugs."."""
    found = []
    for match in HABIT.finditer(text):
        verb, _, particle = match["verb"].strip().lower().partition(" ")
        rest = MEANWHILE.sub("", f"{' ' + particle if particle else ''}{match['rest']}")
        rest = re.sub(r"\byour\b", owner_in(text), " ".join(rest.split()), flags=re.I)
        found.append(f"{third_form(base_form(verb))} {rest}".strip() + ".")
    return found


def owner_in(text: str) -> str:
    """Return "her", "his" or "their" for the persona's "your"."""
    if re.search(r"\b(?:woman|girl|lady|mother|sister|widow|mistress|wife|queen|barmaid|witch|landlady|priestess|daughter of)\b", text, re.I):  # fmt: skip
        return "her"
    if re.search(r"\b(?:man|boy|lord|father|brother|widower|master|king|landlord|son of|monk|priest)\b", text, re.I):  # fmt: skip
        return "his"
    return "their"


def work_of(text: str, situation: Situation) -> Sequence[str]:
    """Return emotes of the persona's first trade, if this is the place for it."""
    found = ((trade.search(text), where, deeds) for trade, where, deeds in WORK)
    placed = [(match.start(), where, deeds) for match, where, deeds in found if match]
    if not placed:
        return ()
    _, where, deeds = min(placed, key=lambda row: row[0])
    around = " ".join((situation.place, situation.description, *situation.things))
    return deeds if where.search(around) else ()


def deeds_with(situation: Situation) -> list[str]:
    """Return emotes with the things here and in hand that move none of them."""
    found = []
    for name in situation.things:
        deeds = next(deeds for kind, deeds in THING_TABLE if kind.search(name or "?"))
        found += [deed.format(thing=with_article(name)) for deed in deeds]
    for name in situation.carrying:
        found += [deed.format(thing=with_article(name)) for deed in CARRIED]
    return found


def noticing(event: str) -> Sequence[str]:
    """Return emotes that show an event was noticed."""
    return next((deeds for kind, deeds in NOTICES if kind.search(event)), ())


def without_meanwhile(habits: Iterable[str]) -> list[str]:
    """Return habits without their "while ..." part, for when nobody talks."""
    return [MEANWHILE.sub("", habit).rstrip(" .,") + "." for habit in habits]


def occupation_deeds(about: str) -> Sequence[str]:
    """Return emotes for a day plan's entry, as the prompt words it.

    Return none if the entry is for another place. An entry without a leading verb gives only emotes of
    its kind.
    """
    planned = PLANNED.fullmatch(about)
    if planned is None or planned["elsewhere"]:
        return ()
    what = planned["what"]
    kind = [deed for words, deeds in DEEDS if words.search(what) for deed in deeds]
    verb, _, rest = what.partition(" ")
    plain = VERB.fullmatch(verb) and ":" not in what and not verb.endswith("ing")
    own = [ended(f"{third_form(base_form(verb))} {rest}".strip())] if plain else []
    return [*own, *kind]
