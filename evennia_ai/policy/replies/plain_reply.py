"""Judge and mend a plain reply, of which every word is what the character says.

Mending costs nothing, and asking again costs a second call: what can be cut is cut.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

from evennia_ai.messages import LLMReply
from evennia_ai.policy.conversation.ai_disclosure import unknown
from evennia_ai.policy.facts.terms import Cosines, normal_words, parse_heard_line
from evennia_ai.policy.replies import output_checks
from evennia_ai.policy.replies.output_checks import ASSISTANT, NEUTRAL
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.policy.replies.speech import (
    AN_AI_SPEAKS,
    assistant_margin,
    describes_assistant,
    whole_sentences,
)
from evennia_ai.policy.retrieval.words import is_english
from evennia_ai.policy.sanitize import own_label, strip_reasoning
from evennia_ai.policy.texts import plain_words, sentences

ADVERBS = frozenset(
    "just then now still only once again almost half both also never always".split()
)
LEADS = frozenset("with without in at from after before while as for by on under over".split())
# Words with the ending of a verb's third person that are none.
NO_VERBS = frozenset(
    "yes this his its as us perhaps sometimes alas hers ours yours theirs was less greetings "
    "always besides afterwards backwards towards unless".split()
)
THIRD = "he|she|er|sie|il|elle|él|ella"
OF_THIRD = "his him her hers sein seine ihr ihre son sa ses su sus".split()
# Who says such a word speaks; a narrator does not.
FIRST = frozenset(
    "i i'm i'll i've i'd me my mine myself we we're us our ours ich mir mich mein meine meinen "
    "wir uns unser je j'ai moi mon ma mes nous yo mi mis nosotros".split()
)
SECOND = frozenset(
    "you your you're yours du dich dir dein deine tu te ton ta toi vous votre".split()
)
CALLING_WORDS = 3
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
OF_NAMES = frozenset("name name's called call it's here nom nombre heiße service".split())
STATES = frozenset("is was has does".split())  # "(he is proud of it)" tells no deed
COMMAND = re.compile(
    r"(?m)(?:(?:^|(?<=\s))/(?:me|emote|pose|em) |^(?:(?:emote|pose):? |\* |:)(?=[a-z]|\w+ [a-z]))"
    r"([^\n\"“*:]{2,200})\*?"
)
SAYS = r"(?:says?|said|asks?|asked|whispers?|whispered|replies|replied|answers|answered)\b"
SAYING = re.compile(rf"(?i)(?:\A|,? and )(?:then )?{SAYS}[\s,:]*")
# Delimiters that stand close around a text on one line, as "*slams a tankard*" and "[She smiles]".
DELIMITED = re.compile(
    r"(?<![\w*{/\])])(\*{1,3})(?=[^\W\d_])(?P<starred>[^*\n]{2,200}?)(?<=\S)(?:\1(?![\w*])|(?=\n|\Z))"
    r"|(?<!\w)_(?=[^\W\d_])(?P<lined>[^_\n]{2,200}?)(?<=\S)_(?!\w)"
    r"|(?<![\w~])~(?=[^\W\d_])(?P<waved>[^~\n]{2,200}?)(?<=\S)~(?![\w~])"
    r"|(?<![\w\])])\[(?=[^\W\d_])(?P<bracketed>[^\[\]\n]{2,200})\](?!\[)"
    r"|(?<!\w)\({1,2}(?=[^\W\d_])(?P<rounded>[^()\n]{2,200})\){1,2}"
    r"|(?m:^|(?<=[.!?…] ))(?P<opening>[<{—–-]|:{1,2})(?=[a-z])(?P<marked>[^<>{}:—–\n-]{2,60})"
    r"(?:[>}—–-]|:{1,2})(?=\s|\Z)"
)
QUOTED = re.compile(
    r"\"([^\"\n]{1,400})(?:\"|\Z)|“([^“”\n]{1,400})(?:”|\Z)|«\s?([^«»\n]{1,400})(?:»|\Z)"
    r"|„([^„“”\n]{1,400})(?:[“”]|\Z)|»([^«»\n]{1,400})«"
)
SENTENCE_ENDS = (*'.!?…"”»*_)]', "\n")
CLAUSE_GOES_ON = re.compile(r"\s{0,3}[,;:]|\s{1,3}[a-zà-ÿа-я]")
BEHIND_DEEDS = frozenset("at to toward towards and his her their with back a the".split())
BARE = re.compile(r"[a-z][\w' ,-]{0,200}[.…]{0,3}")
FEW_WORDS = 5  # of a parenthesis that only tells how something is said
NO_WORDS = "it held no words"
REPEATED = "you said that before"
# "Guard: Good day": what the character is, in the place of its name. Headings are no speech.
ROLE = re.compile(
    rf"\A(?!(?i:{'|'.join((*output_checks.SPEAKERS, *output_checks.HEADINGS))})\b)"
    rf"{output_checks.NAME}:\s{{1,3}}(?=[A-ZÀ-ÞА-ЯЁ\"“«„])"
)


class PlainReply(NamedTuple):
    """What is said and shown of a plain reply, and why it must be asked for again.

    Attributes:
        words: what is said; empty if only a deed is shown.
        deeds: what is shown, each as it follows the character's name: "wipes a mug".
        problem: why nothing may be said, completing "Your last reply was not spoken: ..."; "" if
            the words and deeds may be used.
    """

    words: str
    deeds: tuple[str, ...] = ()
    problem: str = ""


def plain_reply(
    reply: LLMReply,
    name: str,
    others: Collection[str],
    heard_lines: Sequence[str],
    last_replies: Sequence[str],
    cosines: Cosines = unknown,
) -> PlainReply:
    """Return the words and emotes of a plain reply, or why it is to be asked for again.

    Of 102 replies of a 1.5B model that the examples were not chosen by, 45 of them in an
    assistant's voice, the patterns find 25, and their meaning with them 38. It is wrong of 2 of the
    others and of 2 of 162 lines that were written for characters (MiniLM).

    Args:
        reply: the reply as it arrived.
        name: the character's name.
        others: the names of those who may speak beside it.
        heard_lines: the lines that are answered, with or without "Ann says: ".
        last_replies: what the character said in its last turns, oldest first.
        cosines: how near the reply's sentences are to `speech.VOICE_LINES`.
    """
    own = own_lines(strip_reasoning(reply.content), name, frozenset(others))
    if not own:
        is_for_others = bool(reply.content.strip())
        return PlainReply("", problem=output_checks.FOR_OTHERS if is_for_others else NO_WORDS)
    words, deeds, _ = split_reply(ROLE.sub("", own), name)
    if reply.finish_reason == CUT_OFF:
        words = whole_sentences(words)
    if AN_AI_SPEAKS.search(words):  # the sentences around that are its voice, too
        return PlainReply("", problem=ASSISTANT)
    lines = [parse_heard_line(line, "")[1] for line in heard_lines]

    def problem_of(sentence: str) -> str:
        if describes_assistant(sentence, ""):
            return ASSISTANT
        if output_checks.is_echo(sentence, lines, (name, *others)):
            return output_checks.ECHO
        is_long = len(plain_words(sentence)) >= output_checks.FEW_WORDS
        return REPEATED if is_long and output_checks.find_repeat(sentence, last_replies) else ""

    parts = [(sentence, problem_of(sentence)) for sentence in sentences(words)]
    fine = [sentence for sentence, problem in parts if not problem]
    # Without those that tell a line back, if others are left: "Your dog is Biscuit. A good name!"
    restated = [
        output_checks.neutral(plain_words(part)) for line in lines for part in sentences(line)
    ]
    new = [part for part in fine if output_checks.neutral(plain_words(part)) not in restated]
    problems = [problem for _, problem in parts if problem]
    margins = [(part, *assistant_margin(part.strip(), cosines)) for part in new or fine]
    is_mixed = ASSISTANT in problems or any(is_sure for _part, _margin, is_sure in margins)
    # Beside a sentence of an assistant, what is not nearer to a character's is its voice, too.
    kept = "".join(part for part, margin, _ in margins if margin <= 0.0 or not is_mixed).strip()
    problem = ASSISTANT if fine else next(iter(problems), NO_WORDS)
    return PlainReply(kept, deeds, "" if kept or deeds else problem)


# --- whose words they are -------------------------------------------------------------------------


def to_asker(reply: str, own_words: Iterable[str], line: str) -> str:
    """Return an English reply with you for I where it repeats the asker's ``own_words``.

    A small model tells "I lost three ducats" to whoever lost them. ``line`` asks about its speaker.
    """
    if not is_english(reply) or FIRST.isdisjoint(plain_words(line)):
        return reply
    rows = [{*normal_words(text)} for text in own_words if not FIRST.isdisjoint(plain_words(text))]

    def for_asker(sentence: str) -> str:
        words, new = plain_words(sentence), {*normal_words(sentence)}.difference(normal_words(line))
        repeats = any(new and 2 * len(new & stems) >= len(new) for stems in rows)
        if not repeats or FIRST.isdisjoint(words) or not SECOND.isdisjoint(words):
            return sentence
        second = WORD.sub(lambda word: NEUTRAL.get(word[0].lower(), word[0]), sentence)
        return second[:1].upper() + second[1:]

    return "".join(map(for_asker, sentences(reply)))


def own_lines(text: str, name: str, others: frozenset[str]) -> str:
    """Return the character's own part of a reply that goes on with the lines of others."""
    parts: list[tuple[str, str]] = []
    speaker, start = name, 0
    text = own_label(name).sub("", text.strip())
    for match in output_checks.label_of(others | {name}).finditer(text):
        begin = match.start(match.lastgroup or 0)
        parts.append((speaker, text[start:begin].rstrip(" \n>#*_[(")))
        speaker, start = match[match.lastgroup or 0], match.end()
    parts.append((speaker, text[start:]))
    own_words = ""
    for who, words in parts:
        if who == name:
            own_words = f"{own_words} {words.strip()}"
        elif own_words.strip():
            break
    return own_words.strip()


