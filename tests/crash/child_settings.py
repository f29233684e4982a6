"""The demo game's settings with a database for the kills, and quick imports of Evennia."""

import os

import tests.e2e.site.sitecustomize  # noqa: F401
from server.conf.settings import *  # noqa: F403

DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["CRASH_DATABASE"]}
}
