"""What was promised is known to whom it concerns, and goes with them."""

import json

import pytest
from evennia.objects.models import ObjectDB

from evennia_ai.contrib.promises import PromisesExtension
from evennia_ai.contrib.promises.promise_records import Promises
from evennia_ai.store.forget import Forgetting
from evennia_ai.store.personal_data import known_of
from tests.contrib.promises import promises_scene

asked_for, town = promises_scene.asked_for, promises_scene.town


def rows_for(town, *people):
    (extension,) = [e for e in town.game.service.extensions if isinstance(e, PromisesExtension)]
    around = town.mira.assistant.mind.around
    audience = frozenset(person.dbref for person in people)
    return "\n".join(line.text for _label, line in extension.prompt_rows(around, audience))


def test_each_sees_only_their_own_and_a_forgotten_one_leaves_nothing(town, mira, ann, bob, builder):
    town.go(bob.character, town.square)
    town.use("promise", ann, what="bring the rope", when="tomorrow")
    town.use("promise", ann, private=True, what="steal the crown", when="tomorrow", where="gate")
    assert "rope" in rows_for(town, ann) and "crown" in rows_for(town, ann)
    assert not rows_for(town, bob) and "crown" not in rows_for(town, ann, bob)
    builder.do("aipromises Mira")
    assert "rope" in builder.last() and "crown" not in builder.last()
    assert "Times by the server's clock (UTC, now " in builder.last()
    assert "the rope" in str([item.texts for item in known_of(frozenset({ann.dbref}))])
    for _ in Forgetting([ann.dbref]).steps():
        pass
    Promises.of(mira).unload()
    assert town.records() == []
    assert not ObjectDB.objects.filter(db_attributes__db_strvalue__contains="rope").exists()


def test_one_person_causes_only_so_many_and_the_same_once(town, ann):
    for what in ("bring rope", "Bring ROPE", "bring rope"):
        town.use("promise", ann, what=what, when="tomorrow")
    assert len(town.records()) == 1
    for number in range(23):
        town.use("promise", ann, what=f"bring rope {number}", when="tomorrow")
    assert len(town.records()) == 20


def test_a_file_of_minds_takes_them_along(town, mira, ann):
    minds = pytest.importorskip("evennia_ai.contrib.mind_files.transfer")
    from evennia_ai.contrib.mind_files import mind_lines

    town.use("promise", ann, what="bring the rope", when="tomorrow")
    (line,) = [json.loads(json.dumps(item)) for item in minds.segments_of(mira, print)]
    mind_lines.checked(mind_lines.SegmentLine, line)
    assert mind_lines.check_segment(line) == ["p1"]