# --- deeds and words ------------------------------------------------------------------------------


def split_reply(text: str, name: str) -> PlainReply:
    """Return what the character ``name`` says, and what it does: "wipes a mug"."""
    deeds: list[str] = []

    def take(deed: str) -> str:
        deed = subject_of(name).sub("", deed.strip(" *_~.,")).strip(" ,.")
        head, *words = SAYING.split(deed, maxsplit=1)
        if words and words[0].split()[:1] == ["to"]:  # "whispers to Bob"
            head, words = deed, []
        deed = head
        if deed and deed not in deeds:
            deeds.append(deed[:1].lower() + deed[1:])
        return f" {' '.join(words)} "

    if is_bare_deed(text):
        return PlainReply("", (text.strip(),))
    # How a speech begins: "say", "Mira smiles warmly:".
    own = rf"|{re.escape(name)},? [a-z][\w ,'-]{{1,60}}(?::| -)" if name else ""
    text = re.sub(rf"\A(?:/?say:?{own}) (?=[A-ZÀ-ÞА-ЯЁ])", "", text.strip())
    text = DELIMITED.sub(lambda match: undelimited(match, name, take), text)
    text = COMMAND.sub(lambda match: take(match[1]), text)
    lines = (without_narration(line, name, take) for line in text.splitlines())
    words = "\n".join(filter(None, (re.sub(r"\s{2,}", " ", line).strip() for line in lines)))
    return PlainReply(words.lstrip(" ,;.") if words != text.strip() else words, tuple(deeds))


