"""Tools to stay silent and to go to sleep."""

from evennia_ai.errors import NothingDone
from evennia_ai.messages import is_perceived
from evennia_ai.policy.audience import of_messages, people_among
from evennia_ai.policy.call_record import LockAsked
from evennia_ai.policy.conversation.tool_call_rules import FINAL
from evennia_ai.policy.sleep_schedule import (
    ANYBODY,
    NOBODY,
    STAFF,
    WISH,
    BedtimeState,
    why_not_to_bed,
)
from evennia_ai.ports import ToolContext
from evennia_ai.tools.base import EVERYBODY, NoArguments, tool
from evennia_ai.tools.permission import LockSubjects

HEARD_ROLES = ("user", "system")  # the latter: the marker of a compaction
# The locks behind the setting sleep_on_request.
LOCKS = {NOBODY: "false()", STAFF: "perm(Builder)", ANYBODY: EVERYBODY}


@tool("noop", category=FINAL, world=False, safe_to_retry=True)
def noop(context: ToolContext, arguments: NoArguments) -> str:
    """Stay silent, if nothing needs an answer."""
    return "You do nothing."


def may_be_sent_to_bed(context: ToolContext) -> bool:
    """Return True if everybody who may have asked for it may send the character to sleep."""
    speakers = context.speakers
    if not speakers:  # it may be anybody whose words it can still read: nobody plants a request
        view = context.assistant.log.view()
        heard_messages = (
            message
            for message in view
            if message["role"] in HEARD_ROLES and not is_perceived(message)
        )
        speakers = people_among(of_messages(heard_messages))
    if not speakers:
        return True
    answers = LockSubjects().answers(speakers, LOCKS[context.assistant.config.sleep_on_request])
    context.locks.append(LockAsked("sleep_on_request", "go_to_sleep", answers))
    return all(answers.values())


@tool("go_to_sleep", category=FINAL, safe_to_retry=True, needed=may_be_sent_to_bed, rare=True)
def go_to_sleep(context: ToolContext, arguments: NoArguments) -> str:
    """Fall asleep if nobody needs you. Ends your turn."""
    refusal = why_not_to_bed(bedtime_state(context))
    if refusal:
        raise NothingDone(refusal)
    context.assistant.sleep.go_to_bed(WISH)
    return "Your eyes fall shut."


def bedtime_state(context: ToolContext) -> BedtimeState:
    """Return what decides whether the character may go to sleep now."""
    parts = context.assistant
    woken_at = parts.sleep.woken_at
    partners = parts.presence.partners.items()
    latest = max((at for dbref, at in partners if dbref not in context.speakers), default=None)
    return BedtimeState(
        unanswered=len(parts.inbox.open_events().waiting),
        addressed_s=(parts.services.now() - latest).total_seconds() if latest else None,
        woken_s=None if woken_at is None else parts.services.clock.seconds() - woken_at,
        refused=not may_be_sent_to_bed(context),
    )
