"""What was told in the conversation, and by whom.

What another person said is told as that person's words only, in quotation marks.
"""

import re
from collections.abc import Sequence

from evennia_ai.contrib.stand_in.languages import ENGLISH, match_name
from evennia_ai.contrib.stand_in.passages import Passage
from evennia_ai.contrib.stand_in.view import KNOWN, SURE, StandInView
from evennia_ai.contrib.stand_in.words import capitals, is_description
from evennia_ai.policy.replies.pronoun_fixes import clauses, is_english, with_you
from evennia_ai.policy.retrieval.words import without_words
from evennia_ai.policy.texts import plain_words

ASKED = 0.4  # share of a question's words that a quotation holds
QUOTED = 170  # characters of a line that is quoted whole
MOST_TOLD = 3
LINES_BACK, LAST = 6, 2  # lines in which a "he" is looked for; of its own, that are not denied
FEW = 4  # words of a follow-up that stands for the question before it
FACTS = ("home", "trade", "age", "likes", "hates", "quest")


def before_now(view: StandInView) -> list[str]:
    """Return the speaker's earlier lines, the newest first."""
    own = reversed(view.transcript.texts_of(view.speaker))
    return [text for text in own if text != view.lines[-1].text]


def quoted(view: StandInView, passages: Sequence[Passage]) -> str:
    """Return the first of what was told as a quotation, "" if there is none."""
    if not passages:
        return ""
    passage, fact = passages[0], passages[0].text.rstrip(".! ")[:QUOTED]
    if passage.speaker == view.speaker:
        name = _name_in(view, fact)
        if name:
            return view.phrase("name_told", value=name)
        own = _turned(view, fact)
        if own:
            return view.phrase("turned", fact=own)
        phrase = view.phrase("told", fact=fact)
        return view.phrase("told_again", fact=fact) if view.repeats(phrase) else phrase
    return view.phrase("said_by", other=view.called(passage.speaker), fact=fact)


def _turned(view: StandInView, sentence: str) -> str:
    """Return the clause of the speaker's words that answers, with "you" for "I"; "" if unsure."""
    if view.language.code != ENGLISH or not is_english(sentence):
        return ""
    question, content = " ".join(view.sentences), view.language.content
    question_stems, every = set(content(question)), clauses(sentence)
    key = view.language.key_of(question).removeprefix("recall_")
    fact = view.language.facts_in(sentence).get(key, "\0")
    alone = view.language.pattern("patterns", "stands_alone")
    parts = [sentence[item.spans[0][0] : item.spans[-1][1]] for item in every]
    answers = (
        part
        for part in parts
        if fact in part or (question_stems and question_stems.issubset(content(part)))
    )
    part = next(filter(alone.match, answers), sentence)
    for clause in reversed(clauses(part)):
        part = part and with_you(part, clause, called=True)
    return capitals(part) if alone.match(part) else ""


def _name_in(view: StandInView, fact: str) -> str:
    """Return the name in what was told that a question asks for: of "my dog" the first behind it."""
    sentences = " ".join(view.sentences)
    if not view.language.finds("asks_name", sentences):
        return ""
    places = (fact.lower().find(stem) for stem in view.language.content(sentences))
    start = min((place for place in places if place >= 0), default=0)
    match = view.language.pattern("patterns", "tells_name").search(fact, start)
    return (match["v"] or match["v2"]) if match else ""


def matching(
    view: StandInView, text: str, passages: Sequence[Passage], floor: float = ASKED
) -> list[Passage]:
    """Return what was told about a question, the newest of the best first."""
    names = " ".join({item.speaker for item in view.every_told})
    scored = view.find(text, [*reversed(passages)], floor, without=names)
    return [item for _, item in scored]


def _of_speaker(view: StandInView, speaker: str) -> list[Passage]:
    return [passage for passage in view.told if passage.speaker == speaker]


def _named_other(view: StandInView, text: str) -> str:
    """Return the other speaker that a text names, by either of their names; "" if none."""
    people = [t.speaker for t in view.told if t.speaker != view.speaker] + view.others
    called = {form: name for name in people for form in (view.called(name), name)}
    return called.get(match_name(text, [*called]), "")


def about_people(view: StandInView, text: str, floor: float = ASKED) -> str:
    """Return what the speaker, or another whom a question names, told about it; "" if nothing."""
    other = _named_other(view, text)
    if other:
        passages = _of_speaker(view, other)
        bare = not view.language.content(
            without_words(text, plain_words(f"{other} {view.called(other)}"))
        )
        telling = [
            passage for passage in reversed(passages) if passage.facts.keys() & set(FACTS)
        ] or passages[::-1]
        matches = [] if bare else matching(view, text, passages, floor)
        whole = bare or view.language.key_of(text) == "said_by"
        return quoted(view, matches or (telling if whole else []))
    finds, own = view.language.finds, _of_speaker(view, view.speaker)
    bare = finds("follow_up", text) and len(plain_words(text)) <= FEW
    mine = any(finds("mine", item) for item in (text, *before_now(view)[:bare]))
    asks_else = any(finds(key, text) for key in ("permission", "asks_view", "why"))
    if finds("asks_memory", text) or (mine and not asks_else):
        return quoted(view, matching(view, text, own, floor))
    return quoted(view, matching(view, text, own, SURE)) if finds("third_person", text) else ""


