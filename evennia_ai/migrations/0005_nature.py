"""Events and messages tell what the game perceived from what players acted out or said."""

from typing import Any

from django.db import migrations, models

PERCEIVED = ("give", "arrive", "leave", "notice")


def tell_natures(apps: Any, _editor: Any) -> None:
    """Give old rows the nature of their event's kind.

    A message whose event is deleted stays a claim, unless it is a tool result or a notice.
    """
    event = apps.get_model("evennia_ai", "Event").objects
    message = apps.get_model("evennia_ai", "Message").objects
    event.filter(kind__in=PERCEIVED).update(nature="perceived")
    event.filter(kind="emote").update(nature="performed")
    heard = message.filter(role="user")
    heard.update(nature="claimed")
    heard.filter(event__kind="emote").update(nature="performed")
    heard.filter(event__kind__in=PERCEIVED).update(nature="perceived")
    heard.filter(event=None, speaker="", content__startswith="(").update(nature="perceived")


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0004_compaction_without_facts")]

    operations = [
        migrations.AddField("event", "nature", models.CharField(max_length=12, default="claimed")),
        migrations.AddField("event", "item", models.CharField(max_length=24, blank=True)),
        migrations.AddField("message", "nature", models.CharField(max_length=12, blank=True)),
        migrations.RunPython(tell_natures, migrations.RunPython.noop),
    ]
