"""What a sentence asks the character to do, by the patterns of its language, and what it refuses."""

import re
from dataclasses import dataclass, replace

from evennia_ai.contrib.stand_in.languages import ENGLISH, Language, compiled, match_name
from evennia_ai.contrib.stand_in.view import StandInView
from evennia_ai.contrib.stand_in.words import with_article
from evennia_ai.messages import Situation
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import plain_words

MOST_WORDS = 8  # of a thing's name
# Intents that no request is read from.
NO_WISH = frozenset(
    "nature inject crime threat insult authority story news secret_of joke invite keep_it recall_all "
    "said_by propose offer_thing farewell bribe come_in gratis haggle price".split()
)


@dataclass(frozen=True)
class RequestedAction:
    """An action that somebody requests.

    ``kind`` is give, fetch, go, get, drop, look, gesture, follow or unfollow; ``back`` tells to
    return.
    """

    kind: str
    speaker: str
    item: str = ""
    place: str = ""
    to: str = ""
    back: bool = False
    text: str = ""


def requested_action(view: StandInView) -> RequestedAction | None:
    """Return the action that a speaker requests, unless the character never does it."""
    for text in view.sentences:
        requested = None if view.language.key_of(text) in NO_WISH else read_meant(view, text)
        if requested and not _forbidden(view, requested):
            return requested
    return None


def refusal(view: StandInView, text: str) -> str:
    """Return a phrase that refuses what the character never does; "" if nothing is refused."""
    requested, intent = read_meant(view, text), view.language.asked_of(text)[0]
    clause = _forbidden(view, requested) if requested else ""
    wished = any(view.language.finds(key, text) for key in ("wish", "order"))
    if not clause and (intent.implies or (wished and not requested) or intent.key == "crime"):
        clause = _law(view, f"{text} {intent.implies}")
    if not clause or view.repeats(clause):
        return view.phrase("request_not") if clause else ""
    return view.phrase("never", fact=clause)


def read_meant(view: StandInView, text: str) -> RequestedAction | None:
    """Return the action in a sentence, with "it" replaced by the thing mentioned last, or None.

    It must name something here: an idiom such as "give me a hand" does not.
    """
    now, language = _as_it_was(view), view.language
    names = (*now.things, *now.carrying)
    pronoun = language.pattern("requests", "pronoun").search(text)
    if pronoun and not match_name(text, names):
        before = (line for line in reversed(view.transcript.talk) if line.strip() not in text)
        named = next(filter(None, (match_name(line, names) for line in before)), "")
        item = with_article(named) if language.code == ENGLISH else named
        text = text[: pronoun.start()] + item + text[pronoun.end() :] if named else text
    text = language.pattern("requests", "opening").sub("", text.strip())
    request = _RequestMatch(text, view.speaker, now, language)
    readers = (request.follow, request.walk, request.give, request.named, request.gesture)
    action = next(filter(None, (reader() for reader in readers)), None)
    kind = language.asked_of(text)[0].tells
    if action and action.kind == "give" and kind and not match_name(action.item, names):
        at_hand = next(filter(kind.search, names), "")  # "something to drink"
        action = replace(action, item=at_hand) if at_hand else None
    elif action and action.kind == "give" and match_name(action.item, view.known_people):
        return None  # a person
    return action and replace(action, text=text)


def _as_it_was(view: StandInView) -> Situation:
    """Return the situation, with things that this turn moved also in their old place.

    So a request means the same at every step of the turn; what lies elsewhere is not meant.
    """
    now, acts = view.situation, view.transcript.acts
    moved = any(act.name == "move" and not act.failed for act in acts)
    here = () if moved else now.things
    things = (*here, *(act.item for act in acts if act.name == "get"))
    carrying = (*now.carrying, *(act.item for act in acts if act.name in {"give", "drop"}))
    walks = (act for act in acts if act.name == "move")
    ways = [f"{act.arguments.get('to', '')} (to {act.result.partition(':')[0]})" for act in walks]
    return replace(now, exits=(*ways[:1], *now.exits), things=things, carrying=carrying)


