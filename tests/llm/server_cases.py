"""What servers do that call themselves compatible, by public reports: a row for each.

A row is (answers of the server, settings of the profile, what the character must say to a player's
lines, the answers of the server that this may cost).
"""

import gzip
import json

from tests.llm.endpoint_cases import (
    BODIES,
    END,
    ENDINGS,
    LINES,
    SAY,
    calls,
    delta,
    entry,
    events,
    message,
    native,
)

WORDS = "Good evening."
LOOK = '{"target": "fire"}'
ARGUMENTS = json.loads(SAY)
GOOD = (200, native("say"), ())
USAGE = {"choices": [], "usage": {"prompt_tokens": 400, "completion_tokens": 9}}
TWO = '{"text": "Good evening. Come in."}'
BOTH = "Good evening. Come in."
WARM = "Good \U0001f35e, still warm."


def row(*answers, lines=1, paid=None, words=WORDS, **profile):
    said = [words, "Oak and pine.", "Warm enough for me."][:lines]
    if lines > 1:
        answers = [for_line(answer, said) for answer in answers]
    return answers, profile, said, lines if paid is None else paid


def for_line(answer, said):
    """Return an answer with the words that it has for the newest line."""

    def for_newest(body):
        text = json.dumps(body["messages"])
        newest = max(number for number, line in enumerate(LINES) if line in text)
        status, made, *rest = answer(body) if callable(answer) else answer
        return status, made.replace(said[0], said[newest]), *rest

    return for_newest


# --- the connection ends behind the finish reason ------------------------------------------------

SPEECH = calls(entry(0, "say", "", "s")), calls(entry(0, None, TWO)), END
OVER = {
    f"a streamed call, {ending}": row((200, events(*SPEECH, USAGE, end=""), (), ending), words=BOTH)
    for ending in ENDINGS
} | {
    "a streamed call without usage, reset": row(
        (200, events(*SPEECH, end=""), (), "reset"), words=BOTH
    ),
    "whole calls without a reason, reset": row(
        (200, events(*SPEECH[:2], end=""), (), "reset"), words=BOTH
    ),
    "whole calls without a reason, closed": row((200, events(*SPEECH[:2], end=""), ()), words=BOTH),
    "the whole text again with the reason": row(
        (200, events(delta(content="Good "), delta(content="evening."),
                     delta("stop", content=WORDS)), ()), form="plain"
    ),
    "two speeches as one call": row(
        (200, events(calls(entry(0, "say", "", "s")),
                     calls({"index": 0, "function": {"name": "", "arguments": SAY}}),
                     calls({"index": 0, "function": {"name": "", "arguments":
                                                     '{"text": "Come in."}'}}), END), ()),
        words=BOTH,
    ),
    "streamed words, cut": row(
        (200, events(delta(content=WORDS), delta("stop"), end=""), (), "cut"), form="plain"
    ),
    "streamed words, silent": row(
        (200, events(delta(content=WORDS), delta("stop"), end=""), (), "silent"), form="plain"
    ),
    "its last event behind a whole reply": row(
        (200, message(content=WORDS) + "data: [DONE]\n\n", ()), form="plain", stream=False
    ),
    "a character in two halves": row(
        (200, events(delta(content="Good \ud83c"), delta(content="\udf5e, still "),
                     delta(content="warm."), delta("stop")), ()), form="plain", words=WARM
    ),
    "a character of a call in two halves": row(
        (200, events(calls(entry(0, "say", '{"text": "Good \ud83c', "s")),
                     calls(entry(0, None, '\udf5e, still warm."}')), END), ()), words=WARM
    ),
    "an event cut behind the end": row(
        (200, events(*SPEECH, end='data: {"id": "x'), ()), words=BOTH
    ),
    "an error behind the end": row(
        (200, events(*SPEECH, {"error": {"message": "stream closed", "code": 500}}), ()), words=BOTH
    ),
    "a whole reply, short": row((200, native("say"), (), "short"), stream=False),
    "a whole reply, reset": row((200, native("say"), (), "reset"), stream=False),
    "a whole reply, silent": row((200, native("say"), (), "silent"), stream=False),
}  # fmt: skip

