"""A mark and a comment on a turn, and the turn as a scene of ``ai_check``."""

from collections.abc import Iterable
from typing import Any

import yaml
from django import forms
from evennia.accounts.models import AccountDB

from evennia_ai.messages import EMOTE, NOOP, SPEECH, WHISPER
from evennia_ai.policy.disclosure import words_kind
from evennia_ai.policy.texts import read_object, read_typed_call
from evennia_ai.store.page_rows import BAD, GOOD, MARKS, Row
from evennia_ai.store.reports import find_row
from evennia_ai.store.turns import mark_turn
from evennia_ai.web.staff.access import Refused, editor_of
from evennia_ai.web.staff.editing import Asked, area
from evennia_ai.web.staff.game_thread import Missing, find_script
from evennia_ai.web.staff.rendering import IN_PRIVATE

MANNERS = {"": "says", WHISPER: "whispers", EMOTE: "emotes"}
COMMENT_CHARS = 2_000


class MarkForm(forms.Form):
    """A mark and a comment, whose lines ``says: …`` and ``does: …`` are what is expected."""

    mark = forms.ChoiceField(required=False, choices=[(one, one or "none") for one in ("", *MARKS)])
    comment = area(
        "Comment; a line “says: …” or “does: tool argument = value” is what is expected of a scene",
        3,
        COMMENT_CHARS,
    )


def change_mark(asked: Asked) -> tuple[str, str]:
    """Store a mark, on the reactor's thread; raises Refused, Missing and StoreUnavailable."""
    assistant, turn = asked.who["id"], asked.number
    editor_of(find_script(assistant).character, asked.account)
    row = find_row("Turn", assistant, turn)
    if row is None:
        raise Missing("There is no such turn.")
    if not asked.reader.may(words_kind(row["private"])):
        raise Refused("Only who may read a private turn may mark it.")
    by = AccountDB.objects.get(id=asked.account).username
    mark_turn(turn, asked.fields["mark"], asked.fields["comment"].strip(), by)
    return f"the mark of turn {turn}", f"The mark of turn {turn} is stored."


def scene_of(turn: Row, name: str) -> Row:
    """Return a turn, as a reader may see it, as a scene of ``ai_check``; empty if nothing fits."""
    heard = [one for one in turn["events"] if one["kind"] in MANNERS and one["who"] != IN_PRIVATE]
    if not heard:
        return {}
    steps: list[Row] = [{"who": one["who"], MANNERS[one["kind"]]: one["text"]} for one in heard]
    for step in steps[:-1]:
        step["overheard"] = True
    steps[-1]["answer"] = expected_of(turn)
    present = [who for who in turn["people"] if who not in {one["who"] for one in heard}]
    scene = {"scene": f"As in turn {turn['id']}", "character": name}
    return {**scene, **({"people": present} if present else {}), "steps": steps}


def expected_of(turn: Row) -> Row:
    """Return what a scene expects: the comment's lines, else what was said and done, by the mark.

    Of a turn without a mark and such lines, its acts, and words to fill in.
    """
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
    """Return plain data as YAML, "" for none."""
    text: str = yaml.safe_dump(data, allow_unicode=True, sort_keys=False) if data else ""
    return text
