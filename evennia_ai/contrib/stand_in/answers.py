"""One answer to one sentence: by its intent, else by what is known or was told, else an honest no."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from evennia_ai.contrib.stand_in import claims as past
from evennia_ai.contrib.stand_in import wares
from evennia_ai.contrib.stand_in.languages import SentenceIntent, exit_parts, match_name
from evennia_ai.contrib.stand_in.passages import Passage, split_lore
from evennia_ai.contrib.stand_in.view import KNOWN, SURE, StandInView
from evennia_ai.contrib.stand_in.words import capitals, ended, rotated
from evennia_ai.policy.texts import plain_words

Found = list[tuple[float, Passage]]
Handler = Callable[[StandInView, str, str], str]
SURE_ENOUGH = 0.5  # share of a question's words that a quotation holds before anything else is told
STORY = 330  # characters of a tale
MOST_LISTED = 5  # things that are named
THINGS, EXITS = re.compile(r"\AThings: (.*)\."), re.compile(r"(?:Exits|People): ")
ORDERED = frozenset({"buy", "food", "drink"})  # kinds of sentences that may be an order
FEW = 4  # words of a topic that names a thing


def answer(view: StandInView, text: str) -> str:
    text = past.with_name(view, text)
    sentence_intent = view.language.asked_of(text)
    if not view.language.full:
        return view.phrase(sentence_intent.intent.key or "other")
    if not sentence_intent.intent.key and view.is_senseless(text):
        return view.phrase("not_followed")
    if not sentence_intent.intent.key and view.language.finds("follow_up", text):
        before = view.language.asked_of(" ".join(past.before_now(view)[:1])).intent
        sentence_intent = (
            sentence_intent._replace(intent=before) if before.tells else sentence_intent
        )  # "and a lamp?"
    intent, handler = sentence_intent.intent, HANDLERS.get(sentence_intent.intent.key)
    known_answer = (
        ""
        if handler or not view.language.asks(text)
        else past.about_people(view, text, SURE_ENOUGH)
    )
    reply = known_answer or (
        handler(view, text, sentence_intent.topic)
        if handler
        else _sought(view, sentence_intent, text)
    )
    if reply:
        return wares.to_order(view, text, reply, intent) if intent.key in ORDERED else reply
    if intent.say:
        if not (intent.tells and intent.label):
            return view.phrase(intent.key, topic=sentence_intent.topic)
        # What a bed costs instead of a boat; in another language it may be what was asked for.
        instead = view.known(text, intent.sources, replace(intent, exact=False))
        if not instead:
            return view.with_offer(intent.key, topic=sentence_intent.topic)
        if view.is_foreign:
            return instead
        is_new = any(passage.text == instead for passage in view.passages)
        return f"{view.phrase(intent.key)} {instead}" if is_new else view.phrase(intent.key)
    if view.language.asks(text) or view.language.finds("follow_up", text):
        return _to_question(view, text)
    return _to_statement(view, text)


def _sought(view: StandInView, intent: SentenceIntent, text: str) -> str:
    """Return what persona and lore tell about an intent; "" if nothing."""
    if intent.intent.tells:
        if not intent.intent.exact:
            return view.known(text, intent.intent.sources, intent.intent)
        return wares.priced(view, intent.intent, text)
    if not intent.intent.seek or view.language.finds("mine", intent.topic):
        return ""
    sources = intent.intent.sources
    if len(view.language.content(text)) < 2:  # one word of lore is no opinion
        sources = tuple(source for source in sources if source != "lore")
    return view.known(text, sources)


def _to_question(view: StandInView, text: str) -> str:
    """Return what was told about a question, else what is known, else that it is not known."""
    language = view.language
    passages = past.about_people(view, text) or view.best(view.find(text, _of_itself(view, text)))
    if not passages and language.finds("asks_place", text):
        passages = _at_hand(view, text)
    who = language.finds("asks_who", text)
    about_you = language.finds("about_you", text)
    if not (passages or about_you) and (who or len(language.content(text)) > 1):
        floor = past.ASKED if who else SURE
        passages = past.quoted(view, past.matching(view, text, view.told, floor))
    passages = passages or past.from_last(view, text)
    if not passages and language.finds("supposes", text):
        passages = wares.denied(
            view, text, floor=wares.HALF
        )  # "Where is your wife?": there is none
    if passages:
        return passages
    mine = language.finds("mine", text) and not language.finds("permission", text)
    if mine and language.finds("remember", text):
        return view.phrase("told_nothing")
    kind = "" if view.mourns and not about_you else language.kind_of(text)
    if kind or (about_you and not view.mourns):
        supposed = "denied_self" if language.finds("supposes", text) else "unknown_self"
        return view.phrase(kind or supposed)
    return view.with_offer("unknown")


def _of_itself(view: StandInView, text: str) -> list[Passage]:
    """Return what may answer: for a question about the character no lore about others."""
    known, finds = [] if view.is_foreign else view.of(KNOWN), view.language.finds
    if not finds("about_you", text):
        return known
    content, stems = view.language.content, set(view.language.content(text))
    own = (item.source != "lore" or finds("mine", item.text) for item in known)
    titled = (item.title and stems.issuperset(content(item.title)) for item in known)
    return [item for item, *fits in zip(known, own, titled, strict=True) if any(fits)]


def _to_statement(view: StandInView, text: str) -> str:
    """Return a reaction to a statement: to its fact, a known passage, or a remark."""
    order = view.language.pattern("patterns", "order").match(text)
    if order:
        return wares.denied(view, text[order.end() :]) or view.phrase("request_not")
    if "confess" in map(view.language.key_of, view.sentences):
        return view.phrase("confessed")
    facts = view.language.facts_in(text)
    also = f" {view.phrase('noted')}" if len(facts) > 1 else ""
    for key, phrase in (("name", "met"), ("home", "from_there"), ("likes", "liked")):
        if key in facts:
            return view.phrase(phrase, value=facts[key]) + also
    if facts:
        return view.phrase("noted")
    known = view.of(("self", "never", "lore", "want"))
    passages = len(view.language.content(text)) > 1 and view.find(text, known, SURE)
    if passages and not view.repeats(passages[0][1].text):
        return view.spoken(passages[0][1])
    return view.phrase("remark")


# --- what the character is, and what is here ------------------------------------------------------


def _greet(view: StandInView, text: str, topic: str) -> str:
    """Return a greeting: with the character's name first, and shorter after that."""
    if view.transcript.met(view.speaker):
        return view.phrase("greet_more")
    brief = len(view.sentences) > 1 or "name" in view.language.facts_in(text)
    return view.phrase("greet_brief" if brief else "greet")


