"""Forgetting ends, and leaves nothing, for who was told of promises of every state."""

from itertools import product
from typing import get_args, get_type_hints

import pytest
from django.db import connection
from evennia.typeclasses.attributes import Attribute

from evennia_ai.contrib.promises.keeper import attend
from evennia_ai.contrib.promises.promise_records import LETTER, OPEN, Promise, Promises
from evennia_ai.messages import PUPPETED
from evennia_ai.models import Event, Message
from evennia_ai.store.forget import Forgetting
from tests.contrib.promises import promises_scene
from tests.scripted import call

asked_for, town = promises_scene.asked_for, promises_scene.town
KINDS, STATES = (get_args(get_type_hints(Promise)[name]) for name in ("kind", "state"))


@pytest.mark.parametrize("is_on", [True, False], ids=["on", "off"])
def test_promises_of_every_state_go_with_the_lines_that_told_of_them(
    town, asked_for, game, mira, ann, bob, is_on
):
    game.model.add(*[call("noop")] * 99)
    store = Promises.of(mira)
    for number, (kind, state) in enumerate(product(KINDS, STATES)):
        both = [ann.dbref, bob.dbref]
        is_letter = kind == LETTER  # of an older version
        fields = {"entity": both[is_letter], "audience": both if is_letter else None}
        what = f"fetch the marigold wreath number {number}"
        ann.do(f"say Mira, {what}")
        game.run(1)
        made = store.add(what, kind=kind, source_entity=ann.dbref, speakers=both[:1], **fields)
        is_told = state not in (OPEN, "cancelled")
        store.update(made, state=state, reason="cancelled", told=is_told)
    attend(mira)  # she tells what is to be told
    game.run(1)
    ann.do("say Mira, what did you promise?")
    game.run(3)
    bob.do("say Mira, do you know me?")
    game.run(3)
    told = Event.objects.filter(evidence=PUPPETED, text__contains="marigold")
    lines = Message.objects.filter(event__in=told, turn__askers__contains=f" {ann.dbref} ")
    assert lines.count() >= 4, list(told.values_list("text", flat=True))
    if not is_on:
        asked_for()
    for _ in Forgetting([ann.dbref]).steps():
        connection.check_constraints()
    left = [*Event.objects.values("text"), *Message.objects.values("content", "tool_calls")]
    assert "marigold" not in str(left)
    store.unload()
    assert town.records() == []
    assert not Attribute.objects.filter(db_strvalue__contains="marigold").exists()
    assert list(Forgetting([ann.dbref]).steps()) == []
    assert Event.objects.filter(speaker=bob.dbref).exists()
