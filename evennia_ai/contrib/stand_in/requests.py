"""What a sentence asks the character to do or to sell, and what it refuses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile

from evennia_ai.contrib.stand_in.languages import ENGLISH, Language
from evennia_ai.contrib.stand_in.view import KNOWN, StandInView
from evennia_ai.contrib.stand_in.words import matches, sentences, stems_of, with_article
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.requested_acts import RequestedAct, match_name, requested_act
from evennia_ai.policy.facts.terms import mean_of_highest
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import plain_words

# Least likeness to an example of a kind of deal, if a line names no ware, and if it has a number.
TRADED, NUMBERED = 0.4, 0.3
# Kinds of sentences that are about no ware unless they name one.
OTHERS = frozenset(
    "greet farewell ask_self who_here where exits way_to task ask_feeling recall_name recall_all wares"
    " grief pity glad insult praise noted remark opinion".split()
)
# How near to a rule a question is refused; what is only near is not told, but not refused either.
REFUSED = 0.5
RECENT = 6  # lines, within which what anybody spoke of is meant
NEAREST = 2  # examples of a kind that a line is compared with
BETWEEN = 2  # most words between a number and what it counts
ASKS = frozenset({"price", "about"})  # kinds of questions
GONE = ASKS | {"order", "haggle"}  # kinds of deals that a sold thing is missed in
# Kinds of deals of kinds of sentences, where no embedder is.
KINDS = {"yes": "order", "no": "refuse", "haggle": "haggle", "price": "price"}


@dataclass(frozen=True)
class Deal:
    """What one line wants of wares, after the lines before it.

    ``kind`` is order, refuse, haggle, price or about (questions), other, which (the words fit
    several wares), few (there are not so many), gone (sold), missing, or "" if it is about none.
    ``wares`` has each name as often as it is wanted; the line itself names them if ``named``.
    """

    kind: str = ""
    wares: tuple[str, ...] = ()
    named: bool = False


def wares_of(view: StandInView) -> list[str]:
    """Return the names of what is for sale, else of what may be: carried, or lying here."""
    goods, now = view.transcript.goods, view.situation
    return [name for name in (*now.carrying, *now.things) if name in goods or not goods]


def numbers_in(words: Sequence[str], values: Mapping[str, int]) -> dict[int, int]:
    """Return numbers by the place of their last word: "thirty eight" is one."""
    numbers = dict[int, int]()
    for at, word in enumerate(words):
        value = int(word) if word.isdecimal() else values.get(word, 0)
        last = numbers.get(at - 1, 0)
        tens = not last % 10 and 0 < value < (10 if last % 100 else 100)
        if last and (tens or value == 100):
            value = last + value if tens else last * value
            del numbers[at - 1]
        numbers |= {at: value} if value else {}
    return numbers


def masked(view: StandInView, text: str) -> str:
    """Return a text with "it" for every ware that it names, to compare what is left."""
    stems = stems_of((*wares_of(view), *view.transcript.sold))
    named = {word for word in plain_words(text) if stem(word, ENGLISH) in stems}
    if not named:
        return text
    names = rf"(?:{'|'.join(sorted(map(re.escape, named)))})\b"
    deal = view.language.data.get("deal", {})
    article = rf"(?:(?:{deal.get('article', '(?!)')})\s+)*"
    ware = rf"\b{article}{names}(?:\s+(?:of\s+)?{names})*"
    return re.sub(ware, deal.get("it", "it"), text, flags=re.I)


def read_deal(view: StandInView, text: str) -> Deal:
    """Return what a sentence wants of wares; `Deal()` where no shop is kept."""
    if not (view.transcript.goods or view.transcript.sold or "prices" in view.scene.tools):
        return Deal()
    rows, free = _named(view, text)
    is_gone = not rows and bool(match_name(text, view.transcript.sold))
    before = _discussed(view, text)
    answers = " ".join(view.transcript.answers_to(view.speaker)[-1:])
    is_told = any(str(number) in answers for number in free)
    # "Which tooth hurt?" is about no tooth powder, "the brass one" of two lamps is about it.
    heads = stems_of(plain_words(name)[-1] for names in rows for name in names)
    is_sure = is_gone or (rows and before.wares) or not heads.isdisjoint(stems_of([text]))
    least = -1.0 if is_sure else 0.0 if is_told else NUMBERED if free else TRADED
    kind = _kind(view, text, least)
    kind = "other" if kind == "about" and not view.language.asks(text) else kind
    if is_gone and kind in GONE:
        return Deal("gone", named=True)
    if () in rows:
        return Deal("missing", named=True)
    # Of several that its words fit, what was spoken of is meant.
    meant = {tuple(n for n in names if n in before.wares) or names: rows[names] for names in rows}
    wares = tuple(name for names, many in meant.items() for name in names for _ in range(many or 1))
    if any(len(names) > 1 for names in meant):
        return Deal("which" if kind in ("order", "") else kind, wares, named=True)
    if kind == "haggle" and any(rows.values()) and not free:
        kind = "order"  # "five of it!"
    if not rows and kind and kind != "about":
        goods = {} if view.language.asks(text) else view.transcript.goods
        cost = [name for name, price in goods.items() if is_told and number_in(price) in free]
        wares = before.wares or tuple(cost if len(cost) == 1 else ())
        kind = "which" if kind == "order" and before.kind == "which" else kind
    deal = Deal(kind, wares, bool(rows))
    return _counted(view, deal, text, free) if wares else deal


def _counted(view: StandInView, deal: Deal, text: str, numbers: Mapping[int, bool]) -> Deal:
    """Return a deal by the numbers of a sentence that count no ware: a price, a bid, or how many."""
    kind, wares, goods = deal.kind, deal.wares, view.transcript.goods
    each = {name: number_in(goods.get(name, "")) for name in wares}
    have, total = wares_of(view), sum(each[name] for name in wares)
    answered = " ".join(view.transcript.answers_to(view.speaker)[-1:])
    bids = view.language.pattern("patterns", "bid").search(text) and kind == "order"
    if bids and numbers and {total, *each.values()}.isdisjoint(numbers):
        return replace(deal, kind="haggle")
    for number in numbers if kind != "refuse" else ():
        most = have.count(wares[0])
        is_many = number <= most or number**2 <= each[wares[0]] * most
        is_count = is_many and numbers[number] and kind == "order" and len({*wares}) == 1
        priced = wares if number == total else tuple(n for n in each if each[n] == number)[:1]
        is_told = str(number) in answered
        if priced and (is_told or not is_count or number == total > max(each.values())):
            kind, wares = kind if kind == "other" and not is_told else "order", priced
        elif is_count:
            wares = wares[:1] * number
        elif kind != "other" and number > 1:
            asks = kind in ASKS and view.language.finds("question", text)
            kind = kind if asks or (deal.named and kind == "order") else "haggle"
    if kind == "order" and any(wares.count(name) > have.count(name) for name in wares):
        kind, wares = "few", tuple(name for name in dict.fromkeys(wares) if name in have)
    return replace(deal, kind=kind, wares=wares)


def _named(view: StandInView, text: str) -> tuple[dict[tuple[str, ...], int], dict[int, bool]]:
    """Return the wares that a text names, and how many, 0 if it does not say; and other numbers.

    Those are True if they may say how many; "for four" is a price, "four cans" are not for sale.
    A ware is the names that its words fit: none if it is of another thing, such as "a bowl of
    soup" where there is one of tea.
    """
    rows, free = dict[tuple[str, ...], int](), dict[int, bool]()
    data, names = view.language.data, wares_of(view)
    apart = {*data.get("deal", {}).get("apart", "").split()}
    parts = (view.language.pattern("patterns", "parts").split(part) for part in sentences(text))
    for part in chain.from_iterable(parts):
        words, fits = plain_words(part), tuple(dict.fromkeys(matches(part, names)))
        stems = stems_of(fits)
        own = [stem(word, ENGLISH) in stems for word in words]
        at = own.index(True) if True in own else 0
        article = data.get("deal", {}).get("article", "(?!)")
        small = view.language.common | data.get("counts", {}).keys()
        is_common = words[at : at + 1] and words[at] in small and sum(own) < 2
        if fits and is_common and not re.fullmatch(rf"{article}|\d+", words[at - 1] if at else ""):
            continue  # "can I go?" is about no watering can, "which one?" about no one-eyed cat
        every = numbers_in(words, data.get("counts", {})).items()
        numbers = [(end, number) for end, number in every if not own[end]]
        counts = [n for end, n in numbers
                  if 0 < at - end <= BETWEEN + 1 and apart.isdisjoint(words[end + 1 : at])]  # fmt: skip
        if fits and data.get("deal", {}).get("all") in words[max(0, at - BETWEEN) : at]:
            counts.append(names.count(fits[0]))
        for end, number in numbers:
            behind = words[end + 1 : end + 2]
            is_other = bool(behind) and behind[0] not in view.language.common | apart
            if number not in counts[-1:] and not is_other:
                free[number] = apart.isdisjoint((*words[max(0, end - 1) : end], *behind))
        last = {stem(plain_words(name)[-1], ENGLISH) for name in fits}
        is_other = last.isdisjoint(stem(word, ENGLISH) for word in words)
        if fits:
            key = () if is_other and words[at + 1 : at + 2] == ["of"] else fits
            rows[key] = max(rows.get(key, 0), *counts[-1:], 0)
    return rows, free


def _discussed(view: StandInView, text: str) -> Deal:
    """Return what was offered last; where a sentence points back, what anybody spoke of last."""
    now = list(takewhile(lambda part: part != text, view.sentences))
    points = view.language.finds("points_back", text)
    answers = view.transcript.answers_to(view.speaker)
    before = view.talk_before if points else answers[-1:]
    for line in [*before, *now][: -RECENT - 1 : -1]:
        rows, free = _named(view, line)
        wares = tuple(name for names in rows for name in names for _ in range(rows[names] or 1))
        if wares:
            several = any(len(names) > 1 for names in rows) or len(rows) > 1 < len(free)
            return Deal("which" if several else "order", wares)
    return Deal()


def _kind(view: StandInView, text: str, least: float) -> str:
    """Return the kind of a deal that a sentence wants: by its likeness to examples, or patterns."""
    is_named, vectors = least < 0, view.scene.vectors
    own = vectors.get(masked(view, text))
    examples = view.language.data.get("deals", {})
    if own is not None and examples:
        fits = dict[str, float]()
        for kind, texts in examples.items():
            row = [float(own @ vectors[text]) for text in texts if text in vectors]
            fits[kind] = mean_of_highest(row, NEAREST)
        fits["refuse"] = -1.0 if view.language.asks(text) else fits.get("refuse", -1.0)
        best = max(fits, key=fits.__getitem__)
        is_other = view.language.kind_of(text) in OTHERS  # "guess what they pay me"
        return best if fits[best] >= least and (is_named or not is_other) else ""
    key, asks = view.language.key_of(text), view.language.asks(text)
    if key in KINDS:
        return KINDS[key]
    act = requested_act(text, view.situation, view.speaker, view.language.data)
    if (act and act.act == "give") or (key == "buy" and not asks):
        return "order"
    counts = view.language.data.get("counts", {})
    of_wares = view.language.content(" ".join((*wares_of(view), *view.transcript.sold, *counts)))
    rest = [word for word in view.language.content(text) if not word.isdecimal()]
    return "" if not is_named else "price" if asks else "order" if {*rest} <= {*of_wares} else ""


def ordered(view: StandInView) -> RequestedAct | None:
    """Return the sale of all wares that the speaker wants, None if they order none."""
    wares, text = tuple[str, ...](), ""
    for part in view.sentences:
        deal = read_deal(view, part)
        if deal.kind == "order":
            wares, text = (*wares, *deal.wares) if deal.named else deal.wares, part
        elif deal.kind in ("refuse", "haggle"):
            wares = ()
    return sale(view, wares, text)


def sale(view: StandInView, wares: Sequence[str], text: str) -> RequestedAct | None:
    """Return the sale of wares, its target the price in words; None if one has no price."""
    goods = view.transcript.goods
    if not wares or "sell" not in view.scene.tools or not goods.keys() >= {*wares}:
        return None
    total = sum(number_in(goods[name]) for name in wares)
    price = re.sub(r"\d+", str(total), max((goods[name] for name in wares), key=len), count=1)
    return RequestedAct("sell", price, item=", ".join(wares), to=view.speaker, text=text)


def number_in(price: str) -> int:
    return int(next(iter(re.findall(r"\d+", price)), 0))


PRICED = frozenset({"price", "wares", "buy", "food", "drink"})  # kinds that ask for prices
NO_WISH = frozenset(
    "nature inject crime threat insult authority story news keep_it recall_all said_by farewell "
    "bribe come_in gratis haggle price".split()
)


def requested_action(view: StandInView) -> RequestedAct | None:
    """Return the action that a speaker requests, unless the character never does it."""
    for text in view.sentences:
        wishes = view.language.finds("sells", text) or view.language.key_of(text) not in NO_WISH
        requested = read_meant(view, text) if wishes else None
        if requested is None or requested.act == "give":
            wares = [*view.transcript.goods, *view.transcript.sold]
            costs = match_name(requested.item, wares) if requested else ""
            is_one = not view.scene.vectors and read_deal(view, text).kind != "which"
            alone = sale(view, [costs], text) if costs and is_one else None
            requested = ordered(view) or (alone if costs else requested)
        buys = "prices" in view.scene.tools and view.language.key_of(text) == "buy"
        if requested and requested.act == "give" and buys:
            continue  # what has no price is neither for sale in a shop nor a gift
        if requested and not _forbidden(view, requested):
            return requested
    return None


def asks_prices(view: StandInView) -> bool:
    """Return True if a line needs the prices of a shop that this turn has not looked up."""
    if "prices" not in view.scene.tools or "prices" in [a.name for a in view.transcript.acts]:
        return False
    deals = ((text, read_deal(view, text), read_meant(view, text)) for text in view.sentences)
    return any(
        deal.named or deal.wares or (deal.kind == "order" and _named(view, text)[1]) or view.language.asked_of(text)[0].key in PRICED
        or (act and act.act == "give" and match_name(act.item, wares_of(view)))
        for text, deal, act in deals
    )  # fmt: skip


def refusal(view: StandInView, text: str) -> str:
    """Return a phrase that refuses what the character never does; "" if nothing is refused."""
    asks_it = view.language.asks(text) and view.is_silent_about(text, REFUSED)
    if asks_it and not view.find(text, view.of(KNOWN)):
        return view.phrase("silent")
    requested, intent = read_meant(view, text), view.language.asked_of(text)[0]
    clause = _forbidden(view, requested) if requested else ""
    wished = any(view.language.finds(key, text) for key in ("wish", "order"))
    if not clause and (intent.implies or (wished and not requested) or intent.key == "crime"):
        clause = _law(view, f"{text} {intent.implies}")
    key = "request_not" if view.repeats(clause) else "never"
    return view.phrase(key, fact=clause) if clause else ""


def read_meant(view: StandInView, text: str) -> RequestedAct | None:
    """Return the action in a sentence with something here; "it" is the thing mentioned last."""
    now, language = _as_it_was(view), view.language
    names = (*now.things, *now.carrying)
    pronoun = language.pattern("requests", "pronoun").search(text)
    if pronoun and not match_name(text, names):
        before = reversed(view.talk_before)
        named = next(filter(None, (match_name(line, names) for line in before)), "")
        item = with_article(named) if language.code == ENGLISH else named
        text = text[: pronoun.start()] + item + text[pronoun.end() :] if named else text
    offered = language.pattern("patterns", "sells").search(text)
    if offered and {"prices", "buy"} <= view.scene.tools:
        return RequestedAct("buy", item=offered["item"].rstrip(" .!?"), text=text)
    act = requested_act(text, now, view.speaker, language.data)
    if act is None or act.act == "whisper":
        return None
    if act.act == "give" and not act.is_sure:
        kind = language.asked_of(text)[0].tells  # "something to drink"
        at_hand = next(filter(kind.search, names), "") if kind else ""
        vague = kind or language.pattern("requests", "anything").search(act.item)
        return replace(act, item=at_hand) if at_hand else None if vague else act
    if act.act == "give" and match_name(act.item, view.others):
        return None
    return act


def _as_it_was(view: StandInView) -> Situation:
    """Return the situation, with things that this turn moved also in their old place."""
    now, acts = view.situation, view.transcript.acts
    here = () if any(act.name == "move" and not act.failed for act in acts) else now.things
    things = (*here, *(act.item for act in acts if act.name == "get"))
    carrying = (*now.carrying, *(act.item for act in acts if act.name in {"give", "drop"}))
    walks = (act for act in acts if act.name == "move")
    ways = [f"{act.arguments.get('to', '')} (to {act.result.partition(':')[0]})" for act in walks]
    return replace(now, exits=(*ways[:1], *now.exits), things=things, carrying=carrying)


def kind_of(requested: RequestedAct) -> str:
    """Return the key of the phrases and laws for an act."""
    if requested.act == "move":
        return "fetch" if requested.item else "go"
    if requested.act == "follow":
        return "follow" if requested.target else "unfollow"
    return {"emote": "gesture", "sell": "give"}.get(requested.act, requested.act)


def _forbidden(view: StandInView, requested: RequestedAct) -> str:
    """Return why the character will not do an action; "" if it will."""
    if requested.act == "look":
        return ""
    implied = view.language.data.get("law", {}).get(kind_of(requested), "")
    sells = requested.act == "sell"  # "never sells water on credit" forbids no sale of water
    return _law(view, requested.item or requested.text, f"{implied} {requested.text}", sells)


def _law(view: StandInView, text: str, implied: str = "", whole: bool = False) -> str:
    """Return the refusal in the persona whose verb and other words, or all, a wish has; "" if none."""
    meant, verbs = _bare(view.language, text), _bare(view.language, implied)
    alone = _bare(view.language, view.language.data.get("law", {}).get("verb_alone", ""))
    for clause in view.character.nevers:
        verb, *objects = _bare(view.language, clause) or [""]
        is_verb_enough = not objects or (verb in alone and verb in verbs)
        held = {*objects}.intersection(meant)
        fits = held == {*objects} if whole else is_verb_enough or held
        if verb in {*meant, *verbs} and fits:
            return clause
    return ""


def _bare(language: Language, text: str) -> list[str]:
    """Return the stems of a text's words, prepositions included, without "I", "never" and such."""
    small = language.data.get("law", {}).get("small", "").split()
    return [stem(word, language.code) for word in plain_words(text) if word not in small]
