"""The player's character in the demo."""

from evennia.objects.objects import DefaultCharacter

from evennia_ai.assistant_character import SpeakerMixin


class Character(SpeakerMixin, DefaultCharacter):
    """A guest of the quarter. The mixin lets assistants hear raw words and who whispers to whom."""