@dataclass(frozen=True)
class _RequestMatch:
    """A sentence, who said it, and what there is; each method reads one kind of request."""

    text: str
    speaker: str
    situation: Situation
    language: Language

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.situation.things, *self.situation.carrying)

    def lead(self, *keys: str) -> re.Match[str] | None:
        """Return the first match of these patterns behind "please", "could you" and the like."""
        patterns = self.language.data["requests"]
        matches = (compiled(f"{patterns['lead']}(?:{patterns[key]})").match(self.text)
                   for key in keys if key in patterns)  # fmt: skip
        return next(filter(None, matches), None)

    def search(self, key: str, text: str) -> re.Match[str] | None:
        return self.language.pattern("requests", key).search(text)

    def without(self, key: str, text: str, instead: str = "") -> str:
        return self.language.pattern("requests", key).sub(lambda _: instead, text)

    def follow(self) -> RequestedAction | None:
        if self.lead("unfollow"):
            return RequestedAction("unfollow", self.speaker)
        match = self.lead("follow")
        return RequestedAction("follow", self.speaker, to=self.speaker) if match else None

    def walk(self) -> RequestedAction | None:
        match, exits = self.lead("go"), self.situation.exits
        place = match_name(match["rest"] if match else "", exits)
        if not match and len(plain_words(self.text)) == 1 and match_name(self.text, exits):
            place = match_name(self.text, exits)
        elif self.lead("return") and not place and len(exits) == 1:
            place = exits[0]
        elif not place or (match and match_name(match["rest"], self.situation.things)):
            return None
        item = self.search("fetch", self.text)
        if item and match:
            thing = self.without("tail", item["item"]).strip()
            return RequestedAction("fetch", self.speaker, thing, place, self.speaker)
        back = self.search("back", self.text) and not self.search("stay", self.text)
        return RequestedAction("go", self.speaker, place=place, back=bool(back and match))

    def give(self) -> RequestedAction | None:
        match = self.lead("give", "wish", "please")
        if not match or self.search("idiom", match["item"]):
            return None
        situation, groups = self.situation, match.groupdict()
        to = groups.get("to") or groups.get("to2") or ""
        item = self.without("tail", groups["item"]).strip()
        tail = self.search("to_whom", item)
        if tail:
            to, item = to or tail["to"], item[: tail.start()].strip()
        source = self.search("from", item)
        place = match_name(source["place"], situation.exits) if source else ""
        held = self.search("container", item)
        item = held["what"] if held else item
        if source and not place and not match_name(f"{source['place']} {item}", self.names):
            return None  # from elsewhere
        if source and (place or match_name(source["place"], situation.things)):
            item = item[: source.start()].strip()
        asked_for = match_name(item, self.names) or place or self.lead("give")
        if not item or not asked_for or len(plain_words(item)) > MOST_WORDS:
            return None
        receiver = match_name(to, situation.people) or self.speaker
        return RequestedAction("fetch" if place else "give", self.speaker, item, place, receiver)

    def named(self) -> RequestedAction | None:
        """Return the look at, taking or dropping of a thing here that a sentence names."""
        carrying, here = self.situation.carrying, self.situation.things
        for kind, names in (("look", self.names), ("drop", carrying), ("get", here)):
            match = self.lead(kind)
            item = match_name(match["item"], names) if match else ""
            if match and item:
                return RequestedAction(kind, self.speaker, item)
        return None

    def gesture(self) -> RequestedAction | None:
        match = self.lead("gesture")
        deed = self.language.data["gestures"].get(match["deed"].lower(), "") if match else ""
        if not match or not deed:
            return None
        toward = self.without("mine", match["rest"] or "", self.speaker)
        toward = self.without("not_toward", toward).rstrip(" ?.!")
        shown = f"{deed}{toward}" if deed.isalpha() else deed
        return RequestedAction("gesture", self.speaker, " ".join(shown.split()) + ".")


# --- the persona's law ----------------------------------------------------------------------------


def _forbidden(view: StandInView, requested: RequestedAction) -> str:
    """Return why the character will not do an action; "" if it will."""
    if requested.kind == "look":
        return ""
    implied = view.language.data.get("law", {}).get(requested.kind, "")
    return _law(view, requested.item or requested.text, f"{implied} {requested.text}")


def _law(view: StandInView, text: str, implied: str = "") -> str:
    """Return the refusal in the persona that fits a wish; "" if none.

    The wish, or what is ``implied``, has its verb; the wish also has another of its words, unless
    the verb is all that matters.
    """
    meant, verbs = _bare(view.language, text), _bare(view.language, implied)
    alone = _bare(view.language, view.language.data.get("law", {}).get("verb_alone", ""))
    for clause in view.character.nevers:
        verb, *objects = _bare(view.language, clause) or [""]
        is_verb_enough = not objects or (verb in alone and verb in verbs)
        if verb in {*meant, *verbs} and (is_verb_enough or not set(objects).isdisjoint(meant)):
            return clause
    return ""


def _bare(language: Language, text: str) -> list[str]:
    """Return the stems of a text's words, prepositions included, without "I", "never" and such."""
    small = language.data.get("law", {}).get("small", "").split()
    return [stem(word, language.code) for word in plain_words(text) if word not in small]
