"""One answer to one sentence: by its intent, else by what is known or was told, else an honest no.

What another person said is told as that person's words only, in quotation marks.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from evennia_ai.offline.languages import Asked, exit_parts, match_name
from evennia_ai.offline.passages import Passage, split_lore
from evennia_ai.offline.view import KNOWN, SURE, View
from evennia_ai.offline.words import is_description, rotated
from evennia_ai.policy.retrieval.words import without_words
from evennia_ai.policy.texts import plain_words

Handler = Callable[[View, str, str], str]
# Share of a question's words that a quotation holds: of one about what was told, of any other.
ASKED, SURE_ENOUGH = 0.4, 0.5
QUOTED = 170  # characters of a line that is quoted whole
STORY = 330  # characters of a tale
MOST_LISTED, MOST_TOLD = 5, 3
THINGS, EXITS = re.compile(r"Things: (.*)\."), re.compile(r"(?:Exits|People): ")
ORDERED = frozenset({"buy", "food", "drink"})  # kinds of sentences that may be an order
FEW = 4  # words of a topic that names a thing


def answer(view: View, text: str) -> str:
    text = _with_name(view, text)
    asked = view.language.asked_of(text)
    if not view.language.full:
        return view.phrase(asked.intent.key or "other")
    if not asked.intent.key and view.language.finds("follow_up", text):
        before = view.language.asked_of(" ".join(_before(view)[:1])).intent
        asked = asked._replace(intent=before) if before.tells else asked  # "and a lamp?"
    intent, handler = asked.intent, HANDLERS.get(asked.intent.key)
    told = "" if handler or not view.language.asks(text) else _about_people(view, text, SURE_ENOUGH)
    said = told or (handler(view, text, asked.topic) if handler else _sought(view, asked, text))
    if said:
        return _to_order(view, text, said) if intent.key in ORDERED else said
    if intent.say:
        if not (intent.tells and intent.label):
            return view.phrase(intent.key, topic=asked.topic)
        # What a bed costs instead of a boat; in another language it may be what was asked for.
        instead = view.known(text, intent.sources, replace(intent, exact=False))
        if not instead:
            return view.with_offer(intent.key, topic=asked.topic)
        return instead if view.is_foreign else f"{view.phrase(intent.key)} {instead}"
    if view.language.asks(text) or view.language.finds("follow_up", text):
        return _to_question(view, text)
    return _to_statement(view, text)


def _to_order(view: View, text: str, known: str) -> str:
    """Return what is known of a ware, behind a word of consent if the line orders it."""
    finds = view.language.finds
    if view.language.asks(text) or not finds("orders", text) or finds("denies", known):
        return known
    is_new = any(one.text == known for one in view.passages)
    return view.phrase("ordered", fact=known if is_new else "").strip()


def _with_name(view: View, text: str) -> str:
    """Return a question with the name of the person that its "she" or "him" stands for: the last
    one that the speaker or the character named, if the character knows that one."""
    pronoun = view.language.pattern("patterns", "third_person")
    people = view.known_people
    if not (pronoun.search(text) and view.language.asks(text)) or match_name(text, people):
        return text
    lines = (*_before(view)[:1], *view.transcript.own[-1:])
    named = next(filter(None, (match_name(line, people) for line in lines)), "")
    return pronoun.sub(named, text, count=1) if named else text


def _before(view: View) -> list[str]:
    """Return the speaker's earlier lines, the newest first."""
    own = [said.text for said in view.transcript.heard if said.speaker == view.speaker]
    return [text for text in reversed(own) if text != view.lines[-1].text]


def _sought(view: View, asked: Asked, text: str) -> str:
    """Return what persona and lore tell about an intent; "" if nothing."""
    if asked.intent.tells:
        found = view.known(text, asked.intent.sources, asked.intent)
        return found or (_denied(view, text, asked.intent.drop) if asked.intent.exact else "")
    if not asked.intent.seek or view.language.finds("mine", asked.topic):
        return ""
    sources = asked.intent.sources
    if len(view.language.content(text)) < 2:  # one word of lore is no opinion
        sources = tuple(source for source in sources if source != "lore")
    return view.known(text, sources)


