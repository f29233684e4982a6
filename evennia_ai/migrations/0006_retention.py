"""What retention needs: whoever was heard is found at once, and an undo knows where it ends."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0005_sleep_passes")]

    operations = [
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["speaker", "assistant", "id"], name="ai_event_speaker"),
        ),
        migrations.AddField(
            model_name="compaction", name="sealed", field=models.BooleanField(default=False)
        ),
    ]
