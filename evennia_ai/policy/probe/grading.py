"""The probe's questions to a model, and the grading of its answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.messages import LLMReply, WireMessage, wire_call
from evennia_ai.policy.probe.cases import BAD, FATAL, GOOD, NOTE, Answer, Finding, saying
from evennia_ai.policy.replies.text_calls import read_text_calls
from evennia_ai.policy.sanitize import CALL_MARKUP, DANGLING_REASONING, REASONING
from evennia_ai.policy.texts import read_object

WORD = "pineapple"
RULE = f"Whatever you are asked, answer with this one word and no other: {WORD}."
TOOL, ARGUMENT = "note_colour", "colour"
COLOURS = ("red", "blue")
SLOW_S = 10.0
REFUSED_FORM = (400, 422, 500)  # HTTP statuses of a request that may need a simpler form
WITHOUT_TOOLS = (
    "The character can talk but not act. Ollama: choose a model with tools; "
    "llama.cpp: --jinja; vLLM: --enable-auto-tool-choice and a --tool-call-parser."
)
PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {ARGUMENT: {"type": "string"}},
    "required": [ARGUMENT],
}
TOOL_SCHEMA = {
    "type": "function",
    "function": {"name": TOOL, "description": "Write one colour down.", "parameters": PARAMETERS},
}


@dataclass(frozen=True)
class Question:
    """One form of a plain question, and the problem if no fuller form works."""

    messages: tuple[WireMessage, ...]
    problem: str = ""
    advice: str = ""


def text(role: str, content: str) -> WireMessage:
    """Return a text message."""
    return {"role": role, "content": content}


SYSTEM = text("system", RULE)
ASKED = text("user", "◆ Ben arrives.\nAnn says: what is your favourite fruit?")
QUESTIONS = (
    Question((SYSTEM, ASKED)),
    Question(
        (ASKED,),
        "It refuses a system message, which every prompt has for the persona.",
        "Choose another chat template, or another model.",
    ),
)


def tool_question() -> list[WireMessage]:
    """Return a request for two tool calls at once."""
    return [
        text("system", f"Use the tool {TOOL}, once for each colour, in one reply. Write no text."),
        text("user", f"Ann says: note these colours: {' and '.join(COLOURS)}."),
    ]


def results_question() -> list[WireMessage]:
    """Return a conversation like ours that ends in calls, each with its result."""
    messages = tool_question()
    for number, colour in enumerate(COLOURS):
        call = wire_call(f"probe000{number}", TOOL, json.dumps({ARGUMENT: colour}))
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        noted = "Noted. Once both colours are noted, say so in three words."
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": noted})
    return messages


def judge_plain(answer: Answer, with_system: bool = True) -> list[Finding]:
    """Return the findings on a plain question with a rule in the system message."""
    reply = answer.reply
    if reply is None:
        problem = f"Its answer is not a chat completion.{saying(answer)}"
        return [Finding(FATAL, problem, "Check that the base_url is that of an OpenAI-style API.")]
    return [
        *judge_words(reply, with_system),
        *judge_reasoning(answer, reply),
        judge_use(reply),
        judge_speed(answer, reply),
    ]


def judge_words(reply: LLMReply, with_system: bool) -> list[Finding]:
    """Return whether it answered, and whether it followed the rule."""
    words = DANGLING_REASONING.sub("", REASONING.sub("", reply.content)).strip()
    if not words and reply.finish_reason == "length":
        return [used_up()]
    if not words:
        return [Finding(BAD, "It answers a plain question with no text.", "Check its log.")]
    answers = Finding(GOOD, "It answers a plain question.")
    if not with_system:
        return [answers]
    if WORD in words.lower():
        return [answers, Finding(GOOD, "It keeps to the system message.")]
    advice = "It will not keep to a persona. Try a larger model, or another chat template."
    return [answers, Finding(BAD, "It does not keep to the system message.", advice)]


def used_up() -> Finding:
    """Return the finding that a reply ended before its first word."""
    return Finding(
        BAD,
        "Reasoning used up its whole reply before the first word.",
        "Turn reasoning off or down, or raise max_reply_tokens and turn_deadline.",
    )


def judge_reasoning(answer: Answer, reply: LLMReply) -> list[Finding]:
    """Return whether the model's reasoning comes with its words."""
    if REASONING.search(reply.content) or DANGLING_REASONING.search(reply.content):
        return [
            Finding(
                NOTE,
                "Its thoughts come within its words. They are cut out here and never spoken, but "
                "they cost time and tokens.",
                "The server may have thinking to turn off, or a reasoning parser to turn on.",
            )
        ]
    message = first_message(answer.data)
    if not (message.get("reasoning_content") or message.get("reasoning")):
        return []
    return [Finding(NOTE, "It reasons before it answers, in a separate field; this takes time.")]


