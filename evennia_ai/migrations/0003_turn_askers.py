"""The column of the people whom a turn answers, with its value for the turns of older games."""

from collections import defaultdict
from typing import Any

from django.db import migrations, models
from django.db.models import Q

AT_ONCE = 500


def find_askers(apps: Any, schema_editor: Any) -> None:
    """Take from the inbox whom each turn answers: whose events it claimed, not only noted."""
    turns, inbox, log = (apps.get_model("evennia_ai", name).objects for name in TABLES)
    # A turn counts an attempt for each event that it claims, and none for what it overheard. A
    # claimed event of a turn in which the character chose silence is called noted, too.
    claimed = Q(attempts__gt=0) | Q(state__in=("answered", "excused", "claimed", "doubtful"))
    # A file of minds is completed by this, too, with the present name of the column.
    columns = {field.column: field.name for field in inbox.model._meta.concrete_fields}
    claimed &= ~Q(speaker="") & ~Q((columns["nature"], "puppeted"))
    last = 0
    while ids := list(
        turns.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:AT_ONCE]
    ):
        last, askers = ids[-1], defaultdict[int, set[str]](set)
        events = inbox.filter(claimed, turn__in=ids)
        for turn, speaker in events.values_list("turn_id", "speaker"):
            askers[turn].add(speaker)
        # An event belongs to the last turn that tried to answer it, its line to the first.
        lines = log.filter(turn__in=ids, event__in=inbox.filter(claimed))
        for turn, speaker in lines.values_list("turn_id", "speaker"):
            askers[turn].add(speaker)
        for turn, people in askers.items():
            kept = " ".join(["", *sorted(people), ""])
            turns.filter(id=turn).update(askers=kept)


TABLES = ("Turn", "Event", "Message")


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0002_reconcile_tables")]

    operations = [
        migrations.AddField("turn", "askers", models.TextField(blank=True, default="")),
        migrations.RunPython(find_askers, migrations.RunPython.noop),
    ]