@lru_cache(maxsize=64)
def subject_of(name: str) -> re.Pattern[str]:
    """Return the pattern of the character's name, or a pronoun, before what it does."""
    # "Sister Oda" is Oda, too; "The Baker" is not "The".
    names = "|".join(map(re.escape, filter(None, (name, *name.split()[1:][-1:]))))
    # The name may be that of somebody else: "Brannoc's daughter" tells no deed, "'s eyes" does.
    own = rf"(?:{names})(?:\s+(?=[^\W\dA-Z])|(?=['’]s\s))|" if names else ""
    return re.compile(rf"\A\W*(?:{own}(?i:{THIRD})\s+(?=[^\W\dA-Z]))")


def undelimited(match: re.Match[str], name: str, take: Callable[[str], str]) -> str:
    """Return what is left of a delimited text as words, after a deed was taken from it."""
    inner = str(match[match.lastgroup or 0])
    before, after = match.string[: match.start()].rstrip(" "), match.string[match.end() :]
    words = plain_words(subject_of(name).sub("", inner))
    begins = not before or before.endswith(SENTENCE_ENDS)
    apart = begins and not CLAUSE_GOES_ON.match(after)
    ended = inner.rstrip('"”')[-1:] in "!?"
    english = is_english(match.string)
    deed = tells_deed(" ".join(words)) if english else apart and inner[:1].islower()
    rounded, bracketed = match["rounded"] or match["marked"], match["bracketed"]
    speaks = not FIRST.isdisjoint(words)
    if rounded and (not apart or speaks or ended or not words or words[0] in STATES):
        return match[0]
    if speaks and not bracketed:  # "*I nod*" cannot be shown in the third person
        return " " if apart and words[0] == "i" and len(words) > 1 and not ended else inner
    if deed and (begins or len(words) > 1 or not CLAUSE_GOES_ON.match(after)):
        return take(inner)
    if rounded:
        how = words[0].endswith("ing") or is_adverb(words[-1]) or (not before and after.strip())
        return " " if how and len(words) <= FEW_WORDS else match[0]
    if bracketed:
        return " " if apart else match[0]
    return " " if apart and inner[:1].islower() and not ended else inner


