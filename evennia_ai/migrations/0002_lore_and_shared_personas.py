"""Knowledge and personas that builders write in the game."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Lore",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("title", models.CharField(max_length=200, unique=True)),
                ("text", models.TextField()),
                ("scopes", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="SharedPersona",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=64, unique=True)),
                ("fields", models.JSONField(default=dict)),
            ],
        ),
    ]
