"""The migration creates the tables that the models describe."""

import io

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_the_migrations_are_up_to_date(settings):
    settings.MIGRATION_MODULES = {}  # the other tests run without migrations
    # Without the app's name Django also compares Evennia's own models.
    output = io.StringIO()
    call_command("makemigrations", "evennia_ai", check=True, dry_run=True, stdout=output)
    assert "No changes detected" in output.getvalue()
