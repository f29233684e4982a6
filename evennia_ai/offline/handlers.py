"""Answers of the intents that need more than a phrase.

Each takes the view, the sentence and its topic, and returns "" to leave the answer to retrieval or
to the intent's phrases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from evennia_ai.offline import recall
from evennia_ai.offline.name_matching import exit_parts, kinds_of, match_exit, match_name
from evennia_ai.offline.passages import facts_in, is_question
from evennia_ai.offline.view import KNOWN, View
from evennia_ai.offline.words import joined, rotated, words

Handler = Callable[[View, str, str], str]
STORY = 40  # fewest characters of a good tale
MOST_LISTED = 5
FEW = 4  # words of a topic that names a thing
ALL_THINGS, ALL_WAYS = ["things"], (["exits"], ["ways"], ["doors"])
TALES = frozenset({"lore", "self", "note"})
TOPIC_FLOOR = 0.6
OWN = ("self", "lore")


def greet(view: View, text: str, topic: str) -> str:
    """Return a greeting: with the character's name first, and shorter after that."""
    if view.transcript.came_back(view.speaker):
        return view.phrase("greet_again")
    if view.transcript.met(view.speaker):
        return view.phrase("greet_more")
    return view.phrase("greet_brief" if "name" in facts_in(text, view.language) else "greet")


def identity(view: View, text: str, asked: str) -> str:
    """Return who the character is, or whether it is what the speaker asked for."""
    character, content = view.character, view.language.content
    if asked:
        held = set(content(asked)) & set(content(character.identity))
        return view.phrase("yes_fact" if held else "no_fact", fact=character.identity)
    own = dict.fromkeys([character.identity, *character.facts[:3], *character.wants[:1]])
    fresh = next((text for text in own if text and not view.repeats(text)), "")
    if not fresh:
        return view.phrase("ask_name")
    said = view.told_fact(fresh, "self")
    named = view.name.split()[0].lower() in said.lower()
    return said if named or view.was_said(view.name) else f"{view.phrase('ask_name')} {said}"


def goal(view: View, text: str, topic: str) -> str:
    """Return a goal that was not told lately, else one that was; "" if none."""
    wants = view.character.wants
    fresh = next((want for want in wants if not view.repeats(want)), "")
    return fresh or (view.phrase("again", fact=wants[0]) if wants else "")


def offer(view: View, text: str, topic: str) -> str:
    """Return the answer to an offer of help: a goal, if the character has one."""
    want = goal(view, text, topic)
    return view.phrase("goal_help", fact=want) if want else view.phrase("goal_none")


def story(view: View, text: str, topic: str) -> str:
    """Return a tale that was not told lately, from lore, else from persona or journal."""
    known = [p for p in view.passages if p.source in TALES and p.text != view.character.identity]
    long = [p for p in known if len(p.text) > STORY]
    tales = [p.text for p in [p for p in long if p.source == "lore"] or long or known]
    fresh = [text for text in rotated(tales, view.seed) if not view.repeats(text)]
    if not tales:
        return view.phrase("tale_none")
    return view.phrase("tale", fact=fresh[0]) if fresh else ""


def person(view: View, text: str, topic: str) -> str:
    """Return what persona or lore say of somebody, else what that person said."""
    if set(words(topic)) <= set(words(view.name)):
        return view.phrase("unknown_self")
    found = view.rank(topic, ("self", "lore", "want"), TOPIC_FLOOR)
    fresh = next((f.passage.text for f in found if not view.repeats(f.passage.text)), "")
    if fresh or not view.language.finds("asks_more", text):
        return view.told_fact(fresh, "self")
    return recall.about_other(view, text)


def seen(view: View, text: str, topic: str) -> str:
    """Return what the character saw on a walk."""
    here = (*view.situation.things, *view.situation.carrying)
    found = [p for p in view.passages if p.source == "saw" and p.title not in here]
    if not found:
        return view.known(text, OWN) if is_question(text, view.language) else ""
    fresh = [p for p in found if not view.repeats(p.text)]
    best = view.rank(text, ("saw",))
    chosen = best[0].passage if best else (fresh or found)[-1]
    fact = joined(chosen.text) if view.repeats(chosen.text) else chosen.text
    return view.phrase("saw", place=chosen.title, fact=fact)


def secret_of(view: View, text: str, topic: str) -> str:
    """Return what the speaker confided, if they ask for it in a whisper; else ""."""
    own = view.language.finds("mine", text) and not recall.named_other(view, text)
    return recall.everything(view) if own and view.private else ""


def where_is(view: View, text: str, topic: str) -> str:
    """Return where somebody or something is."""
    if set(words(topic)) & set(words(view.name)):
        return view.phrase("it_is_me")
    here = match_name(topic, view.situation.people, loose=False)
    if here:
        return view.phrase("right_here", other=view.called(here))
    return view.known(text) or view.phrase("not_here", other=topic)


