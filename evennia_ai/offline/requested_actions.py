"""Actions that a sentence requests: a pattern for each kind, and what it names."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from evennia_ai.offline.grammar import third_form
from evennia_ai.offline.name_matching import kinds_of, match_exit, match_name
from evennia_ai.offline.words import content, words
from evennia_ai.ports import Situation

ASK = (
    r"^(?:(?:please|now|then|and|so|well|oh|hey|kindly|just|quickly|would you|could you|can you|will you|"
    r"would you mind|do|you may|you can|go and|go|come|be so (?:good|kind) as to|be a dear and|i need you to|"
    r"i want you to|i'd like you to|i would like you to|let's|why don't you|maybe|perhaps|if you (?:can|would|please))[ ,]++){0,6}"
)
GIVE = re.compile(ASK + r"(?:give|hand|pass|pour|bring|fetch|get|serve|lend|sell|find|draw|toss|throw|offer|slide|show me to|spare|loan)(?:ing)? "
                  r"(?:(?P<to>me|us|him|her|them|(?-i:[A-Z][\w']*(?: [A-Z][\w']*)?)) )?(?P<item>.+)", re.I)  # fmt: skip
WISH = re.compile(
    r"\b(?:(?:can|could|may|might) i (?:please )?(?:have|get|borrow|take|buy|see|trouble you for|ask for)|i(?:'d| would| will|'ll)"
    r" (?:like|love|have|take|fancy|want|buy)|i(?:'m| am) (?:dying|longing|parched) for|i could (?:murder|kill for|do with)|i (?:want|need|could use|could do with)|"
    r"how about|let me (?:have|get|buy|borrow)|make (?:it|that|mine))(?: to (?:have|buy|drink|borrow))? (?P<item>(?!to\b|you\b|your help).+)",
    re.I,
)
PLEASE = re.compile(
    r"^(?P<item>(?:an? |one |some |the |another )?[\w' -]{2,30}?),? please\W*$", re.I
)
GO = re.compile(ASK + r"(?:go|walk|run|head|step|pop|nip|climb|hurry|move|check|search|visit|look|see|take a look|have a look)\b"
                r"(?P<rest>.{0,300}?\b(?:to|into|in|down|up|at|over|out|through|inside|towards?|upstairs|downstairs|outside|"
                r"check|visit|north|south|east|west|the|what)\b.*)", re.I)  # fmt: skip
GET = re.compile(
    ASK + r"(?:pick up|take|grab|collect|get|pick|lift) (?:up )?(?P<item>.+?)(?: up)?\W{0,20}$",
    re.I,
)
DROP = re.compile(
    ASK
    + r"(?:drop|put down|set down|lay down|put|let go of|leave) (?:down )?(?P<item>.+?)(?: down| (?:on|here|there)\b.{0,200}+)?\W{0,20}$",
    re.I,
)
LOOK = re.compile(ASK + r"(?:look (?:closely )?(?:at|over|into)|examine|inspect|study|read|describe|take a look at|have a look at|"
                  r"what does(?= .+ (?:say|look|read|show))|what (?:colou?r|shape) (?:is|are)|how (?:big|large|heavy|tall) (?:is|are)|what are(?= .+ made of)|what(?:'s| is) (?:written |carved |scratched )?(?:on|in)|"
                  r"what do you (?:think of|see (?:on|in))|tell me about|what about|what(?:'s| is)|what is it with) (?P<item>.+)", re.I)  # fmt: skip
USE = re.compile(r"\b(?:good for|used? for|for\W*$|cost|worth|mean|come from)", re.I)
FIXED_USE = re.compile(r"(?<!good )\bfor\W*$", re.I)
VAGUE_LOOK = re.compile(
    ASK
    + r"(?:what(?:'s| is) (?!on\b|in\b|inside\b|written|carved|that\b|this\b)|tell me|what about)",
    re.I,
)
GESTURE = re.compile(ASK + r"(?P<deed>wave|nod|bow|smile|dance|laugh|clap|curtsy|salute|jump|wink|kneel|shrug|sigh|grin|frown|"
                     r"stretch|cheer|spin|stand up|sit down|blink|whistle|hum|yawn)(?: too| again| once more| please| now){0,4}(?P<rest>(?: (?:for|at|to|with|your|his|her|the)\b.*?)?)(?: too| again| once more| please| now){0,4}\W{0,20}$", re.I)  # fmt: skip
FOLLOW = re.compile(ASK + r"(?:follow me|come with me|come along|walk with me|join me)\b", re.I)
BACK = re.compile(
    r"\b(?:come|be|hurry|walk|go|get|run)(?: right| straight)? back\b|\breturn\b|\band back\b|\btell (?:me|us) what\b|\breport\b|\blet me know\b|\btell (?:me|us) (?:if|whether|how|about)\b",
    re.I,
)
FROM = re.compile(
    r"\b(?:from|out of|in|at|down in|up in|off) (?:the |your |that )?(?P<place>[\w' -]+)", re.I
)
TO_WHOM = re.compile(r"\b(?:to|for) (?P<to>me|us|him|her|[A-Z][\w']*(?: [A-Z][\w']*)?)\b\W*$")
IDIOM = re.compile(r"^(?:me )?(?:a (?:hand|break|moment|minute|chance|hint|reason|try|story|tale|joke|song|second|kiss|hug|smile|wave)|up|off|out|advice|"
                   r"some (?:advice|peace|time)|(?:your|his|her|my) (?:name|word|opinion|regards|best|thanks|greetings)|the (?:way|truth|time|news|story)|directions|"
                   r"information|help|to|in|lost|what|how|why|more about|know|a look|your attention|mind)\b|^(?:him|her|you|me|us)\W*$", re.I)  # fmt: skip


@dataclass(frozen=True)
class RequestedAction:
    """An action that somebody requests.

    ``kind`` is give, fetch, go, get, drop, look, gesture or follow.
    """

    kind: str
    speaker: str
    item: str = ""
    place: str = ""
    to: str = ""
    back: bool = False
    text: str = ""


def read_requested_action(text: str, speaker: str, situation: Situation) -> RequestedAction | None:
    """Return the action that a sentence requests, or None.

    The sentence must name something here: an idiom such as "give me a hand" does not.
    """
    plain = re.sub(r"^(?:and|but|so|well|oh|ah|then|also)\b[, ]+", "", text.strip(), flags=re.I)
    for reader in (_read_follow, _read_walk, _read_give, _read_hands, _read_look, _read_gesture):
        requested = reader(plain, speaker, situation)
        if requested:
            return replace(requested, text=plain)
    return None


def _read_follow(text: str, speaker: str, situation: Situation) -> RequestedAction | None:
    return RequestedAction("follow", speaker, to=speaker) if FOLLOW.search(text) else None


def _read_walk(text: str, speaker: str, situation: Situation) -> RequestedAction | None:
    found = GO.match(text)
    if not found:
        return None
    place = match_exit(found["rest"], situation.exits)
    if not place or (
        match_name(found["rest"], situation.things, loose=False) and "go" not in words(text)
    ):
        return None
    item = re.search(
        r"\b(?:and|to)\s+(?:bring|fetch|get|find|give)(?: me| us| him| her)?(?: back)? (?P<item>(?:a |an |the |some |one )?[\w' -]+)",
        text,
        re.I,
    )
    if item:
        thing = re.split(r"\b(?:from|back|for me|to me|please)\b", item["item"])[0]
        return RequestedAction("fetch", speaker, thing.strip(), place, speaker)
    away = re.search(r"\b(?:go away|leave us|stay there|wait (?:there|for me))\b", text, re.I)
    back = bool(BACK.search(text) or re.search(r"\b(?:check|see|look)\b", text, re.I)) and not away
    return RequestedAction("go", speaker, place=place, back=back)


def _read_give(text: str, speaker: str, situation: Situation) -> RequestedAction | None:
    found = GIVE.match(text) or WISH.search(text) or PLEASE.match(text)
    if not found or IDIOM.match(found["item"]):
        return None
    groups = found.groupdict()
    item = re.sub(
        r"(?<![?.!])[?.!]++$|,? (?:please|now|would you|will you|could you|if you (?:please|would|can|have (?:it|one|any)))\b.*$"
        r"|(?: over)? there\b.*$|,? as well\b.*$|, .*$",
        "",
        groups["item"],
        flags=re.I | re.S,
    ).strip()
    to = groups.get("to") or ""
    tail = TO_WHOM.search(item)
    if tail:
        to, item = to or tail["to"], item[: tail.start()].strip()
    source = FROM.search(item)
    place = match_exit(source["place"], situation.exits) if source else ""
    if source and (place or match_name(source["place"], situation.things, loose=False)):
        item = item[: source.start()].strip()
    receiver = match_name(to, situation.people, loose=False)
    if not receiver and to[:1].isupper() and to.lower() not in {"me", "us"}:
        item = f"{to} {item}"
    named = bool(match_name(item, (*situation.carrying, *situation.things)))
    asked = bool(GIVE.match(text)) or bool(place)
    drink = bool(kinds_of(item) & {"drink", "food"})
    if not (named or asked or drink) or len(words(item)) > 8:
        return None
    kind = "fetch" if place else "give"
    return RequestedAction(kind, speaker, item, place, receiver or speaker)


def _read_hands(text: str, speaker: str, situation: Situation) -> RequestedAction | None:
    for kind, pattern, names in (
        ("drop", DROP, situation.carrying),
        ("get", GET, situation.things),
    ):
        found = pattern.match(text)
        item = match_name(found["item"], names) if found else ""
        if found and item and not found["item"].lower().startswith(("care", "a look", "a seat")):
            return RequestedAction(kind, speaker, item)
    return None


def _read_look(text: str, speaker: str, situation: Situation) -> RequestedAction | None:
    found = LOOK.match(text)
    if not found:
        return None
    item = match_name(found["item"], (*situation.things, *situation.carrying), loose=False)
    if item and USE.search(text) and not FIXED_USE.search(text):
        return None
    if item and VAGUE_LOOK.match(text) and not set(content(found["item"])) <= set(content(item)):
        return None
    return RequestedAction("look", speaker, item) if item else None


def _read_gesture(text: str, speaker: str, situation: Situation) -> RequestedAction | None:
    found = GESTURE.match(text)
    if not found:
        return None
    verb, _, more = found["deed"].lower().partition(" ")
    rest = re.sub(r"\b(?:me|us)\b", speaker, found["rest"])
    rest = re.sub(r"\byour\b|\bfor .*$|\bwith me\b", "", rest).rstrip(" ?.!")
    deed = f"{third_form(verb)} {more}{rest}".strip()
    return RequestedAction("gesture", speaker, " ".join(deed.split()))
