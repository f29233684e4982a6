"""Which letter usually follows which. A word of other pairs is rare, and tokenizers split it.

Counted once: for English in this repository's dialogues and documentation, for Russian in the
translations of Django; the pairs that make up 99 and 98 of 100.
"""

from __future__ import annotations

from collections.abc import Mapping

ENGLISH = {
    "a": "bcdfghiklmnprstuvwxyz",
    "b": "abeijlnoruy",
    "c": "acehiklmortu",
    "d": "adegilmorsuvy",
    "e": "abcdefgiklmnoprstvwxy",
    "f": "aefilortu",
    "g": "aeghilnorsu",
    "h": "aeinortuy",
    "i": "abcdefgklmnoprstvxz",
    "j": "eou",
    "k": "eins",
    "l": "adefiklmopstuvwy",
    "m": "abdeimopsuy",
    "n": "acdefgijklnostuvy",
    "o": "abcdefghiklmnoprstuvwy",
    "p": "aehiloprstuy",
    "q": "u",
    "r": "acdefgiklmnorstuvy",
    "s": "aceghiklmopstuwy",
    "t": "abcehilorstuwy",
    "u": "abcdefgilmnprst",
    "v": "aeio",
    "w": "aehinors",
    "x": "cipt",
    "y": "aeiopst",
    "z": "ei",
}

RUSSIAN = {
    "а": "бвгдежзйклмнпрстухцчшщюя",
    "б": "аеиклорсущъы",
    "в": "авеиклнопрстуыья",
    "г": "аеилору",
    "д": "авежилмнорстуыё",
    "е": "бвгдежзйклмнопрстцчшщ",
    "ж": "адеин",
    "з": "авдеимнору",
    "и": "абвгдежзийклмнопрстфхцчшюя",
    "й": "длстч",
    "к": "авеилморстуц",
    "л": "аежилноуыьюя",
    "м": "авеиноуыяё",
    "н": "агдеиностуыья",
    "о": "бвгдежзийклмнопрстхчшщя",
    "п": "аеинопртуыя",
    "р": "авгдежикмнорстуыья",
    "с": "авеиклмнопстуыья",
    "т": "авеиклмнопрсуыь",
    "у": "бвгдежзйклмнпрстчщю",
    "ф": "аиор",
    "х": "ор",
    "ц": "аеиуы",
    "ч": "аеикнтё",
    "ш": "аеиклн",
    "щ": "аеиё",
    "ъ": "е",
    "ы": "бвейлмптхш",
    "ь": "зкнстш",
    "э": "лт",
    "ю": "нтчщ",
    "я": "бвезнтц",
    "ё": "нт",
}


def pairs(followers: Mapping[str, str]) -> frozenset[str]:
    """Every pair of such a table, as two letters."""
    return frozenset(first + second for first, rest in followers.items() for second in rest)