def _identity(view: StandInView, text: str, topic: str) -> str:
    """Return who the character is, or whether it is what the speaker asked for."""
    character, content = view.character, view.language.content
    if topic:
        held = set(content(topic)) & set(content(character.identity))
        return view.phrase("yes_fact" if held else "no_fact", fact=character.identity)
    own = character.identity
    if not own:
        return view.phrase("ask_name")
    reply = view.spoken(Passage(own, "self"))
    reply = view.phrase("again", fact=reply) if view.repeats(own) and reply == own else reply
    named = view.name.split()[0].lower() in reply.lower()
    return (
        reply
        if named or view.name.lower() in view.own_talk
        else f"{view.phrase('ask_name')} {reply}"
    )


def _opinion(view: StandInView, text: str, topic: str) -> str:
    """Return what persona or lore judges of a topic; "" if nothing."""
    is_asked = topic and not view.language.finds("mine", topic)
    passages = view.find(topic, view.of(KNOWN)) if is_asked else []
    return view.best(_judging(view, passages))


def _judging(view: StandInView, passages: Found, name: str = "") -> Found:
    """Return of some passages only the parts that judge, with a person's name in each."""
    first, made = view.language.pattern("patterns", "person_first"), list[tuple[float, Passage]]()
    for share, passage in passages:
        parts = [
            p for p in re.split(r"(?<=[.;]) ", passage.text) if view.language.finds("judges", p)
        ]
        sentence = " ".join(first.sub(name, part) if name else part for part in parts)
        made += [(share, replace(passage, text=capitals(sentence)))] if sentence else []
    return made


def _advice(view: StandInView, text: str, topic: str) -> str:
    named = match_name(text, view.known_people)
    if named:
        return _about_person(view, text, named)
    asks = view.language.content(text)
    return view.best(view.find(text, view.of(KNOWN), SURE)) if asks else ""


def _choose(view: StandInView, text: str, topic: str) -> str:
    """Return one of two things to choose from; "" for people, who are not compared."""
    both = view.language.pattern("patterns", "either").search(text)
    pair = both.group("a", "b") if both else ()
    people = [*view.known_people, view.name, view.speaker]
    if any(match_name(item, people) or view.language.finds("about_you", item) for item in pair):
        return ""
    return view.phrase("rather", pick=rotated(pair, view.seed)[0].strip()) if pair else ""