def told_fact(view: StandInView, text: str, topic: str, key: str) -> str:
    """Return what the speaker told of a kind of fact, such as their home."""
    own = _of_speaker(view, view.speaker)
    if key == "trade" and len(view.sentences) > 1:  # "I have cities but no houses. What am I?"
        return view.phrase("riddle")
    telling = [passage for passage in own if key in passage.facts]
    matches = [item for item in matching(view, text, telling) if item.facts] or telling[::-1]
    value = re.split(r",| and | but | und ", matches[0].facts.get(key, "") if matches else "")[0]
    if key == "home" and value and not view.language.finds("mine", value):
        return view.phrase("home_told", value=value)
    return quoted(view, matches or matching(view, text, own)) or view.phrase("told_nothing")


def own_name(view: StandInView, text: str, topic: str) -> str:
    """Return that the speaker told no name; "" if a phrase can name them."""
    return view.phrase("told_nothing") if is_description(view.who) else ""


def told_everything(view: StandInView, text: str = "", topic: str = "") -> str:
    """Return what the speaker told: the last lines with facts, else any."""
    own = _of_speaker(view, view.speaker)
    own = [t for t in own if t.private] or own if view.private else own
    telling = [t for t in own if t.facts] or own
    if not telling:
        return own_name(view, text, topic) or view.phrase("know_you")
    return view.phrase("told", fact="; ".join(t.text.rstrip(".!") for t in telling[-MOST_TOLD:]))


def told_gifts(view: StandInView, text: str, topic: str) -> str:
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


def with_name(view: StandInView, text: str) -> str:
    """Return a question with its "she" or "him" replaced by the name of the person whom the
    character or the speaker named last; unchanged if the character knows nobody of that name."""
    pronoun = view.language.pattern("patterns", "third_person")
    match = pronoun.search(text)
    asks = match and view.language.asks(text) and not view.language.finds("several", match[0])
    if not match or not asks or match_name(text, view.known_people):
        return text
    people = [name for name in view.known_people if _may_be(view, name, match[0])]
    now = {line.text for line in view.lines}
    earlier = [line for line in view.transcript.talk if line not in now]
    earlier_sentences = (
        view.sentences[: view.sentences.index(text)] if text in view.sentences else ()
    )
    lines = [*earlier, *earlier_sentences][::-1][:LINES_BACK]
    named = next(filter(None, (_first_named(line, people) for line in lines)), "")
    owns = "'s" if view.language.finds("possessive", match[0]) else ""
    return pronoun.sub(named + owns, text, count=1) if named else text


def _first_named(line: str, people: Sequence[str]) -> str:
    """Return the person whom a line names first; "" if none."""
    matches = ((re.search(rf"\b{re.escape(name)}\b", line), name) for name in people)
    return min(((at.start(), -len(name), name) for at, name in matches if at), default=("",))[-1]


def _may_be(view: StandInView, name: str, pronoun: str) -> bool:
    """Return False if what is known of a person says only "he", and the pronoun is "she"."""
    known = " ".join(passage.text for passage in view.passages if name in passage.text)
    kinds = [view.language.pattern("patterns", key) for key in ("male", "female")]
    in_pronoun, in_lore = (
        [bool(kind.search(words)) for kind in kinds] for words in (pronoun, known)
    )
    return not any(in_pronoun) or not any(in_lore) or any(map(min, in_pronoun, in_lore))


def told_last(view: StandInView, lines: int = LAST) -> list[Passage]:
    """Return what the character told of what it knows in its last lines."""
    last_lines = " ".join(view.transcript.own[-lines:])
    return [item for item in view.of(KNOWN) if item.text in last_lines]


def go_on(view: StandInView, text: str, topic: str) -> str:
    """Return more of the tale that was told last, or that there is no more."""
    last = told_last(view, 1)
    titles = {item.title for item in last if item.title}
    more = [item for item in view.of(("lore",)) if item.title in titles and item not in last]
    return view.spoken(more[0]) if more else view.phrase("tale_end")


def from_last(view: StandInView, text: str) -> str:
    """Return what the piece of knowledge that was told last says to a question that points back."""
    content, (holds, _) = view.language.content, view.held_by_kind(text)
    if not (holds and view.language.finds("pronouns", text)) or view.is_foreign:
        return ""
    last, held = told_last(view), set(content(" ".join(view.transcript.own[-LAST:])))
    titles = {item.title for item in last}
    lore = [item for item in view.of(("lore",)) if item.title]
    near = [item for item in lore if item.title in titles or held.issuperset(content(item.title))]
    stems = content(text)
    meant = set(stems).union(*map(view.language.near, stems))
    fit = [
        item
        for item in (*last, *(near if stems else ()))
        if all(held.search(item.text) for held in holds)
    ]
    about = [item for item in fit if not meant.isdisjoint(content(f"{item.title} {item.text}"))]
    return view.best([(1.0, item) for item in (about if stems else fit)])
