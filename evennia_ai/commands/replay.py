"""``aireplay``: ask a model again what was asked in an earlier turn."""

from __future__ import annotations

from collections.abc import Sequence

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import AICommand, UsageError, page_number
from evennia_ai.commands.history_rendering import call_text
from evennia_ai.commands.why_rendering import raw_texts
from evennia_ai.config import ModelProfile, resolve_profile
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.policy.disclosure import DRY_RUNS, ERRORS, Reader, words_kind
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.request_forms.form import Asked
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.scheduling import Steps
from evennia_ai.store.call_records import StoredCall, calls_of_turn
from evennia_ai.store.reports import acted_in_private, find_row
from evennia_ai.turn.replay import Replayed, replay_call

LINE_CHARS = 600


class CmdAIReplay(AICommand):
    """
    ask a model again what was asked in an earlier turn

    Usage:
      aireplay <character> = <turn> [, <profile>]
      aireplay/persona <character> = <turn> [, <profile>]

    Sends the same prompt as in that turn, to the character's model or to that of
    another profile, and shows what was answered then and what is answered now. The
    results of tools are those of the turn. Nothing is said, done or stored; the
    tokens count. |waihistory/turns|n and |waiwhy|n tell the numbers of turns.

    Switches:
      persona - with the persona that the character has now
    """

    key = "aireplay"
    locks = "cmd:perm(Builder)"
    reads = DRY_RUNS
    switch_options = ("persona",)

    def run(self) -> Deferred[None]:
        """Ask for each call of the turn again; tell both replies."""
        script = self.find_assistant(self.lhs)
        number, _, name = (self.rhs or "").partition(",")
        if not number.strip():
            raise UsageError(f"Which turn? |waireplay {shown_name(script)} = <turn>|n")
        script.resolve_settings()
        profile = self.find_profile(script, name.strip())
        calls = self.find_calls(script, page_number(number))
        shown = clean_output(f"{profile.name}:{profile.model}", 60)
        self.msg(f"Asking {shown} again; calls: {len(calls)} ...")
        return self.replay(script, calls, profile)

    def find_profile(self, script: GameScript, name: str) -> ModelProfile:
        """Return the profile to ask; raises UsageError for one without a model."""
        profile = script.profile
        if name:
            profile = resolve_profile(clean_heard(name, 60), self.services.profiles)
        if profile.client == "offline":
            raise UsageError(
                "The offline brain reads no prompt, so it cannot be asked again. "
                "Name another profile: |waireplay <character> = <turn>, <profile>|n"
            )
        return profile

    def find_calls(self, script: GameScript, turn_id: int) -> list[StoredCall]:
        """Return the calls of a turn whose prompts are kept; raises UsageError without any."""
        calls = calls_of_turn(script.id, turn_id)
        if not calls:
            raise UsageError(
                f"No prompt of turn {turn_id} is kept. |waihistory/turns {shown_name(script)}|n "
                "lists the turns, and RETENTION says how long prompts are kept."
            )
        if not all(call.is_exact for call in calls):
            raise UsageError("This turn cannot be replayed: its prompt cannot be rebuilt whole.")
        turn = find_row("Turn", script.id, turn_id)
        private = any(call.kept.trace.private for call in calls) or (turn and turn["private"])
        private = private or acted_in_private(turn_id)
        self.ensure_may_read(words_kind(bool(private)))
        self.reader.count(words_kind(bool(private)), len(calls))
        return calls

    @inlineCallbacks
    def replay(
        self, script: GameScript, calls: Sequence[StoredCall], profile: ModelProfile
    ) -> Steps[None]:
        """Ask call by call and tell each reply as it comes."""
        for number, call in enumerate(calls, 1):
            with_persona = self.switch == "persona"
            found: Replayed = yield replay_call(
                script, call.kept, call.messages, profile, with_persona
            )
            told = [f"|wCall {number} of {len(calls)}|n", *replayed_lines(call, found, self.reader)]
            self.tell(told)


def replayed_lines(call: StoredCall, found: Replayed, reader: Reader) -> list[str]:
    """Return both replies to one call."""
    then = [f"  |xthen|n {text}" for text in read_texts(call)]
    if found.problem:
        problem = reader.show(ERRORS, clean_output(found.problem, LINE_CHARS), "error")
        return [*then, f"  |rnow|n  no reply: {problem}"]
    now = texts_of(LLMReply(found.content, found.calls))
    return [*then, *(f"  |gnow|n  {text}" for text in now)]


def read_texts(call: StoredCall) -> list[str]:
    """Return the recorded reply as the calls that were read out of it."""
    raw, sent = call.kept.reply, call.kept.sent
    calls = tuple(ToolCallRequest("", name, arguments) for name, arguments in raw.calls)
    reader = reply_reader(sent.form, Asked(tools=sent.tools))
    return texts_of(reader.finish(LLMReply(raw.text, calls))) or raw_texts(raw)


def texts_of(reply: LLMReply) -> list[str]:
    """Return a reply's text and calls as lines."""
    said = [clean_output(reply.content, LINE_CHARS)] if reply.content.strip() else []
    return [*said, *(call_text(call.name, call.arguments) for call in reply.tool_calls)] or [
        "nothing"
    ]
