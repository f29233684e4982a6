"""One answer to one sentence: by its intent, else by what was told or is known, else an honest no."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from evennia_ai.contrib.stand_in.kinds import ASKING
from evennia_ai.contrib.stand_in.languages import Intent
from evennia_ai.contrib.stand_in.likeness import worth
from evennia_ai.contrib.stand_in.passages import LEAST_WORDS, Passage, price_line
from evennia_ai.contrib.stand_in.requests import Deal, masked, number_in, read_deal
from evennia_ai.contrib.stand_in.view import KNOWN, LESS, StandInView
from evennia_ai.contrib.stand_in.words import is_description, rotated
from evennia_ai.policy.conversation.requested_acts import exit_parts, match_name
from evennia_ai.policy.texts import plain_words

QUOTED, MOST_TOLD = 170, 3  # characters of a quotation, and the most of them
LEAST = 0.23  # likeness of a line to the question that it answers
UNRECALLED = 0.4  # and of one to a question that does not sound like one about what was told
OF_IT = 0.42  # likeness of a newer line to one that it may change: 11 of 12, 2 of 390 others
ASKED, EASED = 0.38, 0.08  # how like the question it is, to need less likeness to that line
OF_OTHERS = 0.3  # that a line counts less if its speaker is not whom the question is about


def named_other(view: StandInView, text: str) -> str:
    """Return the other speaker that a text names, by either of their names; "" if none."""
    people = {line.speaker for line in view.told}.union(view.others) - {view.speaker}
    called = {form: name for name in sorted(people) for form in (view.called(name), name)}
    return called.get(match_name(text, [*called]), "")


def texts_of(views: Sequence[StandInView]) -> list[str]:
    """Return what is compared: what speakers said, lines, and their clauses."""
    rows = [(view, text) for view in views for text in view.sentences]
    forms = ((text, view.language.asked_of(text)[1], masked(view, text)) for view, text in rows)
    lines = views[0].every_told
    lines = (*(line for line in lines if line.recalled), *views[0].passages, *lines[::-1])
    parts = [part for line in lines for part in line.parts[1:]]
    deals = chain(*views[0].language.data.get("deals", {}).values())
    known = (*views[0].silent, *(line.searched for line in lines), *parts)
    return [*dict.fromkeys(filter(str.strip, chain(*forms, known, deals)))]


def find_told(view: StandInView, question: str) -> Passage | None:
    """Return the newest line of what a question asks, None if what it knows itself is more like it."""
    finds = view.language.finds
    mine = finds("mine", question) or match_name(question, [view.speaker, view.who])
    about = named_other(view, question) or (view.speaker if mine else "")
    if not about and finds("about_you", question):
        return None
    # What can be done here, "where can I sleep?", the character knows.
    speakers = {about, "" if finds("permission", question) else about} if about else set[str]()
    if view.language.kind_of(question) == "said_by" and about in ("", view.speaker):
        speakers = {line.speaker for line in view.told} - {view.speaker}
    long = (line for line in view.told if len(line.text.split()) >= LEAST_WORDS)
    lines = [*view.passages, *long]
    rule, fits = view.likeness(question, lines)
    for at, line in enumerate(lines):
        fits[at] -= line.guarded
        if speakers and line.speaker not in speakers:  # what others say of themselves is theirs
            fits[at] -= 1.0 if line.speaker and finds("mine", line.text) else OF_OTHERS
    worths = worth(rule, fits, [line.searched for line in lines], view.scene.vectors).tolist()
    at = max(range(len(lines)), key=lambda place: (worths[place], place), default=-1)
    if at < 0 or lines[at].source != "told":
        return None
    best = lines[at]
    likes = view.likeness(best.searched, lines)[1]
    rows = list(zip(lines, fits, likes, worths, strict=True))
    others = [worth for line, _, like, worth in rows if like < rule.same and line is not best]
    fit = worths[at] + rule.outstanding * (worths[at] - max([0.0, *others]))
    recalls = view.language.kind_of(question) in ("recall", "said_by") or not view.scene.vectors
    least = rule.told if best.speaker == view.speaker else rule.certain
    if fits[at] < (LEAST if recalls else UNRECALLED) or fit < least:
        return None
    return replace(_newest(view, question, best), is_certain=fit >= rule.certain)


def _newest(view: StandInView, question: str, line: Passage) -> Passage:
    """Return the last line of its speaker that is about the same; other passages stay."""
    own = [other for other in view.told if other.speaker == line.speaker]
    later = own[own.index(line) + 1 :] if line in own else []
    likes, fits = (view.likeness(text, later)[1] for text in (line.searched, question))
    rows = zip(later, likes, fits, strict=True)
    return [line, *(o for o, like, fit in rows if like + EASED * (fit >= ASKED) >= OF_IT)][-1]


def told(view: StandInView, question: str) -> str:
    """Return what somebody told about a question, "" if nothing surely answers it."""
    line = find_told(view, question)
    if not line:
        return ""
    fact = line.text.rstrip(".! ")[:QUOTED]
    own = "told" if line.is_certain else "uncertain"
    key = own if line.speaker == view.speaker else "said_by"
    return view.phrase(key, other=view.called(line.speaker), fact=fact)


def told_everything(view: StandInView, text: str = "", topic: str = "") -> str:
    """Return what the speaker told of themselves last."""
    own = [line for line in view.told if line.speaker == view.speaker]
    own = [line for line in own if line.private] or own if view.private else own
    telling = [line for line in own if view.language.finds("mine", line.text)] or own
    if not telling:
        return view.phrase("told_nothing" if is_description(view.who) else "know_you")
    lines = [line.text.rstrip(".!")[:QUOTED] for line in telling[-MOST_TOLD:]]
    return view.phrase("told", fact="; ".join(lines))


def told_gifts(view: StandInView, text: str, topic: str) -> str:
    given = [s for s in view.transcript.heard if s.kind == "give" and s.speaker]
    giver = named_other(view, text) or view.speaker
    if giver == view.speaker and view.language.finds("asks_who", text):
        named = match_name(text, [s.text for s in given])
        given = [s for s in given if s.text == named]
        giver = next((s.speaker for s in reversed(given)), "")
    things = [view.thing(s.text) for s in given if s.speaker == giver][-MOST_TOLD:]
    key = "gave_you" if giver == view.speaker else "gave"
    return view.listing(key, "gave_none", things, other=view.called(giver))


MOST_LISTED, MOST_WARES, MOST_TOPICS = 5, 12, 2  # things that are named
REACTIONS = frozenset({"pity", "noted"})  # kinds of statements with a phrase, but no intent
ASK_ALL = frozenset({"wares", "price", "food", "drink", "buy"})  # of a keeper: all that it sells
PRICED = frozenset({"price", "about", "which", "haggle", "few", "order"})  # deals told with prices
LEADS = {"haggle": "haggle", "few": "sell_few"}  # phrases before the prices
# Kinds of questions that what it sees and did answers first.
SEEN = frozenset("who_here what_here time carry place_name exits recall_gift".split())
PLACES = frozenset({"where", "exits", "ask_self"})  # but what was told before these
FIRST = SEEN | frozenset("where way_to buys task ask_self".split())
TELLING = ("self", "never", "lore", "ware")  # sources that answer by what a kind tells
CERTAIN = ("self", "lore", "note")  # sources that answer where a model would
OF_ITSELF = 0.06  # that what it knows must be nearer than what it was told
ALONE = 1.5  # of the likeness of what is near a question, from which it is told alone
# Sources that answer a remark, and how like it they are, as a share of what is surely like it.
REMARKED = {"self": 0.64, "never": 0.78, "lore": 0.76, "want": 0.78}
FEW = 4  # words of a topic that names a thing


def answer(view: StandInView, text: str) -> str:
    language = view.language
    intent, topic = language.asked_of(text)
    if not language.full:
        return view.phrase(intent.key or "other")
    asks = language.asks(text) or language.finds("follow_up", text)
    asks = asks or (not intent.say and language.kind_of(text) in ASKING)
    handler = HANDLERS.get(intent.key)
    known = handler(view, text, topic) if handler else _sought(view, intent, text)
    memory = told(view, text) if asks else ""
    deal = read_deal(view, text)
    priced = _priced(view, deal)
    listed = known if intent.key == "wares" and view.transcript.goods else ""
    first = priced if deal.named and deal.kind != "about" and intent.key != "buys" else listed
    first = known if intent.key in FIRST and not (intent.key in PLACES and memory) else first
    if priced and asks and not (first or memory or view.is_foreign):  # "what is the toll?"
        priced = view.best(view.find(text, view.of(("lore",)), sure=True)) or priced
    reply = first or memory or ("" if view.is_foreign else priced) or known or priced
    near = text in view.scene.vectors or not language.finds("yes_no", text)
    if not reply and asks and intent.say and near and not view.is_foreign:
        # A phrase of a kind tells less than what surely is about the question.
        sure = not view.scene.vectors or intent.key == "wares"
        reply = view.best(view.find(text, view.of({*KNOWN} - {"seen"}), sure=sure))
    if reply:
        return reply
    if not intent.say:
        return _to_question(view, text) if asks else _to_statement(view, text)
    return view.phrase(intent.key, topic=topic)


def certain_answer(view: StandInView, text: str) -> str:
    """Return what is here, was told, or is known about a question, "" if nothing surely answers it."""
    language = view.language
    intent, topic = language.asked_of(text)
    asks = language.asks(text) or language.finds("follow_up", text)
    if not (language.full and asks):
        return ""
    seen = HANDLERS[intent.key](view, text, topic) if intent.key in SEEN else ""
    deal = read_deal(view, text)
    if view.transcript.goods and (intent.key == "wares" or (deal.named and deal.kind == "price")):
        return _priced(view, deal) if deal.named else _sought(view, intent, text)
    line = find_told(view, text)
    if line and line.speaker == view.speaker and (line.is_certain or text.rstrip().endswith("?")):
        return seen or told(view, text)
    known = view.known(text, TELLING, intent) if intent.tells else ""
    return seen or known or ("" if intent.say else view.known(text, CERTAIN))


def _sought(view: StandInView, intent: Intent, text: str) -> str:
    """Return what persona, lore and wares tell about an intent; "" if nothing."""
    deal = read_deal(view, text)
    asks_all = intent.key in ASK_ALL and not (deal.named or (deal.wares and not view.is_foreign))
    if asks_all and len(view.transcript.goods) > (intent.key != "wares"):
        return _all_wares(view)
    known = view.known(text, TELLING, intent) if intent.tells else ""
    own, content = view.character.identity, view.language.content
    if intent.key == "buy" and own and own in known:  # who sells lanterns has none of them
        is_named = not {*content(own)}.isdisjoint(content(text))
        return view.phrase("none_left" if is_named else "buy")
    if intent.key == "wares" and view.transcript.sold:
        return view.phrase("none_left")
    return known or (_goal(view, text, "") if intent.key == "task" else "")


def _all_wares(view: StandInView) -> str:
    goods = [*view.transcript.goods.items()][:MOST_WARES]
    if len(goods) == 1:
        return price_line(*goods[0])
    return view.listing("wares_all", "", [f"{view.thing(name)} ({price})" for name, price in goods])


def _priced(view: StandInView, deal: Deal) -> str:
    """Return what is said of a deal that cannot be made yet, with prices; "" if it is about none."""
    goods = view.transcript.goods
    if deal.kind == "gone":
        return view.phrase("none_left")
    if deal.kind == "missing":
        return f"{view.phrase('not_sold_here')} {_all_wares(view)}"
    if deal.kind == "refuse" and deal.wares:
        return view.phrase("no")
    wares = [name for name in deal.wares if name in goods and deal.kind in PRICED]
    if not deal.named and len({*wares}) > MOST_TOPICS:
        return ""
    lead = view.phrase(LEADS[deal.kind]) if wares and deal.kind in LEADS else ""
    prices = [price_line(name, goods[name]) for name in dict.fromkeys(wares)]
    if deal.kind == "price" and len(wares) > 1:
        total = sum(number_in(goods[name]) for name in wares)
        prices.append(view.phrase("total", price=str(total)))
    return " ".join(filter(None, (lead, *prices)))


def _to_question(view: StandInView, text: str) -> str:
    """Return what was told about a question, else what is known, else that it is not known."""
    about_you = view.language.finds("about_you", text)
    every = [] if view.is_foreign else view.of(KNOWN)
    reply = view.best(view.find(text, every, sure=about_you and not view.scene.vectors))
    return reply or _nearest(view, text)


def _nearest(view: StandInView, text: str) -> str:
    """Return that a question cannot be answered, and what is nearest to it, if that is near."""
    if view.language.kind_of(text) == "recall" and view.scene.vectors:
        return _nearest_told(view, text)
    mine = view.language.finds("mine", text)  # of whom its persona tells nothing
    lines = view.of(("never", "lore") if mine else REMARKED) if view.is_open else []
    lines = [line for line in lines if not line.guarded and line.text != view.character.identity]
    rule, fits = view.likeness(text, lines)
    fits = [fit - LESS.get(line.source, 0) for fit, line in zip(fits, lines, strict=True)]
    best = max(fits, default=0.0)
    line = lines[fits.index(best)] if best >= rule.near + OF_ITSELF else None
    if line and not view.repeats(line.text):
        if best >= ALONE * rule.near:
            return view.spoken(line)
        fact = view.phrase("nearest", fact=view.spoken(line).rstrip(".! ")[:QUOTED])
        return f"{view.phrase('unknown')} {fact}"
    about_you = view.language.finds("about_you", text) and view.language.finds("supposes", text)
    unknown = view.phrase("denied_self" if about_you else "unknown")
    titles = dict.fromkeys(i.title for i in view.of(("lore",)) if i.title and not i.guarded)
    offer = view.phrase("ask_of", topics=view.listed([*titles][:MOST_TOPICS], "or"))
    return f"{unknown} {offer}" if titles and not view.repeats(offer) else unknown


def _nearest_told(view: StandInView, text: str) -> str:
    """Return what its speaker told that is nearest to a question about that, or that none did."""
    lines = [line for line in view.told if line.speaker == view.speaker]
    rule, fits = view.likeness(text, lines)
    best = max(fits, default=0.0)
    if best < rule.near:
        return view.phrase("told_nothing")
    line = _newest(view, text, lines[fits.index(best)])
    return view.phrase("uncertain", fact=line.text.rstrip(".! ")[:QUOTED])


def _to_statement(view: StandInView, text: str) -> str:
    """Return a reaction to a statement: to its fact, a known passage, or a remark."""
    if view.language.finds("order", text) or view.language.kind_of(text) == "order":
        return told(view, text) or view.phrase("request_not")
    name = view.language.name_in(text)
    if name:
        return view.phrase("met", value=name)
    kind = view.language.kind_of(text)
    kind = kind if kind in REACTIONS else "remark"
    known = view.of(REMARKED) if view.is_open else []
    known = [item for item in known if item.text != view.character.identity]
    rule, fits = view.likeness(text, known)
    least = 0.0 if kind in ("remark", "noted") else 1 - min(REMARKED.values())
    over = [fit / rule.sure - REMARKED[item.source] for fit, item in zip(fits, known, strict=True)]
    if max(over, default=-1.0) < least:
        return view.phrase(kind)
    best = known[over.index(max(over))]
    spoken = view.phrase("sought") if best.source == "want" else view.spoken(best)
    return view.phrase(kind) if view.repeats(spoken) else spoken


def _greet(view: StandInView, text: str, topic: str) -> str:
    """Return a greeting: with the character's name first, and shorter after that."""
    if view.transcript.met(view.speaker):
        return view.phrase("greet_more")
    brief = len(view.sentences) > 1 or view.language.name_in(text)
    return view.phrase("greet_brief" if brief else "greet")


