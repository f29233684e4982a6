"""Which compactions evicted messages that the journal has not read yet."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0005_evidence")]

    operations = [migrations.AddField("compaction", "unread", models.BooleanField(default=False))]
