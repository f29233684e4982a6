"""What a sentence asks the character to do, what it refuses, and the tool calls, step by step.

It gives, looks and follows, no more: a stand-in leaves its place for nobody's errand. The brain
keeps no state: a turn's own calls and results show what was done. Nothing is claimed that no tool
did.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evennia_ai.offline.languages import ENGLISH, Language, language_of, match_name
from evennia_ai.offline.transcript import Act, reads_like
from evennia_ai.offline.view import View
from evennia_ai.offline.words import ended, with_article, words
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.ports import Situation

MOST_WORDS = 8  # of a thing's name
# Intents that no request is read from.
NO_WISH = frozenset(
    "nature inject crime threat insult authority story news secret_of joke invite keep_it recall_all "
    "said_by propose offer_thing farewell bribe come_in gratis haggle price".split()
)
SEEN_LABELS = re.compile(r"(People|Things|Exits): ([^.]*+)(?:\.|\Z)")
Calls = tuple[tuple[str, dict[str, str]], ...]


@dataclass(frozen=True)
class RequestedAction:
    """An action that somebody requests: give, look, follow or unfollow."""

    kind: str
    speaker: str
    item: str = ""
    to: str = ""
    text: str = ""


def requested_action(view: View) -> RequestedAction | None:
    """Return the action that a speaker requests, unless the character never does it."""
    for text in view.sentences:
        requested = None if view.language.key_of(text) in NO_WISH else read_meant(view, text)
        if requested and not _forbidden(view, requested):
            return requested
    return None


def refusal(view: View, text: str) -> str:
    """Return a phrase that refuses what the character never does; "" if nothing is refused."""
    requested, intent = read_meant(view, text), view.language.asked_of(text).intent
    clause = _forbidden(view, requested) if requested else ""
    wished = any(view.language.finds(key, text) for key in ("wish", "order"))
    if not clause and (intent.implies or (wished and not requested) or intent.key == "crime"):
        clause = _law(view, f"{text} {intent.implies}")
    if not clause or view.repeats(clause):
        return view.phrase("request_not") if clause else ""
    return view.phrase("never", fact=clause)


def read_meant(view: View, text: str) -> RequestedAction | None:
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
    found = _to_follow(language, text, view.speaker) or _to_give(language, text, view.speaker, now)
    found = found or _to_look(language, text, view.speaker, names)
    kind = language.asked_of(text).intent.tells
    if found and found.kind == "give" and kind and not match_name(found.item, names):
        at_hand = next(filter(kind.search, names), "")  # "something to drink"
        found = replace(found, item=at_hand) if at_hand else None
    return found and replace(found, text=text)


def _as_it_was(view: View) -> Situation:
    """Return the situation, with things that this turn moved also in their old place.

    So a request means the same at every step of the turn.
    """
    now, acts = view.situation, view.transcript.acts
    things = (*now.things, *(act.item for act in acts if act.name == "get"))
    carrying = (*now.carrying, *(act.item for act in acts if act.name == "give"))
    return replace(now, things=things, carrying=carrying)


def _lead(language: Language, text: str, *keys: str) -> re.Match[str] | None:
    """Return the first match of these patterns behind "please", "could you" and the like."""
    patterns = language.data["requests"]
    matches = (re.match(f"{patterns['lead']}(?:{patterns[key]})", text, re.I)
               for key in keys if key in patterns)  # fmt: skip
    return next(filter(None, matches), None)


def _to_follow(language: Language, text: str, speaker: str) -> RequestedAction | None:
    if _lead(language, text, "unfollow"):
        return RequestedAction("unfollow", speaker)
    found = _lead(language, text, "follow")
    return RequestedAction("follow", speaker, to=speaker) if found else None


def _to_give(language: Language, text: str, speaker: str, now: Situation) -> RequestedAction | None:
    found = _lead(language, text, "give", "wish", "please")
    if not found or language.pattern("requests", "idiom").search(found["item"]):
        return None
    groups = found.groupdict()
    to = groups.get("to") or groups.get("to2") or ""
    item = language.pattern("requests", "tail").sub("", groups["item"]).strip()
    tail = language.pattern("requests", "to_whom").search(item)
    if tail:
        to, item = to or tail["to"], item[: tail.start()].strip()
    asked_for = match_name(item, (*now.carrying, *now.things)) or _lead(language, text, "give")
    if not item or not asked_for or len(words(item)) > MOST_WORDS:
        return None
    return RequestedAction("give", speaker, item, match_name(to, now.people) or speaker)


def _to_look(
    language: Language, text: str, speaker: str, names: Sequence[str]
) -> RequestedAction | None:
    """Return a look at a thing that is here; a vague question must name nothing else."""
    for key in ("look", "look_vague"):
        found = _lead(language, text, key)
        item = match_name(found["item"], names) if found else ""
        only = found and set(language.content(found["item"])) <= set(language.content(item))
        if item and (key == "look" or only):
            return RequestedAction("look", speaker, item)
    return None


# --- the persona's law ----------------------------------------------------------------------------


def _forbidden(view: View, requested: RequestedAction) -> str:
    """Return why the character will not do an action; "" if it will."""
    if requested.kind == "look":
        return ""
    implied = view.language.data.get("law", {}).get(requested.kind, "")
    return _law(view, requested.item or requested.text, f"{implied} {requested.text}")


def _law(view: View, text: str, implied: str = "") -> str:
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
    return [stem(word, language.code) for word in words(text) if word not in small]


# --- the steps of an action -----------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """The next calls of an action and, at its end, how it ended.

    ``end`` is a key of the phrases, filled from ``slots``; if it is empty, another step follows.
    """

    calls: Calls = ()
    end: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)


def done(acts: Sequence[Act], name: str) -> list[Act]:
    """Return the turn's calls of a tool."""
    return [act for act in acts if act.name == name]


