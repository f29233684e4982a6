"""The Django signals for a game's own code.

``service_started``: the assistants of this server may begin to work; the sender is the service.
``uninstalling``: `ai_uninstall` has deleted the rows of the package; who keeps files of his own
    deletes them now, and ``say`` takes a line for the admin. The sender is None.
``catching_up``: now and then, so that what other servers store in the same database is read again;
    the sender is the service.
Of all others the sender is the `AssistantScript`, and each has the argument ``character``, and:

``event_heard``: ``event`` (`messages.InboxEvent`), stored and about to be attended to. It is sent
    within the act of the game that was heard, so that a receiver must be quick.
``deed_done``: ``person`` did something to the character of which no event tells: ``kind`` ("promise
    kept"), ``reason`` in words, and if need be ``key``, ``audience`` and ``authors``. Extensions
    that follow deeds connect to it; ``key`` tells this deed from all others.
``fight_noticed``: the character sees an event of a fight, before it is told of it: ``kind``,
    ``actor``, ``victim`` and ``damage`` as `contrib.fights.combat_event` has them; ``before`` and
    ``health``, which the victim had and has, in per cent; ``since``, the start of the fight in unix
    seconds.
``company_changed``: ``person``, who has come where the character is; None if it moved itself.
``turn_finished``: ``turns`` (how many in this tick).
``thinking_started``: ``audience`` (frozenset of the dbrefs who will hear the answer), ``private``.
``thinking_finished``: ``audience``. It follows every ``thinking_started``, unless the server stops
    or the assistant is deleted first.
``assistant_slept``, ``assistant_woke``: ``reason``.
``compaction_started``: ``reason`` (sleep, emergency, overflow, manual).
``compaction_finished``: ``reason``, ``result`` (of `compact_conversation_history`, with the counts
    before and after).
"""

from django.dispatch import Signal

service_started = Signal()
uninstalling = Signal()
catching_up = Signal()
event_heard = Signal()
deed_done = Signal()
fight_noticed = Signal()
company_changed = Signal()
turn_finished = Signal()
thinking_started = Signal()
thinking_finished = Signal()
assistant_slept = Signal()
assistant_woke = Signal()
compaction_started = Signal()
compaction_finished = Signal()
