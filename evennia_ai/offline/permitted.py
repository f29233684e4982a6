"""Whether the character does what a sentence asks for."""

from __future__ import annotations

from dataclasses import replace

from evennia_ai.offline.name_matching import kinds_of, match_name
from evennia_ai.offline.requests import RequestedAction, read_requested_action
from evennia_ai.offline.view import View
from evennia_ai.offline.words import with_article
from evennia_ai.policy.retrieval.words import find_words
from evennia_ai.ports import Situation

# Intents that no request is read from.
NO_WISH = frozenset("nature inject crime threat insult authority story secret_of joke invite keep_it recall_all said_by propose offer_thing farewell".split())  # fmt: skip
PARTING = "give hand lend let sell part pass share drop spare take have"
HANDS = frozenset({"give", "fetch", "drop"})
TREATS = {"drink", "food", "remedy"}
NEVER_WORDS = frozenset({"never", "nie"})


def meant_request(view: View, text: str) -> RequestedAction | None:
    """Return the action that a sentence requests, unless the character never does it."""
    if view.language.key_of(text) in NO_WISH:
        return None
    requested = read_meant(view, text)
    if not requested or requested.kind == "look" or not forbidden(view, requested):
        return requested
    return None


def read_meant(view: View, text: str) -> RequestedAction | None:
    """Return the action in a sentence with "it" replaced by the thing mentioned last."""
    now = as_it_was(view)
    names = (*now.things, *now.carrying)
    found = view.language.pattern("requests", "pronoun").search(text)
    if found and not match_name(text, names, loose=False):
        before = (
            earlier for earlier in reversed(view.transcript.talk) if earlier.strip() not in text
        )
        named = next(filter(None, (match_name(line, names, loose=False) for line in before)), "")
        item = with_article(named) if view.language.code == "en" else named
        text = text[: found.start()] + item + text[found.end() :] if named else text
    return read_requested_action(text, view.speaker, now, view.language)


def as_it_was(view: View) -> Situation:
    """Return the situation, with things that this turn moved also in their old place.

    So a request means the same at every step of the turn.
    """
    now, acts = view.situation, view.transcript.acts
    taken = [str(act.arguments.get("item", "")) for act in acts if act.name == "get"]
    parted = [str(act.arguments.get("item", "")) for act in acts if act.name in {"give", "drop"}]
    ways = [f"{a.arguments.get('to', '')} (to {a.result.partition(':')[0]})" for a in acts if a.name == "move"]  # fmt: skip
    return replace(now, exits=(*ways[:1], *now.exits), things=(*now.things, *taken), carrying=(*now.carrying, *parted))  # fmt: skip


def forbidden(view: View, requested: RequestedAction) -> str:
    """Return why the character will not do an action; "" if it will."""
    clause = never_clause(view, f"{requested.text} {requested.item}")
    if clause or requested.kind not in HANDS:
        return clause
    own = match_name(requested.item, view.situation.carrying, loose=False)
    yours = view.language.pattern("requests", "your").search(requested.text)
    keeps = own and yours and not kinds_of(requested.item) & TREATS
    return view.phrase("keeps", thing=own) if keeps else ""


def never_clause(view: View, text: str) -> str:
    """Return the thing it never does that a line asks for; "" if none."""
    code = view.language.code
    meant, parting = set(find_words(text, (), code)), set(find_words(PARTING, (), code))
    for clause in view.character.nevers:
        verb, *objects = [s for s in find_words(clause, (), code) if s not in NEVER_WORDS] or [""]
        same = verb in meant or (verb in parting and meant & parting)
        if same and (meant & set(objects) or not objects):
            return clause
    return ""


def refusal(view: View, text: str) -> str:
    """Return a refusal of what a sentence asks for and the character never does; "" if none."""
    if not view.language.full:
        return ""
    requested = read_meant(view, text)
    if requested and requested.kind != "look":
        clause = forbidden(view, requested)
    else:
        asks = text.rstrip().endswith("?") or view.language.key_of(text) in {"", "crime"}
        clause = never_clause(view, text) if asks and not text.lower().startswith("why") else ""
    if not clause or view.repeats(clause):
        return view.phrase("request_not") if clause else ""
    return view.phrase("never", fact=clause) if clause in view.character.nevers else clause
