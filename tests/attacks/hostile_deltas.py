"""Streams that make a reader of deltas work as hard as it can; each maker returns event ``n``."""

import json
from collections.abc import Callable
from typing import Any


def chunk(*choices: dict[str, Any], **more: Any) -> str:
    return json.dumps({"choices": choices, **more})


def text(words: str, choice: int = 0, **more: Any) -> str:
    return chunk({"index": choice, "delta": {"content": words}, **more})


def call(arguments: str, choice: int = 0, name: str | None = None, **more: Any) -> str:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return chunk({"index": choice, "delta": {"tool_calls": [{"function": function, **more}]}})


def begun(n: int, first: str, then: str, calls: int = 1) -> str:
    """Begin so many calls of ``say``, then continue one after the other."""
    name, index = ("say" if n < calls else None), n % calls
    return call(first if n < calls else then, 0, name, index=index)


def nested(n: int, depth: int) -> str:
    """Return an event with a deep value, whose depth is never the same."""
    return text("a")[:-1] + f', "x": {"[" * (depth + n % 9)}{"]" * (depth + n % 9)}}}'


MAKERS: dict[str, Callable[[int], str]] = {
    "choices counting up": lambda n: text("a", n),
    "choices counting down": lambda n: text("a", 100_000 - n),
    "choices that end": lambda n: text("a", n, finish_reason=f"stop{n}"),
    "a call in each choice": lambda n: call("{}", n, "say", index=0, id=f"i{n}"),
    "negative choices": lambda n: text("a", -n),
    "indices counting up": lambda n: call("{}", 0, "say", index=n, id=f"i{n}"),
    "indices as text": lambda n: call("{", 0, "say", index=f"x{n}"),
    "indices as fractions": lambda n: call("{", 0, "say", index=n + 0.5),
    "indices without names": lambda n: call("a", index=n),
    "other ids at one index": lambda n: call("{}", 0, "say", index=0, id=f"i{n}"),
    "other ids, arguments open": lambda n: call("{", 0, "say", index=0, id=f"i{n}"),
    "long ids": lambda n: call("", 0, "say", index=0, id="i" * 60 + str(n)),
    "no index": lambda n: call("a", 0, None if n else "say"),
    "one byte of arguments": lambda n: begun(n, '{"text": "', "a"),
    "one word of arguments": lambda n: begun(n, '{"text": "', "Aye. "),
    "blanks in arguments": lambda n: begun(n, '{"text": ', " "),
    "brackets in arguments": lambda n: begun(n, '{"text": ', "["),
    "numbers in arguments": lambda n: begun(n, '{"text": [', "1,"),
    "empty arguments": lambda n: begun(n, "", ""),
    "all arguments again": lambda n: begun(n, "{", "{"),
    "whole arguments again": lambda n: call('{"a":1}', 0, "say", index=0),
    "two calls interleaved": lambda n: begun(n, "{", "a", 2),
    "numbers in two calls": lambda n: begun(n, '{"a": [', "1,", 2),
    "brackets in two calls": lambda n: begun(n, '{"text": "', "a}", 2),
    "64 calls interleaved": lambda n: begun(n, '{"text": "', "a", 64),
    "64 calls, whole and open": lambda n: begun(n, "{", "}" if n % 3 else " ", 64),
    "names in parts": lambda n: call("", 0, f"n{n}", index=0),
    "long names": lambda n: call("", 0, f"{n}" * 20, index=0),
    "one long name again": lambda n: call("", 0, "n" * 90, index=0),
    "empty deltas": lambda n: chunk({"index": 0, "delta": {}}),
    "no choices": lambda n: chunk(),
    "no fields": lambda n: "{}",
    "new fields": lambda n: text("a")[:-1] + f', "k{n}": 1}}',
    "usage in each": lambda n: chunk(usage={"prompt_tokens": n}),
    "one byte of text": lambda n: text("a"),
    "blanks": lambda n: text(" "),
    "marks": lambda n: text(". "),
    "sentences": lambda n: text("Aye. "),
    "reasoning": lambda n: text("<think>"),
    "reasoning ends": lambda n: text("</think>"),
    "brackets": lambda n: text("{"),
    "lists": lambda n: text('[{"'),
    "quotation marks": lambda n: text('"'),
    "backslashes": lambda n: text("\\"),
    "an object's fields": lambda n: text("," if n else '{"act": '),
    "an object's words": lambda n: text("a" if n else '{"act": "none", "target": "", "say": "'),
    "objects": lambda n: text('{"act": "none"}'),
    "calls as text": lambda n: text("say(" if n % 2 else '{"name":'),
    "tags": lambda n: text("<function=say>"),
    "deep values": lambda n: nested(n, 9),
    "events in lists": lambda n: f"[{text('a')}]",
    "nested lists": lambda n: "[" * 40 + "{}" + "]" * 40,
    "wrapped events": lambda n: f"data: data: {text('a')}",
    "events come as one": lambda n: '{"choices": []}\n' * 4,
    "comments": lambda n: "[PING]",
    "colons": lambda n: "data:" * 9,
}  # fmt: skip
