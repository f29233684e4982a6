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
from evennia_ai.policy.context.projection import (
    bound_overheard,
    is_marker,
    last_exchange,
    newest_that_fit,
    shortened,
    visible_items,
)
from evennia_ai.policy.context.situation_updates import (
    Row,
    end_of_talk,
    fold_unanswered,
    in_order,
    make_scenes,
    news,
    scene_text,
    searched_upto,
    situation_rows,
    split_events,
    split_turn,
)
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry, render_persona
from evennia_ai.policy.facts.terms import parse_heard_line
from evennia_ai.policy.texts import fenced
from evennia_ai.policy.tokens import count_message, stored_tokens
from evennia_ai.policy.tool_call_modes import plain_prompt
from evennia_ai.policy.tool_call_modes.form import (
    AGAIN,
    AGAIN_PLAIN,
    TOOLS_FORM,
    Schema,
    ToolCallMode,
    answer_in,
    described,
)
from evennia_ai.policy.tool_call_modes.wire_order import count_request, past_text
from evennia_ai.turn.context_selection import ContextItems, ContextSelector, latest_talk
from evennia_ai.turn.context_use import ContextMeter
from evennia_ai.turn.line_notes import LineNotes
from evennia_ai.turn.model_call import ModelCalls
from evennia_ai.turn.prompt_contexts import PRESSURE, TurnKind
from evennia_ai.turn.prompt_trace import trace_talk
from evennia_ai.turn.recall import RecentTalk

RETRY_WARMTH = 0.4  # a colder model says the same again
# Tokens of the last exchange, which is all of the talk that a plain prompt shows: a small model
# copies what it said in a longer one (24 of 27 facts told without any, 20 with two exchanges).
PLAIN_TALK = 128
# Share of the window kept for what is new. News within it never move the start of the talk.
TAIL_ROOM = 1 / 8
# Share of the talk's room that may be lines said to others: the context is for those who ask.
OVERHEARD_SHARE = 1 / 4


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
    authors: Authors = frozenset()  # everybody whose words it holds (`policy.audience`)
    others_tokens: int = 0  # of lines of people who are not answered
    by_code: str = ""  # the game's text that answers it better than a small model
    grounds: plain_prompt.Grounds = plain_prompt.NO_GROUNDS  # of a small model's reply


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
    undone: frozenset[str] = frozenset()  # ids of the turn's tool calls that were not done
    notes: tuple[str, ...] = ()  # what code tells of the newest line
    fact: str = ""  # what surely answers it

    def offering(self, specs: Iterable[ports.ToolSpec]) -> PromptRequest:
        """Return it with these tools; a request shows the schemas of those that are needed."""
        offered = tuple(specs)
        return replace(
            self,
            tools=[spec.schema for spec in offered if spec.shown],
            late_tools=[spec.schema for spec in offered if spec.late],
            tool_tokens=sum(s.tokens for s in offered if s.shown) if self.form.native else 0,
        )