def _identity(view: StandInView, text: str, topic: str) -> str:
    """Return who the character is."""
    reply = view.best([(1.0, Passage(view.character.identity, "self"))])
    named = view.name.split()[0].lower() in reply.lower() or view.name.lower() in view.own_talk
    return reply if reply and named else f"{view.phrase('ask_name')} {reply}".strip()


def _where(view: StandInView, text: str, topic: str) -> str:
    """Return where it is, and what one sees first there."""
    seen = [] if view.is_foreign else view.of(("seen",))
    return " ".join((view.phrase("where"), *map(view.spoken, seen[:1])))


def _done_it(view: StandInView, text: str, topic: str) -> str:
    """Return that the speaker gave what they say they brought; "" if they did not."""
    given = (line for line in view.transcript.heard if line.kind == "give")
    named = match_name(text, [line.text for line in given if line.speaker == view.speaker])
    return view.phrase("gave_you", things=view.thing(named)) if named else ""


def _goal(view: StandInView, text: str, topic: str) -> str:
    """Return a goal that was not told lately, else one that was; "" if none."""
    return view.best([(1.0, item) for item in view.of(("want",))])


def _story(view: StandInView, text: str, topic: str) -> str:
    """Return a tale, or news, that was not told lately: a piece of lore or a note."""
    known = view.of(("lore", "note")) or view.of(("self",))[1:]
    tales = [item.text for item in known if not item.guarded]
    tale = next((tale for tale in rotated(tales, view.seed) if not view.repeats(tale)), "")
    reply = view.spoken(Passage(tale, "lore")) if tale else ""
    return view.phrase("tale" if tale else "tale_none", fact=reply) if reply == tale else reply


