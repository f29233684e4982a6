"""Ask a model again what was asked in an earlier turn; nothing of the reply is done.

The prompt is the one that was sent, with the results of tools as they were. Only the persona may
be another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderError
from evennia_ai.messages import LLMReply, ToolCallRequest, WireMessage
from evennia_ai.policy.conversation.character import Persona
from evennia_ai.policy.explanation.call_record import KeptCall, RawReply, Sent
from evennia_ai.policy.request_forms.known_models import REQUEST_FORMS
from evennia_ai.ports import Caller, Identity, LLMRequest, Scene
from evennia_ai.scheduling import Steps
from evennia_ai.turn.model_call import ModelCalls
from evennia_ai.turn.prompt_building import Asking, PromptBuilder

PURPOSE = "replay"


@dataclass(frozen=True)
class Replayed:
    """One call that was asked again; ``problem`` says why there is no reply, "" if there is."""

    before: RawReply
    content: str = ""
    calls: tuple[ToolCallRequest, ...] = ()
    problem: str = ""


def replay_request(
    name: str, sent: Sent, messages: Sequence[WireMessage], caller: Caller
) -> LLMRequest:
    """Return the request of an earlier call of a character, with these messages."""
    return LLMRequest(
        messages=messages,
        scene=Scene(name, Persona(), ()),
        tools=sent.tools,
        max_tokens=sent.max_tokens,
        temperature=sent.temperature,
        caller=caller,
        form=sent.form,
        response_schema=sent.schema,
    )


@dataclass(eq=False)
class Replay:
    """Asks models again what was asked in earlier turns of one assistant."""

    _who: Identity
    _prompts: PromptBuilder
    _calls: ModelCalls

    @inlineCallbacks
    def replay(
        self,
        kept: KeptCall,
        messages: Sequence[WireMessage],
        profile: ModelProfile,
        own_persona: bool = False,
    ) -> Steps[Replayed]:
        """Ask a model what an earlier call asked; with today's persona, if ``own_persona``.

        Fires with the `Replayed`; fails with TurnAborted if the server stops.
        """
        asked = self._with_persona(kept, messages) if own_persona else messages
        payer = self._calls.caller(frozenset(), background=False)
        request = replay_request(self._who.name, kept.sent, asked, payer)
        try:
            reply: LLMReply = yield self._calls.apart(request, PURPOSE, profile)
        except ProviderError as error:
            return Replayed(kept.reply, problem=str(error))
        return Replayed(kept.reply, reply.content, reply.tool_calls)

    def _with_persona(self, kept: KeptCall, messages: Sequence[WireMessage]) -> list[WireMessage]:
        """Return a prompt with the persona that the character has now."""
        asking = Asking(form=REQUEST_FORMS[kept.sent.form], tools=kept.sent.tools)
        return [*self._prompts.opening(asking).messages, *messages[len(kept.trace.opening) :]]