def who_here(view: View, text: str, topic: str) -> str:
    """Return who is here."""
    return view.listing("here", "alone", map(view.called, view.others), "people")


def things(kind: str, view: View, text: str, topic: str) -> str:
    """Return what lies here (``things``) or what the character has (``carrying``)."""
    names = getattr(view.situation, kind)[:MOST_LISTED]
    return view.listing(kind, f"{kind}_none", map(view.thing, names))


def is_there(view: View, text: str, topic: str, sources: Sequence[str] = KNOWN) -> str:
    """Return whether a thing or a way to it is here, or the character has it."""
    way = match_exit(topic, view.situation.exits)
    found = recall.about_me(view, text) or (way and view.phrase("exits", exits=exit_parts(way)[0]))
    found = found or at_hand(view, topic) or view.known(text, sources)
    return found or (view.phrase("have_none", thing=topic) if 0 < len(words(topic)) < FEW else "")


def menu(view: View, text: str, topic: str) -> str:
    """Return a known sentence about food or drink, else what of it is here."""
    kinds = kinds_of(text) & {"food", "drink"} or {"food", "drink"}
    known_of = [p.text for p in view.passages if p.source in {"self", "lore"}]
    served = [t for t in known_of if t != view.character.identity and servings(t, kinds)]
    if served:
        best = sorted(served, key=lambda t: -servings(t, kinds))
        return next((t for t in best if not view.repeats(t)), view.phrase("no_more"))
    here = (*view.situation.carrying, *view.situation.things)
    named = [view.thing(name) for name in here if servings(name, kinds)]
    return view.listing("things", "menu", named)


def servings(text: str, kinds: set[str]) -> int:
    """Return how many words name food or drink of these kinds; a vessel is neither."""
    found = map(kinds_of, words(text))
    return sum(bool(of_word & kinds) and "vessel" not in of_word for of_word in found)


def exits(view: View, text: str, topic: str) -> str:
    """Return where an exit leads, or which exits there are."""
    found = match_exit(topic, view.situation.exits)
    if topic and not found:
        return view.known(text)
    if not topic:
        names = [exit_parts(name)[0] for name in view.situation.exits]
        return view.listing("exits", "exits_none", names, "exits")
    name, leads = exit_parts(found)
    return view.known(text, ("saw", "lore")) or view.phrase("exit", place=leads or name)


def clock(view: View, text: str, topic: str) -> str:
    """Return the game's time, if the prompt has it."""
    now = view.transcript.time
    return view.phrase("time", time=now) if now else view.phrase("time_none")


def count(view: View, text: str, topic: str) -> str:
    """Return how many things or exits of a name are here."""
    now = view.situation
    named = [view.thing(name) for name in (*now.things, *now.carrying)
             if match_name(topic, [name], loose=False)]  # fmt: skip
    if words(topic) == ALL_THINGS:
        named = [view.thing(name) for name in now.carrying]
    if words(topic) in ALL_WAYS:
        named = [name.replace(" (to ", " to ").rstrip(")") for name in now.exits]
    return view.listing("count", "", named)


def count_people(view: View, text: str, topic: str) -> str:
    """Return how many people are here, and who."""
    people = [view.name, view.who, *(view.called(name) for name in view.others)]
    return view.listing("number_of_us", "", people, "people")


def at_hand(view: View, text: str, *, loose: bool = True) -> str:
    """Return where a thing is that a text names: carried or here; "" if neither."""
    for key, names in (("have", view.situation.carrying), ("is_here", view.situation.things)):
        named = match_name(text, names, loose)
        if named:
            return view.phrase(key, item=view.thing(named))
    return ""


HANDLERS: dict[str, Handler] = {
    "greet": greet, "ask_self": identity, "ask_goal": goal, "offer_help": offer, "story": story,
    "opinion_person": person, "seen": seen, "secret_of": secret_of, "said_by": recall.said_by,
    "own_words": recall.own_words, "who_came": recall.arrivals, "talked_to": recall.talked_to,
    "recall_name": recall.name, "recall_all": recall.everything, "recall_gift": recall.gifts,
    "recall_first": partial(recall.told_line, 0), "recall_last": partial(recall.told_line, -1),
    "where_is": where_is, "who_here": who_here, "what_here": partial(things, "things"),
    "carry": partial(things, "carrying"), "is_there": is_there, "have": partial(is_there, sources=OWN),
    "menu": menu, "exits": exits, "way_to": exits, "time": clock,
    "count": count, "count_people": count_people,
}  # fmt: skip
FACTS = ("home", "trade", "age", "likes", "hates", "quest")
HANDLERS |= {f"recall_{key}": partial(recall.fact, key) for key in FACTS}
