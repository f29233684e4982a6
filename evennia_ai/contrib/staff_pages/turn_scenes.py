"""A turn of the log as a scene of ``ai_check``, for staff to keep."""

from collections.abc import Iterable
from typing import Any

import yaml

from evennia_ai.contrib.staff_pages.disclosure import IN_PRIVATE
from evennia_ai.contrib.staff_pages.page_rows import BAD, GOOD
from evennia_ai.messages import EMOTE, NOOP, SPEECH, WHISPER
from evennia_ai.policy.texts import read_object, read_typed_call
from evennia_ai.store.reports import Row

MANNERS = {"": "says", WHISPER: "whispers", EMOTE: "emotes"}


def scene_of(turn: Row, name: str) -> Row:
    """Return a turn, as a reader may see it, as a scene of ``ai_check``; empty if nothing fits."""
    events = [
        item for item in turn["events"] if item["kind"] in MANNERS and item["who"] != IN_PRIVATE
    ]
    if not events:
        return {}
    steps: list[Row] = [
        {"who": event["who"], MANNERS[event["kind"]]: event["text"]} for event in events
    ]
    for step in steps[:-1]:
        step["overheard"] = True
    steps[-1]["answer"] = expected_of(turn)
    present = [who for who in turn["people"] if who not in {event["who"] for event in events}]
    scene = {"scene": f"As in turn {turn['id']}", "character": name}
    return {**scene, **({"people": present} if present else {}), "steps": steps}


def expected_of(turn: Row) -> Row:
    """Return what a scene expects: the comment's lines, else what was done, by the mark."""
    lines = [line.partition(":")[::2] for line in turn["comment"].splitlines()]
    wanted = [(kind.strip().lower(), text.strip()) for kind, text in lines if text.strip()]
    says = [[part.strip() for part in text.split("|")] for kind, text in wanted if kind == "says"]
    does = [read_typed_call(text) for kind, text in wanted if kind == "does"]
    if says or does:
        return {"must_mention": says, "must_do": calls_as_checks(does)}
    # What is hidden from the reader has no words.
    done = [act for act in turn["acts"] if act["state"] in ("done", "asked") and "more" in act]
    spoken = [act["text"] for act in done if act["name"] in (*SPEECH, EMOTE) and act["text"]]
    acts = [
        (act["name"], read_object(act["arguments"]) or {})
        for act in done
        if act["world"] and act["name"] not in (*SPEECH, EMOTE, NOOP)
    ]
    checks = calls_as_checks(acts)
    if turn["mark"] == BAD:
        unwanted = {"must_not_do": checks} if checks else {}
        return {"must_mention": [], "must_not_mention": spoken, **unwanted}
    return {"must_mention": spoken if turn["mark"] == GOOD else [], "must_do": checks}


def calls_as_checks(calls: Iterable[tuple[str, Row]]) -> list[Any]:
    """Return tool calls as a scene's checks: a name, or a name with arguments."""
    return [
        {name: {k: str(v) for k, v in given.items()}} if given else name for name, given in calls
    ]


def as_yaml(data: Any) -> str:
    text: str = yaml.safe_dump(data, allow_unicode=True, sort_keys=False) if data else ""
    return text
