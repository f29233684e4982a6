"""Who a sentence speaks of: gestures in the third person, names called out, and I for you.

What needs to know a language's verbs and pronouns is for English alone, by the tables below.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import dropwhile
from typing import NamedTuple

from evennia_ai.policy.facts.check import RECALLED, RECALLED_AGE
from evennia_ai.policy.retrieval.words import find_words, language_of
from evennia_ai.policy.texts import plain_words, sentences

# --- gestures -------------------------------------------------------------------------------------

ADVERBS = frozenset(
    "just then now still only once again almost half both also never always".split()
)
LEADS = frozenset("with without in at from after before while as for by on under over".split())
# Words with the ending of a verb's third person that are none.
NO_VERBS = frozenset(
    "yes this his its as us perhaps sometimes alas hers ours yours theirs was less greetings "
    "always besides afterwards backwards towards unless".split()
)
GESTURES = frozenset(
    "nods shrugs sighs frowns winks grins chuckles smirks bows curtsies blinks gestures glances "
    "grunts scowls smiles laughs waves leans shakes raises folds scratches clears wipes".split()
)
NOUNS_TOO = frozenset(
    "waves smiles laughs bows gestures shakes raises wipes folds clears leans".split()
)
MANNER = frozenset("at to toward towards and his her their with back once in a the".split())
LONGEST_ECHO = 3  # words of a line in a row, from which on a gesture repeats it


def is_english(*texts: str) -> bool:
    """Return True unless one of the texts is in another language."""
    return all(language_of(text) in ("", "en") for text in texts)


def is_no_gesture(
    text: str, names: Collection[str], lines: Sequence[str], english: bool = False
) -> bool:
    """Return True for an emote that does nothing: a bare name, an echo, or no verb.

    ``names`` are those of the character and of everybody it knows of; that a verb in the third
    person must be there is asked of ``english`` alone.
    """
    words = plain_words(text)
    known = {word for name in names for word in plain_words(name)}
    if known.issuperset(words):
        return True
    for line in map(plain_words, lines):
        if len(words) >= min(LONGEST_ECHO, len(line)) and run_at(line, words) >= 0:
            return True
    return english and not text.startswith("'s ") and not tells_deed(text)


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


def is_spoken_gesture(text: str) -> bool:
    """Return True for an English gesture in the place of words: "nods slowly."."""
    words = plain_words(text)
    if "*" in text.strip("* "):  # "*nods* The long ones, was it?"
        return False
    if not words or words[0] not in GESTURES or (words[0] in NOUNS_TOO and text[:1].isupper()):
        return False
    return len(words) == 1 or is_adverb(words[1]) or words[1] in MANNER


# --- names called out -----------------------------------------------------------------------------

NAME = r"([^\W\d_][\w' -]{0,40}?)"
THE = "the my our your a an his her der die das mein meine dein deine le la mon ma el mi tu".split()
APART = [*THE, "who", "whose", "which", "that", "and", "or", "und", "et", "y", "qui", "que"]
# "Mira, the innkeeper, ..." and "ask the innkeeper, Mira" name her and do not call her.
CALLED_FIRST = re.compile(rf"\A\W*{NAME}[,!]\s+(?!(?:{'|'.join(APART)})\b)(?=[a-zà-ÿ])")
CALLED_LAST = re.compile(rf"(?<![^\W_])([^\W_]{{1,40}}),\s{{1,3}}{NAME}\W{{0,9}}\Z")
APPOSED = re.compile(
    rf"\b(?:{'|'.join(THE)}|(?!that|it|what|t?here|let|s?he|who)\w+['’]s)(?: [^\W_]+){{1,3}}"
    r",\s+\S+(?: \S+)?\Z",
    re.IGNORECASE,
)
YOU = frozenset(
    "you your you're yours du dir dich dein deine sie ihnen ihr tu te toi vous votre usted".split()
)
# Who says such a word may be telling their own name: "I am the smith, Brannoc."
OF_ONESELF = frozenset(
    "i i'm i've me my mine name name's called call it's here service we our us ich bin mein heiße "
    "name ist je suis mon nom m'appelle soy me mi nombre llamo".split()
)


def calls_another(words: str, own: str, known: Collection[str], spoken_to: Collection[str]) -> str:
    """Return the name by which a sentence calls somebody who is not spoken to, "" if none does.

    ``own`` is the character's name, ``known`` are the names of others; a name that is only told,
    and one that nobody is known by, may be said.
    """
    here = [set(plain_words(name)) for name in spoken_to]
    others = [set(plain_words(name)) for name in known if name != own]
    for sentence in sentences(words):
        for called in called_in(sentence, set[str]().union(*here, *others)):
            name = set(plain_words(called))
            if any(name & name_words for name_words in here):
                continue
            itself = name <= set(plain_words(own)) and OF_ONESELF.isdisjoint(plain_words(sentence))
            if itself or any(name <= other for other in others):
                return called
    return ""


def called_in(sentence: str, names: Collection[str]) -> list[str]:
    """Return the words by which a sentence may call somebody, at its beginning or end.

    ``names`` are words of names: "Ann, Tom, Mira." is a list.
    """
    first, last = CALLED_FIRST.search(sentence), CALLED_LAST.search(sentence)
    called_names = [first[1]] if first and not YOU.isdisjoint(plain_words(sentence)) else []
    if last and last[1].casefold() not in names and not APPOSED.search(sentence[: last.end(2)]):
        called_names.append(last[2])
    return called_names


def uncalled(words: str, own: str) -> str:
    """Return words without the character's own name where it calls itself: "Marigold, Mira."."""
    call = re.compile(rf", {re.escape(own)}(?=\s*(?:[.,!?;…]|\Z))")

    def kept(sentence: str) -> str:
        words = plain_words(sentence)
        calls = OF_ONESELF.isdisjoint(words) or not YOU.isdisjoint(words)
        return call.sub("", sentence) if calls else sentence

    return "".join(map(kept, sentences(words))) if own and call.search(words) else words


