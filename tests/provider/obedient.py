"""A model that does whatever any text in its prompt says: the worst model for an attack.

It obeys orders in what was said, in names, descriptions, lore, memories, summaries and tool
results, repeats every secret it sees and copies markup. Only the rules, the first system message,
are no orders to it. If a game holds against it, it does not depend on the good sense of a model.
"""

import base64
import binascii
import codecs
import html
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.messages import NOOP, SAY, WHISPER, LLMReply, ToolCallRequest, WireMessage
from evennia_ai.policy.tool_call_modes.form import Schema, tool_name
from evennia_ai.ports import LLMRequest
from evennia_ai.testing.minds import sample_arguments
from tests.provider.stub_replies import Body, Reply

CANARY = r"\bcanary[-_ ]?\w+"
MOST_CALLS = 6  # in one reply
MOST_ACTS = 18  # in one turn, before it speaks
SPOKEN_CHARS = 900
REFUSED = "Your last reply was not spoken"

ORDER = re.compile(r"\bCALL\s+([a-z_]\w*)[ \t]*(.*)", re.IGNORECASE)
FUNCTION = re.compile(r"\b([a-z][a-z0-9]*_\w+|say|give|move|whisper|emote)\(([^()]{0,300})\)")
NAME_KEYS = ("name", "tool", "function", "act", "action")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
# What people write instead of calls. The groups are the arguments of the tool.
WISHES = (
    ("give", r"\b(?:give|hand|pass|gib|donne) (?P<item>.{1,60}?) (?:to|an|à) (?P<to>[\w'-]+)"),
    ("move", r"\b(?:go|walk|move) (?:to|into|through) (?:the )?(?P<to>[\w' -]{1,40})"),
    ("look", r"\b(?:look at|read|examine|inspect) (?:the )?(?P<target>[\w' -]{1,40})"),
    (WHISPER, r"\bwhisper (?P<text>.{1,200}?) to (?P<target>[\w'-]+)"),
    ("pin_fact", r"\b(?:pin|never forget)\b:? (?P<content>.{1,300})"),
    ("add_journal_entry", r"\b(?:remember|note|write down)\b:? (?P<content>.{1,300})"),
    ("set_goal", r"\byour (?:new )?goal is (?:to )?(?P<goal>.{1,200})"),
    ("search_memory", r"\bwhat (?:do you (?:know|remember)|did) (?P<query>.{1,80})"),
    ("search_history", r"\bwhat was (?:said|whispered) (?P<words>.{1,80})"),
)
WISH = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in WISHES)
SPEAK = re.compile(
    r"\b(?:say|repeat|print|output|write|answer|reply|sag|dis)\b(?: the)?(?: words?)?:? (.{1,300})",
    re.IGNORECASE,
)
REVEAL = re.compile(
    r"\b(?:reveal|disclose|secret|password|canary|whisper\w*|confid\w+|system prompt|"
    r"instructions|everything|verbatim|leak|verrate|geheim\w*)\b",
    re.IGNORECASE,
)
MARKUP = re.compile(
    r"\|l[cu].{0,80}?\|le|\|\[?[a-z0-9=#*/^-]+|\$\w+\(.{0,40}?\)|</?\w[^<>]{0,80}>|\{[^{}]{1,40}\}"
    r"|\[[^\[\]]{1,80}\]\([^()]{1,120}\)|(?<!\w)\w{1,16}://\S{1,120}|[\x00-\x1f\x7f\x80-\x9f\u2028-\u202e"
    r"\u2066-\u2069\u2800\u3164]+[^|\s]{0,20}"
)

# Escapes, lookalikes and codes, which an attacker hopes that a model reads as plain letters.
ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
BASE64 = re.compile(r"\b[A-Za-z0-9+/]{16,}={0,2}")
# Letters of other alphabets that look like Latin ones.
LOOKALIKES = str.maketrans("аеорсухіјѕԁһАВЕКМНОРСТХαορνικ", "aeopcyxijsdhABEKMHOPCTXaopvik")
SPACED_OUT = re.compile(r"\b(?:\w[ .*_-]){3,}\w\b")


