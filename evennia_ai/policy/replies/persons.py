"""Who a sentence speaks of: gestures in the third person, names called out, and I for you.

What needs to know a language's verbs and pronouns is for English alone, by the tables below.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import dropwhile

from evennia_ai.policy.retrieval.words import language_of

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*[\"”'’»)*]*\s*|\s+")

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


def plain(text: str) -> list[str]:
    """Return the words in lower case, with straight apostrophes."""
    return WORD.findall(text.casefold().replace("’", "'"))


def is_english(*texts: str) -> bool:
    """Return True unless one of the texts is in another language."""
    return all(language_of(text) in ("", "en") for text in texts)


def is_no_gesture(
    text: str, names: Collection[str], heard: Sequence[str], english: bool = False
) -> bool:
    """Return True for an emote that does nothing: a bare name, an echo, or no verb.

    ``names`` are those of the character and of everybody it knows of; that a verb in the third
    person must be there is asked of ``english`` alone.
    """
    words = plain(text)
    known = {word for name in names for word in plain(name)}
    if known.issuperset(words) or any(holds_run(plain(line), words) for line in heard):
        return True
    return english and not text.startswith("'s ") and not tells_deed(text)


def holds_run(line: Sequence[str], words: Sequence[str]) -> bool:
    """Return True if a line holds all of the words in a row."""
    if len(words) < min(LONGEST_ECHO, len(line)):
        return False
    return f" {' '.join(words)} " in f" {' '.join(line)} "


def tells_deed(text: str) -> bool:
    """Return True if an English text begins with a verb in the third person: "slowly nods"."""
    words = plain(text)
    if words and words[0] in LEADS:  # "with a sigh, puts down the hammer"
        words = plain(text.partition(",")[2])
    verb = next(iter(dropwhile(is_adverb, words)), "")
    past = verb.endswith("ed") and len(words) > 1
    return past or (verb.endswith("s") and not verb.endswith("ss") and verb not in NO_VERBS)


def is_adverb(word: str) -> bool:
    """Return True for an English adverb."""
    return word in ADVERBS or word.endswith("ly")


def is_spoken_gesture(text: str) -> bool:
    """Return True for an English gesture in the place of words: "nods slowly."."""
    words = plain(text)
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
CALLED_LAST = re.compile(rf",\s+{NAME}\W*\Z")
APPOSED = re.compile(rf"\b(?:{'|'.join(THE)})(?: [^\W_]+){{1,3}},\s+\S+(?: \S+)?\Z", re.IGNORECASE)
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
    here = [set(plain(name)) for name in spoken_to]
    others = [set(plain(name)) for name in known if name != own]
    for sentence in SENTENCE.findall(words):
        for called in called_in(sentence):
            name = set(plain(called))
            if any(name & one for one in here):
                continue
            itself = name <= set(plain(own)) and OF_ONESELF.isdisjoint(plain(sentence))
            if itself or any(name <= other for other in others):
                return called
    return ""


def called_in(sentence: str) -> list[str]:
    """Return the words by which a sentence may call somebody, at its beginning or end."""
    first, last = CALLED_FIRST.search(sentence), CALLED_LAST.search(sentence)
    found = [first[1]] if first and not YOU.isdisjoint(plain(sentence)) else []
    return [*found, last[1]] if last and not APPOSED.search(sentence[: last.end(1)]) else found
