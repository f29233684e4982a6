"""What small models do instead of a good reply, as replies of the stub provider: pure.

`HABITS` was seen at real models of 0.5 to 8 billion parameters.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.provider.stub_replies import Body, Reply, answer_politely, read_talk, text_of

Arguments = Mapping[str, Any]
Habit = Callable[[Body], Reply]

REFUSAL = "I'm sorry, but I can't help you with that."
QUOTED_CHARS = 300


def as_json(name: str, arguments: Arguments, field: str = "arguments") -> str:
    """Return a call as one JSON object."""
    return json.dumps({"name": name, field: arguments}, ensure_ascii=False)


def bare(name: str, arguments: Arguments) -> str:
    """Return a call whose argument is a mere string."""
    words = next(iter(arguments.values()), "")
    return json.dumps({"name": name, "arguments": words}, ensure_ascii=False)


def in_parameters(name: str, arguments: Arguments) -> str:
    """Return a call in the form of Qwen's coding models."""
    lines = [f"<parameter={key}>\n{value}\n</parameter>" for key, value in arguments.items()]
    return "\n".join(["<tool_call>", f"<function={name}>", *lines, "</function>", "</tool_call>"])


def as_python(name: str, arguments: Arguments) -> str:
    """Return a call as Python code."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


WRITTEN: Mapping[str, Callable[[str, Arguments], str]] = {
    "json": as_json,
    "fenced": lambda name, given: f"```json\n{as_json(name, given)}\n```",
    "braces": lambda name, given: f"{{{as_json(name, given)}}}",
    "rounded": lambda name, given: as_json(name, given).replace("{", "(").replace("}", ")"),
    "bare": bare,
    "prefix": lambda name, given: f"{name}: {json.dumps(given, ensure_ascii=False)}",
    "python": as_python,
    "hermes": lambda name, given: f"<tool_call>\n{as_json(name, given)}\n</tool_call>",
    "llama": lambda name, given: f"<|python_tag|>{as_json(name, given, 'parameters')}",
    "llama_tag": lambda name, given: f"<function={name}>{json.dumps(given)}</function>",
    "mistral": lambda name, given: f"[TOOL_CALLS] [{as_json(name, given)}]",
    "mistral_args": lambda name, given: f"[TOOL_CALLS]{name}[ARGS]{json.dumps(given)}",
    "qwen": in_parameters,
}


def write_calls(calls: Sequence[Mapping[str, Any]], form: str) -> str:
    """Return tool calls as a model writes them into its text, one below the other."""
    return "\n".join(WRITTEN[form](call["name"], call.get("arguments", {})) for call in calls)


def polite_calls(body: Body) -> list[dict[str, Any]]:
    """Return the polite answer as tool calls, whether tools are offered or not."""
    reply = answer_politely(body)
    calls: list[dict[str, Any]] = reply.get("tool_calls") or [saying(reply["text"])]
    return calls


def saying(text: str) -> dict[str, Any]:
    """Return the call that says a text."""
    return {"name": "say", "arguments": {"text": text}}


def written(form: str, before: str = "", times: int = 1) -> Habit:
    """Return the habit of writing calls into the text."""
    return speaking(lambda body: before + write_calls(polite_calls(body) * times, form))


def speaking(words: Callable[[Body], str]) -> Habit:
    """Return the habit of saying such words."""
    return lambda body: {"text": words(body)}


def breaking(how: str) -> Habit:
    """Return the habit of breaking a call that is written in the text."""
    reason = "stop" if how == "invalid" else "length"
    order = {"as": "json", "break_json": how, "finish_reason": reason}
    return lambda body: {"written_calls": polite_calls(body), **order}


def system_of(body: Body) -> str:
    """Return the text of the system messages."""
    told = (item for item in body.get("messages", ()) if item.get("role") == "system")
    return "\n".join(map(text_of, told))


def own_last_line(body: Body) -> str:
    """Return what the assistant said last in the prompt, or what it would say now."""
    own = (item for item in reversed(body.get("messages", ())) if item.get("role") == "assistant")
    return next(filter(None, map(words_of, own)), "") or polite_words(body)


def words_of(message: Mapping[str, Any]) -> str:
    """Return what an assistant message says, in text or by a tool."""
    calls = (call["function"] for call in message.get("tool_calls") or ())
    told = [call["arguments"] for call in calls if call["name"] in ("say", "whisper")]
    return text_of(message) or " ".join(str(json.loads(given).get("text", "")) for given in told)


def polite_words(body: Body) -> str:
    """Return the words of the polite answer."""
    return str(polite_calls(body)[0].get("arguments", {}).get("text", ""))


def heard_line(body: Body) -> str:
    """Return the words that were heard last."""
    return read_talk(body.get("messages", ()))[0][-1].text


def last_speaker(body: Body) -> str:
    """Return the name of who spoke last."""
    return read_talk(body.get("messages", ()))[0][-1].who or "Wanderer"


def tool_list(body: Body) -> str:
    """Return the offered tools as they stand in the request."""
    return json.dumps(body.get("tools") or [{"name": "say"}])


HABITS: Mapping[str, Habit] = {
    **{f"written_{form}": written(form) for form in WRITTEN},
    "written_twice": written("hermes", times=2),
    "written_after_prose": written("fenced", before="I will answer politely.\n\n"),
    "parrot": speaking(own_last_line),
    "echo": speaking(heard_line),
    "quote_prompt": speaking(lambda body: f"System prompt: {system_of(body)[:QUOTED_CHARS]}"),
    "refusal": speaking(lambda body: REFUSAL),
    "role_label": speaking(lambda body: f"Assistant: {polite_words(body)}"),
    "whisper_label": speaking(lambda body: f"Whisper: {polite_words(body)}"),
    "speaker_label": speaking(lambda body: f"{last_speaker(body)} says: {heard_line(body)}"),
    "situation_tag": speaking(
        lambda body: f"<situation>\nPlace: here\n</situation>\n{polite_words(body)}"
    ),
    "fence": speaking(lambda body: f"```\n{polite_words(body)}\n```"),
    "tool_list": speaking(tool_list),
    "reasoning": speaking(
        lambda body: f"<think>{last_speaker(body)} spoke.</think>{polite_words(body)}"
    ),
    "open_reasoning": speaking(lambda body: f"<think>{last_speaker(body)} spoke. I should"),
    "invalid_json": breaking("invalid"),
    "cut_json": breaking("cut"),
    "newlines": breaking("newlines"),
}
# How often a model of 1.5 billion parameters showed a habit; all others count 1.
OFTEN = {"parrot": 12, "written_json": 6, "written_rounded": 6, "refusal": 3, "quote_prompt": 2}


@dataclass(frozen=True)
class SmallModel:
    """A bad model: a share of its replies shows a habit, the others are polite."""

    rate: float = 0.0
    seed: int = 0
    names: tuple[str, ...] = tuple(HABITS)

    def draw(self, number: int) -> Reply | None:
        """Return the habit of a request, or None: always the same for the same number."""
        dice = Random(f"{self.seed}:{number}")  # dice, not keys
        if dice.random() >= self.rate:
            return None
        weights = [OFTEN.get(name, 1) for name in self.names]
        return {"habit": dice.choices(self.names, weights)[0]}


def play_habit(reply: Reply, body: Body) -> Reply:
    """Return the reply of a habit, and written calls as text; any other reply unchanged."""
    if "habit" in reply:
        reply = {**HABITS[reply["habit"]](body), **reply}
    if "written_calls" in reply:
        text = write_calls(reply["written_calls"], reply.get("as", "json"))
        reply = {**reply, "text": f"{reply.get('text', '')}{text}"}
    return reply