def _know_person(view: StandInView, text: str, topic: str) -> str:
    """Return what is known of a person or a thing, or that the name is not known."""
    reply = past.about_people(view, text) or _about_person(view, text, topic)
    known = match_name(topic, [*view.known_people, *(item.speaker for item in view.told)])
    return (reply if known else view.known(topic)) or view.phrase("stranger", other=topic)


def _place_name(view: StandInView, text: str, topic: str) -> str:
    """Return the name of the place, "" if the persona has another one."""
    named = match_name(view.situation.place, [item.text for item in view.of(("self",))])
    return view.phrase("place_name") if named else ""


def _about_person(view: StandInView, text: str, topic: str) -> str:
    """Return what is known of a person, or an opinion if the topic is nobody that it knows of."""
    named = match_name(topic, [*view.known_people, *(item.speaker for item in view.told)])
    passages = view.find(topic, view.of(KNOWN))
    judged = _judging(view, passages, topic) or passages
    if judged and view.repeats(judged[0][1].text):
        return view.phrase("said_of", topic=topic)
    known = view.best(judged)
    return known or ("" if named else view.phrase("opinion"))


def _owner(view: StandInView, text: str, topic: str) -> str:
    """Return who the character is if the place is its own; "" if the persona does not say so."""
    owns, own = view.language.intent("owner").tells, view.character.identity
    if view.language.finds("points_back", text):  # "Who keeps it?" of what was named before
        last = [item for item in past.told_last(view) if owns and owns.search(item.text)]
        if last:
            return ended(re.split(r"[,;.]", last[0].text)[0])
        named = match_name(" ".join(view.transcript.own[-1:]), view.known_people)
        return (
            _about_person(view, text, named)
            if named
            else view.best(view.find(text, view.of(KNOWN)))
        )
    return view.known(own, ("self",)) if own and owns and owns.search(own) else ""


def _days(view: StandInView, text: str, topic: str) -> str:
    """Return what the character does by its persona, else who it is, unless that was told lately."""
    known = view.known(text, ("self",), view.language.intent("ask_days"))
    return known or ("" if view.repeats(view.character.identity) else _identity(view, text, ""))


def _is_this(view: StandInView, text: str, topic: str) -> str:
    """Return what the persona says of its place, else the place's name."""
    return view.known(topic, ("self",)) or view.phrase("where")


def _said_by(view: StandInView, text: str, topic: str) -> str:
    return past.about_people(view, text) or view.known(topic) or view.with_offer("unknown")


def _goal(view: StandInView, text: str, topic: str) -> str:
    """Return a goal that was not told lately, else one that was; "" if none."""
    wants = [view.spoken(item) for item in view.of(("want",))]
    fresh = next((want for want in wants if not view.repeats(want)), "")
    return fresh or (view.phrase("again", fact=wants[0]) if wants else "")


def _story(view: StandInView, text: str, topic: str, key: str = "story") -> str:
    """Return a tale, or news, that was not told lately: a piece of lore or a note, no price and
    no rule."""
    about = view.language.pattern("patterns", "story_about").search(text)
    dull, fits = view.character.language.intent("price").tells, view.language.intent(key).tells
    lore = [split_lore(entry) for entry in view.scene.lore]
    topic_stems = set(view.language.content(about["topic"])) if about else set[str]()
    held = (
        (lore_text, f"{title} {lore_text}")
        for title, lore_text in lore
        if not view.repeats(lore_text)
    )
    named = [
        lore_text
        for lore_text, whole in held
        if topic_stems.intersection(view.language.content(whole))
    ]
    own = view.language.pattern("patterns", "subject_i")
    known = [lore_text for _, lore_text in lore if not (dull and dull.search(lore_text))]
    known = named or [lore_text for lore_text in known if not own.match(lore_text)] or known
    past = [text for text in known if view.character.language.finds("happened", text)]
    known = [text for text in known if fits and fits.search(text)] or past or known
    known += [passage.text for passage in view.of(("note",))]
    if not known:
        known = [item.text for item in view.of(("self",)) if item.text != view.character.identity]
    fresh = [text for text in rotated(known, view.seed) if not view.repeats(text)]
    if not known:
        return view.phrase("tale_none")
    tale = fresh[0] if fresh else ""
    if len(tale) > STORY:
        tale = tale[:STORY].rpartition(". ")[0] + "."
    reply = view.spoken(Passage(tale, "lore")) if tale else ""
    return reply if reply != tale or not tale else view.phrase("tale", fact=tale)


