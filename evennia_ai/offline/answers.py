"""One answer to one sentence: by its intent, else by what is known or was told, else an honest no.

What another person said is told as that person's words only, in quotation marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from evennia_ai.offline.languages import ENGLISH, Asked, exit_parts, match_name
from evennia_ai.offline.passages import Passage, is_near, is_sure, ranked, split_lore
from evennia_ai.offline.view import KNOWN, View
from evennia_ai.offline.words import ended, in_title, is_description, with_article
from evennia_ai.policy.conversation.character import Fit
from evennia_ai.policy.retrieval.words import language_of, without_words
from evennia_ai.policy.texts import plain_words

Handler = Callable[[View, str, str], str]
Passes = Callable[[Fit], bool]
QUOTED = 170  # characters of a line that is quoted whole
STORY = 330  # characters of a tale
MOST_LISTED, MOST_TOLD = 5, 3
FEW = 4  # words of a topic that names a thing


def answer(view: View, text: str) -> str:
    """Return the answer to one sentence."""
    asked, finds = view.language.asked_of(text), view.language.finds
    if not view.language.full:
        return view.phrase(asked.intent.key or "other")
    if not asked.intent.key and finds("follow_up", text):
        before = view.language.asked_of(" ".join(view.before[-1:])).intent
        asked = asked._replace(intent=before) if before.tells else asked  # "and a lamp?"
    if (asked.intent.tells or asked.intent.seek) and finds("narrates", text):
        return _to_statement(view, text)
    intent, handler = asked.intent, HANDLERS.get(asked.intent.key)
    open_ = intent.key in {"", "said_by"} or intent.seek or finds("asks_memory", text)
    asks = open_ and not handler and view.language.asks(text)
    told = _about_people(view, text, is_sure) if asks else ""
    said = told or (handler(view, text, asked.topic) if handler else _sought(view, asked, text))
    if said:
        return said
    if intent.say:
        instead = view.offer() if intent.tells and intent.label else ""
        return f"{view.phrase(intent.key, topic=asked.topic)} {instead}".strip()
    if (view.language.asks(text) and not finds("order", text)) or finds("follow_up", text):
        return _to_question(view, text)
    return _to_statement(view, text)


def _sought(view: View, asked: Asked, text: str) -> str:
    intent, found = asked.intent, ""
    if intent.tells:
        found = view.known(text, asked=asked)
    if intent.seek or (not found and intent.exact and view.language.asks(text)):
        found = view.known(text, intent.sources if intent.seek else KNOWN)
    return found


def _to_question(view: View, text: str) -> str:
    """Return what was told about a question, else what is known, else that it is not known."""
    language = view.language
    found = _about_people(view, text) or view.known(text)
    if not found and language.finds("asks_place", text):
        found = _at_hand(view, text)
    if not found and len(language.content(text)) > 1:
        others = [one for one in view.told if one.speaker != view.speaker]
        found = _quoted(view, _matching(view, text, others, is_sure))
    if found:
        return found
    mine = language.finds("mine", text) and not language.finds("permission", text)
    if mine and language.finds("remember", text):
        return view.phrase("told_nothing")
    key = "unknown_self" if language.finds("about_you", text) else "unknown"
    return f"{view.phrase(key)} {view.offer()}".strip()


def _to_statement(view: View, text: str) -> str:
    """Return a reaction to a statement: to its fact, to whom it is about, or a remark."""
    if view.language.finds("order", text):
        return view.phrase("request_not")
    facts, finds = view.language.facts_in(text), view.language.finds
    known = view.known(text) if finds("asks_for", text) else ""
    if known:
        return known
    for key, phrase in (("name", "met"), ("home", "from_there"), ("likes", "liked")):
        if key in facts:
            return view.phrase(phrase, value=facts[key])
    if finds("about_you", text) and not facts:
        return view.phrase("remark_you")
    if facts or finds("mine", text) or finds("third_person", text):
        return view.phrase("noted")
    return f"{view.phrase('remark')} {view.offer()}".strip()


# --- what was told in the conversation ------------------------------------------------------------


def _quoted(view: View, found: Sequence[Passage]) -> str:
    """Return the first of what was told as a quotation, "" if there is none."""
    if not found:
        return ""
    told, fact = found[0], ended(found[0].text[:QUOTED])
    if told.speaker == view.speaker:
        said = view.phrase("told", fact=fact)
        return view.phrase("told_again", fact=fact) if view.repeats(said) else said
    return view.phrase("quoted", other=view.called(told.speaker), fact=fact)


def _matching(
    view: View, text: str, told: Sequence[Passage], passes: Passes = is_near
) -> list[Passage]:
    """Return what was told about a question, the newest of the best first."""
    names = plain_words(" ".join({one.speaker for one in view.every_told}))
    told = [one for one in told if language_of(one.text) in ("", view.language.code)]
    found = view.find(without_words(text, names), [*reversed(told)], passes)
    return [one for _, one in found if not view.only_names(text, one)]


def _of_speaker(view: View, speaker: str) -> list[Passage]:
    return [told for told in view.told if told.speaker == speaker]


def _named_other(view: View, text: str) -> str:
    """Return the other speaker that a text names, by either of their names; "" if none."""
    people = [t.speaker for t in view.told if t.speaker != view.speaker] + view.others
    called = {form: name for name in people for form in (view.called(name), name)}
    return called.get(match_name(text, [*called]), "")


def _about_people(view: View, text: str, passes: Passes = is_near) -> str:
    """Return what the speaker, or another whom a question names, told about it; "" if nothing."""
    other = _named_other(view, text)
    if other:
        told = _of_speaker(view, other)
        names = plain_words(f"{other} {view.called(other)}")
        bare = not view.language.content(without_words(text, names))
        telling = [one for one in reversed(told) if one.facts.keys() - {"name"}] or told[::-1]
        asked = [] if bare else _matching(view, text, told, passes)
        whole = bare or view.language.key_of(text) == "said_by"
        return _quoted(view, asked or (telling if whole else []))
    finds, own = view.language.finds, _of_speaker(view, view.speaker)
    mine = any(finds("own", one) for one in (text, *view.before[-1:][: finds("follow_up", text)]))
    if finds("asks_memory", text) or (mine and not finds("permission", text)):
        return _quoted(view, _matching(view, text, own, passes))
    return _quoted(view, _matching(view, text, own, is_sure)) if finds("third_person", text) else ""


def _fact(view: View, text: str, topic: str, key: str) -> str:
    own = _of_speaker(view, view.speaker)
    telling = [told for told in reversed(own) if key in told.facts]
    found = [one for one in _matching(view, text, telling) if one.facts] or telling
    return _quoted(view, found or _matching(view, text, own)) or view.phrase("told_nothing")


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
    facts = "; ".join(t.text.rstrip(".!") for t in telling[-MOST_TOLD:])
    return view.phrase("told", fact=ended(facts))


def _gifts(view: View, text: str, topic: str) -> str:
    given = [s for s in view.transcript.heard if s.kind == "give" and s.speaker]
    giver = _named_other(view, text) or view.speaker
    if giver == view.speaker and view.language.finds("asks_who", text):
        named = match_name(text, [s.text for s in given])
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
    brief = len(view.sentences) > 1 or "name" in view.language.facts_in(text)
    return view.phrase("greet_brief" if brief else "greet")


def _identity(view: View, text: str, asked: str) -> str:
    """Return who the character is, or whether it is what the speaker asked for."""
    own = view.character.identity
    if not own:
        return view.phrase("ask_name")
    if asked:
        ((fit, _),) = ranked(view.ranking, asked, [Passage(own, "self")])
        return view.phrase("yes_fact" if fit.words else "no_fact", fact=own)
    said, known = view.spoken(Passage(own, "self")), view.name.lower() in view.own_talk
    named = known or view.name.split()[0].lower() in said.lower()
    return said if named else f"{view.phrase('ask_name')} {said}"


def _goal(view: View, text: str, topic: str) -> str:
    """Return a goal that was not told lately, else one that was; "" if none."""
    needs, every = view.language.intent("task").tells, view.of(("want", "self"))
    goals = [one for one in every if one.source == "want" or (needs and needs.search(one.text))]
    wants = sorted(ranked(view.ranking, text, goals), key=lambda one: view.repeats(one[1].text))
    return view.spoken(wants[0][1]) if wants else ""


def _story(view: View, text: str, topic: str) -> str:
    """Return a tale not told lately: of what a topic names, else of what happened; no price."""
    language, dull = view.character.language, view.character.language.intent("price").tells
    pieces = [*map(split_lore, view.scene.lore), *(("", one.text) for one in view.of(("note",)))]
    named = [text for title, text in pieces if _is_title(view, topic, title)]
    known = [text for _, text in pieces if not (dull and dull.search(text))]
    tales = named or sorted(known, key=lambda text: not language.finds("happened", text))
    tales = tales or [one.text for one in view.of(("self",)) if one.text != view.character.identity]
    fresh = next((text for text in tales if not view.repeats(text)), "")
    if not fresh:
        return "" if tales else view.phrase("tale_none")
    tale = f"{fresh[:STORY].rpartition('. ')[0]}." if len(fresh) > STORY else fresh
    said = view.spoken(Passage(tale, "lore"))
    return said if named or said != tale else view.phrase("tale", fact=tale)


def _is_title(view: View, topic: str, title: str) -> bool:
    wanted = set(view.language.content(topic))
    return bool(wanted) and wanted == set(view.language.content(title))


def _about(view: View, text: str, topic: str) -> str:
    """Return the piece of lore that a topic names, else the best passage about it."""
    named = any(_is_title(view, topic, split_lore(entry)[0]) for entry in view.scene.lore)
    whole = named and _story(view, text, topic)
    return whole or _about_people(view, text) or view.known(text)


def _where_is(view: View, text: str, topic: str) -> str:
    """Return where somebody or something is: here, carried, along a way, or told of."""
    if set(plain_words(topic)) & set(plain_words(view.name)):
        return view.phrase("it_is_me")
    here = match_name(topic, view.situation.people)
    if here:
        return view.phrase("right_here", other=view.called(here))
    if _leads_to(view, topic):
        return _exits(view, text, topic)
    found = _about_people(view, text) or _at_hand(view, topic) or view.known(text)
    if found or not 0 < len(plain_words(topic)) < FEW:
        return found
    return f"{view.phrase('not_here', other=topic)} {view.offer()}".strip()


def _at_hand(view: View, text: str) -> str:
    """Return where a thing is that a text names: carried or here; "" if neither."""
    for key, names in (("carried", view.situation.carrying), ("is_here", view.situation.things)):
        named = match_name(text, names)
        if named:
            return view.phrase(key, item=view.thing(named))
    return ""


def _exits(view: View, text: str, topic: str) -> str:
    """Return where an exit leads, or which exits there are."""
    found = _leads_to(view, topic)
    if found:
        name, leads = exit_parts(found)
        return view.phrase("exit", exit=with_article(name), place=leads or name)
    ways = [_way(view, one) for one in view.situation.exits]
    return view.listing("exits", "exits_none", ways, "exits")


def _way(view: View, exit_name: str) -> str:
    """Return where an exit leads, with its name if that tells more: "north to The Landing"."""
    name, leads = exit_parts(exit_name)
    place = in_title(leads or name) if view.language.code == ENGLISH else leads or name
    return place if name.lower() in place.lower() else f"{name} to {place}"


def _leads_to(view: View, topic: str) -> str:
    """Return the exit that a topic names, "" if none."""
    content, way = view.language.content, match_name(topic, view.situation.exits)
    return way if way and set(content(topic)[:1]) & set(content(way)) else ""


def _way_to(view: View, text: str, topic: str) -> str:
    """Return the way to a place, else what is known of it and the ways from here."""
    near = _at_hand(view, topic) or (_leads_to(view, topic) and _exits(view, text, topic))
    known = view.known(topic, ("self", "lore")) or view.phrase("way_to")
    return near or f"{known} {_exits(view, text, '')}"


def _here(view: View, text: str, topic: str, key: str) -> str:
    """Return who is here, what lies here, what the character has, or what time it is."""
    now, time = view.situation, view.transcript.time
    if key == "time":
        return view.phrase(key, time=time) if time else view.phrase("time_none")
    if key == "here":
        return view.listing(key, "alone", map(view.called, view.others), "people")
    names = now.things if key == "things" else now.carrying
    return view.listing(key, f"{key}_none", map(view.thing, names[:MOST_LISTED]))


def _is_there(view: View, text: str, topic: str) -> str:
    return _about_people(view, text) or _at_hand(view, topic) or view.known(text)


HANDLERS: dict[str, Handler] = {
    "greet": _greet, "ask_self": _identity, "ask_goal": _goal, "story": _story, "news": _story,
    "recall_name": _own_name, "recall_all": _everything, "recall_gift": _gifts,
    "where_is": _where_is, "who_here": partial(_here, key="here"),
    "what_here": partial(_here, key="things"), "time": partial(_here, key="time"),
    "carry": partial(_here, key="carrying"),
    "is_there": _is_there, "have": _is_there, "exits": _exits, "way_to": _way_to,
    "about": _about,
}  # fmt: skip
FACTS = ("home", "trade", "age", "likes", "hates", "quest")
HANDLERS |= {f"recall_{key}": partial(_fact, key=key) for key in FACTS}
