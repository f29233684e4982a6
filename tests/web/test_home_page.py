"""The demo's home page names the game, not the engine."""

import re

import pytest
from django.conf import settings
from django.test import Client


@pytest.mark.django_db
def test_the_title_and_the_heading_are_the_games_name(settings):
    settings.ALLOWED_HOSTS = ["*"]
    page = Client().get("/").content.decode()
    assert re.search(r"<title>\s*The Gilded Gull", page)
    assert re.findall(r"<h1[^>]*>\s*(.*?)\s*</h1>", page) == ["The Gilded Gull"]
    assert "Welcome to Evennia" not in page
    assert "mygame" not in page


def test_the_name_is_that_of_the_settings():
    assert settings.SERVERNAME == "The Gilded Gull"
