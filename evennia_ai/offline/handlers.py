"""Answers of the intents that need more than a phrase.

Each takes the view, the sentence and the intent's match, and returns "" to leave the answer to
retrieval or to the intent's phrases.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from evennia_ai.offline import recall
from evennia_ai.offline.passages import SURE
from evennia_ai.offline.questions import knowledge, told_fact
from evennia_ai.offline.scene import (
    carry,
    clock,
    count,
    count_people,
    exits,
    have,
    is_there,
    menu,
    topic_of,
    way_to,
    what_here,
    where_is,
    who_here,
)
from evennia_ai.offline.told import facts_in, is_question
from evennia_ai.offline.view import View
from evennia_ai.offline.words import joined, rotated, words

Match = re.Match[str]
Handler = Callable[[View, str, Match], str]
STORY = 40  # fewest characters of lore that make a tale
TOPIC_FLOOR = 0.6


def greet(view: View, text: str, match: Match) -> str:
    """Greet: with its name at first, and shorter after that."""
    if view.transcript.came_back(view.speaker):
        return view.phrase("greet_again")
    if view.transcript.met(view.speaker):
        return view.phrase("greet_more")
    rest = text[match.end() :].strip(" ,.!")
    if facts_in(rest, view.language).get("name"):
        return view.phrase("greet_brief")
    return view.phrase("greet")


def identity(view: View, text: str, match: Match) -> str:
    """Say who the character is."""
    kept = [view.character.identity, *view.character.facts[:3]]
    kept += [f.text for f in view.passages if f.source == "want"][:1]
    asked = topic_of(match)
    if asked:
        held = set(view.language.content(asked)) & set(
            view.language.content(view.character.identity)
        )
        return view.phrase("yes_fact" if held else "no_fact", fact=view.character.identity)
    fresh = [text for text in dict.fromkeys(kept) if text and not view.repeats(text)]
    if not fresh:
        return view.phrase("ask_name")
    said = told_fact(view, fresh[0], "self")
    named = view.name.split()[0].lower() in said.lower()
    return said if named or view.was_said(view.name) else f"{view.phrase('ask_name')} {said}"


def goal(view: View, text: str, match: Match) -> str:
    """Say a goal that was not told lately."""
    wants = view.character.wants
    fresh = next((want for want in wants if not view.repeats(want)), "")
    return fresh or (view.phrase("again", fact=wants[0]) if wants else "")


def offer(view: View, text: str, match: Match) -> str:
    """Answer an offer of help with a goal."""
    want = goal(view, text, match)
    return view.phrase("goal_help", fact=want) if want else view.phrase("goal_none")


def story(view: View, text: str, match: Match) -> str:
    """Tell a piece of lore that was not told lately."""
    lore = [p.text for p in view.passages if p.source == "lore" and len(p.text) > STORY]
    lore = lore or [p.text for p in view.passages if p.source == "self" and len(p.text) > STORY][1:]
    fresh = [text for text in rotated(lore, view.seed) if not view.repeats(text)]
    return view.phrase("tale", fact=fresh[0]) if fresh else ""


def person(view: View, text: str, match: Match) -> str:
    """Answer what it thinks or knows of somebody: what the persona says, else what they said."""
    topic = topic_of(match)
    if set(words(topic)) <= set(words(view.name)):
        return view.phrase("unknown_self")
    known = next((f.passage.text for f in view.rank(topic, ("self", "lore", "want"), TOPIC_FLOOR)
                  if not view.repeats(f.passage.text)), "")  # fmt: skip
    if known:
        return told_fact(view, known, "self")
    asks_more = re.search(r"\b(?:tell|know|say)\b", text, re.I)
    return recall.about_other(view, text) if asks_more else ""


def opinion(view: View, text: str, match: Match) -> str:
    """Answer what it thinks of something with what it knows of it."""
    topic = topic_of(match)
    return knowledge(view, topic, ("self", "lore")) if topic else ""


def seen(view: View, text: str, match: Match) -> str:
    """Answer what was seen on a walk."""
    here = (*view.scene.situation.things, *view.scene.situation.carrying)
    found = [p for p in view.passages if p.source == "saw" and p.title not in here]
    if not found:
        return knowledge(view, text, ("self", "lore")) if is_question(text) else ""
    fresh = [p for p in found if not view.repeats(p.text)]
    best = view.rank(text, ("saw",))
    chosen = best[0].passage if best else (fresh or found)[-1]
    if view.repeats(chosen.text):
        return view.phrase("saw", place=chosen.title, fact=joined(chosen.text))
    return view.phrase("saw", place=chosen.title, fact=chosen.text)


def known_first(view: View, text: str, match: Match) -> str:
    """Answer from what is known; "" leaves it to the intent's phrases."""
    found = view.language.intent_of(text)
    aspect = view.language.data.get("aspects", {}).get(found[0].key if found else "")
    if aspect is None:
        return recall.about_me(view, text) or knowledge(view, text, ("self", "lore"))
    fitting = [f for f in view.character.facts if re.search(aspect, f, re.I)]
    own = next((f for f in fitting if not view.repeats(f)), "")
    return told_fact(view, own, "self") if own else ""


def sick(view: View, text: str, match: Match) -> str:
    """Answer somebody who is ill with what is known of it, if anything is."""
    found = view.rank(text, ("self", "lore"), SURE)
    fresh = [f for f in found if not view.repeats(f.passage.text)]
    return fresh[0].passage.text if fresh and is_question(text) else ""


def secret_of(view: View, text: str, match: Match) -> str:
    """Answer what the speaker confided themselves, if this is a whisper; else keep quiet."""
    own = recall.MINE.search(text) and not recall.named_other(view, text)
    return recall.everything(view) if own and view.private else ""


def said_by(view: View, text: str, match: Match) -> str:
    """Answer what somebody said."""
    return recall.said_by(view, text, topic_of(match))


HANDLERS: dict[str, Handler] = {
    "greet": greet, "ask_self": identity, "ask_goal": goal, "offer_help": offer, "story": story,
    "opinion_person": person, "opinion": opinion, "ask_favourite": opinion, "where_is": where_is,
    "who_here": who_here, "what_here": what_here, "carry": carry, "have": have, "menu": menu,
    "exits": exits, "way_to": way_to, "is_there": is_there, "seen": seen, "time": clock,
    "count": count, "count_people": count_people, "wound": sick, "secret_of": secret_of,
    "said_by": said_by,
}  # fmt: skip
KNOWN_FIRST = (
    "ask_age ask_origin ask_home ask_family ask_kids ask_married ask_fear ask_hate ask_taste ask_past "
    "ask_skill ask_doing weather owing pay_me what_if teach song ask_feeling favour state"
)
HANDLERS |= dict.fromkeys(KNOWN_FIRST.split(), known_first)
FACTS = ("home", "trade", "age", "likes", "hates", "quest")
RECALLED: dict[str, Callable[[View, str], str]] = {
    "recall_name": recall.name, "recall_all": recall.everything, "recall_first": lambda view, _: recall.line(view, 0),
    "recall_last": lambda view, _: recall.line(view, -1), "recall_gift": recall.gifts, "own_words": recall.own_words,
    "who_came": recall.arrivals, "talked_to": recall.talked_to,
}  # fmt: skip


def handled(view: View, key: str, text: str, match: Match) -> str:
    """Return the answer of an intent's handler; "" if it has none."""
    fact = key.removeprefix("recall_")
    if fact in FACTS and fact != key:
        return recall.fact(view, fact, text)
    if key in RECALLED:
        return RECALLED[key](view, text)
    return HANDLERS[key](view, text, match) if key in HANDLERS else ""