# --- what stands beside a call -------------------------------------------------------------------


STREAMED = (200, events(*SPEECH[:1], calls(entry(0, None, SAY)), END), ())


def refused(text, status=400, **more):
    return status, json.dumps({"error": {"message": text, **more}}), ()


def made_calls(body):
    return [made for made in body["messages"] if made.get("tool_calls")]


def strict(first, is_whole, told, streamed=False):
    """Return a server that looks at the fire first, and refuses a history without what it sent."""

    def answer(body):
        made = made_calls(body)
        if not all(map(is_whole, made)):
            return refused(told)
        if body["messages"][-1]["role"] == "tool":
            return STREAMED if streamed else GOOD
        return (200, events(*first) if streamed else first, ())

    return answer


LOOKS = {"id": "a", "type": "function", "function": {"name": "look", "arguments": LOOK}}
SIGNED = {"google": {"thought_signature": "c2lnbmVk+/=="}}
DETAILS = [{"type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "a", "index": 0}]
THINKING = [{"type": "thinking", "thinking": "She greets.", "signature": "c2ln"}]
PART = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "R."}], "signature": "cw"}
THOUGHT = "She greets me.\nI look first."


def has(**fields):
    return lambda made: all(made.get(name) == value for name, value in fields.items())


def with_look(**fields):
    return message("tool_calls", content=None, tool_calls=[LOOKS], **fields)


def is_signed(made):
    return made["tool_calls"][0].get("extra_content") == SIGNED


MISSING = "The `{}` in the thinking mode must be passed back to the API."
BESIDE = {
    "DeepSeek, whole": row(
        strict(with_look(reasoning_content=THOUGHT), has(reasoning_content=THOUGHT),
               MISSING.format("reasoning_content")), lines=3, paid=6, stream=False),
    "DeepSeek, streamed": row(
        strict((delta(reasoning_content=THOUGHT[:9], content=""),
                delta(reasoning_content=THOUGHT[9:]),
                calls(entry(0, "look", "", "a")), calls(entry(0, None, LOOK)), END),
               has(reasoning_content=THOUGHT), MISSING.format("reasoning_content"), True),
        lines=3, paid=6),
    "Gemini, whole": row(
        strict(message("tool_calls", tool_calls=[{**LOOKS, "extra_content": SIGNED}]), is_signed,
               "Function call is missing a thought_signature in functionCall parts."),
        lines=2, paid=4, stream=False),
    "Gemini, streamed": row(
        strict((calls({**entry(0, "look", LOOK, "a"), "extra_content": SIGNED}), END), is_signed,
               "Function call is missing a thought_signature in functionCall parts.", True),
        lines=2, paid=4),
    "OpenRouter": row(
        strict(with_look(reasoning="She greets.", reasoning_details=DETAILS),
               lambda made: made.get("reasoning_details") == DETAILS
               and made["tool_calls"][0]["id"] == "a",
               "Reasoning details are missing."), lines=2, paid=4, stream=False),
    "OpenRouter, streamed": row(
        strict((delta(reasoning="She "), delta(reasoning="greets."),
                delta(reasoning_details=DETAILS), calls(entry(0, "look", LOOK, "a")), END),
               has(reasoning_details=DETAILS, reasoning="She greets."),
               "Reasoning details are missing.", True), lines=2, paid=4),
    "Claude by LiteLLM": row(
        strict(with_look(thinking_blocks=THINKING), has(thinking_blocks=THINKING),
               "Expected `thinking`, but found `tool_use`."), lines=2, paid=4, stream=False),
    "Copilot": row(
        strict(with_look(reasoning_opaque="b3A="), has(reasoning_opaque="b3A="),
               "reasoning_opaque is required."), lines=2, paid=4, stream=False),
    "Databricks": row(
        strict(message("tool_calls", content=[PART], tool_calls=[LOOKS]),
               lambda made: made["content"] == [PART], "thinking block required"),
        lines=2, paid=4, stream=False),
    "Groq sends what it refuses": row(
        strict(with_look(reasoning=THOUGHT), lambda made: "reasoning" not in made,
               "'messages.2' : for 'role:assistant' the following must be satisfied"
               "[('messages.2' : property 'reasoning' is unsupported)]"),
        lines=2, paid=4, stream=False),
}  # fmt: skip