def _where_is(view: StandInView, text: str, topic: str, none: str = "not_here") -> str:
    """Return where somebody or something is: here, carried, along a way, or told of."""
    here = match_name(topic or text, view.situation.people)
    if here:
        return view.phrase("right_here", other=view.called(here))
    passages = _at_hand(view, topic or text) or view.known(text) or view.known(topic)
    if passages or not view.language.content(topic) or len(plain_words(topic)) >= FEW:
        return passages
    return view.phrase(none, thing=topic, other=topic)


def _at_hand(view: StandInView, text: str) -> str:
    """Return where what a text names is: carried, here, or along a way; "" if it is nowhere."""
    for key, names in (("have", view.situation.carrying), ("is_here", view.situation.things)):
        named, content = match_name(text, names), view.language.content
        if named and not {*content(named)}.isdisjoint(content(text)):
            return view.phrase(key, item=view.thing(named))
    return ""


def _exits(view: StandInView, text: str, topic: str) -> str:
    """Return where an exit leads, or which exits there are."""
    exit_name = match_name(topic or text, view.situation.exits)
    if not exit_name:
        parts, joint = map(exit_parts, view.situation.exits), view.language.data["joints"]["to"]
        ways = ((name, leads * (leads.lower() != name.lower())) for name, leads in parts)
        names = [f"{name} {joint} {leads}" if leads else name for name, leads in ways]
        return view.listing("exits", "exits_none", names, "exits")
    name, leads = exit_parts(exit_name)
    key = "exit" if name in view.language.data.get("opposites", ()) else "exit_named"
    return view.phrase(key, exit=name, place=leads or name)