@dataclass(eq=False)
class PromptBuilder:
    """Builds prompts and the requests that hold them."""

    _mind: ports.MindContext
    _meter: ContextMeter
    _selector: ContextSelector
    _calls: ModelCalls
    _line_notes: LineNotes

    def build(
        self, context: TurnKind, audience: Audience, asking: PromptRequest = PromptRequest()
    ) -> Prompt:
        """Return a prompt: rules and persona, the talk with its scenes, and what to answer.

        ``audience`` are the dbrefs of everybody who will hear the answer; it selects what the
        prompt may hold. Everything before the recalled lines is the beginning of the next prompt,
        too: of what the character perceives, a new scene tells what the scenes in view do not.
        What this turn did already stands behind the new lines.
        """
        if not asking.form.native:
            return self._build_plain(context, audience, asking)
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
        if is_talk:
            excuses = self._mind.log.current.excuses
            older = fold_unanswered(older, excuses, audience, count_text)
        scenes = select_visible(self._mind.log.current.scenes, audience)
        talk = in_order([*older, *self._selector.standing(scenes, audience)])
        kept = newest()
        tail = self._tail(context, audience, asking, visible, [*kept, *new])
        rows, passing = tail.items.rows, self._scenes(tail.items.passing, audience, asking)
        fresh = self._scenes(news(rows, filter(is_scene, kept)), audience, asking)
        rest = sum(count(user(text)) for text in (*tail.lines, *tail.ending))
        shown = newest(rest + sum(map(stored_tokens, [*fresh, *passing])))
        if len(shown) < len(kept):  # what is told now takes so much room that older talk goes
            fresh = self._scenes(news(rows, filter(is_scene, shown)), audience, asking)
        shown = in_order([*shown, *fresh, *passing])
        prompt = self._assemble(audience, asking, opening, tail, shown)
        if is_talk:  # the largest; with fewer tools a full context would look empty
            self._note_overhead(prompt, [m for m in (*shown, *new) if m not in passing])
        return replace(prompt, scenes=tuple(fresh))

    def _build_plain(self, context: TurnKind, audience: Audience, asking: PromptRequest) -> Prompt:
        """Return a short prompt: persona, examples, the situation, a little talk, and the line.

        The situation stands before the talk, so that the beginning stays as it is. Lore and
        memories stand directly before the line that they may answer.
        """
        visible = visible_items(self._mind.log.view(), audience)
        older, new = split_events(visible, {event.id for event in asking.events})
        texts = map(self._mind.services.text, plain_prompt.IN_PLACE_OF_MODEL)
        fixed = "\n".join(texts).splitlines()  # would be said again
        older = bound_overheard(older, int(OVERHEARD_SHARE * PLAIN_TALK), stored_tokens)
        talk, own_acts = split_turn(older, asking.turn_id)
        last = last_exchange([message for message in talk if not is_marker(message)])
        last = [] if {*fixed}.intersection(map(past_text, last)) else last
        kept = [*(newest_that_fit(last, PLAIN_TALK, stored_tokens) if last else ()), *own_acts]
        tail = self._tail(context, audience, asking, visible, [*kept, *new])
        line = asking.events[-1].heard.line if asking.events else ""
        known = (bool(tail.language), bool(own_acts or asking.notes), bool(asking.fact))
        read = self._line_notes.read(line, tail.before, tail.items.rows, tail.items.passing, *known)
        if read.note:
            tail = tail._replace(ending=(plain_prompt.note(unmarked(read.note)), *tail.ending))
        first = min((message["metadata"].get("seq", 0) for message in (*kept, *new)), default=0)
        here = self._scenes(read.now, audience, asking, after=first - 1)
        behind = self._scenes(read.answers, audience, asking)
        shown = in_order([*here, *kept, *behind])
        examples = plain_prompt.messages_of(plain_prompt.in_language(tail.language)[:1])
        before = (examples, len(behind))
        prompt = self._assemble(audience, asking, self.opening(asking), tail, shown, before)
        code, grounds = plain_prompt.said_or_checked(asking.fact, read)
        prompt = replace(prompt, by_code="" if asking.refused else code, grounds=grounds)
        self._note_overhead(prompt, [*kept, *new])
        return prompt

    def _note_overhead(self, prompt: Prompt, in_view: Iterable[ChatMessage]) -> None:
        """Note what a prompt takes beside the messages of the log."""
        rest = prompt.tokens - sum(map(stored_tokens, in_view))  # many new lines take less together
        self._meter.sizes.overhead = max(0, rest)

    def _assemble(
        self,
        audience: Audience,
        asking: PromptRequest,
        opening: PromptOpening,
        tail: PromptTail,
        shown: Sequence[ChatMessage],
        examples: tuple[Sequence[WireMessage], int] = ((), 0),
    ) -> Prompt:
        """Return the prompt of these parts; ``shown`` are its talk and scenes in order.

        ``examples`` stand before so many of its last scenes.
        """
        talk_messages, own = split_turn(shown, asking.turn_id)
        secret = any(map(is_private, shown)) or any(event.heard.secret for event in asking.events)
        trace = replace(
            trace_talk(self._mind.log, talk_messages, own),
            audience=tuple(sorted(audience)),
            private=secret,
            opening=opening.messages,
            rules_chars=opening.rules_chars,
            examples=tuple(examples[0]),
            behind_examples=examples[1],
            lines=tail.lines,
            ending=tail.ending,
            acts_last=asking.form.native,  # native results are always the last
        )
        messages = assembled(trace, to_wire(talk_messages), to_wire(own))
        style = wire_style(self._mind.profile, asking.form.name)
        tokens = count_request(messages, style, count_text=self._mind.settings.count_text)
        return Prompt(
            messages=messages,
            private=secret,
            tokens=tokens + asking.tool_tokens,
            situation=tail.situation,
            lore=tail.items.lore,
            authors=self._selector.authors_of(asking.events, shown, tail.situation),
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
    ) -> PromptTail:
        """Return what a prompt tells beside the talk."""
        lines = [event.heard.line for event in asking.events]
        brief = not asking.form.native
        situation = self._mind.world.situation(self._mind.character)
        threshold = self._mind.config.mask_threshold
        if context.tools is None and not brief and self._meter.measure().ratio >= threshold:
            situation = replace(situation, notes=(*situation.notes, PRESSURE))
        scene = plain_prompt.short_scene(situation) if brief else situation
        rows = situation_rows(scene, self._mind.world_clock.moment())
        late_tools = map(described, asking.late_tools) if asking.form.native else ()
        upto, secret = searched_upto(shown), any(map(is_private, shown))
        searched = (m for m in shown if upto and m["metadata"].get("seq", upto + 1) <= upto)
        talk = replace(latest_talk(visible, lines), shown=[*map(past_text, searched)])
        language = self._language(asking, talk)
        items = self._selector.select(
            audience, talk, rows, tuple(late_tools), secret, upto, brief, brief and bool(language)
        )
        # An example in that language tells more than a hint.
        hint = "" if brief and plain_prompt.in_language(language) else language
        if brief:  # a small model takes its own name for that of whoever speaks
            lines = [self._line_notes.unaddressed(line) for line in lines]
        # All new lines together have a character for each token of the window.
        shorter = tuple(shortened(lines, self._meter.window))
        ending = self._ending(context, asking, *asking.notes, hint)
        return PromptTail(situation, items, shorter, ending, language, talk.before)

    def _language(self, asking: PromptRequest, talk: RecentTalk) -> str:
        """Return the language to answer in, if it is not the persona's."""
        addressee = addressee_of(asking.events)
        earlier = (parse_heard_line(line, "") for line in reversed(talk.before))
        before = [words for speaker, words, _evidence in earlier if speaker == addressee]
        new = [event.heard.text for event in reversed(asking.events)]
        return answer_in([*new, *before], render_persona(self._mind.who.persona)) if new else ""

    def _scenes(
        self,
        rows: Sequence[Row],
        audience: Audience,
        asking: PromptRequest,
        after: int | None = None,
    ) -> list[ChatMessage]:
        """Return rows as scenes behind a message, by default before the lines to be answered."""
        if after is None:
            ids = {event.id for event in asking.events}
            after = end_of_talk(self._mind.log.view(), asking.turn_id, ids)
        speaker = addressee_of(asking.events)
        plain_scene = partial(plain_prompt.plain_scene, speaker=speaker)
        render = scene_text if asking.form.native else plain_scene
        count_text = self._mind.settings.count_text
        return list(make_scenes(rows, after, audience, count_text, render))

    def opening(self, asking: PromptRequest) -> PromptOpening:
        """Return the rules, which are the same for every character of a game, and the persona."""
        rules, name, persona = asking.form.rules, self._mind.name, self._mind.who.persona
        if not asking.form.native:
            own = unmarked(plain_prompt.short_persona(name, persona))
            system = {"role": "system", "content": f"{rules}\n\n{own}"}
            always = plain_prompt.messages_of(plain_prompt.ALWAYS)
            return PromptOpening((system, *always), len(rules))
        # Chat templates put native tools behind the system message, and the persona comes after.
        system = {"role": "system", "content": rules}
        who = "" if name in persona.text else f"You are {name}.\n"
        own = fenced("you", unmarked(who + render_persona(persona)))
        return PromptOpening((system, user(own)), len(rules))

    def _ending(self, context: TurnKind, asking: PromptRequest, *hints: str) -> tuple[str, ...]:
        """Return the texts behind the new lines: a task, hints, and what was wrong with a reply."""
        # The second asking extends the first: whoever caches prompts has read all but its end.
        form = AGAIN if asking.form.native else AGAIN_PLAIN
        again = form.format(reason=asking.refused) * bool(asking.refused)
        texts = [unmarked(text) for text in (context.prompt, *hints, again) if text]
        return tuple(texts if asking.form.native else map(plain_prompt.note, texts))

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
        return ports.LLMRequest(
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
            stop=form.stop,
            trace=replace(prompt.trace, step=step, withheld=asking.withheld),
            authors=prompt.authors,
            situation=prompt.situation,
            events=turn.events,
            source=ports.RequestSource(self._mind, turn, prompt, asking.undone),
        )


def tokens_of_others(messages: Iterable[ChatMessage], speakers: Collection[str]) -> int:
    """Return the tokens of the lines that others than these speakers said."""
    lines = (line for line in messages if line["role"] == "user" and not is_scene(line))
    spoken = ((line["metadata"].get("speaker"), line) for line in lines)
    return sum(stored_tokens(line) for who, line in spoken if who and who not in speakers)


class PromptTail(NamedTuple):
    """What a prompt tells beside the talk: the situation, items, the new lines, and its ending."""

    situation: Situation
    items: ContextItems
    lines: tuple[str, ...]
    ending: tuple[str, ...]
    language: str  # which one to answer in, if it is not the persona's
    before: Sequence[str] = ()  # the last lines before the new ones


class PromptOpening(NamedTuple):
    """The beginning of a prompt, and how much of its first message are the rules."""

    messages: tuple[WireMessage, ...]
    rules_chars: int


def addressee_of(events: Sequence[InboxEvent]) -> str:
    """Return the name of whoever spoke last, "" if nobody did."""
    return events[-1].heard.speaker_name if events else ""
