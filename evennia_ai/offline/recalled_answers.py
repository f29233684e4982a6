"""Answers to speakers about what they told, asked or gave."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from evennia_ai.offline.aspects import aspects_of, fitting_of
from evennia_ai.offline.grammar import turned_round
from evennia_ai.offline.knowledge import Passage, fitting, rank
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.sentence_facts import ABOUT_SELF, facts_in
from evennia_ai.offline.speaker_facts import IMPERATIVE, Statement
from evennia_ai.offline.understanding import COURTESY, Reading, read_part
from evennia_ai.offline.words import content, listed, plain_spelling, small, stem, words

SLOT_FACTS = {
    "trade": "you are {v}",
    "does": "you {v}",
    "home": "you come from {v}",
    "age": "you are {v} years old",
    "likes": "you like {v}",
    "hates": "you dislike {v}",
    "fears": "you are afraid of {v}",
}
SLOT_OF = {
    "recall_trade": "trade",
    "recall_home": "home",
    "recall_age": "age",
    "recall_likes": "likes",
    "recall_hates": "hates",
    "recall_quest": "quest",
}
ABOUT_RECALL = re.compile(r"\b(?:remember|recall|tell you|told you|say|said|remind)\b", re.I)
OF_ASKING = re.compile(
    r"\b(?:ask\w*|questions?|want(?:ed)? to know|wonder\w*|order\w*|request\w*|say|said|tell|told|talk\w*|mention\w*)\b",
    re.I,
)
ORDERING = re.compile(
    r"\b(?:ask|asked|tell|told|want|wanted|send|sent|order\w*) you to\b|\b(?:want|order)\w*\b", re.I
)
FILLERS = frozenset({"i", "you", "me", "what", "did", "the", "a", "to"})
# "which place did I say I came from" asks "which place I came from".
SAYING = re.compile(
    r"\b(?:did |have )?i (?:ever |just |already )?(?:say|said|tell|told|mention|mentioned)(?: to)?(?: you)?(?: that)? (?=i\b|i'm\b|my\b|was\b)",
    re.I,
)
LONGEST = 220
AS_NEAR = 0.87


def recall(view: RequestView, reading: Reading) -> str:
    """Answer a question about what the speaker told."""
    if reading.intent == "recall_name":
        return view.phrase("told_name", value=view.who)
    if reading.intent in {"recall_last", "recall_first"}:
        return at_an_end(view, reading)
    if reading.intent == "recall_all":
        return everything_about(view)
    text = reading.text
    return (
        by_aspect(view, text)
        or from_statements(view, text)
        or from_slot(view, SLOT_OF.get(reading.intent, ""))
        or (latest(view, text) if is_vague(text) else view.phrase("told_nothing"))
    )


def is_vague(question: str) -> bool:
    """Return True if a question names no topic: "what was it that I said?"."""
    few = OF_ASKING.search(question) or len(question.split()) < 5
    return bool(few) and not content(question)


def by_aspect(view: RequestView, question: str) -> str:
    """Return what the speaker told about the aspect in a question, or "".

    Of several statements, the one that shares most words with the question wins, then the latest.
    """
    told = [i for i in reversed(view.speaker_facts.told_by(view.speaker)) if is_telling(i)]
    plain = SAYING.sub("", question)
    found = fitting_of(plain, told, lambda item: item.text, aspects_of(plain))
    return back_to(view, found[0], question) if found else ""


def at_an_end(view: RequestView, reading: Reading) -> str:
    """Return the first or the last line that the speaker said before now."""
    kinds = ("asked",) if re.search(r"\bask", reading.text) else ("told", "asked")
    every = earlier(view, *kinds)
    if not every:
        return view.phrase("told_nothing")
    return back_to(view, every[0 if reading.intent == "recall_first" else -1], reading.text)


def latest(view: RequestView, question: str) -> str:
    """Answer a question without a topic, such as "What was I asking?".

    The answer is the latest statement, or the earlier question that is most like this one.
    """
    asks = re.search(r"\b(?:ask|asked|asking|wonder\w*|want|wanted|order\w*)\b", question, re.I)
    told = [item for item in earlier(view, "told") if is_telling(item)]
    found = earlier_questions(view) if asks else told
    if not found:
        return view.phrase("told_nothing")
    best = max(found, key=lambda item: (_likeness(question, item.text) if asks else 0, item.order))
    return back_to(view, best, question)


def _likeness(question: str, text: str) -> int:
    """Return how alike a question and an earlier question or order are, as points."""
    wanted = {stem(word) for word in words(question)} - FILLERS
    shared = len(wanted & {stem(word) for word in words(text)})
    ordered = ORDERING.search(question) and IMPERATIVE.match(text)
    wondered = re.search(r"\bwonder", question) and re.search(
        r"\bwhy\b|\bwonder|how come", text, re.I
    )
    return shared + 2 * bool(ordered) + 3 * bool(wondered)


def from_slot(view: RequestView, slot: str) -> str:
    """Return a named fact as a line; "" if the speaker did not tell it."""
    facts = view.speaker_facts.of(view.speaker)
    if slot == "trade" and slot not in facts:
        slot = "does"
    if slot not in facts:
        return ""
    value = facts[slot]
    holding = [item for item in view.speaker_facts.told_by(view.speaker) if value in item.text]
    if slot in SLOT_FACTS:
        fact = SLOT_FACTS[slot].format(v=turned_round(value))
    else:
        fact = as_told(holding[-1].text) if holding else turned_round(value)
    return view.phrase("told", fact=fact)


def as_told(text: str) -> str:
    """Return a statement from the listener's side, for the middle of a sentence."""
    return small(turned_round(text.strip())).rstrip(" .!,;")


