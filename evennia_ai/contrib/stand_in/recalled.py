"""What was told: the line that answers a question; of others as their words, in quotation marks."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from evennia_ai.contrib.stand_in.deals import masked
from evennia_ai.contrib.stand_in.likeness import likeness, worth
from evennia_ai.contrib.stand_in.passages import LEAST_WORDS, Passage
from evennia_ai.contrib.stand_in.view import StandInView
from evennia_ai.contrib.stand_in.words import is_description
from evennia_ai.policy.conversation.requested_acts import match_name, requested_act

LONG, QUOTED = 100, 170  # characters of a line that is quoted in part, and of a quotation
MOST_TOLD = 3
DEBTS = ("owed_you", "owed_me", "owed_by_me")  # patterns of lines and of questions
NEAR = 0.75  # of the best likeness to a question, that a newer line of the subject has
OF_IT = 0.42  # likeness of a newer line to one that it may change: 11 of 12, 2 of 390 others
OF_OTHERS = 0.3  # that a line counts less if its speaker is not whom the question is about


def named_other(view: StandInView, text: str) -> str:
    """Return the other speaker that a text names, by either of their names; "" if none."""
    people = {line.speaker for line in view.told}.union(view.others) - {view.speaker}
    called = {form: name for name in sorted(people) for form in (view.called(name), name)}
    return called.get(match_name(text, [*called]), "")


def as_asked(view: StandInView, question: str) -> str:
    """Return a question about somebody as they would ask it: people tell of themselves as "I"."""
    other = named_other(view, question) or match_name(question, [view.speaker])
    forms = view.language.data.get("forms", {})
    for name in filter(None, {other, view.called(other)} if other and forms else ()):
        own = re.compile(rf"\b{re.escape(name)}['’]?s\b", re.IGNORECASE)
        question = own.sub(forms.get("my", forms["i"]), question)
        question = re.sub(rf"\b{re.escape(name)}\b", forms["i"], question, flags=re.IGNORECASE)
    return question


def texts_of(views: Sequence[StandInView]) -> tuple[list[str], list[str]]:
    """Return what speakers asked in each form, and what is compared: lines, then their clauses."""
    forms = [
        form
        for view in views
        for text in view.sentences
        for form in (text, view.meant(text), as_asked(view, text), view.language.asked_of(text)[1],
                     masked(view, text))
    ]  # fmt: skip
    lines = views[0].every_told
    lines = (*(line for line in lines if line.recalled), *views[0].passages, *lines[::-1])
    parts = [part for line in lines for part in line.parts[1:]]
    tables = (views[0].language.data.get(table, {}) for table in ("deals", "examples", "reactions"))
    kinds = chain.from_iterable(chain(*table.values()) for table in tables)
    known = (*views[0].silent, *(line.searched for line in lines), *parts)
    return [*filter(None, forms)], [*known, *kinds]


def find_told(view: StandInView, question: str) -> Passage | None:
    """Return the newest line of what a question asks, None if what it knows itself is more like it."""
    finds = view.language.finds
    mine = finds("mine", question) or match_name(question, [view.speaker, view.who])
    about = named_other(view, question) or (view.speaker if mine else "")
    if not about and finds("about_you", question):
        return None
    # What can be done here, "where can I sleep?", the character knows.
    speakers = {about, "" if finds("permission", question) else about} if about else set[str]()
    long = (line for line in view.told if len(line.text.split()) >= LEAST_WORDS)
    lines = [*view.passages, *long]
    rule, fits = view.likeness(as_asked(view, question), lines)
    for at, line in enumerate(lines):
        fits[at] -= line.guarded
        if speakers and line.speaker not in speakers:  # what others say of themselves is theirs
            fits[at] -= 1.0 if line.speaker and finds("mine", line.text) else OF_OTHERS
    worths = worth(rule, fits, [line.searched for line in lines], view.scene.vectors).tolist()
    at = max(range(len(lines)), key=lambda place: (worths[place], place), default=-1)
    if at < 0 or lines[at].source != "told":
        return None
    best = lines[at]
    if requested_act(best.text, view.situation, best.speaker, view.language.data):
        return None  # who asks for something tells nothing
    likes = view.likeness(best.searched, lines)[1]
    rows = list(zip(lines, fits, likes, worths, strict=True))
    others = [worth for line, _, like, worth in rows if like < rule.same and line is not best]
    fit = worths[at] + rule.outstanding * (worths[at] - max([0.0, *others]))
    if fit < (rule.told if best.speaker == view.speaker else rule.certain):
        return None
    least = NEAR * fits[at]
    same = [line for line, fit, like, _ in rows[at:] if like >= rule.same and fit >= least]
    newer = [line for line in same if line.speaker == best.speaker]
    return replace(newer[-1], is_certain=fit >= rule.certain)


def told(view: StandInView, question: str) -> str:
    """Return what somebody told about a question, "" if nothing surely answers it."""
    finds = view.language.finds
    debt = next((key for key in DEBTS if finds(key, question)), "")
    if debt and finds("asks_debts", question):
        return owed(view, question, debt)
    line = find_told(view, question)
    if not line:
        return ""
    lines = [other for other in view.told if other.speaker == line.speaker]
    texts = [other.text for other in lines]
    newer = lines[texts.index(line.text) + 1 :] if line.text in texts else []
    likes = view.likeness(line.searched, newer)[1] if view.scene.vectors else ()
    later = [other for other, like in zip(newer, likes, strict=False) if like >= OF_IT]
    words = [quoted(view, line, question)]
    if later:
        fact = later[-1].text.rstrip(".! ")[:QUOTED]
        words.append(view.phrase("later", fact=fact))
    return " ".join(words)


def owed(view: StandInView, question: str, debt: str) -> str:
    """Return who told of a debt: the speaker's own, or one to them or to the character."""
    finds, other = view.language.finds, named_other(view, question)
    asks_own, me = finds("owed_by_me", question), re.compile(rf"\b{re.escape(view.speaker)}\b")

    def tells(line: Passage) -> bool:
        own, text = line.speaker == view.speaker, line.text
        if debt == "owed_me" and not own:  # what is owed to "me" is owed to who said it
            return finds(debt, me.sub("me", text)) and not finds(debt, text)
        return finds(debt, text) and (not asks_own or (own and other in text))

    return " ".join(quoted(view, line) for line in [*filter(tells, view.told)][-MOST_TOLD:])


def quoted(view: StandInView, line: Passage, question: str = "") -> str:
    """Return what was told as a quotation, of a long line the sentence that answers."""
    parts = line.parts if question and len(line.text) > LONG else line.parts[:1]
    texts = [(part,) for part in parts]
    fits = likeness(as_asked(view, question), texts, view.scene.vectors, view.language)[1]
    fact = parts[fits.index(max(fits))].rstrip(".! ")[:QUOTED]
    own = "told" if line.is_certain else "uncertain"
    key = own if line.speaker == view.speaker else "said_by"
    return view.phrase(key, other=view.called(line.speaker), fact=fact)


def said_by(view: StandInView, text: str) -> str:
    """Return what a person whom a question names told about it, or said last; "" if nobody."""
    other = named_other(view, text)
    lines = [line for line in view.told if line.speaker == other]
    line = find_told(view, text) or (lines[-1] if lines else None)
    return quoted(view, line) if line else ""


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
