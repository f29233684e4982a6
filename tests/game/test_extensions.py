"""Extensions of a game: their tools, commands and hooks, and what goes wrong with them."""

from dataclasses import dataclass
from runpy import run_module

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import include, path
from evennia import Command
from pydantic import BaseModel
from twisted.internet.defer import succeed

from evennia_ai.commands.cmdset import AICmdSet
from evennia_ai.config import parse_value, setting
from evennia_ai.config.declared import Bounds
from evennia_ai.errors import ConfigError
from evennia_ai.extension import Extension
from evennia_ai.game.extensions import own_classes
from evennia_ai.models import Event
from evennia_ai.ports.extension import overriding
from evennia_ai.services.assistant_service import AssistantService
from evennia_ai.testing.tools import attack_tools
from evennia_ai.tools.base import tool
from evennia_ai.web.middleware import page_middleware
from tests.e2e.harness import ROOT
from tests.game import extensions_scene
from tests.scripted import call

asked_for, named = extensions_scene.asked_for, extensions_scene.named


class BellArguments(BaseModel):
    times: int


@tool("ring_bell", world=True)
def ring_bell(context, arguments: BellArguments) -> str:
    """Ring the bell of the house."""
    context.character.location.msg_contents("The bell rings.")
    return f"You rang it {arguments.times} times."


class CmdBells(Command):
    """Count the bells."""

    key = "bells"

    def func(self):
        self.caller.msg("There is one bell.")


class BellExtension(Extension):
    name = "bells"
    entries = frozenset({"BELLS"})

    def tools(self):
        return [ring_bell]

    @classmethod
    def commands(cls):
        return [CmdBells]

    def before_turn(self, events):
        return succeed({e.id: "no bells" for e in events if "gong" in e.heard.text})

    def before_speech(self, words, by_staff):
        return succeed("too loud" if "DONG" in words else "")


urlpatterns = [path("bells/", lambda request: HttpResponse("There is one bell."))]


@page_middleware
def ringing(page, request):
    return page + b" Ding."


class PageExtension(Extension):
    name = "pages"

    middleware = (f"{__name__}.ringing",)

    @classmethod
    def urls(cls, by_game):
        return [__name__]


class PagelessExtension(Extension):
    name = "pageless"

    middleware = ("no.such.middleware",)

    @classmethod
    def urls(cls, by_game):
        raise ConfigError("There is no page.")


class SilentExtension(Extension):
    """Turns itself off."""

    def set_up(self, services, settings):
        return False


@dataclass(frozen=True)
class BellSettings:
    bell_loudness: int = setting(3, "How far the bell is heard.", Bounds(1, 9))


class LoudExtension(Extension):
    name = "loud"
    settings = BellSettings


@dataclass(frozen=True)
class TakenSettings:
    tick_rate: float = setting(1.0, "Taken.")


class TakenExtension(Extension):
    name = "taken"
    settings = TakenSettings


class ToollessExtension(Extension):
    name = "toolless"

    def tools(self):
        yield ring_bell
        raise KeyError("no tools today")


class BrokenExtension(Extension):
    name = "broken"

    def set_up(self, services, settings):
        raise ConfigError("BROKEN must be mended.")


def test_an_extensions_tool_runs(game, ann, mira, asked_for):
    asked_for(*named(BellExtension))
    game.model.add(call("ring_bell", times=2), call("say", text="There."))
    ann.do("say Mira, ring the bell.")
    game.run()
    assert "The bell rings." in ann.heard()


def test_without_its_tools_an_extension_and_the_others_stay(asked_for):
    service = asked_for(*named(ToollessExtension, BellExtension))
    assert {"toolless", "bells"} <= {item.name for item in service.extensions}
    assert "ring_bell" in service.toolbox.tools
    assert "ring_bell" not in asked_for(*named(ToollessExtension)).toolbox.tools


