"""The demo game's settings with a database for the kills."""

import os

from server.conf.settings import *  # noqa: F403

DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["CRASH_DATABASE"]}
}
