"""What each speaker told: named facts and statements; the latest value wins.

It is read anew from each request, so it holds nothing that the prompt's audience may not know.
"""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from evennia_ai.offline.address import without_name
from evennia_ai.offline.sentence_facts import ABOUT_SELF, CAPS, facts_in, is_question
from evennia_ai.offline.transcript import Said
from evennia_ai.offline.words import NUMBER_WORDS, WORD, plain_spelling, sentences, with_article

IMPERATIVE = re.compile(
    r"^(?:(?:please|now|then|and|so|well|oh|just|kindly|hey)[, ]++){0,6}(?:go|give|fetch|bring|tell|show|take|get|hand|"
    r"pour|come|look|wave|follow|let|ask|say|repeat|remember (?:me|to)|wait|stop|help|pass|serve|drop|put|sing|"
    r"dance|bow|ignore|forget|make|kill|steal|remind|describe|explain|find|check|listen|run|walk|head|climb|pop|nip|hurry|name|prove|guess|open|close|shut|teach|play|stay|sit|stand|try|hold|lend|loan|spare|offer|sell|buy|wake|send|call|mend|fix|repair|leave (?:me|us|it)|i(?:'d| would) like (?:an?|some|the|another)|i(?:'ll| will) (?:have|take))\b", re.I
)  # fmt: skip
CORRECTION = re.compile(
    r"^(?:(?:no|sorry|wait|oh|ah|hm|well|actually|correction|forgive me|pardon|my mistake|i misspoke|"
    r"scratch that|i was wrong|i lied|to be honest)\b[,.;:!—\s-]*)+|\b(?:i meant|i mean|actually|rather|instead)\b",
    re.I,
)  # fmt: skip
BARE_NO = re.compile(
    r"^(?:yes|no|nothing|none|hello|hi|why|maybe|perhaps|never|thanks?|ok|okay|well)\b", re.I
)
ANSWERS = (
    (re.compile(r"\b(?:come from|your home)\b", re.I), "I come from {}."),
    (re.compile(r"\b(?:your trade|for a living)\b", re.I), "My trade is {}."),
    (re.compile(r"\b(?:your name)\b", re.I), "My name is {}."),
    (re.compile(r"\bbrings you\b", re.I), "What brings me is {}."),
)
NOT_THIS = re.compile(
    r"(?<![\w'-])(?P<new>[\w'-]++(?: [\w'-]++){0,3}?),? (?:and )?not (?:the |an? )?(?P<old>[\w'-]+(?: [\w'-]+)?)",
    re.I,
)
GREETING = re.compile(
    r"^(?:hello|hi|hey|good (?:day|morning|evening|afternoon))\b[\w ]{0,20}?(?:[,.!;-]+\s*|$|\s(?=(?:I|I'm|my|the name|name's|just|we)\b))",
    re.I,
)
# Telegram style: "lost my lantern", "just in from Ulm", "looking for work".
SUBJECTLESS = (
    (re.compile(r"(?=(?:just |only )?(?:looking|searching|trying|going|heading|hoping|waiting|staying|passing|travelling|back|in from|here)\b)", re.I), "I am "),
    (re.compile(r"(?=been\b)", re.I), "I have "),
    (re.compile(r"got to\b|gotta\b", re.I), "I have to"),
    (re.compile(r"(?=(?:lost|came|come|need|want|saw|heard|found|met|broke|have|had|got|bought|sold|walked|sailed|rode|left|took|hate|love|like|miss|owe|used to|slept|ate|fell|hurt|hope|think|live|work)\b)", re.I), "I "),
)  # fmt: skip
NEGATED = re.compile(r",? not \w|\bmake (?:it|that)\b", re.I)
APOLOGY = re.compile(
    r"\b(?:no|sorry|wait|oh|ah|hm|well|pardon|correction|my mistake)\b[,.!;: ]*", re.I
)
NOT_FIRST = re.compile(
    r"\bnot (?:the |an? )?(?P<old>[\w'-]+(?: [\w'-]+)?),? (?:but|it's|it is|rather) (?P<new>[\w' -]+)",
    re.I,
)
MEANT = re.compile(
    r"\b(?:i meant(?: to say)?|i mean|make that|make it|it's|it is|actually|i should say)[,:]? (?P<new>[\w' -]{1,80}+)(?<! )[.!]*+$",
    re.I,
)
NUMBER = re.compile(rf"\b(?:\d[\d.,]*|(?:{NUMBER_WORDS})(?:-[a-z]+)?)\b", re.I)
NAMED = re.compile(rf"(?<!^)(?<![.!?] )\b(?!I\b){CAPS}(?: {CAPS})*")
LEANING = re.compile(r"\b(?:he|she|it|they|him|his|her|hers|its|their|them)\b", re.I)
BARE = re.compile(rf"^(?:{NUMBER.pattern}|{CAPS})[.!]*$", re.I)