def test_an_extensions_tools_are_attacked_too(mira, ann, settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXTENSIONS": named(BellExtension)}
    assert "ring_bell" in {attempt.tool for attempt in attack_tools(mira, ann.character)}


def test_an_extensions_command_is_in_the_command_set(game, ann, asked_for):
    asked_for(*named(BellExtension))
    ann.character.cmdset.add(AICmdSet)
    assert "There is one bell." in ann.told("bells")


def test_an_extension_refuses_what_is_heard(game, ann, mira, asked_for):
    asked_for(*named(BellExtension))
    ann.do("say Mira, the gong!")
    game.run()
    row = Event.objects.order_by("-id")[0]
    assert (row.state, row.reason) == ("expired", "no bells")
    assert not game.model.requests


def test_an_extension_refuses_what_is_spoken(game, ann, mira, asked_for):
    asked_for(*named(BellExtension))
    game.model.add(call("say", text="DING DONG!"), call("say", text="Ding."))
    ann.do("say Mira, what does it sound like?")
    game.run()
    assert ann.last() == 'Mira says, "Ding."'


def test_an_extensions_page_and_middleware_are_of_the_site(asked_for, settings):
    asked_for(*named(PagelessExtension, PageExtension))
    settings.ROOT_URLCONF = tuple(run_module("evennia_ai.web.site_urls")["urlpatterns"])
    settings.ALLOWED_HOSTS = ["*"]
    assert Client().get("/ai/bells/").content == b"There is one bell. Ding."
    assert Client().get("/").status_code == 200


def test_a_game_puts_the_pages_at_an_address_of_its_own(asked_for, settings):
    asked_for(*named(PageExtension))
    patterns = run_module("evennia_ai.web.urls")["urlpatterns"]
    settings.ROOT_URLCONF = (path("minds/", include(patterns)),)
    settings.ALLOWED_HOSTS = ["*"]
    assert Client().get("/minds/bells/").status_code == 200


def test_who_judges_nothing_is_not_asked(asked_for):
    extensions = asked_for(*named(BellExtension, SilentExtension)).extensions
    assert [item.name for item in overriding(extensions, "before_turn")] == ["bells"]


def test_an_extensions_entry_of_the_setting_is_known(asked_for):
    assert not [c for c in asked_for(*named(BellExtension), BELLS=1).complaints if "BELLS" in c]
    assert [c for c in asked_for(BELLS=1).complaints if "unknown entry 'BELLS'" in c]


def test_an_extensions_setting_is_one_of_the_assistant(game, mira, asked_for):
    service = asked_for(*named(LoudExtension), bell_loudness=5)
    assert not [complaint for complaint in service.complaints if "bell_loudness" in complaint]
    assert mira.assistant.config.bell_loudness == 5
    assert mira.assistant.config.part(BellSettings) == BellSettings(5)
    mira.assistant.db.bell_loudness = 9
    mira.assistant.mind.settings.resolve()
    assert mira.assistant.config.part(BellSettings).bell_loudness == 9
    with pytest.raises(ConfigError, match="at most 9"):
        parse_value("bell_loudness", "10")


def test_a_setting_of_another_is_not_taken_over(asked_for):
    service = asked_for(*named(TakenExtension))
    assert not [item for item in service.extensions if item.name == "taken"]
    assert "there is a setting tick_rate already" in " ".join(service.complaints)


def test_what_is_wrong_with_an_extension_is_told_to_staff(asked_for):
    service = asked_for(
        *named(BrokenExtension, BellExtension), "no.such.Thing", "math.pi", "-nonsense"
    )
    assert [item.name for item in service.extensions if item.name == "bells"] == ["bells"]
    told = "\n".join(service.complaints)
    assert "The extension broken is off: BROKEN must be mended." in told
    assert "'no.such.Thing' cannot be loaded: No module named 'no'." in told
    assert "'math.pi' cannot be loaded: it is no subclass of Extension." in told
    assert "no extension is called 'nonsense'" in told


def test_a_setting_that_is_no_list_leaves_the_packages_own(game, settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXTENSIONS": "moderation"}
    assert (
        "AI_ASSISTANT['EXTENSIONS'] must be a list of names."
        in AssistantService(clock=game.clock, environ={}).complaints
    )


def test_each_of_the_packages_own_can_be_added_and_left_out(asked_for):
    for item in own_classes():
        service = asked_for(item.name)
        assert not [c for c in service.complaints if "EXTENSIONS" in c]
        service = asked_for(f"-{item.name}")
        assert item not in map(type, service.extensions)
        assert not [c for c in service.complaints if "EXTENSIONS" in c]


def test_the_tutorials_extension_works(game, ann, mira, asked_for, tmp_path, monkeypatch):
    page = (ROOT / "docs" / "extensions.md").read_text(encoding="utf-8")
    code = page.partition("```python world/library.py\n")[2].partition("```")[0]
    (tmp_path / "library_of_a_game.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert not asked_for("library_of_a_game.LibraryExtension").complaints
    game.model.add(
        call("ring_bell", times=2), call("say", text="QUIET!"), call("say", text="Quiet, please.")
    )
    ann.do("say Mira, ring the bell.")
    game.run()
    assert "A small bell rings." in ann.heard()
    assert ann.last() == 'Mira says, "Quiet, please."'
