"""One answer to one sentence: by its intent, else by what is known or was told, else a deflection.

What another person said is told as that person's words only, in quotation marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from evennia_ai.offline.languages import Intent, exit_parts, match_exit, match_name
from evennia_ai.offline.passages import Passage, Told
from evennia_ai.offline.view import KNOWN, View
from evennia_ai.offline.words import is_description, joined, rotated, words

Handler = Callable[[View, str, str], str]
LINE = 0.34  # share of a question's words that a told line must hold
SURE = 0.6  # share that a statement needs, which asks for no answer
QUOTED = 170  # characters of a line that is quoted whole
STORY = 40  # fewest characters of a good tale
MOST_LISTED, MOST_TOLD = 5, 3
FEW = 4  # words of a topic that names a thing
OWN = ("self", "lore")


def answer(view: View, text: str) -> str:
    """Return the answer to one sentence."""
    intent, topic = view.language.intent_of(text)
    if not view.language.full:
        return view.phrase(intent.key or "other")
    handler = HANDLERS.get(intent.key)
    said = handler(view, text, topic) if handler else _sought(view, intent, text)
    if said or intent.say:
        return said or view.phrase(intent.key, topic=topic)
    asks = view.language.asks(text) or view.language.finds("follow_up", text)
    return _to_question(view, text) if asks else _to_statement(view, text)


def _sought(view: View, intent: Intent, text: str) -> str:
    """Return a fact of the persona or another known passage for an intent, "" if none."""
    own = (passage for passage in view.of(("self",)) if intent.facts.search(passage.text))
    fresh = next((passage for passage in own if not view.repeats(passage.text)), None)
    if fresh or not intent.seek:
        return view.told_fact(fresh) if fresh else ""
    return _about_me(view, text) or view.known(text, OWN, stale=view.language.asks(text))


def _to_question(view: View, text: str) -> str:
    """Return what was told about a question, else what is known, else a deflection."""
    found = _about_me(view, text) or _about_other(view, text) or view.known(text, stale=False)
    found = found or _quoted(view, _matching(view, text, view.told, SURE))
    if not found and view.language.finds("asks_place", text):
        found = _at_hand(view, text, loose=False)
    if found or (found := view.known(text)):
        return found
    if view.language.finds("about_you", text):
        return view.phrase("unknown_self")
    unsure = view.language.finds("yes_or_no", text) and not _named_other(view, text)
    return view.phrase("unknown_yesno" if unsure else "unknown")


def _to_statement(view: View, text: str) -> str:
    """Return a reaction to a statement: to its fact, a known passage, or a remark."""
    facts = view.language.facts_in(text)
    for key, phrase in (("name", "met"), ("home", "from_there"), ("likes", "liked")):
        if key in facts:
            return view.phrase(phrase, value=facts[key])
    best = [found.passage for found in view.rank(text, view.of(OWN), SURE)[:1]]
    if best and len(view.language.content(text)) > 1 and not view.repeats(best[0].text):
        return view.told_fact(best[0])
    if facts:
        return view.phrase("noted")
    return view.phrase("remark")


# --- what was told in the conversation ------------------------------------------------------------


def _quote(view: View, told: Told) -> str:
    fact = joined(told.text.rstrip(".! "))[:QUOTED]
    if told.speaker == view.speaker:
        said = view.phrase("told", fact=fact)
        return view.phrase("told_again", fact=fact) if view.repeats(said) else said
    return view.phrase("said_by", other=view.called(told.speaker), fact=fact)


def _quoted(view: View, found: Sequence[Told]) -> str:
    """Return the first of what was told as a quotation, "" if there is none."""
    return _quote(view, found[0]) if found else ""


def _matching(view: View, text: str, told: Sequence[Told], floor: float = LINE) -> list[Told]:
    """Return what was told about a question, best first, the newest of equals first."""
    passages = {Passage(t.text, "told", " ".join(t.facts)): t for t in told}
    names = " ".join({t.speaker for t in view.every_told})
    found = view.rank(text, [*reversed(passages)], floor, without=names)
    return [passages[item.passage] for item in found]


def _of_speaker(view: View, speaker: str) -> list[Told]:
    return [told for told in view.told if told.speaker == speaker]


def _about_me(view: View, text: str) -> str:
    """Return what the speaker told about a question; "" for any other question."""
    asks = view.language.finds("mine", text) and view.language.finds("remember", text)
    if not asks or _named_other(view, text):
        return ""
    unknown = view.phrase("told_nothing") if view.language.finds("asks_memory", text) else ""
    return _quoted(view, _mine(view, text)) or unknown


def _mine(view: View, text: str) -> list[Told]:
    """Return what the speaker told about a question, else what holds the kind it asks for."""
    own, wanted = _of_speaker(view, view.speaker), view.holds(text)
    found = _matching(view, text, own)
    return found or [t for t in reversed(own) if wanted and wanted.search(t.text)]


def _named_other(view: View, text: str) -> str:
    """Return the other speaker that a text names, by either of their names; "" if none."""
    people = [t.speaker for t in view.told if t.speaker != view.speaker] + view.others
    called = {form: name for name in people for form in (view.called(name), name)}
    return called.get(match_name(text, [*called], loose=False), "")


def _about_other(view: View, text: str) -> str:
    """Return what a speaker that a question names told about it, "" if it names none."""
    other = _named_other(view, text)
    return _quoted(view, _matching(view, text, _of_speaker(view, other))) if other else ""


def _fact(view: View, text: str, topic: str, key: str) -> str:
    """Return what the speaker told of a kind of fact, such as their home."""
    own = [told for told in reversed(_of_speaker(view, view.speaker)) if key in told.facts]
    return _quoted(view, own or _mine(view, text)) or view.phrase("told_nothing")


def _own_name(view: View, text: str, topic: str) -> str:
    """Return that the speaker told no name; "" if a phrase can name them."""
    return view.phrase("told_nothing") if is_description(view.who) else ""


def _everything(view: View, text: str = "", topic: str = "") -> str:
    """Return what the speaker told: the last lines with facts, else any."""
    own = _of_speaker(view, view.speaker)
    own = [t for t in own if t.private] or own if view.private else own
    telling = [t for t in own if t.facts] or own
    if not telling:
        return _own_name(view, text, topic) or view.phrase("know_you")
    return view.phrase("told", fact='", "'.join(t.text.rstrip(".!") for t in telling[-MOST_TOLD:]))


def _gifts(view: View, text: str, topic: str) -> str:
    """Return who gave what."""
    given = [s for s in view.transcript.heard if s.kind == "give" and s.speaker]
    giver = _named_other(view, text) or view.speaker
    if giver == view.speaker and view.language.finds("asks_who", text):
        named = match_name(text, [s.text for s in given], loose=False)
        given = [s for s in given if s.text == named]
        giver = next((s.speaker for s in reversed(given)), "")
    things = [view.thing(s.text) for s in given if s.speaker == giver][-MOST_TOLD:]
    key = "gave_you" if giver == view.speaker else "gave"
    return view.listing(key, "gave_none", things, other=view.called(giver))


# --- what the character is, and what is here ------------------------------------------------------


def _greet(view: View, text: str, topic: str) -> str:
    """Return a greeting: with the character's name first, and shorter after that."""
    if view.transcript.met(view.speaker):
        return view.phrase("greet_more")
    return view.phrase("greet_brief" if "name" in view.language.facts_in(text) else "greet")


