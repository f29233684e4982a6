"""An index for the turns of each day."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0014_costs")]

    operations = [
        migrations.AddIndex("turn", models.Index(fields=["at"], name="ai_turn_at")),
    ]
