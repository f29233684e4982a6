"""Settings of the demo game: this repository, run as an Evennia game directory.

This file holds only what differs from Evennia's defaults. Put ports, keys and private values into
``secret_settings.py`` beside this file. It is not in the repository and overrides this file.
"""

import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from evennia.settings_default import *

from server import record

SERVERNAME = "The Gilded Gull"
GAME_SLOGAN = "A quarter that thinks"

# The demo listens on this machine only.
LOCKDOWN_MODE = True
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
GAME_INDEX_ENABLED = False

# Tracebacks go to the log, not to players.
IN_GAME_ERRORS = False

######################################################################
# Ports: seven in a row from EVENNIA_AI_PORT_BASE (the fourth and the fifth are unused), else those
# of the last start, so that `evennia stop` in another shell finds the game
######################################################################

_last_ports = record.load(Path(GAME_DIR, "server", ".demo.json")).port_base
if not os.environ.get("EVENNIA_AI_PORT_BASE") and _last_ports.isdecimal():
    os.environ["EVENNIA_AI_PORT_BASE"] = _last_ports
PORT_BASE = int(os.environ.get("EVENNIA_AI_PORT_BASE") or 4000)
TELNET_PORTS = [PORT_BASE]
WEBSERVER_PORTS = [(PORT_BASE + 1, PORT_BASE + 5)]
WEBSOCKET_CLIENT_PORT = PORT_BASE + 2
AMP_PORT = PORT_BASE + 6

######################################################################
# The database: Evennia's SQLite file, or the PostgreSQL database that EVENNIA_AI_DATABASE_URL names
# as postgresql://user:password@host:port/name. docs/operations.md tells how to choose.
######################################################################

if DATABASE_URL := os.environ.get("EVENNIA_AI_DATABASE_URL"):
    _url = urlsplit(DATABASE_URL)
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": _url.path.lstrip("/"),
            "USER": unquote(_url.username or ""),
            "PASSWORD": unquote(_url.password or ""),
            "HOST": _url.hostname or "",
            "PORT": _url.port or "",
            "OPTIONS": {"connect_timeout": 2, **dict(parse_qsl(_url.query))},
        }
    }

######################################################################
# The model. Endpoint and key come from the environment: OPENAI_BASE_URL, OPENAI_API_KEY and
# EVENNIA_AI_MODEL; without them the stand-in answers. docs/configuration.md has every setting.
######################################################################

INSTALLED_APPS += ["evennia_ai"]
AI_ASSISTANT = {}

######################################################################
# There are no folders typeclasses/, commands/ and web/: the demo uses Evennia's own classes, except
# for its character class, which lets assistants hear a player's raw words.
######################################################################

BASE_ACCOUNT_TYPECLASS = "evennia.accounts.accounts.DefaultAccount"
BASE_GUEST_TYPECLASS = "evennia.accounts.accounts.DefaultGuest"
BASE_OBJECT_TYPECLASS = "evennia.objects.objects.DefaultObject"
BASE_CHARACTER_TYPECLASS = "world.characters.Character"
BASE_ROOM_TYPECLASS = "evennia.objects.objects.DefaultRoom"
BASE_EXIT_TYPECLASS = "evennia.objects.objects.DefaultExit"
BASE_CHANNEL_TYPECLASS = "evennia.comms.comms.DefaultChannel"
BASE_SCRIPT_TYPECLASS = "evennia.scripts.scripts.DefaultScript"

CMDSET_UNLOGGEDIN = "evennia.commands.default.cmdset_unloggedin.UnloggedinCmdSet"
CMDSET_SESSION = "evennia.commands.default.cmdset_session.SessionCmdSet"
CMDSET_CHARACTER = "evennia.commands.default.cmdset_character.CharacterCmdSet"
CMDSET_ACCOUNT = "evennia.commands.default.cmdset_account.AccountCmdSet"

# Modules of a generated game that the demo does not have.
LOCK_FUNC_MODULES = ["evennia.locks.lockfuncs"]
INPUT_FUNC_MODULES = [name for name in INPUT_FUNC_MODULES if not name.startswith("server.conf")]
FUNCPARSER_OUTGOING_MESSAGES_MODULES = ["evennia.utils.funcparser"]
FUNCPARSER_PROTOTYPE_PARSING_MODULES = ["evennia.prototypes.protfuncs"]
FILE_HELP_ENTRY_MODULES = []
SERVER_SERVICES_PLUGIN_MODULES = []
PORTAL_SERVICES_PLUGIN_MODULES = []
MSSP_META_MODULE = ""
WEB_PLUGINS_MODULE = ""

ROOT_URLCONF = "server.conf.urls"
STATICFILES_DIRS = []
# The home page names the game.
TEMPLATES[0]["DIRS"].insert(0, f"{GAME_DIR}/server/conf/templates")

######################################################################
# The world. Its common room is Evennia's Limbo, room #2, which is the start and the home of all
# characters. So START_LOCATION and DEFAULT_HOME keep their defaults.
######################################################################

PROTOTYPE_MODULES = ["world.prototypes"]
AT_INITIAL_SETUP_HOOK_MODULE = "world.hooks"
AT_SERVER_STARTSTOP_MODULE = ["world.hooks"]

######################################################################
# Settings in secret_settings.py override those in this file.
######################################################################

try:
    from server.conf.secret_settings import *
except ModuleNotFoundError as error:
    if error.name != "server.conf.secret_settings":
        raise
