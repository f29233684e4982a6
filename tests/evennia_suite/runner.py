"""A test runner for Evennia's own tests: every character of theirs has our mixins as bases.

It replaces `DefaultCharacter` before any test or contrib imports it, and keeps its path. Without
``EVENNIA_AI_MIXINS=1`` in the environment it replaces nothing, for a comparison.
"""

import os

from evennia.server.tests.testrunner import EvenniaTestSuiteRunner


class MixinRunner(EvenniaTestSuiteRunner):
    """Evennia's runner over characters that players and assistants use."""

    def setup_test_environment(self, **kwargs):
        """Put the mixins in place before Evennia's shortcuts are made."""
        if os.environ.get("EVENNIA_AI_MIXINS") == "1":
            replace_default_character()
        super().setup_test_environment(**kwargs)
        from evennia import DefaultCharacter
        from evennia.contrib.rpg.rpsystem.rpsystem import ContribRPCharacter

        bases = {base.__name__ for base in ContribRPCharacter.__mro__}
        assert issubclass(ContribRPCharacter, DefaultCharacter)
        assert ("AssistantMixin" in bases) == (os.environ.get("EVENNIA_AI_MIXINS") == "1")


def replace_default_character():
    """Let `DefaultCharacter` be a class with `SpeakerMixin` and `AssistantMixin`."""
    from evennia.objects import objects

    from evennia_ai.assistant_character import AssistantMixin, SpeakerMixin

    base = objects.DefaultCharacter
    bases = (SpeakerMixin, AssistantMixin, base)
    made = type(base)("DefaultCharacterWithMixins", bases, {"__module__": base.__module__})
    made.__name__ = made.__qualname__ = made.typename = base.__name__
    made.path = base.path
    objects.DefaultCharacter = made
