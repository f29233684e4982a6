"""What is stored of a model call, so that its prompt can be rebuilt from the log and explained.

Texts that many calls share (rules, persona, tools) are stored once, by their digest. The talk is
named by the numbers of its messages. The lines of scenes, the new lines, and what a prompt showed
in other words than the log are stored with the call.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from evennia_ai.messages import SCENE, Authors, ChatMessage, WireMessage, make_message, to_wire
from evennia_ai.policy.audience import BUILDER, GAME, STRANGER, KnownLine
from evennia_ai.policy.compaction.summary import summary_material, transcript_lines
from evennia_ai.policy.context.projection import part_key
from evennia_ai.policy.context.situation_updates import in_order, scene_text

DIGEST_CHARS = 32
SURROGATE = re.compile("[\ud800-\udfff]")
LEVEL = 9
DICTIONARY_BYTES = 32_768  # zlib uses no more


@dataclass(frozen=True)
class PromptTrace:
    """Where the parts of a prompt come from; `turn.prompt_building` describes their order."""

    audience: tuple[str, ...] = ()
    private: bool = False
    opening: tuple[WireMessage, ...] = ()
    rules_chars: int = 0  # how much of the first message are the rules
    summary_id: int = 0  # the compaction whose summary it shows, 0 for none
    talk: tuple[int, ...] = ()  # the messages of the log, by sequence number
    own: tuple[int, ...] = ()  # the turn's own ones
    # what no log has, of a dry run: at the end of the talk, and instead of `own`
    unlogged: tuple[WireMessage, ...] = ()
    unlogged_own: tuple[WireMessage, ...] = ()
    # by sequence number the words of the messages that it showed otherwise than the log has them
    shown: Mapping[str, WireMessage] = field(default_factory=dict)
    scenes: tuple[ChatMessage, ...] = ()  # among the talk (`policy.context.situation_updates`)
    # Exchanges that show how to answer; so many messages of the talk stand behind them.
    examples: tuple[WireMessage, ...] = ()
    behind_examples: int = 0
    lines: tuple[str, ...] = ()  # the new ones
    ending: tuple[str, ...] = ()
    acts_last: bool = False  # True if the turn's own messages stand behind the ending
    length: int = 0  # how many wire messages it has
    withheld: tuple[str, ...] = ()  # tools that some author of the prompt may not use
    step: int = 1  # of the turn, 0 of a call apart from any turn
    # Of a request for a summary: the character's name, whether its lines hold results of tools, and
    # the summary to be updated, unless that is of ``summary_id``.
    teller: str = ""
    with_results: bool = True
    previous: str = ""

    @property
    def part(self) -> str:
        """Return the key of a summary's part for its audience."""
        return part_key(frozenset(self.audience) if self.private else None)


@dataclass(frozen=True)
class RequestExtras:
    """What a request holds beside its messages."""

    tools: Sequence[Mapping[str, Any]] = ()
    schema: Mapping[str, Any] | None = None  # which replies had to fit, of old calls alone
    form: str = ""
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True)
class RecordedReply:
    """A reply as the endpoint sent it; ``calls`` are native ones, as (name, arguments)."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class KeptCall:
    """One model call: where its prompt comes from, what was sent with it, and the reply."""

    trace: PromptTrace
    sent: RequestExtras
    reply: RecordedReply
    # messages that no log has: behind the prompt of a turn, all or the first of a call apart
    extra: tuple[WireMessage, ...] = ()


@dataclass(frozen=True)
class PackedCall:
    """A `KeptCall` as it is stored: ``shared`` texts by digest, and the packed rest."""

    digest: str  # of the whole request
    shared: Mapping[str, str]
    packed: bytes
    people: Authors  # everybody whose words it may hold


def dumped(value: object) -> str:
    """Return plain data as JSON, always the same for the same data."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Half of a pair of surrogates, which a broken model may write, has no bytes of its own.
    return text if not SURROGATE.search(text) else json.dumps(value, separators=(",", ":"))


def digest_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:DIGEST_CHARS]


def request_digest(messages: Sequence[WireMessage], sent: RequestExtras) -> str:
    return digest_of(dumped([messages, sent.tools, sent.schema]))


def make_record(kept: KeptCall, messages: Sequence[WireMessage], authors: Authors) -> PackedCall:
    """Return what to store of a call whose whole prompt is ``messages``."""
    trace, sent = kept.trace, kept.sent
    shared = [*map(dumped, trace.opening), dumped(sent.tools)]
    digests = [*map(digest_of, shared)]
    body = {
        **changed(trace, PromptTrace()),
        **changed(sent, RequestExtras()),
        "opening": digests[:-1],
        "tools": digests[-1],
        "talk": steps_of(trace.talk),
        "scenes": [*map(packed_scene, trace.scenes)],
        "reply": [kept.reply.text, kept.reply.calls],
        "extra": messages[:1] if trace.teller else messages[trace.length :],
    }
    packer = zlib.compressobj(LEVEL, zdict=dictionary(shared))
    packed = packer.compress(dumped(body).encode()) + packer.flush()
    # The digests stand before the packed data, since it is read with their texts.
    head = ",".join(digests).encode()
    return PackedCall(
        request_digest(messages, sent),
        dict(zip(digests, shared, strict=True)),
        head + b"\n" + packed,
        authors | frozenset(trace.audience),
    )