def _here(view: StandInView, text: str, topic: str, key: str) -> str:
    """Return who is here, what lies here, what the character has, or what time it is."""
    now, time = view.situation, view.transcript.time
    match = view.language.pattern("patterns", "asks_name").search(text)
    known, words = view.language.vocabulary, match["name"].split() if match else ()
    is_name = words and all(word[:1].isupper() or word not in known for word in words)
    if is_name and not match_name(text, [view.name, *now.people]):
        return ""
    if key == "time":
        return view.phrase(key, time=time) if time else view.phrase("time_none")
    if key == "here":
        return view.listing(key, "alone", map(view.called, view.others), "people")
    names = now.things if key == "things" else now.carrying
    return view.listing(key, f"{key}_none", map(view.thing, names[:MOST_LISTED]))


_is_there = partial(_where_is, none="have_none")
HANDLERS: dict[str, Callable[[StandInView, str, str], str]] = {
    "greet": _greet, "buys": lambda view, *_: view.phrase("buys_some") if "buy" in view.scene.tools else "",
    "where": _where, "place_name": _where, "seen_there": partial(_here, key="here"), "done_it": _done_it,
    "ask_self": _identity, "ask_goal": _goal,
    "story": _story, "news": _story,
    "recall_name": lambda view, *_: view.phrase("told_nothing") if is_description(view.who) else "",
    "recall_all": told_everything, "recall_gift": told_gifts,
    "where_is": _where_is, "who_here": partial(_here, key="here"),
    "what_here": partial(_here, key="things"), "time": partial(_here, key="time"),
    "carry": partial(_here, key="carrying"),
    "is_there": _is_there, "have": _is_there, "exits": _exits, "way_to": _exits,
}  # fmt: skip
