"""Character cards and lorebooks: in from files, and out again."""

from collections.abc import Iterable
from typing import Any

from evennia.typeclasses.attributes import Attribute

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.contrib.cards.importing import BEFORE, CARD, card_of
from evennia_ai.extension import Extension
from evennia_ai.game.client_text import clean_output
from evennia_ai.signals import uninstalling


class CmdAICard(AICommand):
    """show the character card of an assistant

    Usage:
      aicard <character>

    Shows what of the card was taken as persona and lore, what was changed, and
    what was left out. To import or export a card, or to undo an import, stop the
    game and use |wevennia ai_card|n in a shell.
    """

    key = "aicard"

    def do_default(self) -> None:
        script = self.find_assistant(self.args.strip())
        card = card_of(script.character)
        if card is None:
            raise UsageError(f"{self.name} came from no character card.")
        lines = [f"The card of {self.name}, taken in for {card.called}.", *card.report()]
        self.msg("\n".join(map(clean_output, lines)))


class CardsExtension(Extension):
    """Gives `aicard` and ``evennia ai_card``: character cards and lorebooks in and out."""

    name = "cards"
    by_default = False

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return [CmdAICard]


def remove_cards(say: Any, **_more: Any) -> None:
    """Delete the cards that characters keep; books go with the package's server settings."""
    if Attribute.objects.filter(db_key__in=(CARD, BEFORE), db_model="objectdb").delete()[0]:
        say("The character cards are deleted.")


uninstalling.connect(remove_cards)

EXTENSION = CardsExtension