def without_narration(line: str, name: str, take: Callable[[str], str]) -> str:
    """Return a line's words, without what it narrates of the character in the third person."""
    quotes = list(QUOTED.finditer(line))
    if not quotes:
        return "".join(_spoken_sentence(sentence, name, take) for sentence in sentences(line))
    ends = [0, *(quote.end() for quote in quotes)]
    starts = [*(quote.start() for quote in quotes), len(line)]
    outside = [line[end:start].strip() for end, start in zip(ends, starts, strict=True)]
    if not narrates(outside, name):
        return line
    spoken = ""
    for number, quote in enumerate(quotes):
        words, following = next(filter(None, quote.groups())).strip(), outside[number + 1]
        is_last = number + 1 == len(quotes) or following.endswith((".", "!", "?"))
        if words.endswith(",") and is_last:
            words = f"{words[:-1]}."
        spoken += f" {words}"
    for number, piece in enumerate(outside):
        is_tag = piece.startswith(",") or (piece.endswith((",", ":")) and number < len(quotes))
        if not is_tag and not piece[:1].islower():
            for sentence in sentences(piece):
                if subject_of(name).match(sentence):
                    take(sentence)
    return spoken.strip()


def narrates(outside: list[str], name: str) -> bool:
    """Return True if texts outside of quotation marks narrate what the character does or says."""
    words = [plain_words(piece) for piece in outside]
    if any(not FIRST.isdisjoint(piece) for piece in words):
        return False
    if any(piece and piece[-1].isalnum() for piece in outside[:-1]):  # 'it said "Cat lost" on it'
        return False
    third = {*THIRD.split("|"), *OF_THIRD, *plain_words(name)[-1:], *plain_words(f"{name}'s")[-1:]}
    parts = [plain_words(part) for piece in outside for part in sentences(piece)]
    tells = [not third.isdisjoint(part) for part in parts if part]
    return bool(tells) and all(tells)


def _spoken_sentence(sentence: str, name: str, take: Callable[[str], str]) -> str:
    """Return a sentence, "" after it was taken as a deed: "Mira nods slowly."."""
    words = plain_words(sentence)
    begins_with_name = sentence.lstrip().startswith(name) and bool(name)
    if not begins_with_name or not (SECOND | FIRST).isdisjoint(words):
        return sentence
    match = subject_of(name).match(sentence)
    if match is None or (is_english(sentence) and not tells_deed(sentence[match.end() :])):
        return sentence
    return take(sentence)


def tells_deed(text: str) -> bool:
    """Return True if an English text begins with a verb in the third person: "slowly nods"."""
    words = plain_words(text)
    if words and words[0] in LEADS:  # "with a sigh, puts down the hammer"
        words = plain_words(text.partition(",")[2])
    verb = next(iter(dropwhile(is_adverb, words)), "")
    past = verb.endswith("ed") and len(words) > 1
    return past or (verb.endswith("s") and not verb.endswith("ss") and verb not in NO_VERBS)


def is_adverb(word: str) -> bool:
    return word in ADVERBS or word.endswith("ly")


def is_bare_deed(text: str) -> bool:
    """Return True for an English deed in the place of words: "nods slowly."."""
    # "thanks for that" and "makes sense" are words of one who writes no capitals.
    words = plain_words(text)
    goes_on = len(words) > 1 and (is_adverb(words[1]) or words[1] in BEHIND_DEEDS)
    person = (FIRST | SECOND).isdisjoint(words)
    return (
        goes_on and person and bool(BARE.fullmatch(text)) and is_english(text) and tells_deed(text)
    )


def uncalled(words: str, own: str) -> str:
    """Return words without the character's own name where it calls itself: "Marigold, Mira."."""
    names = sorted({own, *own.split()[:1], *own.split()[-1:]}, key=len, reverse=True)
    called = rf" (?:{'|'.join(map(re.escape, names))})(?=\s*(?:[.,!?;…]|\Z))"

    def kept(sentence: str) -> str:
        plain = plain_words(sentence)  # "I am the smith, Brannoc" tells the name
        calls = (FIRST | OF_NAMES).isdisjoint(plain) or not SECOND.isdisjoint(plain)
        # A short call needs no comma: "Good morning Mira!".
        comma = ",?" if len(plain) <= CALLING_WORDS and sentence.rstrip().endswith("!") else ","
        return re.sub(comma + called, "", sentence) if calls else sentence

    return "".join(map(kept, sentences(words))) if own else words
