"""Scenes: what a talk tells the character of the moment, of itself, and of what it remembers.

A prompt begins as the one before it did, so that caches can reuse it. Therefore a scene stands in
the talk where it was shown first, and tells only what is new or has changed since the scenes
before it. A scene is a message in the view, not in the log: after a compaction, a restart or a
deletion all is told again. Its ``rows`` are labelled lines; ``after`` is the message of the log
behind which it stands.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product
from operator import itemgetter

from evennia_ai.messages import (
    SCENE,
    Audience,
    ChatMessage,
    Situation,
    is_perceived,
    is_private,
    make_message,
    unmarked,
)
from evennia_ai.policy.audience import GAME, KnownLine, known, of_messages
from evennia_ai.policy.facts.terms import parse_heard_line
from evennia_ai.policy.sanitize import cut_text
from evennia_ai.policy.texts import fenced
from evennia_ai.policy.tokens import MESSAGE_OVERHEAD, CountText

Row = tuple[str, KnownLine]  # a line under its label

SITUATION = "situation"  # the tag around a scene
PEOPLE_HERE = "People here"
NOBODY, NOTHING = "nobody", "nothing"
LEAST_FOLDED, LAST_CHARS = 3, 200  # lines that one row sums up, and what it shows of the last
LORE, PEOPLE, MATERIALS, REMEMBERED = "You know", "Of those here", "At hand", "You remember"
BACKGROUND = "You always know"  # lore that no line must touch
LATE_TOOLS = "You can now also use"
# Lines of these labels add up. Those of any other label replace the ones that were shown before.
UNANSWERED = "While you could not answer"
GROWING = frozenset({BACKGROUND, LORE, PEOPLE, MATERIALS, LATE_TOOLS, UNANSWERED})


def situation_rows(situation: Situation, time: str) -> list[Row]:
    rows = [
        ("Place", situation.place),
        ("You see", situation.description),
        (PEOPLE_HERE, ", ".join(situation.people) or NOBODY),
        ("Things here", ", ".join(situation.things)),
        ("Exits", ", ".join(situation.exits)),
        ("You carry", ", ".join(situation.carrying)),
        ("About yourself", situation.state),
        ("Time", time),
        *(("Also", note) for note in situation.notes),
    ]
    authors = known(situation.authors)
    return [(label, KnownLine(unmarked(text), authors=authors)) for label, text in rows if text]


def scene_text(rows: Iterable[Row]) -> str:
    """Return rows as a prompt shows them; lines of one label in a row stand below it as a list."""
    parts = []
    for label, group in groupby(rows, key=itemgetter(0)):
        lines = [line.text for _label, line in group]
        parts.append(
            f"{label}: {lines[0]}" if not lines[1:] else "\n- ".join([f"{label}:", *lines])
        )
    return fenced(SITUATION, "\n".join(parts))


def news(rows: Sequence[Row], scenes: Iterable[ChatMessage]) -> list[Row]:
    """Return those of all rows of now that the scenes of a prompt do not tell."""
    latest: dict[tuple[str, bool], list[str]] = {}  # the lines of each label, private ones apart
    shown_rows = set[tuple[str, str]]()
    for scene in scenes:
        latest |= lines_by_label(scene["metadata"]["rows"])
        shown_rows |= {(label, line.text) for label, line in scene["metadata"]["rows"]}
    now = lines_by_label(rows)

    def is_new(label: str, line: KnownLine) -> bool:
        if label in GROWING:
            return (label, line.text) not in shown_rows
        key = (label, line.private)
        return now[key] != latest.get(key)

    gone = [
        (label, KnownLine(NOTHING, authors=frozenset({GAME})))
        for (label, private), lines in latest.items()
        if not private
        and label not in GROWING
        and (label, private) not in now
        and lines != [NOTHING]
    ]
    return [*(row for row in rows if is_new(*row)), *gone]


def lines_by_label(rows: Iterable[Row]) -> dict[tuple[str, bool], list[str]]:
    """Return the texts of rows by their label and by whether they are private."""
    grouped: dict[tuple[str, bool], list[str]] = {}
    for label, line in rows:
        grouped.setdefault((label, line.private), []).append(line.text)
    return grouped


def make_scenes(
    rows: Sequence[Row],
    after: int,
    audience: Audience,
    count_text: CountText,
    render: Callable[[Sequence[Row]], str] = scene_text,
) -> Iterator[ChatMessage]:
    """Yield the scenes with these rows: for everybody, and for this audience alone (P9).

    Lore has scenes of its own, which go when much of it is in view. ``render`` returns rows as the
    prompt shows them.
    """
    for private, is_lore in product((False, True), repeat=2):
        chosen = [row for row in rows if row[1].private == private and (row[0] == LORE) == is_lore]
        if chosen:
            authors = frozenset[str]().union(*(known(line.authors) for _label, line in chosen))
            text = render(chosen)
            yield make_message(
                "user",
                text,
                tokens=count_text(text) + MESSAGE_OVERHEAD,
                type=SCENE,
                audience=sorted(audience),
                private=private,
                authors=sorted(authors),
                after=after,
                rows=tuple(chosen),
            )


def end_of_talk(
    view: Iterable[ChatMessage], turn_id: int | None, event_ids: Collection[int]
) -> int:
    """Return the last message before the lines that a turn answers, and before its own acts."""
    logged = [
        (message["role"], message["metadata"]) for message in view if "seq" in message["metadata"]
    ]
    begun = [
        meta["seq"]
        for role, meta in logged
        if turn_id is not None
        and meta.get("turn_id") == turn_id
        and (meta.get("event_id") in event_ids or is_act(role, meta))
    ]
    if begun:
        return min(begun) - 1
    return logged[-1][1]["seq"] if logged else 0


def is_lore_scene(scene: ChatMessage) -> bool:
    """Return True for a scene of the lore that lines touched."""
    return any(label == LORE for label, _line in scene["metadata"].get("rows", ()))


def fold_unanswered(
    talk: Sequence[ChatMessage],
    excuses: Iterable[ChatMessage],
    audience: Audience,
    count_text: CountText,
) -> list[ChatMessage]:
    """Return a talk in which one row sums up several unanswered lines in a row, as a scene.

    Turns with one of the ``excuses`` are unanswered. Their lines stay in the log and are recalled.
    """
    turns = {excuse["metadata"].get("turn_id") for excuse in excuses} - {None}

    def is_unanswered(message: ChatMessage) -> bool:
        meta = message["metadata"]
        is_line = message["role"] == "user" and "seq" in meta and not is_perceived(message)
        return is_line and meta.get("turn_id") in turns

    folded: list[ChatMessage] = []
    for unanswered, group in groupby(talk, key=is_unanswered):
        lines = list(group)
        if not unanswered or len(lines) < LEAST_FOLDED:
            folded += lines
            continue
        speakers = Counter(parse_heard_line(line["content"], "")[0] for line in lines)
        counts = ", ".join(f"{name} said {number} things" for name, number in speakers.items())
        text = f"{counts}; the last: {cut_text(lines[-1]['content'], LAST_CHARS)}"
        row = KnownLine(unmarked(text), any(map(is_private, lines)), of_messages(lines))
        last = lines[-1]["metadata"]["seq"]
        folded += make_scenes([(UNANSWERED, row)], last, audience, count_text)
    return folded


def searched_upto(shown: Iterable[ChatMessage]) -> int | None:
    """Return the last message to recall from: that before the shown ones, or a folded one."""
    shown = list(shown)
    numbers = [message["metadata"]["seq"] for message in shown if "seq" in message["metadata"]]
    if not numbers:
        return None
    metas = (message["metadata"] for message in shown)
    folded = (meta["after"] for meta in metas if UNANSWERED in dict(meta.get("rows", ())))
    return max(min(numbers) - 1, *folded, 0)


def in_order(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the messages of a prompt with its scenes where they belong."""
    return sorted(messages, key=place_of)


