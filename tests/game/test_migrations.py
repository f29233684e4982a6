"""The migrations create the tables that the models describe, and only grow."""

import hashlib
import io
import json
from importlib import import_module

import pytest
from django.apps import apps
from django.core.management import call_command

from evennia_ai.models import Event, Turn
from tests.scripted import call

# Of what 0001_initial says. To change a table, add a migration.
FROZEN = "7c3aff4d55a1cdcec056686052292d4d299d719cdbbd274e5d19a9ade28edc29"


@pytest.mark.django_db
def test_the_migrations_are_up_to_date(settings):
    settings.MIGRATION_MODULES = {}  # the other tests run without migrations
    # Without the app's name Django also compares Evennia's own models.
    output = io.StringIO()
    call_command("makemigrations", "evennia_ai", check=True, dry_run=True, stdout=output)
    assert "No changes detected" in output.getvalue()


def described(model):
    """Return what a migration says of a table, without the paths of modules."""
    fields = {
        name: [kind.rpartition(".")[2], *map(str, args), *sorted(map(shown, kwargs.items()))]
        for name, (_name, kind, args, kwargs) in
        ((name, field.deconstruct()) for name, field in model.fields)
    }  # fmt: skip
    parts = [model.options["indexes"], model.options["constraints"]]
    return [model.name, fields, *([each.deconstruct()[2] for each in part] for part in parts)]


def shown(item):
    name, value = item
    return f"{name}={getattr(value, '__name__', value)}"


def test_the_first_migration_is_frozen():
    operations = import_module("evennia_ai.migrations.0001_initial").Migration.operations
    text = json.dumps([described(each) for each in operations], default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == FROZEN, "migrations are only added: leave 0001_initial as it is"


def test_an_older_games_turns_get_whom_they_answer_from_the_inbox(game, mira, ann, bob):
    """Also if the character chose silence, which calls the event of who asked noted, too."""
    for line, reply in (
        ("say Mira, hello", call("say", text="Hello.")),
        ("whisper Mira = hello", call("whisper", text="Hm.", target="Ann")),
        ("say Mira, are you well?", call("noop")),
    ):
        game.model.add(reply)
        bob.do("say What a day")
        ann.do(line)
        game.run(2)
    mira.execute_cmd("say I talk to myself")
    bob.do("say What a day")
    game.model.add(call("noop"))
    game.result(mira.assistant.mind.turn_runner.act_alone())
    first, *_, last = Turn.objects.order_by("id").values_list("id", flat=True)
    stored = list(Turn.objects.order_by("id").values_list("askers", flat=True))
    assert [one.split() for one in stored] == [*[[ann.dbref]] * 3, []]
    Turn.objects.update(askers="")
    Event.objects.filter(turn=first, attempts__gt=0).update(turn=last)  # tried again
    import_module("evennia_ai.migrations.0003_turn_askers").find_askers(apps, None)
    found = list(Turn.objects.order_by("id").values_list("askers", flat=True))
    assert [one.split() for one in found] == [[ann.dbref]] * 4
