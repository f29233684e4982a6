"""What was told in the conversation, and by whom.

What another person said is told as that person's words only, in quotation marks.
"""

import re
from collections.abc import Sequence

from evennia_ai.offline.languages import ENGLISH, match_name
from evennia_ai.offline.passages import Passage
from evennia_ai.offline.view import KNOWN, SURE, View
from evennia_ai.offline.words import capitals, is_description
from evennia_ai.policy.replies.persons import clauses, is_english, with_you
from evennia_ai.policy.retrieval.words import without_words
from evennia_ai.policy.texts import plain_words

ASKED = 0.4  # share of a question's words that a quotation holds
QUOTED = 170  # characters of a line that is quoted whole
MOST_TOLD = 3
LINES_BACK, LAST = 6, 2  # lines in which a "he" is looked for; of its own, that are not denied
FEW = 4  # words of a follow-up that stands for the question before it
FACTS = ("home", "trade", "age", "likes", "hates", "quest")


def before_now(view: View) -> list[str]:
    """Return the speaker's earlier lines, the newest first."""
    own = reversed(view.transcript.texts_of(view.speaker))
    return [text for text in own if text != view.lines[-1].text]


def quoted(view: View, found: Sequence[Passage]) -> str:
    """Return the first of what was told as a quotation, "" if there is none."""
    if not found:
        return ""
    told, fact = found[0], found[0].text.rstrip(".! ")[:QUOTED]
    if told.speaker == view.speaker:
        name = _name_in(view, fact)
        if name:
            return view.phrase("name_told", value=name)
        own = _turned(view, fact)
        if own:
            return view.phrase("turned", fact=own)
        said = view.phrase("told", fact=fact)
        return view.phrase("told_again", fact=fact) if view.repeats(said) else said
    return view.phrase("said_by", other=view.called(told.speaker), fact=fact)


def _turned(view: View, told: str) -> str:
    """Return the clause of the speaker's words that answers, with "you" for "I"; "" if unsure."""
    if view.language.code != ENGLISH or not is_english(told):
        return ""
    question, content = " ".join(view.sentences), view.language.content
    asked, every = set(content(question)), clauses(told)
    key = view.language.key_of(question).removeprefix("recall_")
    fact = view.language.facts_in(told).get(key, "\0")
    alone = view.language.pattern("patterns", "stands_alone")
    parts = [told[one.spans[0][0] : one.spans[-1][1]] for one in every]
    answers = (part for part in parts if fact in part or (asked and asked.issubset(content(part))))
    part = next(filter(alone.match, answers), told)
    for clause in reversed(clauses(part)):
        part = part and with_you(part, clause, called=True)
    return capitals(part) if alone.match(part) else ""


def _name_in(view: View, fact: str) -> str:
    """Return the name in what was told that a question asks for: of "my dog" the first behind it."""
    asked = " ".join(view.sentences)
    if not view.language.finds("asks_name", asked):
        return ""
    places = (fact.lower().find(stem) for stem in view.language.content(asked))
    start = min((place for place in places if place >= 0), default=0)
    told = view.language.pattern("patterns", "tells_name").search(fact, start)
    return (told["v"] or told["v2"]) if told else ""


def matching(view: View, text: str, told: Sequence[Passage], floor: float = ASKED) -> list[Passage]:
    """Return what was told about a question, the newest of the best first."""
    names = " ".join({one.speaker for one in view.every_told})
    found = view.find(text, [*reversed(told)], floor, without=names)
    return [one for _, one in found]


def _of_speaker(view: View, speaker: str) -> list[Passage]:
    return [told for told in view.told if told.speaker == speaker]


def _named_other(view: View, text: str) -> str:
    """Return the other speaker that a text names, by either of their names; "" if none."""
    people = [t.speaker for t in view.told if t.speaker != view.speaker] + view.others
    called = {form: name for name in people for form in (view.called(name), name)}
    return called.get(match_name(text, [*called]), "")


def about_people(view: View, text: str, floor: float = ASKED) -> str:
    """Return what the speaker, or another whom a question names, told about it; "" if nothing."""
    other = _named_other(view, text)
    if other:
        told = _of_speaker(view, other)
        bare = not view.language.content(
            without_words(text, plain_words(f"{other} {view.called(other)}"))
        )
        telling = [one for one in reversed(told) if one.facts.keys() & set(FACTS)] or told[::-1]
        asked = [] if bare else matching(view, text, told, floor)
        whole = bare or view.language.key_of(text) == "said_by"
        return quoted(view, asked or (telling if whole else []))
    finds, own = view.language.finds, _of_speaker(view, view.speaker)
    bare = finds("follow_up", text) and len(plain_words(text)) <= FEW
    mine = any(finds("mine", one) for one in (text, *before_now(view)[:bare]))
    asks_else = any(finds(key, text) for key in ("permission", "asks_view", "why"))
    if finds("asks_memory", text) or (mine and not asks_else):
        return quoted(view, matching(view, text, own, floor))
    return quoted(view, matching(view, text, own, SURE)) if finds("third_person", text) else ""