# --- refused parameters and modes ----------------------------------------------------------------


def without(name, told, status=400, at=lambda body, name: name in body, answer=GOOD, **more):
    """Return a server that refuses a parameter."""
    return lambda body: refused(told, status, **more) if at(body, name) else answer


def has_system(body, _name):
    return body["messages"][0]["role"] == "system"


def gpt5(body):
    if "max_tokens" in body:
        return refused("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                       "'max_completion_tokens' instead.", param="max_tokens",
                       code="unsupported_parameter")  # fmt: skip
    if body.get("temperature", 1) != 1:
        return refused("Unsupported value: 'temperature' does not support 0.8 with this model. "
                       "Only the default (1) value is supported.", param="temperature",
                       code="unsupported_value")  # fmt: skip
    return GOOD if body.get("max_completion_tokens") else refused("no limit")


def wants(name, value, told, **more):
    """Return a server that demands a value of a parameter."""
    return lambda body: GOOD if body.get(name) == value else refused(told, **more)


SPOKEN = (200, message(content=WORDS), ())
FORBIDDEN = json.dumps({"detail": [{"type": "extra_forbidden", "loc": ["body", "temperature"],
                                    "msg": "Extra inputs are not permitted"}]})  # fmt: skip
REFUSED = {
    "GPT-5: limit and temperature": row(gpt5, lines=2, temperature=0.8),
    "Claude: temperature": row(
        without("temperature", "`temperature` is deprecated for this model."), lines=2
    ),
    "a FastAPI server: temperature": row(
        lambda body: (422, FORBIDDEN, ()) if "temperature" in body else GOOD
    ),
    "an old server: max_tokens only by the new name": row(
        without("max_tokens", "Unknown field: max_tokens", 422), lines=2
    ),
    "a server without stop": row(
        without("stop", "Unsupported parameter: 'stop' is not supported with this model.",
                answer=SPOKEN), lines=2, form="plain"),
    "OpenRouter: no tools": row(
        without("tools", "No endpoints found that support tool use. Try disabling \"say\".", 404,
                answer=SPOKEN), lines=2),
    "llama.cpp without --jinja": row(
        without("tools", "tools param requires --jinja flag", 500, answer=SPOKEN), lines=2),
    "vLLM without a parser": row(
        without("tools", '"auto" tool choice requires --enable-auto-tool-choice and '
                "--tool-call-parser to be set", answer=SPOKEN), lines=2),
    "Ollama: no tools": row(
        without("tools", "registry.ollama.ai/library/gemma:2b does not support tools",
                answer=SPOKEN), lines=2),
    "stream_options": row(without("stream_options", "Unknown parameter: stream_options"), lines=2),
    "a server that does not stream": row(without("stream", "Streaming is not supported.", 501)),
    "DashScope: streams alone": row(
        wants("stream", True, "This model only support stream mode, please enable the stream "
              "parameter to access the model. ", code="invalid_parameter_error"),
        lines=2, stream=False),
    "streams alone, in other words": row(
        wants("stream", True, "Stream must be set to true"), stream=False),
    "streams alone, as an assignment": row(
        wants("stream", True, "This model only supports streaming. Set stream=true."),
        stream=False),
    "no system message": row(
        without("", "System role not supported", at=has_system), lines=2),
    "OpenAI: tools without effort only": row(
        wants("reasoning_effort", "none", "Function tools with reasoning_effort are not supported "
              "here. To use function tools, set reasoning_effort to 'none'."), lines=2),
    "DashScope: no thinking without a stream": row(
        wants("enable_thinking", False, "parameter.enable_thinking must be set to false for "
              "non-streaming calls"), lines=2, stream=False),
    "an extra of the profile": row(
        without("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"),
        extra={"reasoning_effort": "minimal"}),
}  # fmt: skip

# --- at the limit, and nothing ------------------------------------------------------------------