def told_of_ware(view: View, text: str) -> str:
    """Return what is known of a thing's sale; "" if nothing."""
    tells = view.language.intent("buy").tells
    goods = [one for one in view.of(("self", "lore")) if tells and tells.search(one.text)]
    return view.best(view.find(text, goods)) or _denied(view, text)


def _denied(view: View, text: str, drop: str = "") -> str:
    """Return what is known of a ware if it says that there is none: "Swords are not made here."."""
    known = view.of(("self", "never", "lore"))
    denied = [replace(one, title="") for one in known if view.language.finds("denies", one.text)]
    return view.best(view.find(text, denied, without=drop))


def _to_question(view: View, text: str) -> str:
    """Return what was told about a question, else what is known, else that it is not known."""
    language = view.language
    found = _about_people(view, text) or view.best(view.find(text, _of_itself(view, text)))
    if not found and language.finds("asks_place", text):
        found = _at_hand(view, text)
    who = language.finds("asks_who", text)
    if not found and (who or len(language.content(text)) > 1):
        floor = ASKED if who else SURE
        found = _quoted(view, _matching(view, text, view.told, floor))
    if found:
        return found
    mine = language.finds("mine", text) and not language.finds("permission", text)
    if mine and language.finds("remember", text):
        return view.phrase("told_nothing")
    return view.with_offer("unknown_self" if language.finds("about_you", text) else "unknown")


def _of_itself(view: View, text: str) -> list[Passage]:
    """Return what may answer: for a question about the character no lore about others."""
    known, finds = [] if view.is_foreign else view.of(KNOWN), view.language.finds
    if not finds("about_you", text):
        return known
    content = view.language.content
    asked = set(content(text))
    return [
        one
        for one in known
        if one.source != "lore"
        or finds("mine", one.text)
        or (one.title and asked.issuperset(content(one.title)))
    ]


def _to_statement(view: View, text: str) -> str:
    """Return a reaction to a statement: to its fact, a known passage, or a remark."""
    if view.language.finds("order", text):
        return view.phrase("request_not")
    facts = view.language.facts_in(text)
    for key, phrase in (("name", "met"), ("home", "from_there"), ("likes", "liked")):
        if key in facts:
            return view.phrase(phrase, value=facts[key])
    if facts:
        return view.phrase("noted")
    known = view.of(("self", "never", "lore", "want"))
    found = len(view.language.content(text)) > 1 and view.find(text, known, SURE)
    if found and not view.repeats(found[0][1].text):
        return view.spoken(found[0][1])
    return view.phrase("remark")


# --- what was told in the conversation ------------------------------------------------------------


def _quoted(view: View, found: Sequence[Passage]) -> str:
    """Return the first of what was told as a quotation, "" if there is none."""
    if not found:
        return ""
    told, fact = found[0], found[0].text.rstrip(".! ")[:QUOTED]
    if told.speaker == view.speaker:
        name = view.language.pattern("patterns", "tells_name").search(fact)
        if name and view.language.finds("asks_name", " ".join(view.sentences)):
            return view.phrase("name_told", value=name["v"] or name["v2"])
        said = view.phrase("told", fact=fact)
        return view.phrase("told_again", fact=fact) if view.repeats(said) else said
    return view.phrase("said_by", other=view.called(told.speaker), fact=fact)


def _matching(
    view: View, text: str, told: Sequence[Passage], floor: float = ASKED
) -> list[Passage]:
    """Return what was told about a question, the newest of the best first."""
    names = " ".join({one.speaker for one in view.every_told})
    found = view.find(text, [*reversed(told)], floor, without=names)
    return [one for _, one in found]


def _of_speaker(view: View, speaker: str) -> list[Passage]:
    return [told for told in view.told if told.speaker == speaker]


def _named_other(view: View, text: str) -> str:
    """Return the other speaker that a text names, by either of their names; "" if none."""
    people = [t.speaker for t in view.told if t.speaker != view.speaker] + view.others
    called = {form: name for name in people for form in (view.called(name), name)}
    return called.get(match_name(text, [*called]), "")


