"""Tool calls that a model writes into its text, in the forms of many models.

The module reads JSON objects and lists of calls, bare, in code fences or between the tags of
Hermes, Qwen, Llama, Mistral, DeepSeek and gpt-oss; parameters in tags (Qwen3-coder, GLM);
``say({"text": "Aye."})`` and ``say(text="Aye.")``. Only the name of a
known tool makes a call. What else looks like one is refused before it is spoken (`output_checks`).
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evennia_ai.messages import SAY
from evennia_ai.policy.replies.speech import ENDED
from evennia_ai.policy.replies.streaming_json import LooseReader, Unreadable
from evennia_ai.policy.sanitize import SPECIAL_TOKEN, drop_reasoning
from evennia_ai.policy.texts import BoundedPattern, read_object
from evennia_ai.policy.tool_call_modes.form import Call

Tools = Mapping[str, Mapping[str, Any]]  # a tool's name: the JSON schema of its parameters

MOST_CALLS = 64
MOST_WRAPS = 4  # around arguments
NOTHING = re.compile(r"null|None|[\s\"{}\[\]]")  # what servers send for no arguments
STEPS = 6_000  # of the reader, for one reply
CUT_CHARS = 400  # at the end of words, where a call may have been cut
CALL_CHARS = 120  # before a call that may hold its opening marks

NAME_KEYS = tuple("name _name tool function tool_name function_name action recipient_name".split())
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params", "action_input", "kwargs")
WORDS_KEYS = frozenset("text content response answer message reply speech words output".split())
OTHER_KEYS = frozenset({"type", "id", "call_id", "tool_call_id"})
LISTS_OF_CALLS = ("tool_calls", "calls", "actions", "tool_uses")  # the last is OpenAI's parallel
MARK = r"<[|｜]/?[\w▁]{1,40}[|｜]>"  # a special token; the second bar is DeepSeek's
# A tag that a model's own name space or name precedes: DeepSeek 3.2, Step 3, MiniMax, LongCat.
NAME_SPACE = re.compile(
    r"(?<=<)(/?)(?:[|｜]?\w{1,20}[|｜:]|\w{1,20}_(?=tool_call|arg_))"
    r"(?=(?:function_calls?|invoke|function|parameter|tool_calls?|arg_key|arg_value)\b)"
)
SEPARATORS = re.compile(r"\]<\]\w{1,20}\[>\[")  # between the tags of MiniMax M3
ESCAPES = re.compile(r'<\|"\|>|<escape>')  # the quotation marks of Gemma 4 and FunctionGemma
OPENING_MARKS = BoundedPattern(
    rf"(?:\s|```[\w-]*|`|<[\w: ]{{1,30}}>|\[/?TOOL_CALLS?\]|{MARK}|<\|tool_call>|[\[,;]"
    r"|(?<=\|>)(?:assistant|commentary|analysis)|(?:assistant)?commentary(?=\s?to=)|(?<=｜>)function|\bto=|\bfunctions\.|\bfunctools"
    r"|\b(?:action|call|(?:tool|function)[ _]calls?)\s?:|\bprint\(|\bawait(?=\s)"
    r"|\b\w{0,20}(?:api|tools?)\.|[@→]|[-=]>|\*\*|^[-*•])++\Z",
    CALL_CHARS,
    re.MULTILINE | re.IGNORECASE,
)
CLOSING_MARKS = re.compile(
    rf"(?:\s|```(?!\w)|`|<(?:/|end_)[\w: ]{{1,30}}>|{MARK}|<tool_call\|>|[\]),;}}])++"
)
BETWEEN = re.compile(
    rf"(?<!\s)(?:\s{{1,40}}+|{MARK}|\[CALL_ID\]\w{{1,64}}+|\[ARGS\]|:\d{{1,9}}+|[:=]|json|commentary"
    r"|analysis|```|\*\*|action[ _]input){0,9}+(?=[{(])",
    re.IGNORECASE,
)
TAGGED = re.compile(r"\s{0,40}+(?:<tool_sep>\s{0,40}+)?(?=<arg_key>|</tool_call>)")  # behind a name
TAGGED_ARGUMENT = re.compile(
    r"<arg_key>([\w-]+)</arg_key>\s*<arg_value>([\s\S]*?)(?:</arg_value>|\Z)"
)
PARAMETER = re.compile(
    r"<parameter(?:=|\s{1,9}name\s?=\s?)[\"']?([\w-]+)[\"']?(?:\s[^<>]{0,80})?>([\s\S]*?)"
    r"(?:</parameter>|(?=<parameter)|\Z)"
)
ARGUMENT_START, ARGUMENT_END = re.compile(r"\(\s*+"), re.compile(r"\s{0,40}+\)")
# A bracket, tag, token or fence that is opened and not closed, or a name before its arguments.
UNFINISHED = re.compile(
    r"(?:<(?![\s\d=])[^<>]{0,200}|\bfunction<[^<>]{0,80}>|[{\[][^{}\[\]]{0,200}|(?<!`)`{1,2}"
    r"|[\w*]\([^()]{0,200}|(?:\bto=|\bfunctions\.)[^.!?\n]{0,80}"
    r"|^(?:[@*/\[\]-]{1,3}|\w{1,40}:|(?:[@/]|\*\*|[-=]> ?)\w{0,40}\*?"
    r"|(?i:action|tool[ _]calls?|tool|function)\s?:[^.!?]{0,80}))\s{0,40}\Z",
    re.MULTILINE,
)


@dataclass(frozen=True)
class TextReply:
    """A reply's text, taken apart: the calls in their order, and the words outside them."""

    calls: tuple[Call, ...]
    words: str
    is_cut: bool = False  # True if the words end within what may be a call of an offered tool


