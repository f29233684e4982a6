"""A persona's sentences in the first person, as far as a few rules can be sure of them.

A sentence that the rules do not fit is left as it is, or quoted as what others say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evennia_ai.offline.words import capital

TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\s+|.", re.DOTALL)
# "you" is the object after these, unless a verb follows.
PREPOSITIONS = frozenset("of to for with at by from on about against behind near between upon around beside toward after".split())  # fmt: skip
GOVERNORS = frozenset(
    "owe owes owed give gives gave given tell tells told ask asks asked made teach taught let left show brought "
    "help call calls called save saved love loves hate know see trust fear find found believe pay pays".split()
)  # fmt: skip
VERBS = frozenset("are were have had do did can could will would should may might must never always also often still want know like keep live love hate are".split())  # fmt: skip
OBJECT_AFTER = frozenset("for to as with at by from on in and or but a the money everything nothing once twice".split())  # fmt: skip
YOU_TO_I = {"your": "my", "yours": "mine", "yourself": "myself", "you're": "I'm", "you've": "I've", "you'll": "I'll"}  # fmt: skip
HIS = {"his": "my", "her": "my", "their": "my", "himself": "myself", "herself": "myself", "him": "me"}  # fmt: skip
THIRD = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was", "isn't": "am not"}
OTHERS = re.compile(r"\b(?:anybody|anyone|others|people|somebody|someone|guests|they|whoever)\b", re.I)  # fmt: skip
PAST = r"\w+ed|was|had|lost|won|found|made|built|left|came|went|took|gave|saw|fought|fell|told|kept"
NOT_VERBS = frozenset("this his its perhaps always as thus bus less us never".split())


def to_first_person(text: str) -> str:
    """Return an English sentence about "you" as the character says it of itself."""
    tokens = TOKEN.findall(text.replace("’", "'"))
    plain = [(i, token.lower()) for i, token in enumerate(tokens) if not token.isspace()]
    out, subject = list(tokens), ""
    for place, (index, lower) in enumerate(plain):
        before = plain[place - 1][1] if place else ""
        after = plain[place + 1][1] if place + 1 < len(plain) else ""
        if lower == "you":
            subject = "me" if _is_object(before, after) else "I"
            out[index] = subject
        elif lower in YOU_TO_I:
            out[index] = _cased(YOU_TO_I[lower], tokens[index])
        elif lower in {"are", "were"} and subject == "I" and before in {"you", "and", "but"}:
            out[index] = "am" if lower == "are" else "was"
    return capital("".join(out))


def _is_object(before: str, after: str) -> bool:
    if before in PREPOSITIONS or before in GOVERNORS:
        return after not in VERBS
    return bool(before) and before.isalpha() and (not after.isalpha() or after in OBJECT_AFTER) and before not in {"and", "or", "as", "than"}  # fmt: skip


def _cased(word: str, like: str) -> str:
    return capital(word) if like[:1].isupper() else word


def base_form(verb: str) -> str:
    """Return the infinitive of an English third-person verb: carries gives carry."""
    lower = verb.lower()
    if lower in THIRD:
        return {"am": "be", "was": "be"}.get(THIRD[lower], THIRD[lower])
    if lower.endswith("ies") and len(lower) > 4:
        return lower[:-3] + "y"
    if lower.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return lower[:-2]
    return lower[:-1] if lower.endswith("s") and not lower.endswith("ss") and lower not in NOT_VERBS else lower  # fmt: skip


def own_possessives(text: str) -> str:
    """Return a text about the character with its "his" or "her" as "my"."""
    head, rest = text, ""
    others = OTHERS.search(text)
    if others:
        head, rest = text[: others.start()], text[others.start() :]
        rest = re.sub(r"\b(?:his|her)\b", "my", rest)
    turned = "".join(HIS.get(token.lower(), token) for token in TOKEN.findall(head))
    turned = re.sub(r"\b(?:he|she) (\w+)\b", lambda m: f"I {_own_verb(m[1])}", turned)
    return turned + rest


def _own_verb(verb: str) -> str:
    return THIRD.get(verb.lower(), base_form(verb))


def from_third_person(sentence: str, name: str) -> str:
    """Return "Mira keeps the inn." as "I keep the inn."; "" if it is about others or unclear."""
    names = "|".join(re.escape(part) for part in {name, *name.split()} if part)
    found = re.match(
        rf"(?:{names}|she|he|they)\b,? ((?:also|never|often|always) )?(\w+)", sentence, re.I
    )
    if not found:
        return ""
    rest = sentence[found.end() :]
    rest = re.sub(
        r"(,|\band|\bbut|\bor) ((?:also |never |often |always |still )?)(is|has|does|[a-z]{2,}(?:ves|kes|tes|nts|ws|ns|rs|ls|ks|ars|nds|ads|eps|eaks|ays|ats|ies|ches))\b(?! (?:of|and)\b)",
        lambda m: f"{m[1]} {m[2]}{_own_verb(m[3])}",
        rest,
    )
    return f"I {found[1] or ''}{_own_verb(found[2])}{own_possessives(rest)}"


def named_as_self(text: str, name: str) -> str:
    """Return a lore sentence that names the character, in the first person where that is sure.

    "Bess's husband drowned" gives "My husband drowned".
    """
    own = "|".join(re.escape(part) for part in {name, *name.split()} if len(part) > 1) or "(?!)"
    turned = re.sub(rf"\b(?:{own})['’]s\b", "my", text)
    past = re.compile(rf"\b(?:{own}) (?=(?:{PAST})\b)(?P<rest>[^.;]*)")
    turned = past.sub(lambda m: "I " + own_possessives(m["rest"]), turned)
    return capital(turned)


def german_first_person(text: str, name: str, verbs: Mapping[str, Any]) -> str:
    """Return a German sentence about "du" or "er" in the first person; "" if it is of others."""
    names = "|".join(re.escape(part) for part in {name, *name.split()} if part)
    found = re.match(rf"(?P<who>du|er|sie|{names})\s+(?P<verb>\w+)(?P<rest>.*)", text, re.I | re.S)
    if not found:
        return ""
    rest = found["rest"]
    table = {"dein": "mein", "sein": "mein", "ihr": "mein"}
    rest = re.sub(r"\b(dein|sein|ihr)(e|en|em|er|es)?\b", lambda m: table[m[1].lower()] + (m[2] or ""), rest)  # fmt: skip
    rest = re.sub(r"\b(und|aber) (\w+(?:st|t))\b", lambda m: f"{m[1]} {german_verb(m[2], verbs)}", rest)  # fmt: skip
    return f"Ich {german_verb(found['verb'], verbs)}{rest}"


def german_verb(verb: str, verbs: Mapping[str, Any]) -> str:
    """Return a German verb in the first person: "redet" gives "rede"."""
    lower = verb.lower()
    if lower in verbs:
        return str(verbs[lower])
    for ending in ("est", "et", "st", "t"):
        if lower.endswith(ending) and len(lower) > len(ending) + 2:
            return lower.removesuffix(ending) + "e"
    return lower