def steps_of(seqs: Sequence[int]) -> list[int]:
    """Return the first number and the steps between all, which are short when packed."""
    return [*seqs[:1], *(b - a for a, b in pairwise(seqs))]


def changed(value: Any, usual: Any) -> dict[str, Any]:
    names = [item.name for item in fields(value)]
    return {n: getattr(value, n) for n in names if getattr(value, n) != getattr(usual, n)}


def dictionary(shared: Iterable[str]) -> bytes:
    """Return the bytes that packed data repeats without storing them again."""
    return "".join(shared).encode()[-DICTIONARY_BYTES:]


def shared_digests(packed: bytes) -> list[str]:
    return packed.partition(b"\n")[0].decode().split(",")


def read_record(packed: bytes, shared: Sequence[str]) -> KeptCall:
    """Return a stored call; ``shared`` are its texts in the order of `shared_digests`."""
    unpacker = zlib.decompressobj(zdict=dictionary(shared))
    body = json.loads(unpacker.decompress(packed.partition(b"\n")[2]))
    body["opening"] = [json.loads(text) for text in shared[:-1]]
    body["tools"] = json.loads(shared[-1])
    body["talk"] = tuple(accumulate(body["talk"]))
    body["scenes"] = tuple(read_scene(*scene) for scene in body["scenes"])
    text, calls = body["reply"]
    return KeptCall(
        PromptTrace(**chosen(PromptTrace, body)),
        RequestExtras(**chosen(RequestExtras, body)),
        RecordedReply(text, tuple((name, arguments) for name, arguments in calls)),
        tuple(body["extra"]),
    )


def packed_scene(scene: ChatMessage) -> list[Any]:
    """Return a scene as plain data; its text only if that is not the text of its rows."""
    meta, text = scene["metadata"], scene["content"]
    rows = [[label, row.text, row.source, round(row.score, 3)] for label, row in meta["rows"]]
    return [meta["after"], rows, *([] if text == scene_text(meta["rows"]) else [text])]


def read_scene(after: int, rows: Iterable[Sequence[Any]], text: str = "") -> ChatMessage:
    scene_rows = [
        (label, KnownLine(words, source=source, score=score))
        for label, words, source, score in rows
    ]
    return make_message(
        "user", text or scene_text(scene_rows), type=SCENE, after=after, rows=scene_rows
    )


def chosen(kind: type, body: Mapping[str, Any]) -> dict[str, Any]:
    names = [item.name for item in fields(kind) if item.name in body]
    return {n: tuple(body[n]) if isinstance(body[n], list) else body[n] for n in names}


def rebuilt(
    kept: KeptCall,
    marker: ChatMessage | None,
    talk: Sequence[ChatMessage],
    own: Sequence[ChatMessage],
) -> list[WireMessage]:
    """Return the prompt of a call as it was sent, from its messages as the log has them."""
    trace = kept.trace
    if trace.teller:
        lines = transcript_lines(talk, trace.teller, trace.with_results)
        previous = marker["content"] if marker else trace.previous
        return [*kept.extra, user(summary_material(previous, lines))]
    shown = in_order([*([] if marker is None else [marker]), *talk, *trace.scenes])
    talk_messages, acts = [*to_wire(shown), *trace.unlogged], [*to_wire(own), *trace.unlogged_own]
    return [*assembled(trace, talk_messages, acts), *kept.extra]


def assembled(
    trace: PromptTrace, talk_messages: Sequence[WireMessage], acts: Sequence[WireMessage]
) -> list[WireMessage]:
    """Return the messages of a prompt in order; ``said`` is the talk, ``acts`` the turn's own."""
    lines, ending = ([user(text) for text in texts] for texts in (trace.lines, trace.ending))
    last = [*ending, *acts] if trace.acts_last else [*acts, *ending]
    at = len(talk_messages) - trace.behind_examples
    talk_shown = [*talk_messages[:at], *trace.examples, *talk_messages[at:]]
    return [*trace.opening, *talk_shown, *lines, *last]


def user(content: str) -> WireMessage:
    return {"role": "user", "content": content}


WORDS = {GAME: "the game", BUILDER: "a builder", STRANGER: "somebody unknown"}


class LockAsked(NamedTuple):
    """One lock that was asked: its type, and the tool or the object (by dbref) that has it.

    ``passed`` has the answer for each author (`policy.audience`), or for the character; it is empty
    if the lock lets everybody pass.
    """

    lock: str
    of: str
    passed: Mapping[str, bool]


def stored_locks(locks: Sequence[LockAsked]) -> str:
    return json.dumps(locks, separators=(",", ":")) if locks else ""


def read_locks(stored: str) -> list[LockAsked]:
    """Return the locks that `stored_locks` returned as JSON, none if that is damaged."""
    try:
        return [LockAsked(*row) for row in json.loads(stored or "[]")]
    except (TypeError, ValueError):
        return []


def lock_sentence(lock: LockAsked, names: Mapping[str, str]) -> str:
    act = "cause" if lock.lock == "use" else lock.lock
    may = f"who may {act} {name_of(lock.of, names)}: "
    if not lock.passed:
        return f"{may}everybody"
    answer = (
        f"{name_of(who, names)} {'may' if passed else 'may not'}"
        for who, passed in lock.passed.items()
    )
    return may + "; ".join(answer)


def name_of(who: str, names: Mapping[str, str]) -> str:
    return f"{names[who]} ({who})" if who in names else WORDS.get(who, who)