def _identity(view: View, text: str, asked: str) -> str:
    """Return who the character is, or whether it is what the speaker asked for."""
    character, content = view.character, view.language.content
    if asked:
        held = set(content(asked)) & set(content(character.identity))
        return view.phrase("yes_fact" if held else "no_fact", fact=character.identity)
    own = dict.fromkeys([character.identity, *character.facts[:3], *character.wants[:1]])
    fresh = next((text for text in own if text and not view.repeats(text)), "")
    if not fresh:
        return view.phrase("ask_name")
    said = view.told_fact(Passage(fresh, "self"))
    named = view.name.split()[0].lower() in said.lower()
    return said if named or view.was_said(view.name) else f"{view.phrase('ask_name')} {said}"


def _goal(view: View, text: str, topic: str) -> str:
    """Return a goal that was not told lately, else one that was; "" if none."""
    wants = view.character.wants
    fresh = next((want for want in wants if not view.repeats(want)), "")
    return fresh or (view.phrase("again", fact=wants[0]) if wants else "")


def _story(view: View, text: str, topic: str) -> str:
    """Return a tale that was not told lately, from lore, else from persona or journal."""
    known = [p for p in view.of((*OWN, "note")) if p.text != view.character.identity]
    long = [p for p in known if len(p.text) > STORY]
    tales = [p.text for p in [p for p in long if p.source == "lore"] or long or known]
    fresh = [text for text in rotated(tales, view.seed) if not view.repeats(text)]
    if not tales:
        return view.phrase("tale_none")
    return view.phrase("tale", fact=fresh[0]) if fresh else ""


