"""The requests by which a model journals before a compaction, in the mode of the model.

A model with native tool calls sees the talk as in a turn, with the request at its end, so that the
provider's prompt cache serves it. If that does not fit, if the talk has already left its view, or
if the model has no native calls, it sees the messages that go, as a transcript in pieces; without
native calls it answers with one JSON object at a time.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from twisted.internet.defer import inlineCallbacks

from evennia_ai import ports
from evennia_ai.config import usable_window
from evennia_ai.config.profiles import request_form
from evennia_ai.messages import (
    Audience,
    Authors,
    ChatMessage,
    LLMReply,
    ToolCallRequest,
    WireMessage,
    to_wire,
    unmarked,
)
from evennia_ai.policy.audience import of_messages
from evennia_ai.policy.compaction.restored_context import entry_ref
from evennia_ai.policy.compaction.summary import DONE, summary_material, transcript_lines
from evennia_ai.policy.compaction.unverified_claims import Talk
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.policy.facts.origin import ShownContext
from evennia_ai.policy.facts.terms import normal_words
from evennia_ai.policy.records.record import TRUST, Record
from evennia_ai.policy.replies.reply_reader import numbered, parameters
from evennia_ai.policy.replies.text_tool_calls import read_text_calls
from evennia_ai.policy.sanitize import strip_reasoning
from evennia_ai.policy.texts import read_object, request
from evennia_ai.policy.tokens import stored_tokens
from evennia_ai.policy.tool_call_modes.form import PLAIN, TOOLS, Call, described
from evennia_ai.scheduling import Coroutine, map_in_slices, retry_write
from evennia_ai.sleep.compaction.summarising import in_chunks
from evennia_ai.turn.llm_interaction import Summariser, can_judge
from evennia_ai.turn.model_call import ModelCalls
from evennia_ai.turn.prompt_building import PromptBuilder
from evennia_ai.turn.prompt_contexts import (
    JOURNAL_APART,
    JOURNAL_PLAINLY,
    PLAIN_NOTES,
    PLAIN_TALK,
    TurnKind,
)
from evennia_ai.turn.prompt_trace import trace_apart

PIECE_PART = 0.5  # of the window, for a piece of a transcript
# A small model overlooks most of a long transcript: of ten facts in 30 lines it noted 2, of the
# same lines in three pieces 7 (Qwen 2.5 1.5B).
LEAST_PIECE_TOKENS = 150
COPIED = 0.3  # of an entry's words in one line, for the entry to tell of that line
ENTRY = "add_journal_entry"
THOUGHT = "inference"  # the source of an entry that nobody stated
LEAST_REPLY_TOKENS = 400
ONE_OBJECT = """\
Answer with one JSON object and nothing else, such as
{"name": "add_journal_entry", "arguments": {"content": "..."}}
and with {"name": "noop", "arguments": {}} when nothing is left to write."""
NO_OBJECT = "That was no such JSON object. Nothing was written down."


@dataclass(frozen=True)
class JournalRequest:
    """The first request of a loop; ``shown`` and ``authors`` are of what it shows.

    ``quotes`` are the shown lines as entries, None for a model that is trusted to tell of them.
    """

    first: ports.LLMRequest
    shown: ShownContext
    authors: Authors
    quotes: Sequence[str] | None = None

    @property
    def is_plain(self) -> bool:
        """Return True if the model answers with a JSON object in its text."""
        return self.first.form == PLAIN

    def at_step(self, step: int, so_far: Sequence[WireMessage], may_wait: bool) -> ports.LLMRequest:
        """Return the request of a step from 1 on, after what was said in the steps before."""
        trace = replace(self.first.trace, step=step) if self.first.trace else None
        caller = replace(self.first.caller, may_wait=may_wait)
        messages = [*self.first.messages, *so_far]
        return replace(self.first, messages=messages, tokens=0, trace=trace, caller=caller)

    def read(self, reply: LLMReply) -> LLMReply:
        """Return a reply with the calls in its text, if the model writes them there."""
        if not self.is_plain:
            return reply
        schemas = parameters(self.first.tools)
        calls = [(call.name, call.arguments) for call in reply.tool_calls if call.name in schemas]
        calls += read_text_calls(strip_reasoning(reply.content), schemas).calls
        kept = dict.fromkeys(filter(None, map(self._quoted, calls)))
        return replace(reply, tool_calls=tuple(numbered(kept)))

    def _quoted(self, call: Call) -> Call | None:
        """Return a call that notes the line which an entry tells, None if no line does.

        A small model names the wrong people in one entry of four, but it finds the lines.
        """
        name, arguments = call
        if self.quotes is None or name != ENTRY:
            return call
        words = frozenset(normal_words(str((read_object(arguments) or {}).get("content", ""))))
        lines = self.shown.lines
        named = frozenset[str]().union(*(line.name for line in lines if line.name <= words))
        content = words.difference(*(line.name for line in lines))
        shares = [(len(content & line.words), named <= line.words) for line in lines]
        best = max(shares, default=(0, False))
        if best[0] < max(1, COPIED * len(content)):
            return None
        quote = self.quotes[shares.index(best)]
        return name, json.dumps({"content": quote}, ensure_ascii=False)

    def answered(
        self, reply: LLMReply, calls: Sequence[ToolCallRequest], results: Sequence[ChatMessage]
    ) -> list[WireMessage]:
        """Return a reply and the results of its calls, as the next request shows them."""
        if not self.is_plain:
            return to_wire(results)
        texts = [str(message["content"]) for message in results if message["role"] == "tool"]
        written = [call_text(call) for call in calls] or [reply.content.strip() or "-"]
        return [
            {"role": "assistant", "content": "\n".join(written)},
            {
                "role": "user",
                "content": "\n".join([*(texts if calls else [NO_OBJECT]), ONE_OBJECT]),
            },
        ]


def call_text(call: ToolCallRequest) -> str:
    """Return a call as the JSON object that a model of plain words writes."""
    return f'{{"name": "{call.name}", "arguments": {call.arguments or "{}"}}}'


def evicted_by(records: Iterable[CompactionRecord], lines: ports.Lines) -> Iterator[ChatMessage]:
    """Yield the lines that some compactions evicted."""
    for record in records:
        seqs = record.from_seq - 1, record.upto_seq
        yield from (message for message, _ in lines.after(*seqs, record.compacted_count, ""))


def heard_in(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the lines that others said or did, of some messages."""
    return [m for m in messages if m["role"] == "user" and "type" not in m["metadata"]]