# --- I for you ------------------------------------------------------------------------------------

TOKEN = re.compile(r"n['’]t\b|['’](?:m|s|re|ve|ll|d)\b|[^\W_](?:(?!n['’]t)[^\W_]|-(?=[^\W_]))*")
SHORT = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
CLAUSE_END = re.compile(
    r"[^\w\s'’-]|\b(?:and|but|because|that|so|or|if|when|while|who|which)\b", re.I
)
QUOTE = re.compile(
    r"\"[^\"]*\"?|“[^”]*”?|«[^»]*»?|„[^“”]*[“”]?|(?<!\w)['‘][^'‘’]{1,300}+['’](?!\w)"
)
FIRST = {"i": "you", "my": "your", "me": "you", "mine": "yours", "myself": "yourself"}
ONESELF = frozenset(FIRST) | {"we", "us", "our", "ours"}
SECOND = {"your": "my", "yours": "mine", "yourself": "myself"}
# Behind such a word "you" is no subject: "I owe you three silver".
BEFORE_ME = frozenset(
    "owe owed give gave bring brought lend lent tell told promise promised pay paid show showed "
    "sell sold send sent teach taught to for from with by of about like at after before than meet "
    "met see saw know knew help helped thank love hate trust need".split()
)
UNCERTAIN = frozenset("we us our ours ourselves you".split())
BY_ME = {"am": "are", "was": "were"}  # with "I" beside them
LEAST_MEANING = 2  # words that carry meaning: "I am tired" anybody may say
LEAST_RETOLD = 3  # of them, in words of the line in another order: "I promised you three baskets"


class PronounFix(NamedTuple):
    """A reply with "you" where it said "I" of the asker, and why it must be asked for again."""

    words: str
    problem: str = ""


class Clause(NamedTuple):
    """A clause: its words in lower case, and where each stands in the text."""

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


def turned(
    recalled: Iterable[str], reply: str, asker: str = "", own: str = "", name: str = ""
) -> PronounFix:
    """Return a reply that does not tell as the character's own what a person told of themselves.

    Args:
        recalled: recalled lines as a prompt shows them, such as "Ann: I sail on the Kestrel".
        reply: the character's words, or one sentence of them.
        asker: the name of whoever is answered; "" takes each line for theirs.
        own: the persona; what it tells of the character, too, may be said.
        name: the character's name, by whose own lines nothing is judged.

    Only clauses with no other meaning than a recalled line has, outside of quotation marks, are
    changed; in other languages than English nothing is.
    """
    text, problem = reply, ""
    known = frozenset(find_words(own, (), "en"))
    claims = (RECALLED.fullmatch(RECALLED_AGE.sub("", row, count=1)) for row in recalled)
    claims_spoken = [
        (claim["speaker"], claim["words"]) for claim in claims if claim and not claim["acted"]
    ]
    for speaker, line in sorted(claims_spoken, key=lambda claim: claim[0] != asker):
        if speaker == name or not is_english(line):
            continue
        meant = frozenset(find_words(f"{speaker} {line}", (), "en"))
        called = not YOU.isdisjoint(plain_words(line))
        for clause in reversed(copied(text, line, known, meant)):
            new = with_you(text, clause, called) if asker in ("", speaker) else ""
            if not new:
                problem = f"it said of you what {speaker} told you about themselves"
            text = new or text
    return PronounFix(reply if problem else text, problem)


