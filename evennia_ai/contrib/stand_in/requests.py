"""What a sentence asks the character to do, by the patterns of its language, and what it refuses."""

from dataclasses import replace

from evennia_ai.contrib.stand_in.deals import ordered, read_deal, sale, wares_of
from evennia_ai.contrib.stand_in.languages import ENGLISH, Language
from evennia_ai.contrib.stand_in.view import KNOWN, StandInView
from evennia_ai.contrib.stand_in.words import with_article
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.requested_acts import RequestedAct, match_name, requested_act
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import plain_words

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
        requested = read_meant(view, text) if wishes else None
        if requested is None or requested.act == "give":
            costs = match_name(requested.item, [*view.transcript.goods]) if requested else ""
            is_one = not view.scene.vectors and read_deal(view, text).kind != "which"
            alone = sale(view, [costs], text) if costs and is_one else None
            requested = ordered(view) or (alone if costs else requested)
        if requested and not _forbidden(view, requested):
            return requested
    return None


def asks_prices(view: StandInView) -> bool:
    """Return True if a line needs the prices of a shop that this turn has not looked up."""
    if "prices" not in view.scene.tools or any(
        act.name == "prices" for act in view.transcript.acts
    ):
        return False
    deals = ((text, read_deal(view, text), read_meant(view, text)) for text in view.sentences)
    return any(
        deal.named or deal.wares or view.asked_of(text)[0].key in PRICED
        or (act and act.act == "give" and match_name(act.item, wares_of(view)))
        for text, deal, act in deals
    )  # fmt: skip


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
    return {"emote": "gesture", "sell": "give"}.get(requested.act, requested.act)


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
