"""Text that makes a regular expression work as hard as it can, made from its parse tree."""

import random
import re
from collections.abc import Callable, Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

SIMPLE = (
    " ", "\t", "a", "A", "0", ".", "'", '"', ":", "(", "<", "\n", "-", "é", "я", "a ", " \n", "a-",
    "a'", "1,", "a. ", "A a ", ", ",
)  # fmt: skip
ENDS = ("\x00", "!", " ", "\n", "a", "")
REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
WITHIN = {
    _constants.CATEGORY_DIGIT: "1",
    _constants.CATEGORY_SPACE: " ",
    _constants.CATEGORY_WORD: "a",
    _constants.CATEGORY_NOT_DIGIT: "a",
    _constants.CATEGORY_NOT_SPACE: "a",
    _constants.CATEGORY_NOT_WORD: "-",
}
OTHERS = "a1 A.,-'\"é\n("
Maker = Callable[[int], str]


def makers(pattern: re.Pattern[str], most: int = 24) -> list[Maker]:
    """Return functions that make hostile text of a given length; the same ones each time."""
    chance = random.Random(pattern.pattern.encode("utf-8", "surrogatepass"))
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    made = [*(_filled("", piece, "") for piece in SIMPLE)]
    special = [*_of_repeats(tree, chance), *_of_samples(tree, chance)]
    chance.shuffle(special)
    return made + special[:most]


def _filled(start: str, piece: str, end: str) -> Maker:
    def make(length: int) -> str:
        room = max(0, length - len(start) - len(end))
        return start + (piece * (room // len(piece) + 1))[:room] + end

    return make


def _of_repeats(tree: Any, chance: random.Random) -> Iterator[Maker]:
    """Yield: up to a repeat, its body many times, a bad end; and all of this over and over."""
    for before, body in _repeats(tree, ()):
        for _ in range(3):
            start = "".join(_sample(part, chance) for part in before)
            piece = _sample(body, chance) or "a"
            other = _sample(body, chance) or " "
            yield _filled(start, piece, chance.choice(ENDS))
            yield _filled(start, piece + other, chance.choice(ENDS))
            yield _filled(
                "", start + piece * chance.choice((1, 3, 30, 100)) + chance.choice(ENDS), ""
            )


def _repeats(tree: Any, before: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    for at, node in enumerate(tree):
        kind, value = node
        here = (*before, list(tree)[:at])
        if kind in REPEATS:
            _, most, body = value
            if most > 1:
                yield here, body
            yield from _repeats(body, here)
        elif kind is _constants.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, here)
        else:
            for part in _inside(kind, value):
                yield from _repeats(part, here)


def _inside(kind: Any, value: Any) -> list[Any]:
    if kind is _constants.SUBPATTERN:
        return [value[3]]
    if kind is _constants.ATOMIC_GROUP:
        return [value]
    if kind in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [value[1]]
    return []


def _of_samples(tree: Any, chance: random.Random) -> Iterator[Maker]:
    """Yield: what the expression matches, whole and cut off, over and over."""
    for _ in range(30):
        whole = _sample(tree, chance) or "a"
        cut = whole[: chance.randint(1, len(whole))]
        gap = chance.choice(("", " ", "\n", ", "))
        near = whole[:-1] + ("\x00" if whole[-1] != "\x00" else "a")
        yield _filled("", near + gap, "")
        yield _filled("", chance.choice((whole, cut, whole[:-1] or "a")) + gap, chance.choice(ENDS))


def _sample(tree: Any, chance: random.Random) -> str:
    return "".join(_one(kind, value, chance) for kind, value in tree)


def _one(kind: Any, value: Any, chance: random.Random) -> str:
    if kind is _constants.LITERAL:
        return chr(value)
    if kind is _constants.NOT_LITERAL:
        return next(char for char in OTHERS if ord(char) != value)
    if kind is _constants.ANY:
        return chance.choice("a .1")
    if kind is _constants.IN:
        return _from_class(value, chance)
    if kind in REPEATS:
        least, most, body = value
        count = chance.choice((least, least + 1, least + 3))
        return "".join(_sample(body, chance) for _ in range(min(most, count)))
    if kind is _constants.BRANCH:
        return _sample(chance.choice(value[1]), chance)
    if kind is _constants.ASSERT_NOT:
        return ""
    return "".join(_sample(part, chance) for part in _inside(kind, value))


def _from_class(parts: Any, chance: random.Random) -> str:
    if parts[0][0] is _constants.NEGATE:
        inner = re.compile(_class_text(parts[1:]))
        return chance.choice([char for char in OTHERS if not inner.match(char)] or ["\u2603"])
    kind, value = chance.choice(parts)
    if kind is _constants.LITERAL:
        return chr(value)
    if kind is _constants.RANGE:
        return chr(chance.choice(value))
    return WITHIN.get(value, "a")


def _class_text(parts: Any) -> str:
    names = {
        _constants.CATEGORY_DIGIT: r"\d",
        _constants.CATEGORY_SPACE: r"\s",
        _constants.CATEGORY_WORD: r"\w",
        _constants.CATEGORY_NOT_DIGIT: r"\D",
        _constants.CATEGORY_NOT_SPACE: r"\S",
        _constants.CATEGORY_NOT_WORD: r"\W",
    }
    texts = []
    for kind, value in parts:
        if kind is _constants.LITERAL:
            texts.append(re.escape(chr(value)))
        elif kind is _constants.RANGE:
            texts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            texts.append(names[value])
    return f"[{''.join(texts)}]"
