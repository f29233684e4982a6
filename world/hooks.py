"""The demo's start hooks: build the world once, and report when the server is ready.

Evennia restarts the server once after the very first start. `READY_FILE` holds the pid of the
server that stays, so that `make demo` and the end-to-end tests know when it is ready.
"""

import os
from pathlib import Path

from django.conf import settings
from evennia.server.models import ServerConfig
from evennia.utils import logger

from server import record
from world.accounts import ensure_player, send_superuser_outside
from world.build import build_world

READY_FILE = Path(settings.GAME_DIR, "server", "ready.pid")
RECORD = READY_FILE.with_name(".demo.json")
BUILT = "evennia_ai_demo_built"


class Process:
    """The state of this server process."""

    is_very_first = False


def at_initial_setup() -> None:
    """Build the world in the very first start; Evennia calls this before it restarts the server."""
    Process.is_very_first = True
    open_quarter()
    send_superuser_outside()


def at_server_start() -> None:
    """Build what the first start could not, and report that the server is ready."""
    if Process.is_very_first:
        return
    open_quarter()
    ensure_player(os.environ)
    note_ports()
    partial = READY_FILE.with_suffix(".new")
    partial.write_text(str(os.getpid()))
    partial.replace(READY_FILE)


def note_ports() -> None:
    """Note the ports in the demo's record, for ``make stop`` and ``evennia stop`` in any shell."""
    known, ports = record.load(RECORD), str(settings.PORT_BASE)
    if known.port_base != ports:
        known.port_base = ports
        record.save(RECORD, known)


def at_server_stop() -> None:
    """Delete the ready file, if this process wrote it."""
    if READY_FILE.exists() and READY_FILE.read_text() == str(os.getpid()):
        READY_FILE.unlink()


def open_quarter() -> None:
    """Build the world once; a piece that a builder deleted stays deleted."""
    if ServerConfig.objects.conf(BUILT):
        return
    logger.log_info(f"Demo world: {build_world()} new things built.")
    ServerConfig.objects.conf(BUILT, value=True)