def _about_people(view: View, text: str, floor: float = ASKED) -> str:
    """Return what the speaker, or another whom a question names, told about it; "" if nothing."""
    other = _named_other(view, text)
    if other:
        told = _of_speaker(view, other)
        bare = not view.language.content(
            without_words(text, plain_words(f"{other} {view.called(other)}"))
        )
        telling = [one for one in reversed(told) if one.facts.keys() & set(FACTS)] or told[::-1]
        asked = [] if bare else _matching(view, text, told, floor)
        whole = bare or view.language.key_of(text) == "said_by"
        return _quoted(view, asked or (telling if whole else []))
    finds, own = view.language.finds, _of_speaker(view, view.speaker)
    mine = any(finds("mine", one) for one in (text, *_before(view)[: finds("follow_up", text)]))
    if finds("asks_memory", text) or (mine and not finds("permission", text)):
        return _quoted(view, _matching(view, text, own, floor))
    return _quoted(view, _matching(view, text, own, SURE)) if finds("third_person", text) else ""


def _fact(view: View, text: str, topic: str, key: str) -> str:
    """Return what the speaker told of a kind of fact, such as their home."""
    own = _of_speaker(view, view.speaker)
    telling = [told for told in own if key in told.facts]
    found = [one for one in _matching(view, text, telling) if one.facts] or telling[::-1]
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
    return view.phrase("told", fact="; ".join(t.text.rstrip(".!") for t in telling[-MOST_TOLD:]))


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
    character, content = view.character, view.language.content
    if asked:
        held = set(content(asked)) & set(content(character.identity))
        return view.phrase("yes_fact" if held else "no_fact", fact=character.identity)
    own = character.identity
    if not own:
        return view.phrase("ask_name")
    said = view.spoken(Passage(own, "self"))
    said = view.phrase("again", fact=said) if view.repeats(own) and said == own else said
    named = view.name.split()[0].lower() in said.lower()
    return (
        said if named or view.name.lower() in view.own_talk else f"{view.phrase('ask_name')} {said}"
    )


def _about_person(view: View, text: str, topic: str) -> str:
    """Return what is known of a person, or an opinion if the topic is nobody that it knows of."""
    named = match_name(topic, [*view.known_people, *(one.speaker for one in view.told)])
    found = view.find(topic, view.of(KNOWN))
    judged = [one for one in found if view.language.finds("judges", one[1].text)]
    return view.best(judged or found) or ("" if named else view.phrase("opinion"))


def _owner(view: View, text: str, topic: str) -> str:
    """Return who the character is if the place is its own; "" if the persona does not say so."""
    owns, own = view.language.intent("owner").tells, view.character.identity
    return view.known(own, ("self",)) if own and owns and owns.search(own) else ""


def _new_here(view: View, text: str, topic: str) -> str:
    return view.with_offer("new_here")


def _is_this(view: View, text: str, topic: str) -> str:
    """Return what the persona says of its place, else the place's name."""
    return view.known(topic, ("self",)) or view.phrase("where")


def _said_by(view: View, text: str, topic: str) -> str:
    """Return what another said, or that it is not known: no lore answers that."""
    return _about_people(view, text) or view.with_offer("unknown")


def _goal(view: View, text: str, topic: str) -> str:
    """Return a goal that was not told lately, else one that was; "" if none."""
    wants = [view.spoken(one) for one in view.of(("want",))]
    fresh = next((want for want in wants if not view.repeats(want)), "")
    return fresh or (view.phrase("again", fact=wants[0]) if wants else "")


def _story(view: View, text: str, topic: str, key: str = "story") -> str:
    """Return a tale, or news, that was not told lately: a piece of lore or a note, no price and
    no rule."""
    about = view.language.pattern("patterns", "story_about").search(text)
    found = view.find(about["topic"], view.of(("lore",))) if about else []
    told = [one for one in found if about and match_name(about["topic"], [one[1].title])]
    if told:
        return view.best(told)
    dull, fits = view.character.language.intent("price").tells, view.language.intent(key).tells
    lore = [split_lore(entry)[1] for entry in view.scene.lore]
    known = [text for text in lore if not (dull and dull.search(text))]
    past = [text for text in known if view.character.language.finds("happened", text)]
    known = [text for text in known if fits and fits.search(text)] or past or known
    own = view.language.pattern("patterns", "subject_i")
    known = [text for text in known if not own.match(text)] or known
    known += [passage.text for passage in view.of(("note",))]
    if not known:
        known = [one.text for one in view.of(("self",)) if one.text != view.character.identity]
    fresh = [text for text in rotated(known, view.seed) if not view.repeats(text)]
    if not known:
        return view.phrase("tale_none")
    tale = fresh[0] if fresh else ""
    if len(tale) > STORY:
        tale = tale[:STORY].rpartition(". ")[0] + "."
    said = view.spoken(Passage(tale, "lore")) if tale else ""
    return said if said != tale or not tale else view.phrase("tale", fact=tale)


