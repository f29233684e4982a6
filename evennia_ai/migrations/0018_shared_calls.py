"""Calls of speakers in tenths, since several speakers share a call."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0017_processes")]

    operations = [
        migrations.RunSQL(
            "UPDATE evennia_ai_speakeruse SET calls = calls * 10",
            "UPDATE evennia_ai_speakeruse SET calls = calls / 10",
        ),
    ]
