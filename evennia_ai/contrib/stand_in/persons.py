"""A person's words about themselves, told back to them: "you" for "I", in English."""

import re
from typing import NamedTuple

from evennia_ai.policy.replies.plain_reply import is_adverb
from evennia_ai.policy.texts import plain_words, sentences

TOKEN = re.compile(r"n['’]t\b|['’](?:m|s|re|ve|ll|d)\b|[^\W_](?:(?!n['’]t)[^\W_]|-(?=[^\W_]))*")
SHORT = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
CLAUSE_END = re.compile(
    r"[^\w\s'’-]|\b(?:and|but|because|that|so|or|if|when|while|who|which)\b", re.I
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


class Clause(NamedTuple):
    """A clause: its words in lower case, and where each stands in the text."""

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


def clauses(text: str) -> list[Clause]:
    """Return the clauses of a text, in order."""
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


def with_you(text: str, clause: Clause) -> str:
    """Return a text with the second person in a clause, "" where that is not certain."""
    words, made = clause.words, text
    rest = plain_words(sentences(text[clause.spans[-1][0] :])[0])[1:]
    if "i" not in rest and not ONESELF.isdisjoint(rest):  # "I sell fish and mend my nets"
        return ""
    for at in reversed(range(len(words))):
        start, end = clause.spans[at]
        word_before = next(filter(lambda word: not is_adverb(word), reversed(words[:at])), "")
        by_me = "i" in (word_before, *words[at + 1 : at + 2])
        if words[at] == "you" and word_before in BEFORE_ME:
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
