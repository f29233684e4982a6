"""Money, and use by model profile; what was stored before has no prices and no profile."""

from django.db import migrations, models

SUMS = ("calls", "prompt_tokens", "completion_tokens", "cached_tokens")
NEW_SUMS = ("money", "priced_tokens", "free_tokens")


def add_sums(table: str, names: tuple[str, ...]) -> list[migrations.AddField]:
    kind = {"calls": models.PositiveIntegerField}
    return [
        migrations.AddField(table, name, kind.get(name, models.PositiveBigIntegerField)(default=0))
        for name in names
    ]


# The share of the replies in the tokens of earlier days is unknown.
COUNT_AS_PROMPT = "UPDATE evennia_ai_speakeruse SET prompt_tokens = tokens"


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0013_amendment")]

    operations = [
        migrations.AddField("modelcall", "money", models.PositiveBigIntegerField(null=True)),
        migrations.AddField(
            "dailyuse", "profile", models.CharField(max_length=64, blank=True, default="")
        ),
        *add_sums("dailyuse", NEW_SUMS),
        migrations.RemoveConstraint("dailyuse", "ai_dailyuse_once"),
        migrations.AddConstraint(
            "dailyuse",
            models.UniqueConstraint(
                fields=["day", "assistant", "profile"], name="ai_dailyuse_by_profile"
            ),
        ),
        *add_sums("speakeruse", (*SUMS, *NEW_SUMS)),
        migrations.RunSQL(COUNT_AS_PROMPT, migrations.RunSQL.noop),
    ]
