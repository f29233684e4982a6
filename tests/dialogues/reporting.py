"""The scores as text: failed checks with line and answer, and tables."""

from collections.abc import Callable, Iterable, Sequence

from tests.dialogues.scoring import IMPLICIT, Scored

Key = Callable[[Scored], str]
BY: dict[str, Key] = {
    "check": lambda item: item.verdict.check,
    "persona": lambda item: item.cast,
    "about": lambda item: str(item.line["about"]),
}


def percent(scored: Sequence[Scored]) -> float:
    """Return the percentage of checks that hold; 100 if there are none."""
    return 100.0 * sum(item.verdict.holds for item in scored) / len(scored) if scored else 100.0


def own_checks(scored: Iterable[Scored]) -> list[Scored]:
    """Return only the checks that lines name themselves."""
    return [item for item in scored if item.verdict.check not in IMPLICIT]


def grouped(scored: Iterable[Scored], key: Key) -> dict[str, list[Scored]]:
    """Return the scores grouped by a property, in alphabetical order."""
    groups: dict[str, list[Scored]] = {}
    for item in scored:
        groups.setdefault(key(item), []).append(item)
    return dict(sorted(groups.items()))


def rows(scored: Sequence[Scored]) -> list[tuple[str, Sequence[Scored]]]:
    """Yield each line of the table with the scores it counts."""
    found: list[tuple[str, Sequence[Scored]]] = []
    for title, key in BY.items():
        counted = own_checks(scored) if title == "about" else scored
        found += [(f"{title}: {name}", group) for name, group in grouped(counted, key).items()]
    return [*found, ("lines' own checks", own_checks(scored)), ("all checks", scored)]


def table(scored: Sequence[Scored]) -> str:
    """Return how many checks hold: by kind, by persona, and own checks by topic."""
    lines = [f"{'':28}{'hold':>6}{'of':>6}{'%':>8}"]
    for name, group in rows(scored):
        holding = sum(item.verdict.holds for item in group)
        lines.append(f"{name:28}{holding:6}{len(group):6}{percent(group):8.1f}")
    return "\n".join(lines)


def failures(scored: Iterable[Scored]) -> str:
    """Return every failed check with the player's line and the answer."""
    return "\n".join(describe(item) for item in scored if not item.verdict.holds)


def describe(item: Scored) -> str:
    """Return one check with its line and answer."""
    line, verdict = item.line, item.verdict
    asked = f"{line['speaker']} {line['kind']}: {line['text']}"
    return (
        f"{item.dialogue} line {item.number}: {verdict.check} {verdict.expected}".rstrip()
        + f"\n    {asked}\n    -> {item.answer}"
    )
