"""Settings of the game in its container, beside those of server/conf/settings.py."""

import json
import os

SECRET_KEY = os.environ["DJANGO_KEY"]
# Inside, all ports are open; compose.yml opens them on this machine's own address only.
LOCKDOWN_MODE = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "game"]
AT_SERVER_STARTSTOP_MODULE = ["world.hooks", "server.conf.telemetry"]

AI_ASSISTANT = {
    "PROFILES": {"default": json.loads(os.environ.get("MODEL_PROFILE", "{}"))},
    "METRICS": True,
    "MEMORY": {
        "vector_store": {
            "provider": "pgvector",
            "config": {"connection_string": os.environ["MEMORY_DB"], "hnsw": True},
        },
        "timeout": 10.0,
    },
}
