"""Build a prompt: rules and persona, the talk with its scenes, and the new lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from evennia_ai import ports
from evennia_ai.config.profiles import request_form, wire_style
from evennia_ai.messages import (
    Audience,
    Authors,
    ChatMessage,
    InboxEvent,
    Situation,
    WireMessage,
    is_private,
    is_scene,
    to_wire,
    unmarked,
)
from evennia_ai.policy.audience import select_visible
from evennia_ai.policy.call_record import PromptTrace, assembled, user
from evennia_ai.policy.context.projection import bound_overheard, newest_that_fit, visible_items
from evennia_ai.policy.context.situation_updates import (
    Row,
    end_of_talk,
    in_order,
    make_scenes,
    news,
    quarter_of,
    situation_rows,
    split_events,
    split_turn,
)
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry, render_persona
from evennia_ai.policy.facts.check import FORGOT, left_out
from evennia_ai.policy.facts.terms import parse_heard_line
from evennia_ai.policy.sanitize import cut_text
from evennia_ai.policy.texts import fenced
from evennia_ai.policy.tokens import count_message, stored_tokens
from evennia_ai.policy.tool_call_modes.form import TOOLS_FORM, Schema, ToolCallMode, answer_in
from evennia_ai.policy.tool_call_modes.wire_order import count_request
from evennia_ai.turn.context_selection import ContextItems, ContextSelector, latest_talk
from evennia_ai.turn.context_use import ContextMeter
from evennia_ai.turn.model_call import ModelCalls
from evennia_ai.turn.prompt_contexts import PRESSURE, TurnKind
from evennia_ai.turn.prompt_trace import trace_talk
from evennia_ai.turn.recall import RecentTalk

RETRY_WARMTH = 0.4  # a colder model says the same again
LEAST_LINE_CHARS = 60
SLOW_PLACE_CHARS = 60
NEAR = 6  # messages before a question to a small model that are not shown again
RECALL = "Name what you remember of it, word for word."
# Share of the window kept for what is new. News within it never move the start of the talk.
TAIL_ROOM = 1 / 8
# Share of the talk's room that may be lines said to others: the context is for those who ask.
OVERHEARD_SHARE = 1 / 4
AGAIN = "(Your last reply was not spoken: {reason}. Answer anew, in other words.)"


@dataclass(frozen=True)
class Prompt:
    """A built prompt."""

    messages: list[WireMessage]
    private: bool  # True if it holds anything that only its audience may know
    tokens: int  # the size of the whole request, tools included; 0 to be counted when it is sent
    situation: Situation
    lore: tuple[LoreEntry, ...]
    trace: PromptTrace  # where its parts come from
    scenes: tuple[ChatMessage, ...] = ()  # the situation updates that it shows first
    recalled: tuple[str, ...] = ()  # the recalled lines, as it shows them
    addressee: str = ""  # name of whoever spoke last among those to be answered, "" if nobody did
    authors: Authors = frozenset()  # everybody whose words it holds (`policy.audience`)
    others_tokens: int = 0  # of lines of people who are not answered


@dataclass(frozen=True)
class PromptRequest:
    """What one model call of a turn is about."""

    events: Sequence[InboxEvent] = ()  # what started the turn; empty for an autonomous turn
    turn_id: int | None = None  # the turn; its own calls stand behind the new lines
    form: ToolCallMode = TOOLS_FORM  # how the model is asked
    tools: Sequence[Schema] = ()  # schemas of the tools that it may call
    tool_tokens: int = 0  # their size
    late_tools: Sequence[Schema] = ()  # further ones, of which the prompt tells behind the talk
    refused: str = ""  # why its last reply was not spoken, "" if there was none
    withheld: tuple[str, ...] = ()  # tools that an author of the prompt may not use
    # True if an act failed and the model shall talk about it, not act again
    words_only: bool = False
    undone: frozenset[str] = frozenset()  # ids of the turn's tool calls that were not done

    def offering(self, specs: Iterable[ports.ToolSpec]) -> PromptRequest:
        """Return it with these tools; a request shows the schemas of those that are needed."""
        offered = tuple(specs)
        shown = [spec for spec in offered if spec.shown]
        return replace(
            self,
            tools=[spec.schema for spec in shown],
            late_tools=[spec.schema for spec in offered if spec.late],
            tool_tokens=sum(spec.tokens for spec in shown) if self.form.native else 0,
        )


@dataclass(eq=False)
class PromptBuilder:
    """Builds prompts and the requests that hold them."""

    _mind: ports.MindContext
    _meter: ContextMeter
    _selector: ContextSelector
    _calls: ModelCalls

    def build(
        self, context: TurnKind, audience: Audience, asking: PromptRequest = PromptRequest()
    ) -> Prompt:
        """Return a prompt: rules and persona, the talk with its scenes, and what to answer.

        ``audience`` are the dbrefs of everybody who will hear the answer; it selects what the
        prompt may hold. Everything before the recalled lines is the beginning of the next prompt,
        too: of what the character perceives, a new scene tells what the scenes in view do not.
        What this turn did already stands behind the new lines.
        """
        visible = visible_items(self._mind.log.view(), audience)
        older, new = split_events(visible, {event.id for event in asking.events})
        opening = self.opening(asking)
        count_text, is_talk = self._mind.settings.count_text, context.tools is None
        count = partial(count_message, count_text=count_text)
        # Prompts of a talk keep their start, since caches know it; others show all that fits.
        window = self._meter.estimated(self._meter.window)
        room = window - self._meter.estimated(self._mind.config.max_reply_tokens)
        room -= asking.tool_tokens + sum(map(count, opening.messages))

        def newest(tail_tokens: int = 0) -> list[ChatMessage]:
            left = room - max(tail_tokens, int(TAIL_ROOM * window) if is_talk else 0)
            return newest_that_fit(talk, left, stored_tokens, is_talk)

        older = bound_overheard(older, int(OVERHEARD_SHARE * room), stored_tokens)
        scenes = select_visible(self._mind.log.current.scenes, audience)
        talk = in_order([*older, *self._selector.standing(scenes, audience)])
        kept = newest()
        situation, items, lines, ending = self._tail(
            context, audience, asking, visible, [*kept, *new]
        )
        passing = self._scenes(items.passing, audience, asking)
        fresh = self._scenes(news(items.rows, filter(is_scene, kept)), audience, asking)
        rest = sum(count(user(text)) for text in (*lines, *ending))
        shown = newest(rest + sum(map(stored_tokens, [*fresh, *passing])))
        if len(shown) < len(kept):  # what is told now takes so much room that older talk goes
            fresh = self._scenes(news(items.rows, filter(is_scene, shown)), audience, asking)
        shown = in_order([*shown, *fresh, *passing])
        talk_messages, own = split_turn(shown, asking.turn_id)
        secret = any(map(is_private, shown)) or any(event.heard.secret for event in asking.events)
        trace = replace(
            trace_talk(self._mind.log, talk_messages, own),
            audience=tuple(sorted(audience)),
            private=secret,
            opening=opening.messages,
            rules_chars=opening.rules_chars,
            lines=lines,
            ending=ending,
            acts_last=asking.form.native,  # native results are always the last
        )
        messages = assembled(trace, to_wire(talk_messages), to_wire(own))
        style = wire_style(self._mind.profile, asking.form.name)
        tokens = count_request(messages, style, count_text=count_text) + asking.tool_tokens
        if is_talk:  # the largest; with fewer tools a full context would look empty
            in_view = [message for message in (*shown, *new) if message not in passing]
            rest = tokens - sum(map(stored_tokens, in_view))  # many new lines take less together
            self._meter.sizes.overhead = max(0, rest)
        return Prompt(
            messages=messages,
            private=secret,
            tokens=tokens,
            situation=situation,
            lore=items.lore,
            scenes=tuple(fresh),
            recalled=tuple(line.text for line in items.recalled),
            addressee=addressee_of(asking.events),
            authors=self._selector.authors_of(asking.events, shown, situation),
            trace=replace(trace, length=len(messages)),
            others_tokens=tokens_of_others(shown, {event.heard.speaker for event in asking.events}),
        )

    def _tail(
        self,
        context: TurnKind,
        audience: Audience,
        asking: PromptRequest,
        visible: Sequence[ChatMessage],
        shown: Sequence[ChatMessage],
    ) -> tuple[Situation, ContextItems, tuple[str, ...], tuple[str, ...]]:
        """Return what a prompt tells beside the talk: situation, items, new lines, and ending."""
        lines = [event.heard.line for event in asking.events]
        brief = not asking.form.native
        situation = self._mind.world.situation(self._mind.character)
        threshold = self._mind.config.mask_threshold
        if context.tools is None and self._meter.measure().ratio >= threshold:
            situation = replace(situation, notes=(*situation.notes, PRESSURE))
        rows = situation_rows(shown_scene(situation, asking.form), quarter_of(self._mind.now()))
        late_tools = filter(None, map(asking.form.tell, asking.late_tools))
        asks = brief and "?" in " ".join(lines[-1:])
        # What a small model was told long ago it finds behind the question alone (measured).
        near = [message["metadata"] for message in (shown[-NEAR:] if asks else shown)]
        talk, seqs = latest_talk(visible, lines), [meta["seq"] for meta in near if "seq" in meta]
        secret = any(map(is_private, shown))
        upto = min(seqs) - 1 if seqs else None
        items = self._selector.select(audience, talk, rows, tuple(late_tools), secret, upto, brief)
        if asking.refused == FORGOT:  # tell the recalled words that the reply left out
            recalled, question = [line.text for line in items.recalled], asking.events[-1].heard
            addressee = addressee_of(asking.events)
            problem = left_out(question.text, "", recalled, addressee, self._mind.name)
            asking = replace(asking, refused=f'{FORGOT}: "{problem}"')
        asks_back = asks and bool(items.recalled)
        hints = (RECALL * asks_back, self._language(asking, talk))
        # All new lines together have a character for each token of the window.
        shorter = tuple(shortened(lines, self._meter.window))
        return situation, items, shorter, self._ending(context, asking, *hints)

    def _language(self, asking: PromptRequest, talk: RecentTalk) -> str:
        """Return the language to answer in, if it is not the persona's."""
        addressee = addressee_of(asking.events)
        earlier = (parse_heard_line(line, "") for line in reversed(talk.before))
        before = [words for speaker, words, _evidence in earlier if speaker == addressee]
        new = [event.heard.text for event in reversed(asking.events)]
        return answer_in([*new, *before], render_persona(self._mind.who.persona)) if new else ""

    def _scenes(
        self, rows: Sequence[Row], audience: Audience, asking: PromptRequest
    ) -> list[ChatMessage]:
        """Return rows as scenes before the lines to be answered."""
        ids = {event.id for event in asking.events}
        after = end_of_talk(self._mind.log.view(), asking.turn_id, ids)
        return list(make_scenes(rows, after, audience, self._mind.settings.count_text))

    def opening(self, asking: PromptRequest) -> PromptOpening:
        """Return the rules, which are the same for every character of a game, and the persona."""
        rules = asking.form.rules(asking.tools)
        persona = f"You are {self._mind.name}.\n{render_persona(self._mind.who.persona)}"
        if asking.form.persona_in_system:
            whole = f"{rules}\n\n{unmarked(persona)}"
            return PromptOpening(({"role": "system", "content": whole},), len(rules))
        system = {"role": "system", "content": rules}
        return PromptOpening((system, user(fenced("you", unmarked(persona)))), len(rules))

    def _ending(self, context: TurnKind, asking: PromptRequest, *hints: str) -> tuple[str, ...]:
        """Return the texts behind the new lines: a task with the form's question, and after a
        refused reply what was wrong, with the question once more."""
        # The second asking extends the first: whoever caches prompts has read all but its end.
        question = " ".join(filter(None, (self.question(asking), *hints)))
        again = AGAIN.format(reason=asking.refused) if asking.refused else ""
        rows = [(context.prompt, question), (again, question) if again else ()]
        texts = ("\n".join(filter(None, row)) for row in rows)
        return tuple(unmarked(text) for text in texts if text)

    def question(self, asking: PromptRequest) -> str:
        """Return the form's question, "" for none."""
        return asking.form.question(self._mind.name, addressee_of(asking.events))

    def ask_with(self, turn: ports.TurnRecord, specs: Iterable[ports.ToolSpec]) -> PromptRequest:
        """Return what a model call of a turn is about, in the form of the assistant's model."""
        return PromptRequest(turn.events, turn.id, request_form(self._mind.profile)).offering(specs)

    def request(
        self, turn: ports.TurnRecord, prompt: Prompt, asking: PromptRequest, step: int
    ) -> ports.LLMRequest:
        config, form = self._mind.config, asking.form
        warmth = form.temperature if config.temperature is None else config.temperature
        if warmth is not None and asking.refused:
            warmth += RETRY_WARMTH
        request = ports.LLMRequest(
            messages=prompt.messages,
            tools=asking.tools,
            late_tools=asking.late_tools,
            max_tokens=config.max_reply_tokens,
            temperature=warmth,
            tokens=prompt.tokens,
            caller=replace(
                self._calls.caller(turn.askers, background=not turn.events),
                turn_id=turn.id,
                unpaid_share=min(1.0, prompt.others_tokens / max(1, prompt.tokens)),
            ),
            form=form.name,
            addressee=prompt.addressee,
            trace=replace(prompt.trace, step=step, withheld=asking.withheld),
            authors=prompt.authors,
            situation=prompt.situation,
            events=turn.events,
            source=ports.RequestSource(self._mind, turn, prompt, asking.undone),
        )
        return replace(
            request, response_schema=form.response_schema(request.asked, asking.words_only)
        )


