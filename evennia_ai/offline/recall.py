"""Answers from what was told and done in the conversation, quoted word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline.name_matching import match_name
from evennia_ai.offline.passages import Found, Passage, Query, holds, rank
from evennia_ai.offline.told import Told, latest
from evennia_ai.offline.view import View
from evennia_ai.offline.words import an, joined

LINE = 0.34  # share of a question's words that a told line must hold
QUOTED = 170  # characters of a line that is quoted whole
MOST_TOLD = 3
MINE = re.compile(r"\b(?:i|my|me|mine|i'm|i've|we|our|us|ich|mein\w*|mir|mich|wir|unser\w*|uns)\b", re.I)  # fmt: skip
REMEMBER = re.compile(
    r"\b(?:remember|recall|forgot\w*|remind|did i|have i|do i|am i|was i|i (?:told|said|mentioned)|(?:name|say|which|how|what|where|who|when|is|are|was|were|whose) (?:\w+ ){0,3}(?:my|i|we|our)\b|my \w+(?:'s)? \w*\??$|"
    r"what about my|^(?:and )?my \w+\W*$|you know my|weißt du noch|erinner\w*|hab(?:e)? ich|mag ich|bin ich|war ich|mein\w*)", re.I)  # fmt: skip


def quote(view: View, told: Told) -> str:
    """Return what somebody told, as a quotation."""
    fact = joined(told.text.rstrip(".! "))[:QUOTED]
    if told.speaker == view.speaker:
        said = view.phrase("told", fact=fact)
        return view.phrase("told_again", fact=fact) if view.repeats(said) else said
    return view.phrase("said_by", other=view.called(told.speaker), fact=fact)


def matching(view: View, text: str, told: Sequence[Told], floor: float = LINE) -> list[Told]:
    """Return what was told that a question is about, best first, the newest of equals."""
    names = {told_by.speaker for told_by in view.every_told} | {view.name}
    drop = frozenset(s for name in names for s in view.language.content(name))
    ordered = list(reversed(told))
    passages = [Passage(t.text, "told", " ".join(t.facts)) for t in ordered]
    query = Query(text, view.language, (), drop)
    by_text = {id(p): t for p, t in zip(passages, ordered, strict=True)}
    found: list[Found] = rank(query, passages, floor)
    return [by_text[id(item.passage)] for item in found]


def of_speaker(view: View, speaker: str) -> list[Told]:
    """Return what a speaker told that may be told again."""
    return [told for told in view.told if told.speaker == speaker]


def about_me(view: View, text: str) -> str:
    """Answer a question about what the speaker told; "" if it is no such question."""
    if not (MINE.search(text) and REMEMBER.search(text)) or named_other(view, text):
        return ""
    found = mine(view, text)
    if found:
        return quote(view, found[0])
    asks_me = re.search(
        r"\b(?:remember|recall|did i|do i (?:have|like|own|keep|want)|have i|forgot\w*|weißt du noch|hab(?:e)? ich)\b",
        text,
        re.I,
    )
    return view.phrase("told_nothing") if asks_me else ""


def mine(view: View, text: str) -> list[Told]:
    """Return what the speaker told about a question, else what holds the kind of thing asked for."""
    own = of_speaker(view, view.speaker)
    wanted = holds(text, view.language)
    found = matching(view, text, own)
    return found or [t for t in reversed(own) if wanted and wanted.search(t.text)]


def pointed_at(view: View, text: str) -> str:
    """Answer a question that has no words of its own, such as "and how did it happen?"."""
    before = " ".join(view.context(text))
    found = matching(view, before, of_speaker(view, view.speaker), 0.5) if before else []
    return quote(view, found[0]) if found else ""


def named_other(view: View, text: str) -> str:
    """Return the other speaker that a question names, "" if none."""
    people = list(dict.fromkeys(t.speaker for t in view.told if t.speaker != view.speaker))
    people += [name for name in view.others if name not in people]
    called = {view.called(name): name for name in people}
    named = match_name(text, [*called], loose=False)
    return called.get(named, "")


def about_other(view: View, text: str) -> str:
    """Answer a question about what another speaker told; "" if it names nobody."""
    other = named_other(view, text)
    if not other:
        return ""
    found = matching(view, text, of_speaker(view, other))
    return quote(view, found[0]) if found else ""


def about_anybody(view: View, text: str, floor: float = 0.6) -> str:
    """Answer from anything that was told, if it covers most of the question."""
    found = matching(view, text, view.told, floor)
    return quote(view, found[0]) if found else ""


def fact(view: View, key: str, text: str) -> str:
    """Answer what the speaker told of a kind of fact, such as their home."""
    own = latest(view.told, view.speaker, key)
    found = [own] if own else mine(view, text)
    return quote(view, found[0]) if found else view.phrase("told_nothing")


def name(view: View, _: str = "") -> str:
    """Answer what the speaker is called."""
    return view.phrase("told_name", value=view.who)


def everything(view: View, _: str = "") -> str:
    """Answer what the character knows of the speaker: the last lines with facts, or any."""
    own = of_speaker(view, view.speaker)
    own = [t for t in own if t.private] or own if view.private else own
    telling = [t for t in own if t.facts] or own
    if not telling:
        return view.phrase("know_you")
    text = '", "'.join(t.text.rstrip(".!") for t in telling[-MOST_TOLD:])
    return view.phrase("told", fact=text)


def line(view: View, index: int) -> str:
    """Answer what the speaker said first (0) or last (-1), before the question."""
    asked = {line.text for line in view.scene.lines}
    said = [
        s.text
        for s in view.transcript.heard
        if s.speaker == view.speaker
        and s.text not in asked
        and (s.kind == "say" or (s.kind == "whisper" and view.private))
    ]
    return (
        view.phrase("told", fact=said[index].rstrip(".!")) if said else view.phrase("told_nothing")
    )


def said_by(view: View, text: str, other: str) -> str:
    """Answer what another speaker said, about a topic if the question names one."""
    meant = match_name(
        other, [view.called(t.speaker) for t in view.told] + view.others, loose=False
    )
    speaker = next((t.speaker for t in view.told if view.called(t.speaker) == meant), meant)
    if not meant or speaker == view.speaker:
        return view.phrase("said_nothing", other=other)
    own = of_speaker(view, speaker)
    found = matching(view, text, own)
    if found or own:
        return quote(view, (found or own[-1:])[0])
    return view.phrase("said_nothing", other=meant)


def gifts(view: View, text: str) -> str:
    """Answer who gave what."""
    given = [s for s in view.transcript.heard if s.kind == "give" and s.speaker]
    mine = [s for s in given if s.speaker == view.speaker]
    other = named_other(view, text)
    by_other = [s for s in given if s.speaker == other]
    if by_other:
        return view.phrase("gave", other=view.called(other), things=thing(view, by_other[-1].text))
    if re.search(r"\b(?:who|wer)\b", text, re.I):
        named = match_name(text, [s.text for s in given], loose=False)
        giver = next((s for s in reversed(given) if s.text == named), None)
        if giver is None:
            return view.phrase("gave_none")
        key = "gave_you" if giver.speaker == view.speaker else "gave"
        return view.phrase(key, other=view.called(giver.speaker), things=thing(view, giver.text))
    if mine:
        return view.phrase("gave_you", things=view.listed(thing(view, s.text) for s in mine[-3:]))
    return about_me(view, text) or view.phrase("gave_none")


def thing(view: View, item: str) -> str:
    """Return a thing's name with an article, where the language's rules are known."""
    item = item.strip().rstrip(".")
    return an(item) if view.language.code == "en" else item


def own_words(view: View, text: str) -> str:
    """Repeat what the character said last, or what it said about a topic."""
    about = re.search(r"\b(?:about|of|über|von) (.+)", text)
    wanted = set(view.language.content(about[1])) if about else set()
    for line in reversed(view.transcript.own):
        if not wanted or wanted & set(view.language.content(line)):
            return view.phrase("own_words", fact=line)
    return view.phrase("own_nothing")


def arrivals(view: View, _: str = "") -> str:
    """Answer who came in last."""
    came = [s.speaker for s in view.transcript.heard if s.kind == "arrives"]
    came = [who for who in came if who != view.speaker]
    if not came:
        return view.phrase("came_none")
    known = of_speaker(view, came[-1])
    said = f" {quote(view, known[0])}" if known else ""
    return view.phrase("came", other=view.called(came[-1])) + said


def talked_to(view: View, _: str = "") -> str:
    """Answer whom the character talked with."""
    names = dict.fromkeys(t.speaker for t in view.told if t.speaker != view.speaker)
    if not names:
        return view.phrase("talked_none")
    return view.phrase("talked", people=view.listed(map(view.called, names)))