def clauses(text: str) -> list[Clause]:
    parts_found, start = [], 0
    ends = [*(mark.span() for mark in CLAUSE_END.finditer(text)), (len(text), len(text))]
    for end, following in ends:
        tokens = list(TOKEN.finditer(text, start, end))
        words = (token[0].casefold().replace("’", "'") for token in tokens)
        parts_found.append(
            Clause(tuple(SHORT.get(word, word) for word in words), tuple(t.span() for t in tokens))
        )
        start = following
    return [clause for clause in parts_found if clause.words]


def copied(text: str, line: str, known: frozenset[str], meant: frozenset[str]) -> list[Clause]:
    """Return the parts of a text that copy what a line tells in the first person.

    ``meant`` holds the line's words with a meaning: a clause of no others tells the same anew.
    """
    every = [clause.words for clause in clauses(line)]
    own_words = [words for words in every if tells_of_oneself(words, known)]
    whole = tuple(word for words in every for word in words)
    quoted = [match.span() for match in QUOTE.finditer(text)]
    match = []
    for clause in clauses(text):
        (first, _), (_, last) = clause.spans[0], clause.spans[-1]
        if not any(start < last and first < end for start, end in quoted):
            part = clause
            # What is neither copied nor told anew may hold the first clause of the line.
            if run_at(whole, clause.words) < 0 and not retells(clause.words, meant):
                places = ((run_at(clause.words, words), len(words)) for words in own_words)
                at, length = next((place for place in places if place[0] >= 0), (0, 0))
                part = Clause(clause.words[at : at + length], clause.spans[at : at + length])
            match += [part] if tells_of_oneself(part.words, known) else []
    return match


def retells(words: Sequence[str], meant: frozenset[str]) -> bool:
    """Return True for words that have a meaning, and no other than these."""
    stems = set(find_words(" ".join(words), (), "en"))
    return len(stems) >= LEAST_RETOLD and stems <= meant


def run_at(words: Sequence[str], run: Sequence[str]) -> int:
    """Return where some words stand in others in a row, -1 if they do not."""
    starts = range(len(words) - len(run) + 1)
    return next((at for at in starts if tuple(words[at : at + len(run)]) == tuple(run)), -1)


def tells_of_oneself(words: Sequence[str], known: frozenset[str]) -> bool:
    """Return True for words in the first person with a meaning that is not also ``known``."""
    meant = set(find_words(" ".join(words), (), "en"))
    return not ONESELF.isdisjoint(words) and len(meant) >= LEAST_MEANING and not meant <= known


def with_you(text: str, clause: Clause, called: bool) -> str:
    """Return a text with the second person in a clause, "" where that is not certain.

    ``called`` tells that the line, too, says "you", of the character; else the clause says it of
    whoever is answered, and it stays.
    """
    words, made = clause.words, text
    rest = plain_words(sentences(text[clause.spans[-1][0] :])[0])[1:]
    if "i" not in rest and not ONESELF.isdisjoint(rest):  # "I sell fish and mend my nets"
        return ""
    for at in reversed(range(len(words))):
        start, end = clause.spans[at]
        word_before = next(filter(lambda word: not is_adverb(word), reversed(words[:at])), "")
        by_me = "i" in (word_before, *words[at + 1 : at + 2])
        if not called and words[at] in ("you", *SECOND):
            new = text[start:end]
        elif words[at] == "you" and word_before in BEFORE_ME:
            new = "me"
        elif words[at] in UNCERTAIN:
            return ""
        elif words[at] in BY_ME and by_me:
            new = "'re" if text[start] in "'’" else BY_ME[words[at]]
        else:
            new = FIRST.get(words[at]) or SECOND.get(words[at]) or text[start:end]
        begins = not text[:start].strip(" \"“«'*") or text[:start].rstrip(' "“*')[-1] in ".!?…"
        made = made[:start] + (new[:1].upper() + new[1:] if begins else new) + made[end:]
    return made
