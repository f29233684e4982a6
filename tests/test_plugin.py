"""The door between Evennia and our service: the game starts, whatever is behind it."""

import sys

import pytest
from django.db import OperationalError
from twisted.logger import Logger, globalLogPublisher

from evennia_ai.services import plugin
from evennia_ai.services.plugin import Plugin


class Services:
    """Stands in for `evennia_ai.services.assistant_service`."""

    log = Logger()

    def __init__(self, **failures):
        self.failures = failures
        self.called = []

    def hook(self, name):
        self.called.append(name)
        if name in self.failures:
            raise self.failures[name]

    def start_plugin_services(self, server):
        self.hook("start")

    def at_server_start(self):
        self.hook("at_server_start")


@pytest.fixture
def logged():
    """What goes into the server's log, as (words, traceback)."""
    events = []

    def observe(event):
        if "log_failure" in event and event["log_namespace"] == plugin.__name__:
            words = event["log_format"].format(advice=event["advice"])
            events.append((words, event["log_failure"].getTraceback()))

    globalLogPublisher.addObserver(observe)
    yield events
    globalLogPublisher.removeObserver(observe)


def start(monkeypatch, services):
    monkeypatch.setitem(sys.modules, plugin.SERVICES, services)
    door = Plugin()
    door.start(None)
    return door


def test_hooks_are_passed_on(monkeypatch, logged):
    services = Services()
    door = start(monkeypatch, services)
    door.call("at_server_start")
    door.call("at_server_cold_stop")
    assert services.called == ["start", "at_server_start"]
    assert logged == []


def test_a_module_that_cannot_be_imported_is_named_and_the_game_goes_on(monkeypatch, logged):
    door = start(monkeypatch, None)
    door.call("at_server_start")
    ((words, traceback),) = logged
    assert words.startswith("evennia_ai is not running: no assistant of this game answers.")
    assert "cannot be imported: import of evennia_ai.services.assistant_service halted" in words
    assert "ModuleNotFoundError" in traceback


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (ImportError("No module named 'openai'"), "imported: No module named 'openai'. Install it"),
        (NameError("name 'x' is not defined"), "If it is a file of your game"),
        (OperationalError("no such table: evennia_ai_turn"), "Run `evennia migrate`"),
    ],
)
def test_what_goes_wrong_is_told_with_what_to_do(monkeypatch, logged, error, advice):
    start(monkeypatch, Services(start=error))
    later = Services(at_server_start=error)
    start(monkeypatch, later).call("at_server_start")
    assert later.called == ["start", "at_server_start"]
    assert len(logged) == 2
    for words, traceback in logged:
        assert advice in words
        assert words.endswith(", and restart the game.")
        assert type(error).__name__ in traceback


def test_what_did_not_start_is_not_called(monkeypatch):
    services = Services(start=NameError("x"))
    start(monkeypatch, services).call("at_server_start")
    assert services.called == ["start"]


def test_evennia_finds_the_hooks_it_asks_for_and_no_others():
    assert callable(plugin.start_plugin_services)
    assert callable(plugin.at_server_reload_stop)
    assert not hasattr(plugin, "anything")