def _where_is(view: StandInView, text: str, topic: str, none: str = "not_here") -> str:
    """Return where somebody or something is: here, carried, along a way, or told of."""
    if set(plain_words(topic)) & set(plain_words(view.name)):
        return view.phrase("it_is_me")
    here = match_name(topic, view.situation.people)
    if here:
        return view.phrase("right_here", other=view.called(here))
    content, way = view.language.content, match_name(topic, view.situation.exits)
    if way and set(content(topic)[:1]) & set(content(way)):
        return view.phrase("exits", exits=exit_parts(way)[0])
    passages = (
        past.about_people(view, text)
        or _at_hand(view, topic)
        or view.known(text)
        or view.known(topic)
    )
    if passages or not 0 < len(plain_words(topic)) < FEW:
        return passages
    return view.with_offer(none, thing=topic, other=topic)


def _at_hand(view: StandInView, text: str) -> str:
    """Return where a thing is that a text names: carried or here; "" if neither."""
    for key, names in (("have", view.situation.carrying), ("is_here", view.situation.things)):
        named = match_name(text, names)
        if named:
            return view.phrase(key, item=view.thing(named))
    return ""


def _exits(view: StandInView, text: str, topic: str) -> str:
    """Return where an exit leads, or which exits there are."""
    exit_name = match_name(topic, view.situation.exits)
    names = [exit_parts(name)[0] for name in view.situation.exits]
    if topic and not exit_name:
        ways = view.listing("exits", "exits_none", names, "exits")
        known = view.known(text, ("self", "lore")) or view.known(topic, ("self", "lore"))
        return known or f"{view.phrase('way_to')} {ways}"
    if not topic:
        return view.listing("exits", "exits_none", names, "exits")
    name, leads = exit_parts(exit_name)
    key = "exit" if name in view.language.data.get("opposites", ()) else "exit_named"
    return view.phrase(key, exit=name, place=leads or name)


def _here(view: StandInView, text: str, topic: str, key: str) -> str:
    """Return who is here, what lies here, what the character has, or what time it is."""
    now, time = view.situation, view.transcript.time
    if key == "time":
        return view.phrase(key, time=time) if time else view.phrase("time_none")
    if key == "here":
        return view.listing(key, "alone", map(view.called, view.others), "people")
    names = now.things if key == "things" else now.carrying
    return view.listing(key, f"{key}_none", map(view.thing, names[:MOST_LISTED]))


def _sights(view: StandInView, text: str, topic: str) -> str:
    """Return what a walk or a look showed: what was asked for, else the place seen last."""
    seen = [item for item in view.of(("seen",)) if item.title and not EXITS.match(item.text)]
    last = [item for item in seen if item.title == seen[-1].title]
    sights = [item for _, item in view.find(text, seen, past.ASKED)] or last[:1]
    things = THINGS.fullmatch(sights[0].text) if sights else None
    if things:
        return view.phrase("saw_there", things=things[1])
    return view.spoken(sights[0]) if sights else ""


def _just_came(view: StandInView, text: str, topic: str) -> str:
    """Return who arrived last; "" if nobody did."""
    came = [line.speaker for line in view.transcript.heard if line.kind == "arrives"]
    return view.phrase("it_was", other=view.called(came[-1])) if came else ""


_is_there = partial(_where_is, none="have_none")
HANDLERS: dict[str, Handler] = {
    "greet": _greet, "new_here": lambda view, *_: view.with_offer("new_here"),
    "ask_self": _identity, "ask_days": _days, "ask_goal": _goal, "owner": _owner,
    "is_this": _is_this, "advice": _advice, "choose": _choose, "place_name": _place_name,
    "said_by": _said_by,
    "opinion_person": _about_person, "know_person": _know_person, "opinion": _opinion,
    "story": _story, "go_on": past.go_on, "news": partial(_story, key="news"),
    "recall_name": past.own_name, "recall_all": past.told_everything, "recall_gift": past.told_gifts,
    "where_is": _where_is, "who_here": partial(_here, key="here"),
    "what_here": partial(_here, key="things"), "time": partial(_here, key="time"),
    "carry": partial(_here, key="carrying"),
    "is_there": _is_there, "have": _is_there, "exits": _exits, "way_to": _exits,
    "seen_there": _sights, "just_came": _just_came,
}  # fmt: skip
HANDLERS |= {f"recall_{key}": partial(past.told_fact, key=key) for key in past.FACTS}
