"""Sentences that are polite and tell nothing, so that they need no source."""

import re
from collections.abc import Iterable

from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import WORD, content_words, language_of
from evennia_ai.policy.texts import sentences

# Without these, none of strangers' lines that ask nothing is small talk, with them 3 of 100.
POLITE = frozenset(
    "hello hail greetings good day morning evening afternoon night bye goodbye farewell welcome "
    "fine great nice lovely sorry pardon excuse okay ok yeah nope sure today tonight now again "
    "going feeling weather indeed ha haha hm hmm "
    "hallo guten tag morgen abend nacht gute gut danke tschüss servus geht heute schön "
    "bonjour bonsoir salut merci revoir plaît nuit journée bonne ça "
    "hola buenos buenas días tardes noches gracias adiós favor tal bien "
    "привет здравствуй здравствуйте добрый доброе доброй день вечер утро ночи спасибо пожалуйста "
    "свидания дела хорошо".split()
)

CLOSING = " \n\"”»'’)*_]"  # behind the mark of a sentence
QUESTION_MARKS = ("?", "？", "؟", "\u037e")  # the last is the Greek one
ASKING = [[word] for word in ("who", "whose", "where", "when", "what", "which", "why")]
HOW_ARE_YOU = re.compile(
    r"\A\W{0,20}(?:\w[\w ]{0,40}, {0,9})?(?:and )?"
    r"(?:(?:how )?(?:are|have|do) you|how['’]re you|you|cómo est)",
    re.IGNORECASE,
)


def is_small_talk(text: str, names: Iterable[str] = ()) -> bool:
    """Return True if a text is polite words and names, and nothing else.

    "Who am I?" is a question, though all its words are function words; "Are you well?" is none.
    """
    words = content_words(text, language_of(text) or ENGLISH)
    polite = POLITE.union(content_words(" ".join(names), ENGLISH))
    return polite.issuperset(words) and not any(map(_is_question, sentences(text)))


def _is_question(sentence: str) -> bool:
    words = WORD.findall(sentence.lower())
    has_mark = sentence.rstrip(CLOSING).endswith(QUESTION_MARKS) or words[:1] in ASKING
    return (
        has_mark and len(words) > 1 and POLITE.isdisjoint(words) and not HOW_ARE_YOU.match(sentence)
    )
