"""Answers to questions: from persona, lore, situation, and what others said."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.knowledge import Found, Passage, fitting, rank
from evennia_ai.offline.nearby import person_here, seen
from evennia_ai.offline.recalled_answers import back_to, from_statements
from evennia_ai.offline.reported_speech import from_others, speaker_named, who_gave
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.speaker_facts import Statement
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import content, ended, sentences, stem, words

OF_ITSELF = re.compile(r"^(?=.*\byour?\b)(?!.*\b(?:i|my|me|we)\b)", re.I)
SECOND = 0.62
SHORT = 110
BRIEF = 125
WANTING = frozenset(content("want wish goal need like"))
FRESH = 0.75
PAST = re.compile(r"\b(?:was|were|did|happen\w*)\b", re.I)
PRONOUNS = tuple(
    re.compile(rf"\b(?:{group})\b", re.I)
    for group in ("he|him|his", "she|her|hers", "they|them|their|theirs")
)
SEEING = re.compile(r"\b(?:see|notice|have|keep|got|here|this|that|there|hear|smell)\b", re.I)
ARE_YOU = re.compile(
    r"^(?:but |and |so )?are you (?:always |really |very |so |a bit |all )*([\w-]+)\W*$", re.I
)
REMEMBER = re.compile(
    r"\b(?:do|can|don't) you (?:still )?(?:remember|recall)\b|\byou remember\b", re.I
)
VERBAL = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|will|would|have|has|had|am|what|who|where|when|why|how)\b",
    re.I,
)
LEANING = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|their|its|that|there|this|those|these|then)\b", re.I
)
LONGEST = 230
OF_SPEAKER = re.compile(
    r"\b(?:my|mine|did i|have i|i (?:said|told|mentioned|must|need|can't|cannot|don't|am|have to))\b",
    re.I,
)


def from_knowledge(view: RequestView, question: str, *, shown: bool = True) -> str:
    """Return the best match in what the character knows, or "".

    ``shown=False`` leaves out what is merely seen. If the best match was said before, an unsaid one
    that scores almost as well comes first.
    """
    found = [item for item in view.rank(question) if is_sayable(item, shown, question)]
    if not found:
        return ""
    fresh = [
        i for i in found if i.score >= FRESH * found[0].score and not view.was_said(i.passage.text)
    ]
    if not fresh:
        following = "" if fitting(question) else sequel(view, found[0].passage)
        return following or view.told(found[0].passage.text)
    if fitting(question) and fresh[0] is not found[0]:
        return view.told(found[0].passage.text)
    words_out = [unsaid_part(view, fresh[0].passage.text)]
    second = next_part(view, fresh[0].passage) or _second(view, fresh)
    second = " ".join(part for part in sentences(second) if part not in words_out[0])
    if second and len(words_out[0]) + len(second) <= room_for(view):
        words_out.append(second)
    return " ".join(words_out)


def room_for(view: RequestView) -> int:
    """Return how many characters an answer may have; a terse character says less."""
    return BRIEF if view.character.terse else LONGEST


def is_sayable(item: Found, shown: bool, question: str) -> bool:
    """Return False for what was not asked for: what it never does, and what is seen."""
    if item.passage.source == "never":
        things = content(item.passage.text)[2:]
        return item.cover > 0.6 and (not things or bool(set(things) & set(content(question))))
    return shown or item.passage.source not in {"seen", "saw"}


def unsaid_part(view: RequestView, text: str) -> str:
    """Return a passage without the sentences that were spoken before, if any remain."""
    fresh = [part for part in sentences(text) if not view.repeats(part)]
    return ended(" ".join(fresh) or text)


def next_part(view: RequestView, passage: Passage) -> str:
    """Return the next piece of lore if this one alone says little; "" if not."""
    return sequel(view, passage) if passage.source == "lore" and len(passage.text) < SHORT else ""


def sequel(view: RequestView, passage: Passage) -> str:
    """Return the next untold piece of the same lore; "" if there is none."""
    if passage not in view.passages or not passage.title:
        return ""
    after = view.passages[view.passages.index(passage) + 1 :]
    same = [item for item in after if item.title == passage.title and not view.was_said(item.text)]
    return ended(same[0].text) if same else ""


def _second(view: RequestView, found: list[Found]) -> str:
    """Return a passage that scores almost as well and adds something; "" if none."""
    first = set(content(found[0].passage.text))
    if found[0].passage.source in {"seen", "saw"}:
        return ""
    for item in found[1:3]:
        text = item.passage.text
        news = set(content(text)) - first
        if (
            item.score >= SECOND * found[0].score
            and len(news) > 1
            and not first <= set(content(text))
        ):
            return ended(text)
    return ""


def answer(view: RequestView, reading: Reading) -> str:
    """Answer any question; if nothing is known, say so."""
    text = reading.text
    text = whole_question(view, text)
    back = REMEMBER.search(text)
    past = re.search(r"\b(?:was|were|did|who \w+ed)\b", text, re.I) and not re.search(
        r"\byou\b", text, re.I
    )
    mine = past or back or OF_SPEAKER.search(text)
    if mine and (told := from_statements(view, text)):
        return told
    if past and told_better(view, text) and (told := from_others(view, text)):
        return told
    other = speaker_named(view, text)
    if other and other not in {view.speaker, view.name} and (told := from_others(view, text)):
        return told
    return (
        who_gave(view, text)
        or person_here(view, reading)
        or from_knowledge(view, text, shown=is_of_sights(text))
        or (from_knowledge(view, reading.topic) if reading.topic != text else "")
        or seen(view, reading)
        or in_context(view, reading)
        or from_others(view, text)
        or ("" if OF_ITSELF.search(text) else from_statements(view, text))
        or unknown(view, reading)
    )


def is_of_sights(text: str) -> bool:
    """Return False for a question about the character that needs no sight."""
    return not OF_ITSELF.search(text) or bool(SEEING.search(text))


def told_better(view: RequestView, text: str) -> bool:
    """Return True if a statement covers a question better than what is known."""
    known = [item.cover for item in view.rank(text) if item.passage.source != "want"]
    told = (item for item in view.speaker_facts.statements if item.kind == "told")
    passages = [Passage(item.text, "told", item.context) for item in told]
    heard = [item.cover for item in rank(text, passages, (view.name,))]
    return max(heard, default=0.0) > max(known, default=0.0)


def whole_question(view: RequestView, text: str) -> str:
    """Complete a short question ("And a bowl of stew?") from the one before it."""
    if len(text.split()) > 5 or VERBAL.search(text) or not text.endswith("?"):
        return text
    asked = [
        item.text
        for item in view.speaker_facts.told_by(view.speaker, "asked")
        if item.text not in text
    ]
    earlier = [item for item in asked if text not in item]
    return f"{' '.join(earlier[-1].split()[:3])} {text}" if earlier else text


def in_context(view: RequestView, reading: Reading) -> str:
    """Answer a question that refers to the line before it ("Is she strict?").

    Return "" if it does not, or if nothing more is known.
    """
    plain = re.sub(r"\b(?:is|are|was|were) there\b", "", reading.text, flags=re.I)
    if not LEANING.search(plain) or len(content(reading.text)) > 2 or not view.transcript.own:
        return ""
    earlier = view.transcript.own[-1]
    told = [
        item for item in view.speaker_facts.told_by(view.speaker) if item.text not in reading.text
    ]
    about = of_the_same(reading.text, told)
    if about and "you" in words(earlier):
        return back_to(view, about, reading.text)
    if told and not content(reading.text) and PAST.search(reading.text):
        return back_to(view, told[-1], reading.text)
    subject = " ".join(word for word in words(earlier) if stem(word) not in WANTING)
    apart = {"never", "want", "deed"}
    found = [item for item in view.rank(subject) if item.passage.source not in apart]
    fresh = [item for item in found if not view.was_said(item.passage.text)]
    if fresh:
        return unsaid_part(view, fresh[0].passage.text)
    return view.told(found[0].passage.text) if found else ""


def of_the_same(question: str, told: list[Statement]) -> Statement | None:
    """Return the latest statement with the same pronoun as a question, or None."""
    for group in PRONOUNS:
        if group.search(question):
            return next((item for item in reversed(told) if group.search(item.text)), None)
    return None


def topic_of(reading: Reading) -> str:
    """Return the topic of a question, short enough to repeat; "" if it is not clear."""
    text = reading.slots.get("topic", "")
    if not text:
        found = re.search(
            r"\b(?:about|of)\s++((?:the |a |an )?[\w' -]{2,30})\W{0,20}$", reading.text
        )
        text = found[1] if found else ""
    text = re.sub(r"^(?:any|some|your|my)\s+", "", text.strip(" ?.!,"))
    if re.match(r"(?:on|in|at|for|with|under|behind|by|near|up|down|over)\b", text, re.I):
        return ""
    clear = (
        0 < len(text.split()) <= 4
        and content(text)
        and not re.search(
            r"\b(?:you|i|me|my|we|your|it|he|she|they|him|her|them|is|are|to)\b", text, re.I
        )
    )
    return text if clear else ""


def unknown(view: RequestView, reading: Reading) -> str:
    """Return a line that the character does not know, at times with an offer."""
    topic = topic_of(reading)
    trait = ARE_YOU.match(reading.text)
    if trait:
        shown = [text for text in view.character.traits if stem(trait[1].lower()) in content(text)]
        return view.told(shown[0]) if shown else view.phrase("judge")
    if re.search(r"\byou(?:r|rs|rself)?\b", reading.text, re.I) and not topic:
        return view.phrase("personal")
    words_out = view.phrase("unknown_topic", topic=topic) if topic else view.phrase("unknown")
    offers = [offer for offer in view.offers() if offer.lower() not in reading.text.lower()]
    if offers and not view.character.terse and view.seed % 3 != 0:
        offer = view.phrase("offer", offer=offers[view.seed % len(offers)])
        if not view.was_said(offer):
            return f"{words_out} {offer}"
    return words_out


def opinion(view: RequestView, reading: Reading) -> str:
    """Return what the character says of a topic, else that it has no firm opinion."""
    known, topic = from_knowledge(view, reading.text), topic_of(reading)
    return known or (view.phrase("opinion", topic=topic) if topic else unknown(view, reading))