@dataclass(frozen=True, eq=False)
class JournalRequests:
    """Makes the requests of the loops."""

    _mind: ports.MindContext
    _prompts: PromptBuilder
    _calls: ModelCalls
    _summariser: Summariser

    def with_talk(
        self, turn: ports.TurnRecord, context: TurnKind, specs: Sequence[ports.ToolSpec]
    ) -> tuple[ports.LLMRequest, Authors]:
        """Return a request with the whole talk in view, and the authors of what it shows."""
        asking = self._prompts.ask_with(turn, specs)
        prompt = self._prompts.build(context, turn.audience, asking)
        return self._prompts.request(turn, prompt, asking, 1), prompt.authors

    def pieces(self, messages: Sequence[ChatMessage], most: int) -> list[list[ChatMessage]]:
        """Return messages in pieces that fit a request, the newest ``most`` of them."""
        size = longest = int(PIECE_PART * usable_window(self._mind.config, self._mind.profile))
        if not request_form(self._mind.profile).native:
            tokens = sum(map(stored_tokens, messages))
            # One call is left for a reply without an object.
            size = min(size, max(LEAST_PIECE_TOKENS, int(tokens / max(1.0, most - 1.5))))
        pieces = in_chunks(messages, size, self._mind.name)
        while len(pieces) > most and size < longest:  # long messages fill pieces unevenly
            size = min(longest, 2 * size)
            pieces = in_chunks(messages, size, self._mind.name)
        return pieces[-most:]

    def quotes(self, messages: Sequence[ChatMessage]) -> list[str] | None:
        """Return as entries the lines of a piece, in order; None for a model with native calls.

        Nor for a game's own prompt, which may ask for entries of another kind.
        """
        if request_form(self._mind.profile).native or self._mind.config.pre_compact_prompt:
            return None
        return [unmarked(message["content"]) for message in heard_in(messages)]

    def apart(
        self,
        turn: ports.TurnRecord,
        audience: Audience | None,
        messages: Sequence[ChatMessage],
        specs: Sequence[ports.ToolSpec],
    ) -> tuple[ports.LLMRequest, Authors]:
        """Return a request with one piece of a talk, and the authors of what it shows."""
        name, form = self._mind.name, TOOLS if request_form(self._mind.profile).native else PLAIN
        schemas = [spec.schema for spec in specs]
        own, example = self._mind.config.pre_compact_prompt, list[WireMessage]()
        task = own or JOURNAL_APART.format(name=name)
        if form == PLAIN and own:
            task = "\n\n".join([task, *map(described, schemas), ONE_OBJECT])
        elif form == PLAIN:
            task = JOURNAL_PLAINLY.format(name=name)
            example = [
                {"role": "user", "content": PLAIN_TALK.format(name=name)},
                {"role": "assistant", "content": PLAIN_NOTES.format(name=name)},
            ]
        material = summary_material("", transcript_lines(messages, name, with_results=False))
        authors = of_messages(messages)
        system, user = request(task, material, with_marks=True)
        whole = replace(
            self._calls.background_request(
                [system, *example, user],
                max(LEAST_REPLY_TOKENS, self._mind.config.max_reply_tokens),
            ),
            tools=schemas,
            form=form,
            trace=trace_apart(audience),
            authors=authors,
        )
        if form == PLAIN:
            whole = replace(whole, temperature=0.0)  # else a small model invents
        return replace(whole, caller=replace(whole.caller, turn_id=turn.id)), authors

    @inlineCallbacks
    def doubt(
        self, refs: Iterable[str], shown: Sequence[ChatMessage], audience: Audience | None
    ) -> Coroutine[None]:
        """Make entries the character's own thoughts or not, as the model judges that is asked anew.

        ``refs`` name what was written down of the messages ``shown``, all for one audience. The
        words in common, which decided before, take 3 of 40 retold facts for thoughts.
        """
        journal, profile = self._mind.character.journal, self._mind.profile
        new = filter(None, (journal.find(ref.removeprefix(entry_ref(""))) for ref in refs))
        entries = {entry["content"]: entry for entry in new}
        if not entries or not can_judge(self._mind.config, profile):
            return
        talk: Talk = yield self._summariser.read_talk(transcript_lines(shown, self._mind.name))
        deeds = yield map_in_slices(self._mind.slices.put, list(entries), talk.deed)
        template = replace(
            self._calls.background_request((), self._mind.config.max_reply_tokens),
            trace=trace_apart(audience),
            authors=of_messages(shown),
        )
        verdicts = yield self._summariser.ask_what_holds(talk, deeds, template, profile)
        judged = [(entries[text], verdict == DONE) for text, verdict in verdicts.items()]
        changed = {
            entry["id"]: source_fields(entry, is_held)
            for entry, is_held in judged
            if is_held == (entry["source_type"] == THOUGHT)
        }
        if changed:
            yield retry_write(self._mind.clock, partial(journal.update_all, changed))


def source_fields(entry: Record, is_held: bool) -> dict[str, object]:
    """Return an entry's fields that tell whether somebody stated it or it is a thought."""
    speakers = entry["speakers"]
    kind = ("direct" if speakers else "observation") if is_held else THOUGHT
    told_by = speakers[0] if is_held and len(speakers) == 1 else ""
    return {"source_type": kind, "source_entity": told_by, "trust": TRUST[kind]}
