"""A player who whispers to many assistants, whose model calls all hang."""

from server.patience import wait_until
from tests.e2e.telnet import TelnetPlayer
from tests.provider import FaultyProvider

HANGS_S = 120.0
PATIENCE_S = 60.0
# A turn that is given up before the reload would be no turn in the middle of a call.
UNDISTURBED = {"autonomous_calls_per_hour": 0, "MAX_CALLS_IN_FLIGHT": 250, "turn_deadline": HANGS_S}
MANY_COMMANDS = "MAX_COMMAND_RATE = 1000"
INTERRUPTED = "SELECT COUNT(*) FROM evennia_ai_turn WHERE outcome = 'interrupted' AND private"
ENDS = "SELECT state, COUNT(*) FROM evennia_ai_event WHERE kind = 'whisper' GROUP BY state"


def ask_all(stub: FaultyProvider, player: TelnetPlayer, count: int) -> None:
    """Whisper to `Npc0000` and all further ones, and wait until all their calls hang.

    Later calls are answered at once.
    """
    stub.control(latency=HANGS_S)
    asked = len(stub.requests())
    for number in range(count):
        player.send(f"whisper Npc{number:04} = are you there?")
    assert wait_until(lambda: len(stub.requests()) >= asked + count, PATIENCE_S, player.clock)
    stub.control(latency=0.0)