def told_fact(view: View, text: str, topic: str, key: str) -> str:
    """Return what the speaker told of a kind of fact, such as their home."""
    own = _of_speaker(view, view.speaker)
    if key == "trade" and len(view.sentences) > 1:  # "I have cities but no houses. What am I?"
        return view.phrase("riddle")
    telling = [told for told in own if key in told.facts]
    found = [one for one in matching(view, text, telling) if one.facts] or telling[::-1]
    value = re.split(r",| and | but | und ", found[0].facts.get(key, "") if found else "")[0]
    if key == "home" and value and not view.language.finds("mine", value):
        return view.phrase("home_told", value=value)
    return quoted(view, found or matching(view, text, own)) or view.phrase("told_nothing")


def own_name(view: View, text: str, topic: str) -> str:
    """Return that the speaker told no name; "" if a phrase can name them."""
    return view.phrase("told_nothing") if is_description(view.who) else ""


def told_everything(view: View, text: str = "", topic: str = "") -> str:
    """Return what the speaker told: the last lines with facts, else any."""
    own = _of_speaker(view, view.speaker)
    own = [t for t in own if t.private] or own if view.private else own
    telling = [t for t in own if t.facts] or own
    if not telling:
        return own_name(view, text, topic) or view.phrase("know_you")
    return view.phrase("told", fact="; ".join(t.text.rstrip(".!") for t in telling[-MOST_TOLD:]))


def told_gifts(view: View, text: str, topic: str) -> str:
    given = [s for s in view.transcript.heard if s.kind == "give" and s.speaker]
    giver = _named_other(view, text) or view.speaker
    if giver == view.speaker and view.language.finds("asks_who", text):
        named = match_name(text, [s.text for s in given])
        given = [s for s in given if s.text == named]
        giver = next((s.speaker for s in reversed(given)), "")
    things = [view.thing(s.text) for s in given if s.speaker == giver][-MOST_TOLD:]
    key = "gave_you" if giver == view.speaker else "gave"
    return view.listing(key, "gave_none", things, other=view.called(giver))


# --- what a line points back at -------------------------------------------------------------------


def with_name(view: View, text: str) -> str:
    """Return a question with its "she" or "him" replaced by the name of the person whom the
    character or the speaker named last; unchanged if the character knows nobody of that name."""
    pronoun = view.language.pattern("patterns", "third_person")
    said = pronoun.search(text)
    asks = said and view.language.asks(text) and not view.language.finds("several", said[0])
    if not said or not asks or match_name(text, view.known_people):
        return text
    people = [name for name in view.known_people if _may_be(view, name, said[0])]
    now = {line.text for line in view.lines}
    earlier = [line for line in view.transcript.talk if line not in now]
    told = view.sentences[: view.sentences.index(text)] if text in view.sentences else ()
    lines = [*earlier, *told][::-1][:LINES_BACK]
    named = next(filter(None, (_first_named(line, people) for line in lines)), "")
    owns = "'s" if view.language.finds("possessive", said[0]) else ""
    return pronoun.sub(named + owns, text, count=1) if named else text


def _first_named(line: str, people: Sequence[str]) -> str:
    """Return the person whom a line names first; "" if none."""
    found = ((re.search(rf"\b{re.escape(name)}\b", line), name) for name in people)
    return min(((at.start(), -len(name), name) for at, name in found if at), default=("",))[-1]


def _may_be(view: View, name: str, pronoun: str) -> bool:
    """Return False if what is known of a person says only "he", and the pronoun is "she"."""
    known = " ".join(one.text for one in view.passages if name in one.text)
    kinds = [view.language.pattern("patterns", key) for key in ("male", "female")]
    said, told = ([bool(kind.search(words)) for kind in kinds] for words in (pronoun, known))
    return not any(said) or not any(told) or any(map(min, said, told))


def told_last(view: View, lines: int = LAST) -> list[Passage]:
    """Return what the character told of what it knows in its last lines."""
    said = " ".join(view.transcript.own[-lines:])
    return [one for one in view.of(KNOWN) if one.text in said]


def go_on(view: View, text: str, topic: str) -> str:
    """Return more of the tale that was told last, or that there is no more."""
    last = told_last(view, 1)
    titles = {one.title for one in last if one.title}
    more = [one for one in view.of(("lore",)) if one.title in titles and one not in last]
    return view.spoken(more[0]) if more else view.phrase("tale_end")


def from_last(view: View, text: str) -> str:
    """Return what the piece of knowledge that was told last says to a question that points back."""
    content, (holds, _) = view.language.content, view.held_by_kind(text)
    if not (holds and view.language.finds("pronouns", text)) or view.is_foreign:
        return ""
    last, held = told_last(view), set(content(" ".join(view.transcript.own[-LAST:])))
    titles = {one.title for one in last}
    lore = [one for one in view.of(("lore",)) if one.title]
    near = [one for one in lore if one.title in titles or held.issuperset(content(one.title))]
    asked = content(text)
    meant = set(asked).union(*map(view.language.near, asked))
    fit = [
        one
        for one in (*last, *(near if asked else ()))
        if all(held.search(one.text) for held in holds)
    ]
    about = [one for one in fit if not meant.isdisjoint(content(f"{one.title} {one.text}"))]
    return view.best([(1.0, one) for one in (about if asked else fit)])