@dataclass(frozen=True, eq=False)
class Statement:
    """One sentence of a speaker.

    ``order`` numbers the statements, ``line`` the heard lines.
    ``kind`` is told, asked (a question, a request, an order), did (a gift) or came (an arrival).
    ``context`` is the speaker's earlier statement, if a pronoun refers to it ("He has one ear.").
    """

    speaker: str
    text: str
    order: int
    line: int = 0
    kind: str = "told"
    context: str = ""


@dataclass
class SpeakerFacts:
    """Everything that was told in the conversation, by speaker."""

    statements: list[Statement] = field(default_factory=list)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    corrections: dict[str, str] = field(default_factory=dict)
    last: dict[str, Statement] = field(default_factory=dict)

    def of(self, speaker: str) -> dict[str, str]:
        """Return the named facts that a speaker told."""
        return self.facts.get(speaker, {})

    def told_by(self, speaker: str, *kinds: str) -> list[Statement]:
        """Return a speaker's statements of these kinds, ``told`` if none is given."""
        wanted = kinds or ("told",)
        return [i for i in self.statements if i.speaker == speaker and i.kind in wanted]

    def add(self, speaker: str, text: str, line: int, kind: str = "told") -> None:
        """Add a statement at the end."""
        last = self.last.get(speaker)
        leans = last and line - last.line < 4 and LEANING.search(text)
        context = f"{last.text} {last.context}"[:200] if last and leans else ""
        order = len(self.statements)
        made = Statement(speaker, text, order, line, kind, context)
        self.statements.append(made)
        if kind == "told":
            self.last[speaker] = made


def read_speaker_facts(heard: Sequence[Said], own_name: str = "") -> SpeakerFacts:
    """Return what the speakers told in these lines.

    Args:
        heard: the lines, oldest first.
        own_name: the character's name, which is removed where it addresses the character.
    """
    told = SpeakerFacts()
    for number, said in enumerate(heard):
        if said.kind in {"say", "whisper"}:
            line = plain_spelling(said.text)
            for sentence in (s for s in sentences(line) if not is_fragment(s, line)):
                plain = without_name(sentence, own_name) if own_name else sentence
                remember(told, said.speaker, completed(plain, said.after), number)
        elif said.kind == "give":
            told.add(said.speaker, f"I gave you {with_article(said.text)}.", number, "did")
        elif said.kind == "arrives":
            told.add(said.speaker, "I came in.", number, "came")
    return told


def completed(sentence: str, after: str) -> str:
    """Return a bare answer to the character's own question as a whole sentence.

    "Karlholm." becomes "I come from Karlholm.".
    """
    words_in = sentence.rstrip(".!").split()
    if not after.rstrip().endswith("?") or not 0 < len(words_in) <= 5 or "?" in sentence:
        return sentence
    if ABOUT_SELF.search(sentence) or BARE_NO.match(sentence):
        return sentence
    bare = re.sub(r"^(?:from|in|to|as|for) ", "", " ".join(words_in), flags=re.I)
    for asked, form in ANSWERS:
        if asked.search(after.rsplit(". ", 1)[-1]):
            return form.format(bare)
    return sentence


