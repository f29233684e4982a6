"""Answers from what was told and done in the conversation, quoted word for word."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.messages import SPEECH
from evennia_ai.offline.name_matching import match_name
from evennia_ai.offline.passages import Passage, Told, holds, latest, rank
from evennia_ai.offline.view import View
from evennia_ai.offline.words import is_description, joined

LINE = 0.34  # share of a question's words that a told line must hold
QUOTED = 170  # characters of a line that is quoted whole
MOST_TOLD = 3


def quote(view: View, told: Told) -> str:
    """Return what somebody told, as a quotation."""
    fact = joined(told.text.rstrip(".! "))[:QUOTED]
    if told.speaker == view.speaker:
        said = view.phrase("told", fact=fact)
        return view.phrase("told_again", fact=fact) if view.repeats(said) else said
    return view.phrase("said_by", other=view.called(told.speaker), fact=fact)


def first_quoted(view: View, found: Sequence[Told]) -> str:
    """Return the first of what was told as a quotation, "" if there is none."""
    return quote(view, found[0]) if found else ""


def matching(view: View, text: str, told: Sequence[Told], floor: float = LINE) -> list[Told]:
    """Return what was told about a question, best first, the newest of equals first."""
    names = " ".join({told_by.speaker: 1 for told_by in view.every_told} | {view.name: 1})
    passages = {Passage(t.text, "told", " ".join(t.facts)): t for t in told}
    found = rank(text, view.language, [*reversed(passages)], floor, without=names)
    return [passages[item.passage] for item in found]


def of_speaker(view: View, speaker: str) -> list[Told]:
    """Return what a speaker told that may be told again."""
    return [told for told in view.told if told.speaker == speaker]


def about_me(view: View, text: str) -> str:
    """Return what the speaker told about a question; "" for any other question."""
    asks = view.language.finds("mine", text) and view.language.finds("remember", text)
    if not asks or named_other(view, text):
        return ""
    unknown = view.phrase("told_nothing") if view.language.finds("asks_memory", text) else ""
    return first_quoted(view, mine(view, text)) or unknown


def mine(view: View, text: str) -> list[Told]:
    """Return what the speaker told about a question, else what holds the kind it asks for."""
    own = of_speaker(view, view.speaker)
    wanted = holds(text, view.language)
    found = matching(view, text, own)
    return found or [t for t in reversed(own) if wanted and wanted.search(t.text)]


def pointed_at(view: View, text: str) -> str:
    """Return what the speaker told about the lines before a question without content."""
    own = of_speaker(view, view.speaker)
    return first_quoted(view, matching(view, view.context(text), own, 0.5))


def named_other(view: View, text: str) -> str:
    """Return the other speaker that a text names, by either of their names; "" if none."""
    people = [t.speaker for t in view.told if t.speaker != view.speaker] + view.others
    called = {form: name for name in people for form in (view.called(name), name)}
    return called.get(match_name(text, [*called], loose=False), "")


def about_other(view: View, text: str, topic: str = "") -> str:
    """Return what a speaker that a question names told about it, "" if it names none."""
    other = named_other(view, text)
    return first_quoted(view, matching(view, text, of_speaker(view, other))) if other else ""


def fact(key: str, view: View, text: str, topic: str) -> str:
    """Return what the speaker told of a kind of fact, such as their home."""
    own = latest(view.told, view.speaker, key)
    return first_quoted(view, [own] if own else mine(view, text)) or view.phrase("told_nothing")


def name(view: View, text: str, topic: str) -> str:
    """Return that the speaker told no name; "" if a phrase can name them."""
    return view.phrase("told_nothing") if is_description(view.who) else ""


def everything(view: View, text: str = "", topic: str = "") -> str:
    """Return what the speaker told: the last lines with facts, else any."""
    own = of_speaker(view, view.speaker)
    own = [t for t in own if t.private] or own if view.private else own
    telling = [t for t in own if t.facts] or own
    if not telling:
        return name(view, text, topic) or view.phrase("know_you")
    return view.phrase("told", fact='", "'.join(t.text.rstrip(".!") for t in telling[-MOST_TOLD:]))


def told_line(index: int, view: View, text: str, topic: str) -> str:
    """Return what the speaker said first (0) or last (-1), before the question."""
    now = {line.text for line in view.scene.lines}
    kinds = SPEECH if view.private else SPEECH - {"whisper"}
    said = [s.text for s in view.transcript.heard
            if s.speaker == view.speaker and s.kind in kinds and s.text not in now]  # fmt: skip
    if not said:
        return view.phrase("told_nothing")
    return view.phrase("told", fact=said[index].rstrip(".!"))


def said_by(view: View, text: str, other: str) -> str:
    """Return what another speaker said about a question, else what they said last."""
    own = of_speaker(view, named_other(view, other))
    found = matching(view, text, own) or own[-1:]
    return first_quoted(view, found) or view.phrase("said_nothing", other=other)


def gifts(view: View, text: str, topic: str) -> str:
    """Return who gave what."""
    given = [s for s in view.transcript.heard if s.kind == "give" and s.speaker]
    giver = named_other(view, text) or view.speaker
    if giver == view.speaker and view.language.finds("asks_who", text):
        named = match_name(text, [s.text for s in given], loose=False)
        giver = next((s.speaker for s in reversed(given) if s.text == named), "")
        given = [s for s in given if s.text == named]
    things = [view.thing(s.text) for s in given if s.speaker == giver][-MOST_TOLD:]
    key = "gave_you" if giver == view.speaker else "gave"
    return view.listing(key, "gave_none", things, other=view.called(giver))


def own_words(view: View, text: str, topic: str) -> str:
    """Return what the character said last, or said about the topic of a question."""
    about = view.language.pattern("patterns", "about").search(text)
    wanted = set(view.language.content(about["topic"])) if about else set()
    for line in reversed(view.transcript.own):
        if not wanted or wanted & set(view.language.content(line)):
            return view.phrase("own_words", fact=line)
    return view.phrase("own_nothing")


def arrivals(view: View, text: str, topic: str) -> str:
    """Return who came in last, and what they said."""
    came = [s.speaker for s in view.transcript.heard if s.kind == "arrives"]
    came = [who for who in came if who != view.speaker]
    if not came:
        return view.phrase("came_none")
    said = first_quoted(view, of_speaker(view, came[-1]))
    return f"{view.phrase('came', other=view.called(came[-1]))} {said}".strip()


def talked_to(view: View, text: str, topic: str) -> str:
    """Return with whom the character talked."""
    names = dict.fromkeys(t.speaker for t in view.told if t.speaker != view.speaker)
    return view.listing("talked", "talked_none", map(view.called, names), "people")
