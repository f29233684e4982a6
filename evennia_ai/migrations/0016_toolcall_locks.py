"""Which locks each tool call asked, and what they answered."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0015_turn_at")]

    operations = [
        migrations.AddField("toolcall", "locks", models.TextField(blank=True, default="")),
    ]
