"""How a web thread asks the reactor's thread."""

import pytest
from twisted.internet.defer import Deferred, fail, succeed

from evennia_ai.contrib.staff_pages.access import GameBusy, GameThread, NotFound, find_script
from evennia_ai.errors import StoreUnavailable

pytestmark = pytest.mark.game


class Reactor:
    """Calls at once what a thread wants to be called soon."""

    def callFromThread(self, work, *args):  # noqa: N802  # Twisted's name
        work(*args)


@pytest.fixture
def thread():
    return GameThread(Reactor())


def test_a_value_or_a_deferreds_value_comes_back(thread):
    assert thread.ask(lambda a, b: a + b, 2, 3) == 5
    assert thread.ask(lambda: succeed([1])) == [1]


def test_an_error_is_raised_in_the_web_thread(thread):
    with pytest.raises(ZeroDivisionError):
        thread.ask(lambda: 1 / 0)
    with pytest.raises(StoreUnavailable):
        thread.ask(lambda: fail(StoreUnavailable("busy")))


def test_no_thread_waits_for_ever(thread):
    with pytest.raises(GameBusy, match="did not reply"):
        thread.ask(Deferred, wait_s=0.01)


def test_a_script_that_is_no_assistant_is_missing(mira):
    from evennia.scripts.scripts import DefaultScript
    from evennia.utils.create import create_script

    other = create_script(DefaultScript, key="weather", obj=mira)
    assert find_script(mira.assistant.id) is mira.assistant
    for number in (other.id, 987654):
        with pytest.raises(NotFound):
            find_script(number)