def next_step(
    requested: RequestedAction, now: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    """Return the next step of an action, given what this turn has done."""
    if requested.kind == "give":
        return _hand_over(requested, now, acts, tools)
    tool = "look" if requested.kind == "look" else "follow"
    tried = done(acts, tool)
    if tool in tools and not tried:
        return Step(((tool, {"target": requested.item or requested.to}),))
    failed = requested.kind == "follow" and (not tried or tried[-1].failed)
    slots = {"item": with_article(requested.item), "why": tried[-1].result if tried else ""}
    return Step(end=f"{requested.kind}_{'not' if failed else 'done'}", slots=slots)


def _hand_over(
    requested: RequestedAction, now: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    gave, got = done(acts, "give"), done(acts, "get")
    carried = match_name(requested.item, now.carrying)
    lying = match_name(requested.item, now.things)
    item = (gave or got)[-1].item if gave or got else carried or lying
    slots = {"item": with_article(item or requested.item), "to": requested.to}
    if gave or (carried and "give" not in tools):
        given = bool(gave) and not gave[-1].failed
        return Step(end="give_done" if given else "give_not", slots=slots)
    if carried:
        return Step((("give", {"item": carried, "to": requested.to}),))
    if lying and "get" in tools and not got:
        return Step((("get", {"item": lying}),))
    return Step(end="get_not" if got else "have_not", slots=slots)


def words_for_step(view: View, requested: RequestedAction, step: Step) -> str:
    """Return the words at the end of an action."""
    bare = view.language.pattern("patterns", "article").sub("", requested.item.strip())
    slots = {**step.slots, "thing": bare, "to": view.called(requested.to)}
    if view.language.code != ENGLISH:
        slots = {key: value.removeprefix("the ") for key, value in slots.items()}
    if step.end == "look_done":
        return _words_for_look(view, slots)
    if step.end == "give_done" and requested.to not in {view.speaker, view.who}:
        return view.phrase("give_other", **slots)
    if step.end == "have_not":
        other = view.listing("instead", "", map(view.thing, view.situation.carrying[:3]))
        known = view.known(bare, ("never", "lore", "self"))
        return known or f"{view.phrase(step.end, **slots)} {other}".strip()
    return view.phrase(step.end, **slots)


def _words_for_look(view: View, slots: Mapping[str, str]) -> str:
    """Return what a look that was asked for showed; builders may write in another language."""
    seen = SEEN_LABELS.sub("", slots["why"].partition(": ")[2] or slots["why"]).strip()
    if not seen or reads_like("nothing", seen):
        return view.known(slots["item"], ("lore", "self")) or view.phrase("look_not", **slots)
    written = language_of(seen, view.languages) or view.language
    if written is not view.language and written.full:
        return replace(view, language=written).phrase("foreign", fact=ended(seen))
    said = view.phrase("look_done", **{**slots, "fact": ended(seen)})
    return view.phrase("again", fact=ended(seen)) if view.repeats(said) else said