def with_subject(sentence: str) -> str:
    """Return a telegram-style sentence with its "I": "lost my lantern"."""
    if sentence.rstrip().endswith("?") or re.match(
        r"(?:have|come|want|need|like|got) (?:you|to|a (?:seat|look))?\b$|(?:come|have) (?:here|in|with|back|to|a|some|on|along|over)\b",
        sentence,
        re.I,
    ):
        return sentence
    for start, subject in SUBJECTLESS:
        if start.match(sentence):
            rest = start.sub("", sentence, count=1)
            return f"{subject}{rest[:1].lower()}{rest[1:]}"
    return sentence


def is_fragment(sentence: str, line: str) -> bool:
    """Return True for a few words that only introduce a question in the same line."""
    return "?" in line and "?" not in sentence and len(sentence.split()) < 4


def remember(told: SpeakerFacts, speaker: str, sentence: str, line: int) -> None:
    """Add one sentence of a speaker: told if it states something, else asked."""
    sentence = with_subject(GREETING.sub("", sentence))
    corrects = CORRECTION.search(sentence) or NEGATED.search(sentence)
    if corrects and not is_question(sentence) and _correct(told, speaker, sentence):
        return
    text = CORRECTION.sub("", sentence).strip(" ,") if CORRECTION.match(sentence) else sentence
    if not WORD.search(text) or re.fullmatch(r"not \w+\W*", text):
        return
    asking = is_question(sentence)
    facts = facts_in(text) if not asking and ABOUT_SELF.search(text) else {}
    asks = asking or (IMPERATIVE.match(sentence) and not facts)
    told.add(speaker, text or sentence, line, "asked" if asks else "told")
    if facts:
        told.facts.setdefault(speaker, {}).update(facts)


def _correct(told: SpeakerFacts, speaker: str, sentence: str) -> bool:
    """Apply a correction to the statement it refers to; return False if none fits."""
    newest = (i for i in reversed(told.statements) if i.speaker == speaker and i.kind == "told")
    earlier = list(islice(newest, 12))
    plain = APOLOGY.sub("", sentence)
    pair = NOT_FIRST.search(plain) or NOT_THIS.search(plain)
    if pair:
        old = pair["old"]
        for statement in earlier:
            if re.search(rf"\b{re.escape(old)}\b", statement.text, re.I):
                new = _same_kind(pair["new"], old)
                told.corrections[sentence] = _replace(told, speaker, statement, old, new)
                return True
    if facts_in(CORRECTION.sub("", sentence).strip(" ,")):
        return False
    meant = MEANT.search(plain)
    bare = plain.strip(" ,.!")
    short = len(bare.split()) <= 4 and plain != sentence and not ABOUT_SELF.search(bare)
    new = meant["new"] if meant else bare if BARE.match(bare) or short else ""
    mended = _mend(told, speaker, earlier, new) if new and earlier else ""
    if mended:
        told.corrections[sentence] = mended
    return bool(mended)


def _same_kind(new: str, old: str) -> str:
    """Return what replaces the old word: "it is the Heron" gives "Heron"."""
    if NUMBER.fullmatch(old) and (number := NUMBER.search(new)):
        return number[0]
    return re.sub(
        r"^.*\b(?:is|it's|was|are|be|meant|mean|say|in|from|at|have|a|an|the)\s+",
        "",
        new,
        flags=re.I,
    ).strip()


def _mend(told: SpeakerFacts, speaker: str, earlier: list[Statement], new: str) -> str:
    """Replace a number or name in a recent statement; return its text, or ""."""
    for pattern in (NUMBER, NAMED):
        better = pattern.search("x " + new.strip(" '"))
        if not better:
            continue
        for statement in earlier[:4]:
            found = [match[0] for match in pattern.finditer(statement.text)]
            if found:
                return _replace(told, speaker, statement, found[-1], better[0])
    return ""


def _replace(told: SpeakerFacts, speaker: str, statement: Statement, old: str, new: str) -> str:
    text = re.sub(rf"\b{re.escape(old)}\b", lambda _: new, statement.text, flags=re.I)
    told.statements.remove(statement)
    told.statements.append(replace(statement, text=text))
    facts = told.facts.setdefault(speaker, {})
    for slot, value in facts.items():
        facts[slot] = re.sub(rf"\b{re.escape(old)}\b", lambda _: new, value, flags=re.I)
    return text