def _where_is(view: View, text: str, topic: str, none: str = "not_here") -> str:
    """Return where somebody or something is: here, carried, along a way, or told of."""
    if set(plain_words(topic)) & set(plain_words(view.name)):
        return view.phrase("it_is_me")
    here = match_name(topic, view.situation.people)
    if here:
        return view.phrase("right_here", other=view.called(here))
    content, way = view.language.content, match_name(topic, view.situation.exits)
    if way and set(content(topic)[:1]) & set(content(way)):
        return view.phrase("exits", exits=exit_parts(way)[0])
    found = _about_people(view, text) or _at_hand(view, topic) or view.known(text)
    if found or not 0 < len(plain_words(topic)) < FEW:
        return found
    return view.with_offer(none, thing=topic, other=topic)


def _at_hand(view: View, text: str) -> str:
    """Return where a thing is that a text names: carried or here; "" if neither."""
    for key, names in (("have", view.situation.carrying), ("is_here", view.situation.things)):
        named = match_name(text, names)
        if named:
            return view.phrase(key, item=view.thing(named))
    return ""


def _exits(view: View, text: str, topic: str) -> str:
    """Return where an exit leads, or which exits there are."""
    found = match_name(topic, view.situation.exits)
    names = [exit_parts(name)[0] for name in view.situation.exits]
    if topic and not found:
        ways = view.listing("exits", "exits_none", names, "exits")
        return view.known(text, ("self", "lore")) or f"{view.phrase('way_to')} {ways}"
    if not topic:
        return view.listing("exits", "exits_none", names, "exits")
    name, leads = exit_parts(found)
    return view.phrase("exit", exit=name, place=leads or name)


def _here(view: View, text: str, topic: str, key: str) -> str:
    """Return who is here, what lies here, what the character has, or what time it is."""
    now, time = view.situation, view.transcript.time
    if key == "time":
        return view.phrase(key, time=time) if time else view.phrase("time_none")
    if key == "here":
        return view.listing(key, "alone", map(view.called, view.others), "people")
    names = now.things if key == "things" else now.carrying
    return view.listing(key, f"{key}_none", map(view.thing, names[:MOST_LISTED]))


def _sights(view: View, text: str, topic: str) -> str:
    """Return what a walk or a look showed: what was asked for, else the place seen last."""
    seen = [one for one in view.of(("seen",)) if one.title]
    last = [one for one in seen if one.title == seen[-1].title and not EXITS.match(one.text)]
    found = [one for _, one in view.find(text, seen, ASKED)] or last[:1]
    things = THINGS.fullmatch(found[0].text) if found else None
    if things:
        return view.phrase("saw_there", things=things[1])
    return view.spoken(found[0]) if found else ""


def _just_came(view: View, text: str, topic: str) -> str:
    """Return who arrived last; "" if nobody did."""
    came = [said.speaker for said in view.transcript.heard if said.kind == "arrives"]
    return view.phrase("it_was", other=view.called(came[-1])) if came else ""


_is_there = partial(_where_is, none="have_none")
HANDLERS: dict[str, Handler] = {
    "greet": _greet, "ask_self": _identity, "owner": _owner, "is_this": _is_this, "said_by": _said_by, "new_here": _new_here,
    "opinion_person": _about_person, "ask_goal": _goal, "story": _story, "news": partial(_story, key="news"),
    "recall_name": _own_name, "recall_all": _everything, "recall_gift": _gifts,
    "where_is": _where_is, "who_here": partial(_here, key="here"),
    "what_here": partial(_here, key="things"), "time": partial(_here, key="time"),
    "carry": partial(_here, key="carrying"),
    "is_there": _is_there, "have": _is_there, "exits": _exits, "way_to": _exits,
    "seen_there": _sights, "just_came": _just_came,
}  # fmt: skip
FACTS = ("home", "trade", "age", "likes", "hates", "quest")
HANDLERS |= {f"recall_{key}": partial(_fact, key=key) for key in FACTS}