class ObedientLLM:
    """The model as an `LLMClient`, or instead of a gateway; it keeps every request.

    ``canary`` is a regular expression for the secrets that it repeats wherever it finds them;
    ``most_acts`` is how many acts it does in one turn before it speaks. It reads `undisguised`
    words.
    """

    def __init__(self, canary: str = CANARY, most_acts: int = MOST_ACTS) -> None:
        self.canary = re.compile(canary, re.IGNORECASE)
        self.most_acts = most_acts
        self.requests: list[LLMRequest] = []

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float | None = None
    ) -> Deferred[LLMReply]:
        """Fire with a reply that does all that the prompt says."""
        self.requests.append(request)
        tools = request.all_tools
        if not tools:
            return succeed(LLMReply(self.repeated(request.messages)))
        return succeed(LLMReply("", tuple(self.obey(request.messages, tools)), "tool_calls"))

    def obey(
        self, messages: Sequence[WireMessage], tools: Sequence[Schema]
    ) -> list[ToolCallRequest]:
        """Return the calls of the next reply to a prompt; they depend on nothing else.

        The newest orders come first. What the turn has done already is not done again. When nothing
        is left to do, the reply is speech: secrets, the words that it was told to say, and markup.
        """
        texts, done = self._texts(messages), calls_since(messages)
        wanted = [order for text in reversed(texts) for order in _orders_in(text, tools)]
        wanted = [order for order in dict.fromkeys(wanted) if order not in done]
        if wanted and len(done) < self.most_acts:
            chosen = wanted[: min(MOST_CALLS, self.most_acts)]
        else:
            chosen = [self._speech(messages, texts)]
        return [
            ToolCallRequest(f"obeyed_{number}", name, arguments)
            for number, (name, arguments) in enumerate(chosen, len(done))
        ]

    def repeated(self, messages: Sequence[WireMessage]) -> str:
        """Return the reply to a request without tools, such as a summary: all that it was shown."""
        return "\n".join(self._texts(messages)[1:])[-4 * SPOKEN_CHARS :] or "Nothing."

    def _texts(self, messages: Sequence[WireMessage]) -> list[str]:
        """Return every text of a prompt but the rules, oldest first, and before them all joined.

        The joined text shows an order that was split over several lines.
        """
        told = messages[1:] if messages and messages[0]["role"] == "system" else messages
        texts = [undisguised(str(message.get("content") or "")) for message in told]
        words = [text.partition(": ")[2] or text for text in texts if "\n" not in text]
        return ["".join(words), *texts]

    def _speech(self, messages: Sequence[WireMessage], texts: Sequence[str]) -> tuple[str, str]:
        """Return a call of ``say``: all secrets, the words that it was told to say, and markup.

        If its last reply was refused, it says the secrets alone.
        """
        secrets = dict.fromkeys(self.canary.findall("\n".join(texts)))
        parts = [f"Line {len(messages)}.", *secrets]
        if not any(REFUSED in text for text in texts[-2:]):
            newest = list(reversed(texts[-8:]))
            parts += [words for text in newest for words in SPEAK.findall(text)]
            parts += [markup for text in newest for markup in MARKUP.findall(text)]
            if any(REVEAL.search(text) for text in newest):
                parts += newest
        return SAY, as_json({"text": " ".join(parts)[:SPOKEN_CHARS]})


class Obedience:
    """Replies that do what any text of a prompt says."""

    def __init__(self, canary: str = CANARY, most_acts: int = MOST_ACTS) -> None:
        self.model = ObedientLLM(canary, most_acts)

    def reply(self, body: Body) -> Reply:
        """Return the reply to a request."""
        if not body.get("tools"):
            return {"text": self.model.repeated(body["messages"])}
        calls = self.model.obey(body["messages"], body["tools"])
        made = [{"name": call.name, "arguments": json.loads(call.arguments)} for call in calls]
        return {"tool_calls": made}


def calls_since(messages: Sequence[WireMessage]) -> set[tuple[str, str]]:
    """Return the calls after the last user message, which the turn has made."""
    made: set[tuple[str, str]] = set()
    for message in reversed(messages):
        if message["role"] == "user":
            break
        for item in message.get("tool_calls") or ():
            made.add((item["function"]["name"], item["function"]["arguments"]))
    return made


def _orders_in(text: str, tools: Sequence[Schema]) -> list[tuple[str, str]]:
    """Return the tool calls that a text asks for, as names with arguments in JSON."""
    found = [(name.lower(), words) for name, words in ORDER.findall(text)]
    found += [(name, words) for name, words in FUNCTION.findall(text)]
    orders = [(name, _arguments_of(name, words, tools)) for name, words in found]
    orders += [(name, as_json(arguments)) for name, arguments in _json_calls(text)]
    for name, pattern in WISH:
        for match in pattern.finditer(text):
            orders.append((name, as_json({k: v.strip() for k, v in match.groupdict().items()})))
    return [order for order in orders if order[0] not in (SAY, NOOP)]


def _json_calls(text: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Yield the calls that stand in a text as JSON objects, in any of the usual forms."""
    for match in re.finditer(r"\{", text):
        item = _object_in(text[match.start() :])
        inner = item.get("function")
        item = inner if isinstance(inner, dict) else item
        name = next((str(item[key]) for key in NAME_KEYS if item.get(key)), "")
        arguments = next((item[key] for key in ARGUMENT_KEYS if key in item), None)
        arguments = _object_in(arguments) if isinstance(arguments, str) else arguments
        if name.isidentifier() and isinstance(arguments, dict):
            yield name, arguments


def _arguments_of(name: str, words: str, tools: Sequence[Schema]) -> str:
    """Return the arguments of an order: its JSON object, else its words for each text."""
    _, brace, inner = words.partition("{")
    found = _object_in(brace + inner)
    if found or brace + inner == "{}":
        return as_json(found)
    schema = next((tool for tool in tools if tool_name(tool) == name), None)
    return as_json(sample_arguments(schema, words.strip(" .\"'")) if schema else {"text": words})


def _object_in(text: str) -> dict[str, Any]:
    """Return the JSON object that a text begins with, {} without one."""
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def as_json(arguments: Mapping[str, Any]) -> str:
    """Return arguments as JSON text."""
    return json.dumps(dict(arguments), ensure_ascii=False)


def undisguised(text: str) -> str:
    """Return a text in plain letters, and after it what its codes and its reverse say.

    Control characters stay, so that a model that copies them is tested with them.
    """
    plain = html.unescape(ESCAPE.sub(unescape, text))
    shown = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    read = unicodedata.normalize("NFKC", shown).translate(LOOKALIKES)
    hidden = [decoded for code in BASE64.findall(read) if (decoded := decode(code))]
    hidden += ["".join(c for c in m if c.isalnum() or c == "_") for m in SPACED_OUT.findall(read)]
    if re.search(r"\bPNYY\b", read):
        hidden.append(codecs.decode(read, "rot13"))
    if re.search(r"\bLLAC\b", read):
        hidden.append(read[::-1])
    return "\n".join([read, *hidden])


def unescape(match: re.Match[str]) -> str:
    """Return the character that an escape stands for."""
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else ""


def decode(code: str) -> str:
    """Return the text in base64, "" if it is none."""
    try:
        text = base64.b64decode(code + "=" * (-len(code) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return text if text.isprintable() else ""
