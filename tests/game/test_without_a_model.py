"""A character for which nothing can answer is silent, and staff read why."""

from evennia_ai.extension import Extension
from evennia_ai.game import model_access
from evennia_ai.game.model_access import clients_of_extensions
from evennia_ai.game.settings import SettingReader
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.models import Event, ModelCall
from tests.scripted import call


def test_it_says_nothing_and_the_status_says_what_to_do(game, service, mira, ann, admin):
    answering, service.gateway = service.gateway, ModelGateway(service.clock, {})
    ann.forget()
    ann.do("say Mira, hello?")
    game.run(30)
    assert ann.heard() == ['You say, "Mira, hello?"']
    (event,) = Event.objects.all()
    assert event.state == "expired" and "has no model" in event.reason
    assert not ModelCall.objects.exists()
    status = admin.told("aistatus")
    assert "The profile 'default' has no model, and the stand-in is left out." in status
    service.gateway = answering
    game.model.add(call("say", text="Good evening."))
    ann.do("say Mira, hello?")
    game.run()
    assert ann.last() == 'Mira says, "Good evening."'


class Broken(Extension):
    name = "broken"

    @classmethod
    def model_clients(cls, settings):
        raise ValueError("no such file")


def test_an_extension_whose_clients_cannot_be_made_is_told_of(monkeypatch, settings, db):
    monkeypatch.setattr(model_access, "extension_classes", lambda: ([Broken], []))
    reader = SettingReader()
    assert clients_of_extensions(reader, is_strict=False) == {}
    assert reader.complaints == ["The extension broken has no model clients: no such file"]
