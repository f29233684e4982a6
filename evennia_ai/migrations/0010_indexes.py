"""Indexes for the inbox, for who owes an answer, for "forget me" and for the sums of a day."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0009_forgetting")]

    operations = [
        migrations.RemoveIndex("event", "ai_event_state"),
        migrations.RemoveIndex("event", "ai_event_speaker"),
        migrations.AddIndex(
            "event", models.Index(fields=["state", "assistant", "at"], name="ai_event_state")
        ),
        migrations.AddIndex(
            "event", models.Index(fields=["speaker", "at", "assistant"], name="ai_event_speaker")
        ),
        migrations.AddIndex("event", models.Index(fields=["speaker", "id"], name="ai_event_by")),
        migrations.AddIndex(
            "message", models.Index(fields=["speaker", "id"], name="ai_message_by")
        ),
        migrations.RemoveConstraint("dailyuse", "ai_dailyuse_once"),
        migrations.AddConstraint(
            "dailyuse",
            models.UniqueConstraint(fields=["day", "assistant"], name="ai_dailyuse_once"),
        ),
        migrations.AddIndex(
            "speakeruse", models.Index(fields=["speaker"], name="ai_speakeruse_by")
        ),
    ]