def from_statements(view: RequestView, question: str) -> str:
    """Return what the speaker told, did or asked that answers a question, or ""."""
    told = view.speaker_facts.told_by(view.speaker, "told", "did")
    found = nearest(view, question, told) or of_kind(question, told)
    if not found and OF_ASKING.search(question):
        found = nearest(view, question, earlier_questions(view))
    return back_to(view, found, question) if found else ""


def earlier_questions(view: RequestView) -> list[Statement]:
    """Return the speaker's earlier questions and orders, without those about recall."""
    return [item for item in earlier(view, "asked") if not ABOUT_RECALL.search(item.text)]


def earlier(view: RequestView, *kinds: str) -> list[Statement]:
    """Return the speaker's statements of these kinds that are not in the lines to answer."""
    new = " ".join(plain_spelling(line.text) for line in view.scene.lines)
    told = view.speaker_facts.told_by(view.speaker, *kinds)
    return [item for item in told if item.text not in new]


def back_to(view: RequestView, found: Statement, question: str) -> str:
    """Return a statement as a line to its speaker.

    If it lacks the kind of thing that was asked for, a statement of the same line with it is added.
    """
    if found.kind == "did":
        fact = as_told(found.text).removeprefix("you ")
        return view.phrase("you_did", fact=fact)
    if found.kind == "asked":
        return view.phrase("asked", fact=found.text[:LONGEST].replace('"', "'"))
    fact = as_told(found.text)
    holds = fitting(question)
    if holds and not holds.search(found.text[1:]):
        near_by = [
            item
            for item in view.speaker_facts.told_by(view.speaker)
            if item.line == found.line and item is not found and holds.search(item.text[1:])
        ]
        fact = "; ".join([fact, *(as_told(item.text) for item in near_by[:1])])
    return view.phrase("told", fact=fact[:LONGEST])


def nearest(view: RequestView, question: str, statements: Sequence[Statement]) -> Statement | None:
    """Return the statement that best answers a question, or None.

    Of statements that score almost alike, the one that shares most words wins, then the latest.
    """
    passages = [Passage(item.text, str(item.order), item.context) for item in statements]
    found = rank(question, passages, (view.name,), lenient=True)
    by_order = {str(item.order): item for item in statements}
    ranked = ((item.score, by_order[item.passage.source]) for item in found)
    telling = ((score, item) for score, item in ranked if is_telling(item))
    top, first = next(telling, (0.0, None))
    as_near = [item for score, item in takewhile(lambda pair: pair[0] >= AS_NEAR * top, telling)]
    wanted = set(content(question))

    def nearness(item: Statement) -> tuple[int, int]:
        return len(wanted & set(content(item.text))), item.order

    return max((first, *as_near), key=nearness) if first else None


def is_telling(statement: Statement) -> bool:
    """Return False for a greeting, thanks and the like."""
    if statement.kind != "told" or len(statement.text.split()) > 6:
        return True
    dull = read_part(statement.text).intent in COURTESY | {"insult", "threat", "gibberish"}
    return not dull or bool(facts_in(statement.text))


def of_kind(question: str, statements: Sequence[Statement]) -> Statement | None:
    """Return the latest statement with a day or a colour, if one is asked for."""
    holds = fitting(question, certain=True)
    if not holds or len(content(question)) > 2:
        return None
    return next((item for item in reversed(statements) if holds.search(item.text)), None)


def everything_about(view: RequestView) -> str:
    """Return what is known of the view.speaker, in one sentence."""
    facts = view.speaker_facts.of(view.speaker)
    parts = [f"your name is {facts['name']}"] if "name" in facts else []
    forms = [(slot, form) for slot, form in SLOT_FACTS.items() if slot in facts]
    parts += [form.format(v=turned_round(facts[slot])) for slot, form in forms]
    told = earlier(view, "told")
    for item in sorted(told, key=lambda item: (not ABOUT_SELF.search(item.text), -item.order)):
        if len(parts) < 4 and adds_to(parts, item):
            parts.append(as_told(item.text))
    if not parts:
        return view.phrase("know_you")
    return view.phrase("told", fact=listed(parts))


def adds_to(parts: Sequence[str], statement: Statement) -> bool:
    """Return True if a statement says something that the parts do not."""
    known = set(content(" ".join(parts)))
    fresh = [word for word in content(as_told(statement.text)) if word not in known]
    wanted = 1 if ABOUT_SELF.search(statement.text) else 2
    short = len(statement.text) <= 120 and read_part(statement.text).intent in {"tell", "statement"}
    return short and len(fresh) >= wanted
