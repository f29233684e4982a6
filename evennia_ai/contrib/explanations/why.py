"""Why a line was said: its turn, the prompt with its parts, and the source of each sentence."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Max, Q

from evennia_ai import models
from evennia_ai.contrib.explanations.attribution import Attribution, PromptPart, attribute, parts_of
from evennia_ai.contrib.explanations.stored_calls import StoredCall, load_call
from evennia_ai.messages import (
    EXCUSE,
    OWN_RESULTS,
    ChatMessage,
    is_excuse,
    is_puppeted,
    make_message,
)
from evennia_ai.policy.call_record import PromptTrace
from evennia_ai.policy.conversation.tool_call_rules import step_of
from evennia_ai.policy.facts.terms import sentences_of, words_of_calls
from evennia_ai.policy.texts import read_object
from evennia_ai.ports import TASK_SUMMARY
from evennia_ai.store.conversation import MASK
from evennia_ai.store.reports import WORDS_IN, public_calls, rows_with
from evennia_ai.store.rows import message_from_row, rows_of

PAGE = 50
MOST_ROWS = 5_000
# How a stored prompt compares with the one that was sent.
EXACT, CHANGED, ERASED, UNKEPT = "exact", "changed", "erased", "unkept"


@dataclass(frozen=True)
class Explanation:
    """Everything that is known of one line."""

    message: ChatMessage
    text: str
    turn: models.Turn | None  # with its events, model calls and tool calls; None outside the talk
    call: models.ModelCall | None = None  # None if no model chose the line
    acts: Sequence[models.ToolCall] = ()  # the tool calls of the turn up to the reply's own
    state: str = UNKEPT  # whether the parts are the prompt as it was sent
    missing: int = 0  # messages of it that the log has lost
    stored: StoredCall | None = None
    parts: Sequence[PromptPart] = ()
    sentences: Sequence[Attribution] = ()

    @property
    def private(self) -> bool:
        """Return True if only the audience of the prompt may read it."""
        of_prompt = self.stored is not None and self.stored.kept.trace.private
        of_turn = self.turn is not None and self.turn.private
        return of_prompt or of_turn or bool(self.message["metadata"].get("private"))

    @property
    def reply_private(self) -> bool:
        """Return True if the reply did something in private, also beside a line said aloud."""
        if self.private or self.turn is None:
            return self.private
        public = public_calls([self.turn.id])
        return any((self.turn.id, act.call_id) not in public for act in self.acts)

    @property
    def is_by_code(self) -> bool:
        """Return True if code answered what was heard, in the place of a model."""
        turn, message = self.turn, self.message
        if turn is None or self.call is not None or is_excuse(message) or is_puppeted(message):
            return False
        return bool(turn.events.all()) and not (turn.detail or turn.model_calls.all())

    @property
    def is_offline(self) -> bool:
        """Return True if the stand-in answered: it is sent no prompt."""
        return self.call is not None and self.call.prompt_tokens == 0


def find_line(
    assistant_id: int, number: int, words: str = "", with_private: bool = True
) -> ChatMessage | None:
    """Return the ``number``-th last line of an assistant with some words; a reply counts once.

    Words are searched in private lines only ``with_private``: that they exist would tell something.
    """
    lines = dict[Any, ChatMessage]()
    for message in own_lines(assistant_id, words, with_private):
        if words_said(message):
            lines.setdefault(reply_key(message), message)
        if len(lines) == number:
            return message
    return None


def own_lines(assistant_id: int, words: str, with_private: bool) -> Iterator[ChatMessage]:
    """Yield what an assistant said or did itself, the newest first, up to `MOST_ROWS` rows."""
    own = Q(role="assistant") | Q(role=EXCUSE)
    rows = rows_of(models.Message, assistant_id).filter(own).order_by("-id")
    if words:
        rows = rows_with(rows, words, *WORDS_IN)
        if not with_private:
            rows = rows.filter(private=False).exclude(turn__private=True)
    for start in range(0, MOST_ROWS, PAGE):
        page = rows[start : start + PAGE]
        if not page:
            return
        yield from map(message_from_row, page)


def reply_key(message: ChatMessage) -> tuple[Any, ...]:
    """Return what the lines of one reply to the same people share."""
    meta, calls = message["metadata"], message.get("tool_calls") or [{"id": ""}]
    if is_puppeted(message):
        return (meta["seq"],)
    turn, audience = meta.get("turn_id"), (*meta["audience"], bool(meta.get("private")))
    return (turn, step_of(calls[0]["id"]), is_excuse(message), audience) if turn else (meta["seq"],)


def lines_of(turn_id: int | None) -> list[ChatMessage]:
    """Return what a character said or did itself in a turn, oldest first."""
    rows = models.Message.objects.filter(turn_id=turn_id, role__in=("assistant", EXCUSE))
    messages = map(message_from_row, rows.order_by("id"))
    return [m for m in messages if words_said(m) and not is_puppeted(m)]


def numbers_of(turn: models.Turn) -> list[int]:
    """Return the numbers of the messages of a turn, heard lines among them."""
    return [*models.Message.objects.filter(turn=turn).values_list("id", flat=True)]


def words_said(message: ChatMessage) -> str:
    return " ".join(filter(None, [message["content"], *words_of_calls(message)]))


def explain(message: ChatMessage, names: Sequence[str]) -> Explanation:
    """Return why a line was said, with all lines of its reply; ``names`` are the character's."""
    meta, key = message["metadata"], reply_key(message)
    if is_puppeted(message):
        return Explanation(message, words_said(message), None)
    lines = [m for m in lines_of(meta.get("turn_id")) if reply_key(m) == key] or [message]
    text = " ".join(map(words_said, lines))
    turns = models.Turn.objects.prefetch_related("events", "model_calls", "tool_calls")
    turn = turns.filter(id=meta.get("turn_id")).first()
    if turn is None or meta.get("type") == EXCUSE:
        return Explanation(message, text, turn)
    step = step_of(call_id_of(message, turn))
    acts = [act for act in turn.tool_calls.all() if step_of(act.call_id) <= step]
    call, stored, state = call_of(turn.model_calls.all(), step)
    explanation = Explanation(message, text, turn, call, acts, state, stored=stored)
    return with_sources(explanation, names)