def shown_scene(situation: Situation, form: ToolCallMode) -> Situation:
    """Return what a prompt tells of the situation: of the place less where a model reads slowly."""
    if form.native:
        return situation
    exits = tuple(name.partition(" (")[0] for name in situation.exits)
    description = cut_text(situation.description, SLOW_PLACE_CHARS)
    return replace(situation, description=description, exits=exits)


def tokens_of_others(messages: Iterable[ChatMessage], speakers: Collection[str]) -> int:
    """Return the tokens of the lines that others than these speakers said."""
    lines = (line for line in messages if line["role"] == "user" and not is_scene(line))
    spoken = ((line["metadata"].get("speaker"), line) for line in lines)
    return sum(stored_tokens(line) for who, line in spoken if who and who not in speakers)


class PromptOpening(NamedTuple):
    """The beginning of a prompt, and how much of its first message are the rules."""

    messages: tuple[WireMessage, ...]
    rules_chars: int


def addressee_of(events: Sequence[InboxEvent]) -> str:
    """Return the name of whoever spoke last, "" if nobody did."""
    return events[-1].heard.speaker_name if events else ""


def shortened(lines: Sequence[str], room_chars: int) -> list[str]:
    """Return all lines; if they are too long together, each is cut to its share."""
    if sum(map(len, lines)) <= room_chars:
        return list(lines)
    share = max(LEAST_LINE_CHARS, room_chars // len(lines))
    return [cut_text(line, share) for line in lines]