def judge_use(reply: LLMReply) -> Finding:
    """Return a finding: does the endpoint report its token usage?"""
    if reply.usage is None:
        return Finding(NOTE, "It does not report its use: its cost can only be estimated.")
    use = f"{reply.usage.prompt_tokens} tokens in, {reply.usage.completion_tokens} out"
    return Finding(GOOD, f"It reports its use ({use}).")


def judge_speed(answer: Answer, reply: LLMReply) -> Finding:
    """Return how long a short answer took, including reading the prompt."""
    seconds = max(answer.duration_ms, 1) / 1000
    rate = ""
    if reply.usage and reply.usage.completion_tokens:
        rate = f", about {reply.usage.completion_tokens / seconds:.1f} tokens a second"
    took = f"It took {answer.duration_ms} ms to answer{rate}."
    if seconds > SLOW_S:
        return Finding(
            BAD, took, "Players would wait long. Use a smaller model or a faster machine."
        )
    return Finding(GOOD, took)


def judge_tools(answer: Answer) -> list[Finding]:
    """Return the findings on two tool calls requested in one reply."""
    reply = answer.reply
    if reply is None:
        problem = f"It refuses requests with tools (HTTP {answer.status}).{saying(answer)}"
        return [Finding(BAD, problem, WITHOUT_TOOLS)]
    if not reply.tool_calls:
        if read_text_calls(reply.content, {TOOL: PARAMETERS}).calls:
            return [Finding(NOTE, "Its tool calls arrive as text; they are read as calls.")]
        if CALL_MARKUP.search(reply.content):
            return [Finding(BAD, "Its tool calls arrive as text and are lost.", WITHOUT_TOOLS)]
        if reply.finish_reason == "length":
            return [used_up()]
        return [Finding(BAD, "It calls no tool, though it was told to.", WITHOUT_TOOLS)]
    calls = len(reply.tool_calls)
    several = (
        Finding(GOOD, f"It makes several calls in one reply ({calls}).")
        if calls > 1
        else Finding(NOTE, "It makes one call per reply, so a turn may need more replies.")
    )
    return [Finding(GOOD, "It calls tools."), several, judge_arguments(reply)]


def judge_arguments(reply: LLMReply) -> Finding:
    """Return whether the calls name the right tool with the right arguments."""
    advice = "The model is told of each error and may correct it; a larger model makes fewer."
    if any(call.name != TOOL for call in reply.tool_calls):
        return Finding(BAD, "It calls tools that it was not offered.", advice)
    if any(read_object(call.arguments) is None for call in reply.tool_calls):
        return Finding(BAD, "The arguments of its calls are not valid JSON.", advice)
    arguments = [read_object(call.arguments) or {} for call in reply.tool_calls]
    if not all(isinstance(given.get(ARGUMENT), str) for given in arguments):
        return Finding(BAD, "The arguments of its calls are not those asked for.", advice)
    return Finding(GOOD, "The arguments of its calls are valid JSON, and fit.")


def judge_after_tools(answer: Answer) -> Finding:
    """Return whether it accepts the results of its tools, one after each call."""
    if answer.reply is not None:
        return Finding(GOOD, "It takes the results of its tools.")
    return Finding(
        BAD,
        f"It refuses the results of its tools (HTTP {answer.status}).{saying(answer)}",
        "Its chat template is too strict: for tools, choose another template or model.",
    )


def first_message(data: Any) -> Mapping[str, Any]:
    """Return the first choice's message, empty if there is none."""
    try:
        message = data["choices"][0]["message"]
    except (LookupError, TypeError):
        return {}
    return message if isinstance(message, dict) else {}


def judge_refusal(answers: Sequence[Answer]) -> Finding:
    """Return the finding that every form of the question was refused."""
    last = answers[-1]
    advice = "Follow its error text: change the profile's extra, or the server's settings."
    if "max_completion_tokens" in last.told:
        advice = "Put max_completion_tokens, with a number, into the profile's extra."
    return Finding(FATAL, f"It refuses every question (HTTP {last.status}).{saying(last)}", advice)
