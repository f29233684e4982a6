"""What a sentence asks the character to do, by the patterns of its language, and what it refuses."""

import re
from dataclasses import replace

from evennia_ai.contrib.stand_in.languages import ENGLISH, Language
from evennia_ai.contrib.stand_in.view import KNOWN, StandInView
from evennia_ai.contrib.stand_in.words import matches, with_article
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.requested_acts import RequestedAct, match_name, requested_act
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import plain_words

LISTED = 4  # most words for each thing of a list
RECENT = 3  # lines of a speaker, within which a price holds
# Kinds of sentences that ask for a shop's prices.
PRICED = frozenset({"price", "wares", "buy", "food", "drink"})
NO_WISH = frozenset(
    "nature inject crime threat insult authority story news secret_of joke invite keep_it recall_all "
    "said_by propose offer_thing farewell bribe come_in gratis haggle price".split()
)


def requested_action(view: StandInView) -> RequestedAct | None:
    """Return the action that a speaker requests, unless the character never does it."""
    for text in view.sentences:
        wishes = view.language.finds("sells", text) or view.language.key_of(text) not in NO_WISH
        requested = (read_meant(view, text) if wishes else None) or _agreed(view, text)
        if "sell" in view.scene.tools and (requested is None or requested.act == "give"):
            requested = _ordered(view, text, requested)
        if requested and not _forbidden(view, requested):
            return requested
    return None


def _wares(view: StandInView) -> list[str]:
    """Return the names of what may be for sale: what it carries, and what lies here."""
    return [*view.situation.carrying, *view.situation.things]


def _ordered(view: StandInView, text: str, requested: RequestedAct | None) -> RequestedAct | None:
    """Return the order of all wares that a text names, None if it is unclear which it means.

    What only lists wares, "three loaves and a bun", orders them.
    """
    items, parts = list[str](), view.language.pattern("patterns", "parts").split(text)
    counts, fits = view.language.data.get("counts", {}), [matches(p, _wares(view)) for p in parts]
    for part, names in zip(parts, fits, strict=True):
        words = plain_words(part)
        named = {at for at in range(len(words)) if match_name(" ".join(words[at : at + 2]), names)}
        many = (counts[word] for at, word in enumerate(words, 1) if word in counts and at in named)
        items += sorted({*names}) * next(many, 1)
    if any(len({*names}) > 1 for names in fits):
        return None
    if len(items) < 2:
        return requested
    if requested:
        return replace(requested, item=", ".join(items))
    short = all(names and len(p.split()) <= LISTED for p, names in zip(parts, fits, strict=True))
    is_list = short and not view.language.asks(text)
    give = RequestedAct("give", item=", ".join(items), to=view.speaker, text=text)
    return give if is_list else None


def asks_prices(view: StandInView) -> bool:
    """Return True if a line needs the prices of a shop that this turn has not looked up."""
    if "prices" not in view.scene.tools or any(
        act.name == "prices" for act in view.transcript.acts
    ):
        return False
    wares = _wares(view)
    return any(match_name(s, wares) or view.asked_of(s)[0].key in PRICED for s in view.sentences)


def _agreed(view: StandInView, text: str) -> RequestedAct | None:
    """Return the purchase of a ware that the speaker was told the price of, if they want it."""
    key, wares = view.asked_of(text)[0].key, _wares(view)
    lines = view.transcript.answers_to(view.speaker)[-RECENT:]
    priced = [line for line in lines[::-1] if any(map(str.isdigit, line))]
    offered = next(filter(None, (match_name(line, wares) for line in priced)), "")
    pays = priced and set(re.findall(r"\d+", text)) & set(re.findall(r"\d+", priced[0]))
    named, content = match_name(text, wares), view.language.content
    if view.language.asks(text) or not set(content(text)) <= set(content(named)):
        named = ""
    if "sell" not in view.scene.tools or not offered or not (named or pays or key == "yes"):
        return None
    return RequestedAct("give", item=named or offered, to=view.speaker, text=text)


def refusal(view: StandInView, text: str) -> str:
    """Return a phrase that refuses what the character never does; "" if nothing is refused."""
    asks_it = view.language.asks(text) and view.is_silent_about(text)
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
        before = (line for line in reversed(view.transcript.talk) if line.strip() not in text)
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
    if act.act == "give" and match_name(act.item, view.known_people):
        return None
    return act


def _as_it_was(view: StandInView) -> Situation:
    """Return the situation, with things that this turn moved also in their old place."""
    now, acts = view.situation, view.transcript.acts
    moved = any(act.name == "move" and not act.failed for act in acts)
    here = () if moved else now.things
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
    return "gesture" if requested.act == "emote" else requested.act


# --- the persona's law ----------------------------------------------------------------------------


def _forbidden(view: StandInView, requested: RequestedAct) -> str:
    """Return why the character will not do an action; "" if it will."""
    if requested.act == "look":
        return ""
    implied = view.language.data.get("law", {}).get(kind_of(requested), "")
    return _law(view, requested.item or requested.text, f"{implied} {requested.text}")


def _law(view: StandInView, text: str, implied: str = "") -> str:
    """Return the refusal in the persona whose verb and other words a wish has; "" if none."""
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
    return [stem(word, language.code) for word in plain_words(text) if word not in small]
