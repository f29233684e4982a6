"""Answers of the intents that need more than a phrase.

Each takes the view, the sentence and its topic, and returns "" to leave the answer to retrieval or
to the intent's phrases.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from evennia_ai.offline import recall, scene
from evennia_ai.offline.knowledge import known, told_fact
from evennia_ai.offline.told import facts_in, is_question
from evennia_ai.offline.view import View
from evennia_ai.offline.words import joined, rotated, words

Handler = Callable[[View, str, str], str]
STORY = 40  # fewest characters of a good tale
TALES = frozenset({"lore", "self", "note"})
TOPIC_FLOOR = 0.6
OWN = ("self", "lore")


def greet(view: View, text: str, topic: str) -> str:
    """Greet: with its name at first, and shorter after that."""
    if view.transcript.came_back(view.speaker):
        return view.phrase("greet_again")
    if view.transcript.met(view.speaker):
        return view.phrase("greet_more")
    return view.phrase("greet_brief" if "name" in facts_in(text, view.language) else "greet")


def identity(view: View, text: str, asked: str) -> str:
    """Say who the character is."""
    character, content = view.character, view.language.content
    if asked:
        held = set(content(asked)) & set(content(character.identity))
        return view.phrase("yes_fact" if held else "no_fact", fact=character.identity)
    own = dict.fromkeys([character.identity, *character.facts[:3], *character.wants[:1]])
    fresh = next((text for text in own if text and not view.repeats(text)), "")
    if not fresh:
        return view.phrase("ask_name")
    said = told_fact(view, fresh, "self")
    named = view.name.split()[0].lower() in said.lower()
    return said if named or view.was_said(view.name) else f"{view.phrase('ask_name')} {said}"


def goal(view: View, text: str, topic: str) -> str:
    """Say a goal that was not told lately."""
    wants = view.character.wants
    fresh = next((want for want in wants if not view.repeats(want)), "")
    return fresh or (view.phrase("again", fact=wants[0]) if wants else "")


def offer(view: View, text: str, topic: str) -> str:
    """Answer an offer of help with a goal."""
    want = goal(view, text, topic)
    return view.phrase("goal_help", fact=want) if want else view.phrase("goal_none")


def story(view: View, text: str, topic: str) -> str:
    """Tell what was not told lately: lore, else something of itself or of the journal."""
    known = [p for p in view.passages if p.source in TALES and p.text != view.character.identity]
    long = [p for p in known if len(p.text) > STORY]
    tales = [p.text for p in [p for p in long if p.source == "lore"] or long or known]
    fresh = [text for text in rotated(tales, view.seed) if not view.repeats(text)]
    if not tales:
        return view.phrase("tale_none")
    return view.phrase("tale", fact=fresh[0]) if fresh else ""


def person(view: View, text: str, topic: str) -> str:
    """Answer what it thinks or knows of somebody: what the persona says, else what they said."""
    if set(words(topic)) <= set(words(view.name)):
        return view.phrase("unknown_self")
    found = view.rank(topic, ("self", "lore", "want"), TOPIC_FLOOR)
    fresh = next((f.passage.text for f in found if not view.repeats(f.passage.text)), "")
    if fresh or not view.language.finds("asks_more", text):
        return told_fact(view, fresh, "self")
    return recall.about_other(view, text)


def seen(view: View, text: str, topic: str) -> str:
    """Answer what was seen on a walk."""
    here = (*view.situation.things, *view.situation.carrying)
    found = [p for p in view.passages if p.source == "saw" and p.title not in here]
    if not found:
        return known(view, text, OWN) if is_question(text, view.language) else ""
    fresh = [p for p in found if not view.repeats(p.text)]
    best = view.rank(text, ("saw",))
    chosen = best[0].passage if best else (fresh or found)[-1]
    fact = joined(chosen.text) if view.repeats(chosen.text) else chosen.text
    return view.phrase("saw", place=chosen.title, fact=fact)


def secret_of(view: View, text: str, topic: str) -> str:
    """Answer what the speaker confided themselves, if this is a whisper; else keep quiet."""
    own = view.language.finds("mine", text) and not recall.named_other(view, text)
    return recall.everything(view) if own and view.private else ""


HANDLERS: dict[str, Handler] = {
    "greet": greet, "ask_self": identity, "ask_goal": goal, "offer_help": offer, "story": story,
    "opinion_person": person, "seen": seen, "secret_of": secret_of, "said_by": recall.said_by,
    "own_words": recall.own_words, "who_came": recall.arrivals, "talked_to": recall.talked_to,
    "recall_name": recall.name, "recall_all": recall.everything, "recall_gift": recall.gifts,
    "recall_first": partial(recall.told_line, 0), "recall_last": partial(recall.told_line, -1),
    "where_is": scene.where_is, "who_here": scene.who_here, "what_here": scene.what_here,
    "carry": scene.carry, "is_there": scene.is_there, "have": partial(scene.is_there, sources=OWN),
    "menu": scene.menu, "exits": scene.exits, "way_to": scene.exits, "time": scene.clock,
    "count": scene.count, "count_people": scene.count_people,
}  # fmt: skip
FACTS = ("home", "trade", "age", "likes", "hates", "quest")
HANDLERS |= {f"recall_{key}": partial(recall.fact, key) for key in FACTS}
