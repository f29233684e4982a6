"""Events and messages tell what the game perceived from what players acted out or said.

Old rows get the nature of their event's kind. A message whose event is deleted is a claim, unless
it is a notice, which has no speaker.
"""

from django.db import migrations, models

PERCEIVED = "kind IN ('give', 'arrive', 'leave', 'notice')"
EVENTS = "UPDATE evennia_ai_event SET nature = '{}' WHERE {}"
OF_EVENT = (
    "UPDATE evennia_ai_message SET nature = '{}' WHERE role = 'user' "
    "AND event_id IN (SELECT id FROM evennia_ai_event WHERE {})"
)
NOTICES = (
    "UPDATE evennia_ai_message SET nature = 'perceived' WHERE role = 'user' AND event_id IS NULL "
    "AND speaker = '' AND content LIKE '(%)'"
)
OLD_NATURES = (
    EVENTS.format("perceived", PERCEIVED),
    EVENTS.format("performed", "kind = 'emote'"),
    "UPDATE evennia_ai_message SET nature = 'claimed' WHERE role = 'user'",
    OF_EVENT.format("perceived", PERCEIVED),
    OF_EVENT.format("performed", "kind = 'emote'"),
    NOTICES,
)


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0004_compaction_without_facts")]

    operations = [
        migrations.AddField("event", "nature", models.CharField(max_length=12, default="claimed")),
        migrations.AddField("event", "item", models.CharField(max_length=24, blank=True)),
        migrations.AddField("message", "nature", models.CharField(max_length=12, blank=True)),
        migrations.RunSQL(list(OLD_NATURES), migrations.RunSQL.noop),
    ]
