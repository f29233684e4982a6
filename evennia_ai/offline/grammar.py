"""Sentences turned from "you" to "I" and back, with case and verb forms."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.words import capital

TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|\s+|.", re.DOTALL)
PREPOSITIONS = frozenset(
    "of to for with at by from on about against behind near between upon without around beside "
    "above below beneath toward towards past through into onto over under except concerning".split()
)
# After these verbs, "you" is the object.
GOVERNORS = frozenset(
    "owe owes owed give gives gave given tell tells told ask asks asked make makes made teach taught "
    "let lets leave leaves left show shows showed shown bring brings brought send sent pay pays paid "
    "help helps helped call calls called save saved love loves loved hate hates see sees saw keep "
    "keeps kept hold holds held find found frighten frightens trust trusts trusted know knows knew "
    "embarrasses embarrass remind reminds reminded beat beats hired hires raised cost costs thank "
    "believe met meet meets serve served hurt hurts please pleases bother bothers wake wakes forgive "
    "interest interests annoy annoys worry worries warn warned follow followed".split()
)
FOLLOWERS = frozenset(
    "for to as with at by from on about in of into out up down back away off and or but nor again "
    "the a an this that these those everything anything something nothing what how who more much "
    "his her its their some any well once twice eleven so too if when because".split()
)
VERBS = frozenset(
    "are were have had do did can could will would shall should may might must never always also "
    "often still once not only just seldom rarely both all know want like need keep think go come "
    "see say live work love hate make take give tell ask find get feel hold run serve sell".split()
)
YOU_TO_I = {
    "your": "my", "yours": "mine", "yourself": "myself", "you're": "I'm", "you've": "I've",
    "you'll": "I'll", "you'd": "I'd",
}  # fmt: skip
TURN_ROUND = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you are",
    "i've": "you have", "i'll": "you will", "i'd": "you would", "we": "you", "us": "you",
    "our": "your", "ours": "yours", "we're": "you are", "we've": "you have", "your": "my",
    "yours": "mine", "yourself": "myself", "you're": "I am", "you've": "I have", "you'll": "I will",
}  # fmt: skip
BE_AFTER_I = {"are": "am", "were": "was", "aren't": "am not", "weren't": "wasn't"}
BE_AFTER_YOU = {"am": "are", "was": "were", "wasn't": "weren't"}
THIRD = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was", "isn't": "am not"}
HIS = {"his": "my", "her": "my", "their": "my", "him": "me", "himself": "myself", "herself": "myself",
       "themselves": "myself", "hers": "mine", "theirs": "mine"}  # fmt: skip
# Verbs that continue about the same person: "hates camels and loves chess".
JOINED = re.compile(
    r"\b(and|but|or) ((?:also|never|often|always|still) )?(is|has|does|goes|loves|likes|hates|keeps|knows|wants|sells|"
    r"makes|lives|works|speaks|plays|fears|trusts|owns|runs|serves|dreams|hopes|collects|reads|sings|drinks|eats|"
    r"sleeps|guards|leads|teaches|buys|tells|remembers|enjoys|dislikes|looks|wears|carries|walks|writes|thinks)\b"
)
NOT_VERBS = frozenset("this his its perhaps always as thus bus less us".split())


def to_first_person(text: str) -> str:
    """Return a sentence about "you" as the character says it of itself."""
    return capital(_turned(text, YOU_TO_I, of_itself=True))


def turned_round(text: str) -> str:
    """Return a text with "I" and "you" exchanged, as its listener would say it."""
    return _turned(text, TURN_ROUND, of_itself=False)


def _turned(text: str, table: dict[str, str], *, of_itself: bool) -> str:
    tokens = TOKEN.findall(text.replace("’", "'"))
    out: list[str] = []
    subject = ""
    for index, token in enumerate(tokens):
        lower = token.lower()
        beside = (_word(tokens, index, -1), _word(tokens, index, 1))
        if lower == "you":
            subject = "me" if _is_object(tokens, index) else "I"
            out.append(subject)
        elif lower in table:
            out.append(_cased(table[lower], token) if of_itself else table[lower])
        elif not of_itself and lower in BE_AFTER_YOU and "i" in beside:
            out.append(BE_AFTER_YOU[lower])
        elif lower in BE_AFTER_I and _goes_with(tokens, index, "you", of_itself and subject == "I"):
            out.append(BE_AFTER_I[lower])
        else:
            out.append(token)
    return "".join(out)


def _word(tokens: list[str], index: int, step: int) -> str:
    """Return the next word in a direction, in lower case; "" at a mark or the end."""
    index += step
    while 0 <= index < len(tokens):
        if not tokens[index].isspace():
            token = tokens[index].lower()
            return token if token[0].isalnum() else ""
        index += step
    return ""


def _is_object(tokens: list[str], index: int) -> bool:
    before, after = _word(tokens, index, -1), _word(tokens, index, 1)
    if before in PREPOSITIONS:
        return after not in {"are", "were", "have", "had", "do", "did", "can", "will", "know"}
    if before in BE_AFTER_I or before in {"do", "did", "have", "can", "will"}:
        return False
    if not before or after in VERBS:
        return before in GOVERNORS and after not in VERBS
    if not after or after in FOLLOWERS:
        return before not in {"and", "or", "as"} or not after
    return before in GOVERNORS or (before.endswith("ed") and len(before) > 4)


def _goes_with(tokens: list[str], index: int, subject: str, carried: bool) -> bool:
    """Return True if a form of "be" belongs to a subject, next to it or after "and"."""
    before, after = _word(tokens, index, -1), _word(tokens, index, 1)
    if before == subject:
        return not _is_object(tokens, _position(tokens, index, -1))
    if after == subject:
        return True
    return carried and before in {"and", "but", "or", "never", "always", "also", "still"}


def _position(tokens: list[str], index: int, step: int) -> int:
    index += step
    while tokens[index].isspace():
        index += step
    return index


def _cased(word: str, like: str) -> str:
    return capital(word) if like[:1].isupper() else word


def base_form(verb: str) -> str:
    """Return the infinitive of a third-person verb: carries gives carry."""
    lower = verb.lower()
    if lower in THIRD:
        return {"am": "be", "was": "be"}.get(THIRD[lower], THIRD[lower])
    if lower.endswith("ies") and len(lower) > 4:
        return lower[:-3] + "y"
    if lower.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return lower[:-2]
    if lower.endswith("s") and not lower.endswith("ss") and lower not in NOT_VERBS:
        return lower[:-1]
    return lower


def third_form(verb: str) -> str:
    """Return a verb's third person: carry gives carries."""
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def own_possessives(text: str) -> str:
    """Return a text of the persona with the character's "his" or "her" as "my"."""
    others = re.search(r"\b(?:anybody|anyone|others|people|somebody|someone|guests|they)\b", text)
    if others:
        text, rest = text[: others.start()], text[others.start() :]
        return own_possessives(text) + re.sub(r"\b(?:his|her)\b", "my", rest)
    tokens = TOKEN.findall(text)
    return "".join(HIS.get(token.lower(), token) for token in tokens)


def own_clauses(text: str) -> str:
    """Return a text with "for he works alone" as "for I work alone"."""
    found = re.compile(r"\b(?:he|she|they) (\w+)\b")
    return found.sub(lambda m: f"I {THIRD.get(m[1].lower(), base_form(m[1]))}", text)


def from_third_person(sentence: str, name: str) -> str:
    """Return "Mira keeps the inn." as "I keep the inn."; "" if it is about others."""
    names = "|".join(re.escape(part) for part in {name, *name.split()} if part)
    found = re.match(
        rf"(?:{names}|she|he|they)\b,? ((?:also|never|often|always) )?(\w+)", sentence, re.I
    )
    if not found:
        return ""
    verb = found[2].lower()
    verb = THIRD.get(verb, base_form(verb))
    rest = JOINED.sub(
        lambda m: f"{m[1]} {m[2] or ''}{THIRD.get(m[3], base_form(m[3]))}", sentence[found.end() :]
    )
    return f"I {found[1] or ''}{verb}{own_clauses(own_possessives(rest))}"
