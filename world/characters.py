"""The player's character in the demo."""

from evennia.objects.objects import DefaultCharacter

from evennia_ai.assistant_character import SpeakerMixin


class Character(SpeakerMixin, DefaultCharacter):
    """A player's character. The mixin passes raw words and whisper receivers to assistants."""
