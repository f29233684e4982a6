"""Django signals for a game's own code.

``turn_finished``: sender the AssistantScript; ``character``, ``turns`` (how many in this tick).
"""

from django.dispatch import Signal

turn_finished = Signal()