def place_of(message: ChatMessage) -> float:
    meta = message["metadata"]
    if meta.get("type") == SCENE:
        return meta["after"] + 0.5
    if "seq" in meta:
        return float(meta["seq"])
    return float("-inf") if "type" in meta else float("inf")  # the marker, or a dry run's line


def split_events(
    messages: Sequence[ChatMessage], event_ids: Collection[int]
) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """Return the messages without those of events, which stand at the prompt's end, and those."""
    return split_by(messages, lambda message: message["metadata"].get("event_id") in event_ids)


def split_turn(
    messages: Sequence[ChatMessage], turn_id: int | None
) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """Return the talk, and what the character did in a turn."""
    if turn_id is None:
        return list(messages), []

    def is_own(message: ChatMessage) -> bool:
        meta = message["metadata"]
        return meta.get("turn_id") == turn_id and is_act(message["role"], meta)

    return split_by(messages, is_own)


def is_act(role: str, meta: Mapping[str, object]) -> bool:
    """Return True for what the mind did; what its body did without it is an event."""
    return role != "user" and meta.get("event_id") is None


def split_by(
    messages: Sequence[ChatMessage], belongs: Callable[[ChatMessage], bool]
) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """Return the messages that do not belong, and those that do."""
    parts: tuple[list[ChatMessage], list[ChatMessage]] = ([], [])
    for message in messages:
        parts[belongs(message)].append(message)
    return parts
