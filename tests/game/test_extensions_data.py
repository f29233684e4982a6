"""What an extension stores of people is shown to them, and forgotten with them."""

import pytest
from evennia.comms.models import Msg

from evennia_ai.extension import Extension
from evennia_ai.policy.audience import KnownLine
from evennia_ai.store import personal_data
from evennia_ai.store.personal_data import ErasureRule, PersonalColumn
from tests.game import extensions_scene
from tests.game.forgetting_scene import forget
from tests.scripted import call

pytestmark = pytest.mark.engine
asked_for, named = extensions_scene.asked_for, extensions_scene.named
WORDS = "Ann hides a marigold key."


class LetterExtension(Extension):
    """Keeps what people wrote in a table of its own; here it is one of Evennia's."""

    name = "letters"

    @classmethod
    def personal_data(cls):
        rule = ErasureRule.DELETED
        return [PersonalColumn(Msg, rule, ("db_header",), ("db_message",), shown=True)]

    def prompt_rows(self, around, audience):
        rows = Msg.objects.order_by("id").values_list("db_message", flat=True)
        return [("You have a letter", KnownLine(text)) for text in rows]


class CrookedExtension(Extension):
    name = "crooked"

    def prompt_rows(self, around, audience):
        return [7]


class UndeclarableExtension(Extension):
    name = "undeclarable"

    @classmethod
    def personal_data(cls):
        return [7]


@pytest.fixture
def letters(monkeypatch, asked_for):
    monkeypatch.setattr(personal_data, "ADDED", added := [])
    monkeypatch.setattr("evennia_ai.store.forget.ADDED", added)
    return asked_for(*named(LetterExtension))


def test_who_is_forgotten_is_forgotten_by_an_extension(game, ann, bob, mira, letters):
    for person in (ann, bob):
        Msg.objects.create(db_header=f"from {person.dbref}", db_message=WORDS)
    assert WORDS in ann.told("aboutme")
    forget(ann)
    assert list(Msg.objects.values_list("db_header", flat=True)) == [f"from {bob.dbref}"]
    assert WORDS not in ann.told("aboutme")


def test_a_row_of_a_prompt_without_authors_is_a_strangers(game, ann, mira, letters):
    Msg.objects.create(db_header="", db_message=WORDS)
    game.model.add(call("say", text="Well."))
    ann.do("say Mira, what is new?")
    game.run(1)
    assert f"You have a letter: {WORDS}" in game.told()
    assert "stranger" in game.model.requests[-1].authors


def test_crooked_rows_stop_no_answer(game, ann, mira, asked_for):
    asked_for(*named(CrookedExtension))
    game.model.add(call("say", text="Well."))
    ann.do("say Mira, what is new?")
    game.run(1)
    assert ann.last() == 'Mira says, "Well."'


def test_what_cannot_be_declared_is_told_to_staff(asked_for):
    service = asked_for(*named(UndeclarableExtension))
    assert "The extension undeclarable is off" in " ".join(service.complaints)
