"""What a line rests on is called its evidence; its column keeps the older name, nature."""

from django.db import migrations, models

COLUMNS = {
    "event": models.CharField(max_length=12, default="claimed", db_column="nature"),
    "message": models.CharField(max_length=12, blank=True, db_column="nature"),
}


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0004_pending_act_item")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                operation
                for model, field in COLUMNS.items()
                for operation in (
                    migrations.RenameField(model, "nature", "evidence"),
                    migrations.AlterField(model, "evidence", field),
                )
            ]
        )
    ]
