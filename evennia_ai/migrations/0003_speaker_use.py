"""What each speaker's words cost, by day."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0002_lore_and_shared_personas")]

    operations = [
        migrations.CreateModel(
            name="SpeakerUse",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("speaker", models.CharField(max_length=24)),
                ("day", models.DateField()),
                ("tokens", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["day", "speaker"], name="ai_speakeruse_once")
                ]
            },
        ),
    ]