EMPTY = (200, message(content=""), ())
CUT = {
    "a whole call at the limit": row((200, BODIES["functions."].replace("stop", "length"), ())),
    "a whole call at the limit, streamed": row(
        (200, events(calls(entry(0, "say", SAY, "s")), delta("length")), ())
    ),
    "a whole look at the limit": row(
        (200, message("length", tool_calls=[LOOKS]), ()), GOOD, paid=2, stream=False
    ),
    "an empty reply": row(EMPTY, GOOD, paid=2, stream=False),
    "reasoning and nothing else": row(
        (200, message(content="", reasoning_content="She greets me."), ()), GOOD, paid=2
    ),
    "a call in reasoning": row(
        (200, message(content=f'<think>I call say({SAY})</think>'), ()), GOOD, paid=2
    ),
    "a call in a reasoning tag, formatted": row(
        (200, message(content='<think>\n<tool_call>\n{"name": "say", "arguments": '
                      f"{SAY}}}\n</tool_call></think>"), ()), GOOD, paid=2),
    "a speech cut off": row(
        (200, message("length", tool_calls=[{"id": "a", "function": {
            "name": "say", "arguments": '{"text": "Good evening. Come in and'}}]), ()),
        stream=False),
    "words that a filter cut": row(
        (200, message("content_filter", content="Good evening. Come in and sit"), ()), form="plain"
    ),
    "words cut off": row(
        (200, message("length", content="Good evening. Come in and sit"), ()), form="plain"
    ),
}  # fmt: skip

# --- calls that leak into the text ---------------------------------------------------------------

LEAKS = {
    "DeepSeek 3.2": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="say">\n<｜DSML｜parameter '
    f'name="text" string="true">{WORDS}</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>",
    "FunctionGemma": "<start_function_call>call:say{text:<escape>"
    f"{WORDS}<escape>}}<end_function_call>",
    "Step 3": "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke "
    f'name="say"><steptml:parameter name="text">{WORDS}</steptml:parameter></steptml:invoke>'
    "<｜tool_call_end｜><｜tool_calls_end｜>",
    "LongCat": "<longcat_tool_call>say\n<longcat_arg_key>text</longcat_arg_key>\n"
    f"<longcat_arg_value>{WORDS}</longcat_arg_value>\n</longcat_tool_call>",
    "MiniMax M3": f']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="say">]<]minimax[>[<text>'
    f"{WORDS}]<]minimax[>[</text>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    "bare harmony": f"commentary to=functions.say json{SAY}",
    "bare harmony behind its analysis": "analysisShe greets me, so I greet her."
    f"assistantcommentary to=functions.say json{SAY}",
    "an object drafted in reasoning": f'<think>{{"name": "say", "arguments": {{"text": "No."}}}}\n'
    f"</think>{WORDS}",
}
LEAKED = {
    f"{name}, {form}": row((200, message(content=text), ()), form=form)
    for name, text in LEAKS.items()
    for form in ("tools", "text")
}

# --- failures ------------------------------------------------------------------------------------

SLOW = b'{"error": {"message": "Slow down."}}'
FAILED = {
    "Groq could not read a call": row(
        refused(
            "Failed to call a function.",
            code="tool_use_failed",
            failed_generation=f"say{SAY}</function>",
        ),
        paid=0,
    ),
    "Groq has nothing to read": row(
        refused("Failed to call a function.", code="tool_use_failed", failed_generation="say("),
        GOOD,
    ),
    "a compressed 429": row(
        (429, gzip.compress(SLOW), ["Content-Encoding: gzip", "Retry-After: 1"]), GOOD
    ),
    "a limit, reset": row((429, SLOW.decode(), ["Retry-After: 1"], "reset"), GOOD),
    "a compressed success": row(
        (200, gzip.compress(native("say").encode()), ["Content-Encoding: gzip"]), GOOD, stream=False
    ),
}
ROWS = {
    f"{kind}: {name}": made
    for kind, table in {
        "over": OVER, "beside": BESIDE, "refused": REFUSED, "cut": CUT, "leaked": LEAKED,
        "failed": FAILED,
    }.items()
    for name, made in table.items()
}  # fmt: skip