def _where_is(view: View, text: str, topic: str) -> str:
    """Return where somebody or something is."""
    if set(words(topic)) & set(words(view.name)):
        return view.phrase("it_is_me")
    here = match_name(topic, view.situation.people, loose=False)
    if here:
        return view.phrase("right_here", other=view.called(here))
    return view.known(text) or view.phrase("not_here", other=topic)


def _is_there(view: View, text: str, topic: str, sources: Sequence[str] = KNOWN) -> str:
    """Return whether a thing or a way to it is here, or the character has it."""
    way = match_exit(topic, view.situation.exits)
    found = _about_me(view, text) or (way and view.phrase("exits", exits=exit_parts(way)[0]))
    found = found or _at_hand(view, topic) or view.known(text, sources)
    return found or (view.phrase("have_none", thing=topic) if 0 < len(words(topic)) < FEW else "")


def _at_hand(view: View, text: str, *, loose: bool = True) -> str:
    """Return where a thing is that a text names: carried or here; "" if neither."""
    for key, names in (("have", view.situation.carrying), ("is_here", view.situation.things)):
        named = match_name(text, names, loose)
        if named:
            return view.phrase(key, item=view.thing(named))
    return ""


def _exits(view: View, text: str, topic: str) -> str:
    """Return where an exit leads, or which exits there are."""
    found = match_exit(topic, view.situation.exits)
    if topic and not found:
        return view.known(text)
    if not topic:
        names = [exit_parts(name)[0] for name in view.situation.exits]
        return view.listing("exits", "exits_none", names, "exits")
    name, leads = exit_parts(found)
    return view.known(text, ("lore",)) or view.phrase("exit", place=leads or name)


def _here(view: View, text: str, topic: str, key: str) -> str:
    """Return who is here, what lies here, what the character has, or what time it is."""
    now, time = view.situation, view.transcript.time
    if key == "time":
        return view.phrase(key, time=time) if time else view.phrase("time_none")
    if key == "here":
        return view.listing(key, "alone", map(view.called, view.others), "people")
    names = now.things if key == "things" else now.carrying
    return view.listing(key, f"{key}_none", map(view.thing, names[:MOST_LISTED]))


HANDLERS: dict[str, Handler] = {
    "greet": _greet, "ask_self": _identity, "ask_goal": _goal, "story": _story,
    "recall_name": _own_name, "recall_all": _everything, "recall_gift": _gifts,
    "where_is": _where_is, "who_here": partial(_here, key="here"),
    "what_here": partial(_here, key="things"), "time": partial(_here, key="time"),
    "carry": partial(_here, key="carrying"),
    "is_there": _is_there, "have": partial(_is_there, sources=OWN), "exits": _exits, "way_to": _exits,
}  # fmt: skip
FACTS = ("home", "trade", "age", "likes", "hates", "quest")
HANDLERS |= {f"recall_{key}": partial(_fact, key=key) for key in FACTS}
