"""Ask a person in the game whether something may be done, and take the answer."""

import re
from collections.abc import Generator
from typing import Any

from twisted.logger import Logger

from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import display_name
from evennia_ai.game.texts import is_yes, text
from evennia_ai.policy.staff_controls import PendingToolCall, arguments_line, is_shown_whole
from evennia_ai.store import pending_acts
from evennia_ai.store.attributes import script_of

log = Logger()

ANSWERS = "evennia_ai.commands.oversight.AnswerCmdSet"
YES, NO = "yes", "no"
NO_LETTER = re.compile(r"[\W_]")


def confirmed(command: Any, question: str, unless: str) -> Generator[str, str, bool]:
    """Ask the caller of a command, and return True for a yes; else tell them ``unless``.

    What is neither a yes nor a no is a command that they typed instead, so it runs as one.
    """
    typed = yield question
    if is_yes(typed):
        return True
    command.msg(unless)
    noes = {"", *(spelling for no in (NO, text("confirm_no")) for spelling in (no, no[0]))}
    if typed.strip().lower() not in noes:
        command.caller.execute_cmd(typed, session=command.session)
    return False


def ask_to_confirm(
    person: Any, character: Any, act: PendingToolCall, purpose: str, question: str
) -> None:
    """Tell a person what would be done, and let them answer."""
    expect_answer(person, act.id)
    person.msg(
        text(
            "confirm_question" if question else "confirm_ask",
            question=clean_output(question),
            name=clean_output(display_name(character, person)),
            tool=act.name,
            purpose=clean_output(purpose),
            arguments=clean_output(arguments_line(act.arguments)),
            seconds=f"{(act.expires_at - act.at).total_seconds():.0f}",
        )
    )


def expect_answer(person: Any, act_id: int) -> None:
    """Let a person answer with ``yes`` and ``no``, also after a reload."""
    person.ndb.ai_asked = act_id
    person.cmdset.remove(ANSWERS)
    person.cmdset.add(ANSWERS)


def answer(person: Any, agrees: bool) -> None:
    """Take a person's answer to the act that waits for them, and tell them what comes of it.

    Raises StoreUnavailable, and then the act waits on.
    """
    act = pending_acts.find(person.ndb.ai_asked or 0)
    was_waiting = act is not None and decide(act, person, agrees)
    person.ndb.ai_asked = None
    person.cmdset.remove(ANSWERS)
    if not was_waiting:
        person.msg(text("confirm_late"))
    elif not agrees:
        person.msg(text("confirm_refused"))


def decide(act: PendingToolCall, person: Any, agrees: bool) -> bool:
    """Store an answer and let the assistant act; the caller checks that this person may answer.

    Returns False if the act waits no longer, or cannot be shown whole to whoever agrees.
    """
    script = script_of(act.assistant_id)
    if script is None or script.services is None or (agrees and not is_shown_whole(act.arguments)):
        return False
    if not pending_acts.decide(act.id, person.dbref, agrees, script.services.now()):
        return False
    did = f"{person.dbref} {'agrees to' if agrees else 'refuses'} act {act.id}"
    message = "evennia_ai: {did} of {name}: {tool}"
    log.info(message, did=did, name=script.mind.who.name, tool=act.name)
    if agrees:
        script.mind.turn_runner.acts_due = True
        script.mind.status.wake()
    return True


def hear_answer(person: Any, assistant_id: int, name: str, words: str) -> None:
    """Take words that somebody said to an assistant's character, ``name``, as their answer."""
    if not person.ndb.ai_asked:
        return
    spelling = spelled(words, name)
    if spelling not in (YES, NO, *text("forget_yes").split(), text("confirm_no")):
        return
    act = pending_acts.find(person.ndb.ai_asked)
    if act is not None and act.assistant_id == assistant_id:
        answer(person, is_yes(spelling))


def spelled(words: str, name: str) -> str:
    """Return an answer in lower case, without punctuation and the character's name."""
    bare = NO_LETTER.sub(" ", words.lower())
    return " ".join(bare.replace(NO_LETTER.sub(" ", name.lower()), " ").split())
