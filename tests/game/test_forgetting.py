"""Forgetting a player: their words go from every place, and nothing of others does."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.apps import apps

from evennia_ai import models
from evennia_ai.commands.players import CmdForgetMe
from tests.game.forgetting_scene import BENS, Planted, fresh


@pytest.fixture
def bruno(game, tavern):
    return game.assistant("Bruno", tavern)


@pytest.fixture
def planted(game, mira, bruno, ann, tavern):
    ben = game.player("Ben", tavern)
    return Planted(game, mira, bruno, ann, ben)


def forget(player, answer="yes", who="", switches=()):
    """Run the command's dialogue as Evennia would."""
    command = CmdForgetMe()
    command.caller, command.session, command.args = player.character, player.session, who
    command.switches = list(switches)
    dialogue = command.run()
    with suppress(StopIteration):
        next(dialogue)
        dialogue.send(answer)
        for pause_s in dialogue:
            assert pause_s < 1


def all_rows():
    """Return every row of every table as text, by table and id."""
    return {
        (model.__name__, row["pk"]): str(row)
        for model in apps.get_models()
        for row in model.objects.values("pk", *(f.attname for f in model._meta.concrete_fields))
    }


def found(words, texts):
    """Return the places in which some words stand."""
    return [(place, word) for place, text in texts.items() for word in words if word in text]


def test_forty_phrases_in_all_places_are_forgotten_and_nothing_of_others(planted, ann, ben_rows):
    same = planted.everything()
    assert len(planted.words) >= 40
    before = ben_rows()
    everywhere = found(planted.words, all_rows())
    assert {word for _place, word in everywhere} == set(planted.words)
    forget(ann)
    assert ann.last() == "It is forgotten, all of it."
    assert found(planted.words, all_rows()) == []
    after = ben_rows()
    assert {name: after[name] for name in before} == before
    notes = [entry["content"] for entry in fresh(planted.mira).all()]
    assert same.capitalize() + "." in notes
    assert BENS in notes
    assert "Ben's aunt is rich." in notes


@pytest.fixture
def ben_rows(planted):
    """Return a function that returns what must not change, by name."""

    def rows():
        ben = planted.ben.dbref
        return {
            "lines": list(models.Message.objects.filter(speaker=ben).values_list("id", "content")),
            "events": list(models.Event.objects.filter(speaker=ben).values_list("id", "text")),
            "answers": list(
                models.Message.objects.filter(tool_calls__icontains="Lemons?").values_list("id")
            ),
            "goals": [g["content"] for g in planted.mira.ai_goals.all() if "lemons" in g["content"]],
            "of Ben": [p["content"] for p in planted.mira.ai_profiles.about(ben)
                       if "aunt" in p.get("content", "")],
            "private summary": [
                row.summary[ben] for row in models.Compaction.objects.all() if ben in row.summary
            ],
            "compactions": models.Compaction.objects.count(),
            "budgets": sorted(models.SpeakerUse.objects.values_list("speaker", "tokens")),
            "costs": sorted(models.DailyUse.objects.values_list("day", "calls")),
        }  # fmt: skip

    return rows
