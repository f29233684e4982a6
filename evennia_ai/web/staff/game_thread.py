"""How a web thread asks the reactor's thread, which alone may use typeclasses and Attributes."""

from collections.abc import Callable
from queue import Empty, Queue
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import maybeDeferred
from twisted.python.failure import Failure

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import AssistantError
from evennia_ai.store.attributes import SCRIPT_KEY

WAIT_S = 10.0


class GameBusy(AssistantError):
    """The game did not reply in time, or its assistants were not started."""


class Missing(AssistantError):
    """There is no such assistant, entry or object."""


class GameThread:
    """The reactor's thread."""

    def ask(self, work: Callable[..., Any], *args: Any, wait_s: float = WAIT_S) -> Any:
        """Return what a function returns, or its Deferred fires with; raise what it raises.

        The function must return plain data, and hold the reactor for a moment only. Raises GameBusy
        after ``wait_s`` seconds, so that no thread waits for ever while the server stops.
        """
        answer: Queue[Any] = Queue()
        self.tell(lambda: maybeDeferred(work, *args).addBoth(answer.put) and None)
        try:
            result = answer.get(timeout=wait_s)
        except Empty as error:
            raise GameBusy(f"The game did not reply in {wait_s:.0f} s. Try again.") from error
        if isinstance(result, Failure):
            result.raiseException()
        return result

    def tell(self, work: Callable[..., Any], *args: Any) -> None:
        """Call a function soon, and do not wait for it."""
        main: Any = reactor
        main.callFromThread(work, *args)


# Tests put a stand-in here.
game: Any = GameThread()


def services() -> Any:
    """Return what all assistants share; raises GameBusy if they were not started."""
    found: Any | None = AssistantScript.shared_services
    if found is None or found.store_trouble:
        raise GameBusy(
            "The assistants of this game were not started. The server log says what to do."
        )
    return found


def find_script(assistant: int) -> AssistantScript:
    """Return an assistant, on the reactor's thread; raises Missing and StoreUnavailable.

    Evennia's cache has most.
    """
    script = AssistantScript.get_cached_instance(assistant)
    script = script or AssistantScript.objects.filter(id=assistant, db_key=SCRIPT_KEY).first()
    if not isinstance(script, AssistantScript) or script.obj is None:
        raise Missing("There is no such assistant.")
    add_assistant_mixin(script.obj)  # perhaps a game's code attached it by hand
    found: AssistantScript = script
    return found