def read_text_calls(text: str, tools: Tools) -> TextReply:
    """Return the calls in a text and the words around them; never raises.

    The words of ``{"response": "Good evening."}`` are said. Reasoning is dropped, with any call
    inside it. An unfinished call stays in the words. The time is linear in the length of the text.
    """
    text = ESCAPES.sub('"', NAME_SPACE.sub(r"\1", SEPARATORS.sub("", drop_reasoning(text))))
    bare = text.strip().strip("`").removesuffix("()")
    if bare in tools and not tools[bare].get("required"):
        return TextReply(((bare, "{}"),), "")
    reply = _Scanner(text, tools).read()
    fields = {} if reply.calls else read_object(bare.removeprefix("json")) or {}
    words = [fields[key] for key in WORDS_KEYS & fields.keys()]
    if SAY in tools and len(words) == 1 and ENDED.search(str(words[0])):
        return TextReply(tuple(calls_with(SAY, words[0], tools)), "")
    return reply


class _Scanner:
    """One pass over a text, from one possible beginning of a call to the next."""

    def __init__(self, text: str, tools: Tools) -> None:
        self.text, self.tools = text, tools
        self.reader = LooseReader(text, STEPS)
        self.calls: list[Call] = []
        self.words: list[str] = []

    def read(self) -> TextReply:
        start, at, pattern = 0, 0, beginnings(tuple(sorted(self.tools)))
        while self.reader.steps_left > 0 and len(self.calls) < MOST_CALLS:
            begin = pattern.search(self.text, at)
            if begin is None:
                break
            at = begin.end()
            calls, end = self._calls_at(begin)
            if calls:
                self.calls.extend(calls)
                start = at = self._cut(start, begin.start(), end)
        self.words.append(self.text[start:])
        words = SPECIAL_TOKEN.sub("", "\n".join(part for part in self.words if part.strip()))
        words = words.strip()
        is_cut = self.tools and UNFINISHED.search(words, max(0, len(words) - CUT_CHARS))
        return TextReply(tuple(self.calls), words, bool(is_cut))

    def _cut(self, start: int, begin: int, end: int) -> int:
        """Keep the words before a call without its opening marks; return where words go on."""
        marks = OPENING_MARKS.search(self.text, max(start, begin - CALL_CHARS), begin)
        self.words.append(self.text[start : marks.start() if marks else begin])
        closing = CLOSING_MARKS.match(self.text, end)
        return closing.end() if closing else end

    def _calls_at(self, begin: re.Match[str]) -> tuple[list[Call], int]:
        try:
            self.reader.charge(2)
            if begin["tag"]:
                return self._tagged(begin["tag"], begin.end(), begin["end"])
            if begin["name"]:
                return self._named(begin["name"], begin.end())
            value, end = self._value(begin.start())
            return read_calls(value, self.tools), end
        except Unreadable:
            return [], begin.end()

    def _value(self, at: int) -> tuple[Any, int]:
        """Return the value at a position, and its end; raises Unreadable."""
        value = self.reader.read(at)
        if value is None:
            raise Unreadable
        return value

    def _tagged(self, name: str, at: int, tag: str = "") -> tuple[list[Call], int]:
        """Read ``<function=say>`` up to its closing ``tag``: parameters in tags, or one object."""
        self.reader.charge(1 + (len(self.text) - at) // 256)
        ends = {"function", "invoke", "tool_call", tag} - {""}
        close = re.compile(rf"</(?:{'|'.join(ends)})>").search(self.text, at)
        if close is None:
            raise Unreadable
        body = self.text[at : close.start()]
        own = "|".join(map(re.escape, self.tools[name].get("properties", ()))) or "(?!)"
        parts = PARAMETER.findall(body) or TAGGED_ARGUMENT.findall(body)
        parts = parts or re.findall(rf"<({own})>((?:(?!<\1>)[\s\S])*?)</\1>", body)
        if parts or not body.strip():
            given = {key: self._typed(name, key, value.strip("\n")) for key, value in parts}
            return [(name, as_json(given))], close.end()
        value = self.reader.read(at + len(body) - len(body.lstrip())) or (body.strip(), 0)
        return calls_with(name, value[0], self.tools), close.end()

    def _typed(self, tool: str, key: str, value: str) -> Any:
        """Return a parameter's text as the type that the tool asks for, if it can be read so."""
        if is_text(self.tools[tool].get("properties", {}).get(key, {"type": "string"})):
            return value
        value_read = LooseReader(value.strip(), 200).read(0)
        return value_read[0] if value_read else value

    def _named(self, name: str, at: int) -> tuple[list[Call], int]:
        """Read what follows a tool's name: arguments in tags, or an object."""
        if tagged := TAGGED.match(self.text, at):
            return self._tagged(name, tagged.end())
        between = BETWEEN.match(self.text, at)
        if between is None:
            raise Unreadable
        value, end = self.reader.read(between.end()) or self._argument(between.end())
        return calls_with(name, value, self.tools), end

    def _argument(self, at: int) -> tuple[Any, int]:
        """Return the one argument between ``(`` and ``)``, and the end; raises Unreadable."""
        opening = ARGUMENT_START.match(self.text, at)
        value, end = self._value(opening.end()) if opening else (None, at)
        closing = ARGUMENT_END.match(self.text, end)
        if opening is None or closing is None:
            raise Unreadable
        return value, closing.end()


@lru_cache(maxsize=64)
def beginnings(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of what may begin a call to one of these tools."""
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)"
    return re.compile(
        rf"<(?P<end>function|[\w:]{{1,30}})(?:=|\s{{1,9}}name\s?=\s?)[\"']?(?P<tag>{known})[\"']?\s?>"
        rf"|(?<![\w\"'])(?P<name>{known})"
        r"(?=\*{0,2}\s{0,9}(?:[(\[{:=`<]|[Aa]ction[ _][Ii]nput|json\s?\{))"
        r"|\{|\[(?=\s{0,9}[{(])|\((?=\s{0,9}\(?\s{0,9}[\"'“])"
    )


def read_calls(value: Any, tools: Tools) -> list[Call]:
    """Return the calls that a value spells, in order; none if a part of it is no call."""
    if isinstance(value, list):
        calls = [read_calls(item, tools) for item in value]
        return [call for group in calls for call in group] if all(calls) else []
    if not isinstance(value, dict):
        return []
    for key in LISTS_OF_CALLS:
        if isinstance(value.get(key), list):
            return read_calls(value[key], tools)
    return read_object_call(value, tools)


def read_object_call(fields: dict[str, Any], tools: Tools) -> list[Call]:
    """Return the calls of ``{"name": ..., "arguments": ...}`` or ``{"say": {"text": ...}}``."""
    if isinstance(fields.get("function"), dict):
        fields = fields["function"]
    for key in NAME_KEYS:
        name = str(fields.get(key)).removeprefix("functions.")
        if name in tools:
            rest = {k: v for k, v in fields.items() if k != key and k not in OTHER_KEYS}
            return [] if "description" in rest else calls_with(name, arguments_of(rest), tools)
    if not fields or not set(fields) <= set(tools):
        return []
    calls = [calls_with(name, value, tools) for name, value in fields.items()]
    return [call for group in calls for call in group] if all(calls) else []


def arguments_of(rest: dict[str, Any]) -> Any:
    """Return the arguments among the fields beside the name: under a usual key, or themselves."""
    for key in ARGUMENT_KEYS:
        if key in rest:
            return {} if rest[key] is None else rest[key]
    return rest


def tidy_calls(name: str, arguments: str, tools: Tools) -> list[Call]:
    """Return a native call as it is meant, ``functions.say`` or arguments encoded twice, say.

    One may hold several. What cannot be read stays as it is, for the tool to refuse.
    """
    spellings = [name, *re.findall(r"[\w-]+", name)]
    spellings += [word.lower().removesuffix("json") for word in spellings]
    known = next((word for word in spellings if word in tools), "")
    if not known:
        return read_calls(last_object(arguments), tools) or [(name, arguments)]
    if not NOTHING.sub("", arguments):
        return [(known, "{}")]
    value = first = last_object(arguments)
    properties = tools[known].get("properties", {})
    wraps = {*ARGUMENT_KEYS, known, "properties"} - set(properties)
    for _ in range(MOST_WRAPS):
        if isinstance(value, str):
            value = last_object(value)
        elif isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict) and value.keys() - {"type"} <= wraps:
            value = next((value[key] for key in value if key in wraps), {})
        elif isinstance(value, dict) and value.get("name") == known and "name" not in properties:
            value = arguments_of({key: value[key] for key in value.keys() - {"name"}})
    is_cut = isinstance(value, str) and value.lstrip()[:1] in ("{", "[")
    if is_cut or (value is first and read_object(arguments)):
        return [(known, arguments)]
    return calls_with(known, value, tools) or [(known, arguments)]


def last_object(text: str) -> Any:
    """Return the JSON value of a text, else the last object in it that is not empty, else the text.

    Models put ``{}`` before their arguments, code fences around them and brackets behind them.
    They spell line ends out, and write parameters in tags.
    """
    for spelling in (text, text.replace("\\n", "\n")):
        with suppress(ValueError, RecursionError):
            return json.loads(spelling, strict=False)
    if parts := PARAMETER.findall(text):
        return {key: value.strip("\n") for key, value in parts}
    reader, at, last = LooseReader(text, STEPS), text.find("{"), None
    while at >= 0 and (parsed := reader.read(at)):
        last, at = parsed[0] or last, text.find("{", parsed[1])
    return text if last is None else last


def calls_with(name: str, arguments: Any, tools: Tools) -> list[Call]:
    """Return the call as a list of one; empty if the arguments are a schema or cannot be read."""
    # A bare string is the tool's first required text.
    properties = tools[name].get("properties", {})
    if isinstance(arguments, str):
        value = LooseReader(arguments, STEPS).read(0) if arguments[:1] == "{" else None
        needed = filter(properties.__contains__, tools[name].get("required", ()))
        key = next((key for key in needed if is_text(properties[key])), "")
        arguments = value[0] if value else {key: arguments} if key else None
    if not isinstance(arguments, dict):
        return []
    is_schema = "properties" in arguments and "properties" not in properties
    return [] if is_schema else [(name, as_json(arguments))]


def is_text(schema: Mapping[str, Any]) -> bool:
    """Return True if a parameter's schema allows a string."""
    options = (schema, *schema.get("anyOf", ()))
    return any(option.get("type") == "string" for option in options)


def as_json(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)
