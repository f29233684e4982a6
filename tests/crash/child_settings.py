"""The demo game's settings on a database of the harness's own."""

import os

from server.conf.settings import *  # noqa: F403

DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["CRASH_DATABASE"]}
}