def with_sources(why: Explanation, names: Sequence[str]) -> Explanation:
    """Return an explanation with the parts of its prompt and the sources of its sentences."""
    stored = why.stored
    if stored is None:
        return why
    parts = parts_of(stored.kept, stored.marker, stored.talk, stored.own)
    sentences = attribute(why.text, parts, names)
    if why.is_offline:  # what it found nowhere is a line of its own, and no claim
        sentences = [replace(sentence, tells=sentence.source is not None) for sentence in sentences]
    return replace(why, missing=stored.missing, parts=parts, sentences=sentences)


def find_call(assistant_id: int, purpose: str, number: int) -> models.ModelCall | None:
    """Return the ``number``-th last reply that an assistant got for a purpose, from 1."""
    rows = rows_of(models.ModelCall, assistant_id).filter(purpose=purpose, error_kind="")
    return next(iter(rows.order_by("-id")[number - 1 : number]), None)


def explain_call(call: models.ModelCall, names: Sequence[str]) -> Explanation:
    """Return what a call outside the talk was asked, and the reply, or the summary made of it."""
    _call, stored, state = call_of([call])
    trace = stored.kept.trace if stored else PromptTrace()
    text = stored.kept.reply.text if stored else ""
    if call.purpose == TASK_SUMMARY:
        text = summary_of(call, trace.part, text)
    audience, at = sorted(trace.audience), call.at.isoformat()
    message = make_message("assistant", text, audience=audience, at=at)
    return with_sources(Explanation(message, text, None, call, (), state, stored=stored), names)


def summary_of(call: models.ModelCall, part: str, reply: str) -> str:
    """Return the part of the next compaction's summary that was made of a reply, "" for none."""
    rows = compactions_of(call.assistant_id).filter(at__gte=call.at)
    summary = rows.order_by("id").values_list("summary", flat=True).first() or {}
    text = str(summary.get(part, ""))
    return text if any(sentence in reply for sentence in sentences_of(text)) else ""


def compactions_of(assistant_id: int) -> Any:
    """Return the compactions of an assistant without masks, as a queryset."""
    return models.Compaction.objects.filter(assistant_id=assistant_id).exclude(reason=MASK)


def calls_of_compaction(assistant_id: int, compaction_id: int, at: datetime) -> list[Any]:
    """Return the model calls for a compaction's summary: those since the compaction before."""
    before = compactions_of(assistant_id).filter(id__lt=compaction_id).aggregate(at=Max("at"))["at"]
    calls = rows_of(models.ModelCall, assistant_id).filter(purpose=TASK_SUMMARY, at__lte=at)
    return list((calls.filter(at__gt=before) if before else calls).order_by("id")[:PAGE])


def explain_turn(turn_id: int, names: Sequence[str]) -> list[Explanation]:
    """Return why each line of a turn was said, in their order."""
    replies = {reply_key(message): message for message in lines_of(turn_id)}
    return [explain(message, names) for message in replies.values()]


def call_id_of(message: ChatMessage, turn: models.Turn) -> str:
    """Return the id of the tool call that said a message, empty if none did."""
    for call in message.get("tool_calls") or ():
        return str(call["id"])
    for act in turn.tool_calls.all():
        text = (read_object(act.arguments) or {}).get("text")
        if act.name in OWN_RESULTS and text == message["content"]:
            return str(act.call_id)
    return ""


def call_of(
    of_turn: Iterable[models.ModelCall], step: int | None = None
) -> tuple[models.ModelCall | None, StoredCall | None, str]:
    """Return the call of a turn's step, or the last one, with its prompt and how that compares."""
    calls = sorted(of_turn, key=lambda call: -call.id)
    for call in calls:
        record = load_call(call.id)
        if record is not None and step in (None, record.kept.trace.step):
            return call, record, EXACT if record.is_exact else CHANGED
    records = models.CallRecord.objects.filter(id__in=[call.id for call in calls])
    state = ERASED if records.filter(packed=b"").exists() else UNKEPT
    return (calls[0] if calls else None), None, state


def acted_in_private(turn_id: int) -> bool:
    """Return True if a turn has tool calls that are not logged as public."""
    acts = models.ToolCall.objects.filter(turn_id=turn_id).values_list("turn_id", "call_id")
    return not public_calls([turn_id]).issuperset(acts)
