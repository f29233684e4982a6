"""Actions that a sentence requests, read by the patterns of its language."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from evennia_ai.offline.languages import Language
from evennia_ai.offline.name_matching import kinds_of, match_exit, match_name
from evennia_ai.offline.words import words
from evennia_ai.ports import Situation

MOST_WORDS = 8  # of a thing's name
PLAIN = re.compile(r"^(?:and|but|so|well|oh|ah|then|also|und|aber|na|dann|also)\b[, ]+", re.I)


@dataclass(frozen=True)
class RequestedAction:
    """An action that somebody requests.

    ``kind`` is give, fetch, go, get, drop, look, gesture, follow or unfollow.
    """

    kind: str
    speaker: str
    item: str = ""
    place: str = ""
    to: str = ""
    back: bool = False
    text: str = ""


@dataclass(frozen=True)
class Asked:
    """A sentence, who said it, and what there is."""

    text: str
    speaker: str
    situation: Situation
    language: Language

    def lead(self, key: str) -> re.Match[str] | None:
        """Return the match of a pattern behind "please", "could you" and the like."""
        lead = self.language.data.get("requests", {}).get("lead", "")
        pattern = self.language.data.get("requests", {}).get(key, "(?!)")
        return re.match(f"{lead}(?:{pattern})", self.text, re.I)

    def search(self, key: str, text: str) -> re.Match[str] | None:
        """Return the first match of a pattern."""
        return self.language.pattern("requests", key).search(text)


def read_requested_action(
    text: str, speaker: str, situation: Situation, language: Language
) -> RequestedAction | None:
    """Return the action that a sentence requests, or None.

    It must name something here: an idiom such as "give me a hand" does not.
    """
    plain = PLAIN.sub("", text.strip())
    asked = Asked(plain, speaker, situation, language)
    for reader in (_follow, _look_at, _walk, _give, _hands, _look, _gesture):
        requested = reader(asked)
        if requested:
            return replace(requested, text=plain)
    return None


def _follow(asked: Asked) -> RequestedAction | None:
    for kind in ("unfollow", "follow"):
        if asked.lead(kind):
            return RequestedAction(kind, asked.speaker, to=asked.speaker)
    return None


def _walk(asked: Asked) -> RequestedAction | None:
    found, situation = asked.lead("go"), asked.situation
    bare = match_name(
        asked.text, [name.partition(" (")[0] for name in situation.exits], loose=False
    )
    if not found and bare and len(words(asked.text)) == 1:
        return RequestedAction("go", asked.speaker, place=match_exit(asked.text, situation.exits))
    place = match_exit(found["rest"], situation.exits) if found else ""
    if asked.search("return", asked.text) and not place and len(situation.exits) == 1:
        return RequestedAction("go", asked.speaker, place=situation.exits[0])
    if not found or not place or match_name(found["rest"], situation.things, loose=False):
        return None
    item = asked.search("fetch", asked.text)
    if item:
        thing = re.split(r"\b(?:from|back|for me|to me|please|bitte)\b", item["item"])[0]
        return RequestedAction("fetch", asked.speaker, thing.strip(), place, asked.speaker)
    back = asked.search("back", asked.text) and not asked.search("stay", asked.text)
    return RequestedAction("go", asked.speaker, place=place, back=bool(back))


def _give(asked: Asked) -> RequestedAction | None:
    found = asked.lead("give") or asked.lead("wish") or asked.lead("please")
    if not found or asked.search("idiom", found["item"]):
        return None
    situation, groups = asked.situation, found.groupdict()
    to = groups.get("to") or groups.get("to2") or ""
    item = asked.language.pattern("requests", "tail").sub("", groups["item"]).strip()
    tail = asked.search("to_whom", item)
    if tail:
        to, item = to or tail["to"], item[: tail.start()].strip()
    source = asked.search("from", item)
    place = match_exit(source["place"], situation.exits) if source else ""
    if source and (place or match_name(source["place"], situation.things, loose=False)):
        item = item[: source.start()].strip()
    receiver = match_name(to, situation.people, loose=False)
    named = match_name(item, (*situation.carrying, *situation.things))
    asked_for = bool(asked.lead("give")) or bool(place) or kinds_of(item) & {"drink", "food"}
    if not item or not (named or asked_for) or len(words(item)) > MOST_WORDS:
        return None
    kind = "fetch" if place else "give"
    return RequestedAction(kind, asked.speaker, item, place, receiver or asked.speaker)


def _hands(asked: Asked) -> RequestedAction | None:
    hands = (("drop", asked.situation.carrying), ("get", asked.situation.things))
    for kind, names in hands:
        found = asked.lead(kind)
        item = match_name(found["item"], names) if found else ""
        if item:
            return RequestedAction(kind, asked.speaker, item)
    return None


def _look_at(asked: Asked) -> RequestedAction | None:
    return _look(asked) if asked.lead("look") else None


def _look(asked: Asked) -> RequestedAction | None:
    sure, situation = asked.lead("look"), asked.situation
    found = sure or asked.lead("look_vague")
    if not found or len(words(found["item"])) > MOST_WORDS + 4:
        return None
    item = match_name(found["item"], (*situation.things, *situation.carrying), loose=False)
    content = asked.language.content
    if not sure and not set(content(found["item"])) <= set(content(item)):
        return None
    return RequestedAction("look", asked.speaker, item) if item else None


def _gesture(asked: Asked) -> RequestedAction | None:
    found = asked.lead("gesture")
    if not found:
        return None
    deed = asked.language.data["gestures"].get(found["deed"].lower(), "")
    toward = re.sub(r"\b(?:me|us|mir|uns)\b", asked.speaker, found["rest"] or "")
    toward = re.sub(r"\b(?:for|with|für|mit) .*$|\byour\b", "", toward).rstrip(" ?.!")
    shown = f"{deed}{toward}" if re.match(r"\w+$", deed) else deed
    return RequestedAction("gesture", asked.speaker, " ".join(shown.split())) if deed else None
