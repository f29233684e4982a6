"""Neighbours of what servers really send: rows that were written from the kinds alone.

Who wrote them had not read the code that reads replies. Each row names its provider, with
``owner/repository#issue`` where somebody reported it; the others are what that provider's software
plausibly sends. The keys of a table are (kind, provider and what it does).
"""

import json

from evennia_ai.errors import (
    ContextOverflow,
    ProviderMisconfigured,
    ProviderUnavailable,
    QuotaExhausted,
)
from tests.llm.endpoint_cases import BOTH, END, SAID, SAY, SPOKEN, calls, delta, entry, native

LOOK = '{"target": "fire"}'
ARGS = {"text": "Good evening."}
WORDS = "Good evening."

INTERLEAVED, UNSTEADY = "interleaved calls", "index missing or unsteady"
NO_OBJECT, UNTAGGED = "events that are no object", "reasoning without its opening tag"
SPLIT, HIDDEN = "answer split over choices", "failure inside a success"
MINUTE, CUT = "a minute's limit worded as a quota", "cut off under another name"
LOOSE, PLACES = "native calls spelled loosely", "calls in other places"
OVERFLOWS, ADDRESS = "overflow in other words", "an address with parts"
UNCACHED, USAGE = "usage without the cached part", "usage in other places"
COLOURS, BODY = "colours in a name", "the body's words without the mind"


def whole(message=None, finish_reason="tool_calls", **beside):
    choice = {"index": 0, "message": message or {}, "finish_reason": finish_reason}
    return {"object": "chat.completion", "choices": [{**choice, **beside}]}


def function(name="say", arguments=SAY):
    made = {"name": name, "arguments": arguments}
    return {"id": f"call_{name}", "type": "function", "function": made}


def parts(*content):
    return whole({"role": "assistant", "content": list(content)})


def named(name):
    return json.loads(native(name))


def spelled(arguments):
    return json.loads(native("say", arguments))


# A tuple is a stream's events; a dict is a whole reply, which is also played as one chunk.
CALLS = {
    (INTERLEAVED, "Plexus: every index 0, ids tell them apart (mcowger/plexus#691)"): (
        (calls(entry(0, "look", "", "a")), calls(entry(0, "say", "", "b")),
         calls(entry(0, arguments=LOOK, call_id="a")),
         calls(entry(0, arguments=SAY, call_id="b")), END), BOTH),
    (INTERLEAVED, "Vertex by LiteLLM: the last chunk has both again"): (
        (calls(entry(0, "look", LOOK, "a")), calls(entry(1, "say", SAY, "b")),
         calls(entry(0, "look", LOOK, "a"), entry(1, "say", SAY, "b")), END), BOTH),
    (INTERLEAVED, "vLLM: the arguments again at the end"): (
        (calls(entry(0, "look", LOOK, "a")), calls(entry(1, "say", SAY, "b")),
         calls(entry(1, arguments=SAY)), END), BOTH),
    (INTERLEAVED, "DashScope: each chunk has all so far (QwenLM/Qwen-Agent#943)"): (
        (calls(entry(0, "look", LOOK, "a")), calls(entry(1, "say", SAY[:9], "b")),
         calls(entry(1, "say", SAY[:15], "b")), calls(entry(1, "say", SAY, "b")), END), BOTH),
    (INTERLEAVED, "Gemini by a gateway: a name in pieces (continuedev/continue#5849)"): (
        (calls(entry(0, "lo", "", "a")), calls(entry(1, "sa", "", "b")),
         calls(entry(0, "ok", LOOK)), calls(entry(1, "y", SAY)), END), BOTH),
    (INTERLEAVED, "Claude by LiteLLM: indices from 1, text between"): (
        (delta(content="Hm."), calls(entry(1, "look", "", "a")), calls(entry(2, "say", "", "b")),
         delta(content=" "), calls(entry(1, arguments=LOOK)), calls(entry(2, arguments=SAY)), END),
        BOTH),
    (INTERLEAVED, "MiniMax on NIM: the name with every part (NousResearch/hermes-agent#8259)"): (
        (calls(entry(0, "look", LOOK[:5], "a")), calls(entry(0, "look", LOOK[5:])),
         calls(entry(1, "say", SAY[:5], "b")), calls(entry(1, "say", SAY[5:12])),
         calls(entry(1, "say", SAY[12:])), END), BOTH),
    (UNSTEADY, "Poolside: another id behind the first (poolsideai/pool#9)"): (
        (calls(entry(0, "say", "", "x")), calls(entry(0, arguments=SAY[:8], call_id="y")),
         calls(entry(0, arguments=SAY[8:], call_id="y")), END), SAID),
    (UNSTEADY, "OCI by LiteLLM: a new id with each part (BerriAI/litellm#28223)"): (
        (calls(entry(0, "say", "", "x")), calls(entry(0, arguments=SAY[:8], call_id="y")),
         calls(entry(0, arguments=SAY[8:], call_id="z")), END), SAID),
    (UNSTEADY, "SGLang: index -1"): (
        (calls(entry(-1, "say", "", "s")), calls(entry(-1, arguments=SAY)), END), SAID),
    (UNSTEADY, "a PHP gateway: indices as floats"): (
        (calls(entry(0.0, "look", "", "a")), calls(entry(1.0, "say", "", "b")),
         calls(entry(0.0, arguments=LOOK)), calls(entry(1.0, arguments=SAY)), END), BOTH),
    (UNSTEADY, "a Bedrock gateway: the second call's parts at index 0"): (
        (calls(entry(0, "look", LOOK, "a")), calls(entry(1, "say", "", "b")),
         calls(entry(0, arguments=SAY[:8])), calls(entry(0, arguments=SAY[8:])), END), BOTH),
    (UNSTEADY, "Ollama 0.4: no index, whole calls, one id for both"): (
        (delta(tool_calls=[{"id": "c", "function": {"name": "look", "arguments": LOOK}}]),
         delta(tool_calls=[{"id": "c", "function": {"name": "say", "arguments": SAY}}]), END),
        BOTH),
    (UNSTEADY, "Cohere: an id first, its name behind"): (
        (calls({"index": 0, "id": "s", "type": "function", "function": {}}),
         calls(entry(0, "say")), calls(entry(0, arguments=SAY)), END), SAID),
    (UNSTEADY, "vLLM: null entries and an empty id between"): (
        (calls(entry(0, "say", "", "s")), calls(None), delta(tool_calls=None),
         calls(entry(0, "", SAY, "")), END), SAID),
    (NO_OBJECT, "OpenAI: retry and id alone (openai/openai-python#3833)"): (
        ("retry: 3000\n\n", "id: 1\n", SPOKEN, "id: 2\n\n", END), SAID),
    (NO_OBJECT, "Anthropic by a gateway: event: ping"): (
        ('event: ping\ndata: {"type": "ping"}\n\n', SPOKEN, "event: keepalive\ndata:\n\n", END),
        SAID),
    (NO_OBJECT, "OpenRouter by a gateway: its comment as data (mnfst/llm-gateway#2053)"): (
        ("data: : OPENROUTER PROCESSING\n\n", SPOKEN, END), SAID),
    (NO_OBJECT, "Ollama: lines of JSON without data:"): (
        ("".join(json.dumps(one) + "\n" for one in (SPOKEN, END)),), SAID),
    (NO_OBJECT, "TGI: no space behind data:"): (
        (f"data:{json.dumps(SPOKEN)}\n\n", f"data:{json.dumps(END)}\n\n", "data:[DONE]\n\n"),
        SAID),
    (NO_OBJECT, "a proxy: two events on one line"): (
        (f"data: {json.dumps(SPOKEN)}data: {json.dumps(END)}\n\n",), SAID),
    (NO_OBJECT, "Gemini: a list of chunks"): (([SPOKEN], [END]), SAID),
    (NO_OBJECT, "Azure: no choices first, null choices between"): (
        ({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}, {"choices": None},
         SPOKEN, END, {"choices": [{"index": 0, "content_filter_results": {}}]}), SAID),
    (NO_OBJECT, "a Spring gateway: indented lines and a quoted end"): (
        ("\n\n", f" data: {json.dumps(SPOKEN)}\n\n", f"  data: {json.dumps(END)}\n\n",
         'data: "[DONE]"\n\n'), SAID),
    (SPLIT, "Copilot: two choices, both of index 0"): (
        {"choices": [{"index": 0, "message": {"content": "Hm."}, "finish_reason": "tool_calls"},
                     {"index": 0, "message": {"tool_calls": [function()]}}]}, SAID),
    (SPLIT, "Copilot: a choice for each call"): (
        {"choices": [{"message": {"content": None, "tool_calls": [function("look", LOOK)]}},
                     {"message": {"tool_calls": [function()]}, "finish_reason": "tool_calls"}]},
        BOTH),
    (SPLIT, "Copilot: both choices in one chunk"): (
        ({"choices": [{"index": 0, "delta": {"content": "Hm."}},
                      {"index": 1, "delta": {"tool_calls": [entry(0, "say", SAY, "s")]}}]},
         {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"},
                      {"index": 1, "delta": {}, "finish_reason": "tool_calls"}]}), SAID),
    (SPLIT, "a PHP gateway: choices as one object"): (
        {"choices": {"0": {"message": {"tool_calls": [function()]},
                           "finish_reason": "tool_calls"}}}, SAID),
    (SPLIT, "Vertex: two candidates with the same call"): (
        {"choices": [{"index": i, "message": {"tool_calls": [{**function(), "id": f"c{i}"}]},
                      "finish_reason": "tool_calls"} for i in (0, 1)]}, SAID),
    (LOOSE, "Gemini: default_api."): (named("default_api.say"), SAID),
    (LOOSE, "Gemini: default_api:"): (named("default_api:say"), SAID),
    (LOOSE, "Kimi K2: functions.say:0"): (named("functions.say:0"), SAID),
    (LOOSE, "gpt-oss: a constraint behind the name"): (named("say<|constrain|>json"), SAID),
    (LOOSE, "gpt-oss: to=functions.say"): (named("commentary to=functions.say"), SAID),
    (LOOSE, "Qwen3: spaces and line ends around the name"): (named(" say\n"), SAID),
    (LOOSE, "Mistral: a name in quotes"): (named('"say"'), SAID),
    (LOOSE, "OpenAI: multi_tool_use.parallel"): (
        json.loads(native("multi_tool_use.parallel", json.dumps({"tool_uses": [
            {"recipient_name": "functions.look", "parameters": json.loads(LOOK)},
            {"recipient_name": "functions.say", "parameters": ARGS}]}))), BOTH),
    (LOOSE, "llama.cpp: a Python dict"): (spelled(str(ARGS)), SAID),
    (LOOSE, "Llama 3: a comma too many"): (spelled('{"text": "Good evening.",}'), SAID),
    (LOOSE, "vLLM: a special token behind"): (spelled(SAY + "<|im_end|>"), SAID),
    (LOOSE, "DeepSeek: its end mark behind"): (spelled(SAY + "<｜tool▁call▁end｜>"), SAID),
    (LOOSE, "Qwen3.5-Flash: line ends spelled out (OpenHands/software-agent-sdk#2488)"): (
        spelled('{\\n"text": "Good evening."\\n}'), SAID),
    (LOOSE, "LiteLLM: null before"): (spelled("null" + SAY), SAID),
    (LOOSE, "Gemma: the schema's properties around"): (
        spelled(json.dumps({"type": "object", "properties": ARGS})), SAID),
    (LOOSE, "Hermes: input around"): (spelled(json.dumps({"input": ARGS})), SAID),
    (LOOSE, "Llama 4: its own name around"): (spelled(json.dumps({"say": ARGS})), SAID),
    (LOOSE, "SGLang: the same arguments twice"): (spelled(SAY + SAY), SAID),
    (LOOSE, "Qwen3-Coder: its own form as arguments"): (
        spelled("<parameter=text>\nGood evening.\n</parameter>"), SAID),
    (PLACES, "Databricks: a part tool_use in the content"): (
        parts({"type": "text", "text": "Hm."},
              {"type": "tool_use", "id": "a", "name": "say", "input": ARGS}), SAID),
    (PLACES, "Bedrock: a part toolUse"): (
        parts({"toolUse": {"toolUseId": "a", "name": "say", "input": ARGS}}), SAID),
    (PLACES, "Gemini: a part functionCall"): (
        parts({"functionCall": {"name": "say", "args": ARGS}}), SAID),
    (PLACES, "a PHP gateway: tool_calls with keys"): (
        whole({"tool_calls": {"0": function("look", LOOK), "1": function()}}), BOTH),
    (PLACES, "LM Studio: tool_calls as text"): (
        whole({"content": "", "tool_calls": json.dumps([function()])}), SAID),
    (PLACES, "OpenAI: a custom tool"): (
        whole({"tool_calls": [{"type": "custom", "custom": {"name": "say", "input": SAY}}]}),
        SAID),
    (PLACES, "Xinference: a list in a list"): (whole({"tool_calls": [[function()]]}), SAID),
    (PLACES, "one-api: a delta in a whole reply"): (
        whole(delta={"tool_calls": [entry(0, "say", SAY, "s")]}), SAID),
    (PLACES, "one-api: a message in a stream"): (
        ({"choices": [{"index": 0, "message": {"tool_calls": [function()]}}]}, END), SAID),
    (PLACES, "Cohere and Ollama: the message on top"): (
        {"message": {"role": "assistant", "tool_calls": [function()]}, "done": True,
         "done_reason": "stop"}, SAID),
    (PLACES, "a Responses gateway: output"): (
        {"object": "response", "status": "completed", "output": [
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "a", "name": "say", "arguments": SAY}]}, SAID),
    (PLACES, "a gateway: one call, not a list"): (whole({"tool_call": function()}), SAID),
    (PLACES, "a gateway: one call in parts"): (
        (delta(tool_call=entry(0, "say", SAY[:9], "s")), delta(tool_call=entry(0, None, SAY[9:])),
         END), SAID),
    (PLACES, "a gateway: the calls beside the message"): (
        whole({"content": ""}, tool_calls=[function("look", LOOK), function()]), BOTH),
    (PLACES, "a gateway: a call beside no message"): (
        {"choices": [{"tool_call": function(), "finish_reason": "tool_calls"}]}, SAID),
    (PLACES, "a gateway: the calls beside the message, and in it"): (
        whole({"tool_calls": [function()]}, tool_calls=[function()]), SAID),
    (PLACES, "a gateway: the old field beside the message"): (
        whole({"content": ""}, function_call=function()["function"]), SAID),
    (PLACES, "a gateway: parts beside the delta"): (
        ({"choices": [{"index": 0, "delta": {}, "tool_calls": [entry(0, "say", SAY[:9], "s")]}]},
         {"choices": [{"index": 0, "delta": {}, "tool_calls": [entry(0, None, SAY[9:])]}]}, END),
        SAID),
}  # fmt: skip
# What is spoken of each is WORDS. A tuple is the pieces of a streamed text.
SPEECH = {
    (UNTAGGED, "Magistral: [/THINK]"): ("R. ", "[/TH", "INK]", WORDS),
    (UNTAGGED, "Seed-OSS: </seed:think>"): ("R. ", "</seed:think>", WORDS),
    (UNTAGGED, "Claude's readers: </thinking>"): ("R. ", "</thi", "nking>\n\n", WORDS),
    (UNTAGGED, "EXAONE: </thought>"): ("R. ", "</thought>", WORDS),
    (UNTAGGED, "OpenThinker: its end mark"): (
        "R. ", "<|end_of_thought|>", "<|begin_of_solution|>", WORDS, "<|end_of_solution|>"),
    (UNTAGGED, "MedGemma: an unused token"): ("R. ", "<unused95>", WORDS),
    (UNTAGGED, "LongCat: </longcat_think>"): ("R. ", "</longcat_think>", WORDS),
    (UNTAGGED, "Qwen3: the end twice"): ("R. </think>", " More. ", "</think>", WORDS),
    (UNTAGGED, "a 7B distillate: </THINK>"): ("R. ", "</THINK>", WORDS),
    (UNTAGGED, "ERNIE: a response tag behind"): (
        "R. ", "</think>\n\n<response>\n", WORDS, "\n</response>"),
    (UNTAGGED, "Hunyuan: an answer tag behind"): (
        "R. ", "</think>\n<answer>\n", WORDS, "\n</answer>"),
    (UNTAGGED, "gpt-oss: its channels"): (
        "R.", "<|end|><|start|>assistant<|channel|>final<|message|>", WORDS),
    (UNTAGGED, "a web front: the tag escaped"): ("R. ", "&lt;/think&gt;", WORDS),
    (UNTAGGED, "Mistral: a part thinking in the content (vercel/ai#13703)"): {
        "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "R."}]},
                    {"type": "text", "text": WORDS}]},
    (PLACES, "a Responses gateway: words in its output"): {
        "content": [{"type": "reasoning", "summary": []},
                    {"type": "message", "content": [{"type": "output_text", "text": WORDS}]}]},
    (UNTAGGED, "Databricks: a part reasoning in the content"): {
        "content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "R."}]},
                    {"type": "text", "text": WORDS}]},
}  # fmt: skip
# Finish reasons behind a call that was cut off: it must not run.
ENDS = {
    (CUT, "LM Studio: maxPredictedTokensReached"): "maxPredictedTokensReached",
    (CUT, "SGLang: an object"): {"type": "length", "length": 512},
    (CUT, "llama.cpp: limit"): "limit",
    (CUT, "MLX: max_new_tokens"): "max_new_tokens",
    (CUT, "Cohere: ERROR_LIMIT"): "ERROR_LIMIT",
    (CUT, "a gateway: length_limit"): "length_limit",
    (CUT, "Bedrock: max_tokens_reached"): "max_tokens_reached",
}
TALK = "Good evening, Ann. Come in and"
OVER = "This model's maximum context length is 4096 tokens, your prompt has 5000 tokens."
HALF = delta(content="Good ev")
# status, the whole body or a stream's events, error
FAILED = {
    (HIDDEN, "OpenRouter: an error beside a choice"): (
        200, (HALF, {"error": {"code": 502, "message": "Provider returned error"},
                     "choices": [{"index": 0, "delta": {"content": ""},
                                  "finish_reason": "error"}]}), ProviderUnavailable),
    (HIDDEN, "OpenRouter: a limit of the one behind"): (
        200, {"error": {"code": 429, "message": "Provider returned error", "metadata": {
            "raw": "x is temporarily rate-limited upstream. Please retry shortly."}}},
        ProviderUnavailable),
    (HIDDEN, "LiteLLM: a code as text, in a stream"): (
        200, ({"error": {"message": f"litellm.ContextWindowExceededError: {OVER}",
                         "type": None, "code": "400"}},), ContextOverflow),
    (HIDDEN, "vLLM: the engine died, in a stream"): (
        200, (HALF, {"error": {"message": "EngineCore encountered an issue.",
                               "type": "InternalServerError", "code": 500}}),
        ProviderUnavailable),
    (HIDDEN, "LM Studio: an error that is a text"): (200, {"error": OVER}, ContextOverflow),
    (HIDDEN, "Ollama: an error that is a text, in a stream"): (
        200, (HALF, {"error": "an error was encountered while running the model: EOF"}),
        ProviderUnavailable),
    (HIDDEN, "Cloudflare: success false"): (
        200, {"success": False, "result": None, "messages": [],
              "errors": [{"code": 3040, "message": "Capacity temporarily exceeded"}]},
        ProviderUnavailable),
    (HIDDEN, "DeepSeek: insufficient_system_resource"): (
        200, {"choices": [{"message": {"content": "Good ev"},
                           "finish_reason": "insufficient_system_resource"}]},
        ProviderUnavailable),
    (HIDDEN, "Gemini: MALFORMED_FUNCTION_CALL"): (
        200, {"choices": [{"message": {"role": "assistant"}, "finish_reason":
                           "function_call_filter: MALFORMED_FUNCTION_CALL"}]},
        ProviderUnavailable),
    (HIDDEN, "SGLang: an abort as an object"): (
        200, {"choices": [{"message": {"content": "Good ev"}, "finish_reason": {
            "type": "abort", "message": "Abort in waiting queue", "status_code": 503}}]},
        ProviderUnavailable),
    (HIDDEN, "DashScope: a code and a message"): (
        200, {"code": "InvalidParameter", "message": "Range of input length should be [1, 6000]",
              "request_id": "r"}, ContextOverflow),
    (HIDDEN, "Qianfan: error_code"): (
        200, {"error_code": 336007, "error_msg": "the max input characters is 20000"},
        ContextOverflow),
    (HIDDEN, "Qianfan: a limit"): (
        200, {"error_code": 18, "error_msg": "Open api qps request limit reached"},
        ProviderUnavailable),
    (HIDDEN, "one-api: a wrong key in a stream"): (
        200, ({"error": {"message": "Invalid token (request id: 1)", "type": "one_api_error",
                         "code": 401}},), ProviderMisconfigured),
    (HIDDEN, "a proxy: its page"): (
        200, "<html><head><title>502 Bad Gateway</title></head></html>", ProviderUnavailable),
    (OVERFLOWS, "Poolside (earendil-works/pi#4943)"): (
        400, {"error": {"message": "Input length 131393 exceeds the maximum allowed input length"
                                   " of 131040 tokens."}}, ContextOverflow),
    (OVERFLOWS, "SiliconFlow, GLM (leookun/cursor-byok#129)"): (
        400, {"code": 20015, "data": None, "message": "number of input tokens (204703) has"
              " exceeded max_prompt_tokens (202752) limit."}, ContextOverflow),
    (OVERFLOWS, "Cloudflare"): (
        400, {"errors": [{"code": 5021, "message": "AiError: The estimated number of input and"
              " maximum output tokens (9999) exceeded this model context window limit (8192)."}]},
        ContextOverflow),
    (OVERFLOWS, "Triton"): (
        400, {"error": "prompt length (5000) exceeds max input length (4096)"}, ContextOverflow),
    (OVERFLOWS, "watsonx"): (
        400, {"errors": [{"code": "invalid_input_argument", "message": "the number of input"
              " tokens 5000 cannot exceed the total tokens limit 4096 for this model"}]},
        ContextOverflow),
    (OVERFLOWS, "Spark"): (
        400, {"error": {"code": "10907", "message": "token数量超过上限"}}, ContextOverflow),
    (OVERFLOWS, "MLX"): (
        500, {"error": "Prompt of 5000 tokens is longer than max_kv_size 4096"}, ContextOverflow),
    (OVERFLOWS, "a proxy: a page with 413"): (
        413, "<html><h1>413 Request Entity Too Large</h1></html>", ContextOverflow),
    (OVERFLOWS, "Groq: more than a minute's tokens at once (continuedev/continue#10218)"): (
        413, {"error": {"type": "tokens", "code": "rate_limit_exceeded", "message":
                        "Request too large for model `m` in organization `o` service tier"
                        " `on_demand` on tokens per minute (TPM): Limit 6000, Requested 7000,"
                        " please reduce your message size and try again. Need more tokens?"
                        " Upgrade at https://x/settings/billing"}}, ContextOverflow),
    (OVERFLOWS, "Groq, not one: the minute's tokens are used"): (
        429, {"error": {"type": "tokens", "code": "rate_limit_exceeded", "message":
                        "Rate limit reached for model `m` on tokens per minute (TPM): Limit 6000,"
                        " Used 5000, Requested 2000. Please try again in 10s."}},
        ProviderUnavailable),
    (OVERFLOWS, "OpenAI: more than a minute's tokens at once (TheR1D/shell_gpt#653)"): (
        429, {"error": {"type": "tokens", "code": "rate_limit_exceeded", "message":
                        "Request too large for m in organization o on tokens per min (TPM):"
                        " Limit 6000, Requested 7000. The input or output tokens must be reduced"
                        " in order to run successfully."}}, ContextOverflow),
    (OVERFLOWS, "Bedrock, not one: a minute's tokens"): (
        429, {"message": "Too many tokens, please wait before trying again."},
        ProviderUnavailable),
    (CUT, "GLM, Claude: the window is full"): (
        200, {"choices": [{"message": {"content": "Good ev"},
                           "finish_reason": "model_context_window_exceeded"}]}, ContextOverflow),
    (CUT, "LM Studio: contextLengthReached"): (
        200, {"choices": [{"message": {"content": "Good ev"},
                           "finish_reason": "contextLengthReached"}]}, ContextOverflow),
    (CUT, "a gateway: context_length_exceeded"): (
        200, {"choices": [{"message": {"content": "Good ev"},
                           "finish_reason": "context_length_exceeded"}]}, ContextOverflow),
    (MINUTE, "Moonshot, not one: no balance"): (
        429, {"error": {"type": "exceeded_current_quota_error", "message":
                        "Your account is suspended, please check your plan and billing details"}},
        QuotaExhausted),
}  # fmt: skip
DETAILS = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
           {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}]  # fmt: skip
GEMINI = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": DETAILS,
                    "message": "You exceeded your current quota, please check your plan and"
                               " billing details."}}  # fmt: skip


def told(message, **fields):
    return {"error": {"message": message, **fields}}


# body, headers, seconds to wait (None: no wait is told)
WAITS = {
    (MINUTE, "Gemini: a list"): ([GEMINI], (), 2.0),
    (MINUTE, "Gemini by LiteLLM: JSON in a text"): (
        told("litellm.RateLimitError: VertexAIException - " + json.dumps(GEMINI)), (), 2.0),
    (MINUTE, "Vertex: check quota"): (
        told("Resource has been exhausted (e.g. check quota).", status="RESOURCE_EXHAUSTED"),
        (), None),
    (MINUTE, "Vertex: online prediction"): (
        told("Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base"
             "_model. Please submit a quota increase request."), (), None),
    (MINUTE, "Groq: minutes and seconds (continuedev/continue#10920)"): (
        told("Rate limit reached on tokens per minute (TPM): Limit 6000. Please try again in"
             " 1m2.5s. Upgrade to Dev Tier at https://x/settings/billing",
             code="rate_limit_exceeded"), (), 62.5),
    (MINUTE, "Azure: in words (icereed/paperless-gpt#814)"): (
        told("Your requests have exceeded the token rate limit for your current AIServices S0"
             " pricing tier. Please retry after 2 seconds. To increase your quota, go to x",
             code="429"), (), 2.0),
    (MINUTE, "Azure: retry-after-ms"): (told("slow down"), ["retry-after-ms: 2000"], 2.0),
    (MINUTE, "Azure: x-ratelimit-reset-tokens alone (openai/openai-python#937)"): (
        told("slow down"), ["x-ratelimit-reset-tokens: 2"], None),
    (MINUTE, "a proxy: two waits in one header"): (told("slow down"), ["Retry-After: 2, 2"], 2.0),
    (MINUTE, "Mistral: capacity of the tier"): (
        {"object": "error", "message": "Service tier capacity exceeded for this model.",
         "type": "service_tier_capacity_exceeded", "code": "3505"}, (), None),
    (MINUTE, "Moonshot: TPM"): (
        told("Your account org-x request reached organization TPM rate limit, current: 9, limit:"
             " 8, please try again after 2 seconds", type="rate_limit_reached_error"), (), 2.0),
    (MINUTE, "Zhipu: too often"): (
        told("您的账户已达到速率限制，请您控制请求频率", code="1302"), (), None),
    (MINUTE, "Together: queries a minute"): (
        told("You have reached the rate limit specific to this model. The maximum rate limit for"
             " this model is 6.0 queries per minute.", type="model_rate_limit"), (), None),
}  # fmt: skip
# base_url and query as meant; `KEY` must not be shown
ADDRESSES = {
    (ADDRESS, "Azure: a deployment's whole address"): (
        "https://x.openai.azure.com/openai/deployments/g/chat/completions?api-version=2024-06-01",
        "https://x.openai.azure.com/openai/deployments/g", {"api-version": "2024-06-01"}),
    (ADDRESS, "Gemini: a key in the query"): (
        "https://host/v1beta/openai/?key=KEY", "https://host/v1beta/openai", {"key": "KEY"}),
    (ADDRESS, ".env: quotes around"): ('"http://host/v1"', "http://host/v1", {}),
    (ADDRESS, "a mail: angle brackets around"): ("<http://host/v1>", "http://host/v1", {}),
    (ADDRESS, "Ollama: another path pasted"): ("http://host/v1/models", "http://host/v1", {}),
    (ADDRESS, "vLLM: the old path"): ("http://host/v1/completions", "http://host/v1", {}),
    (ADDRESS, "LM Studio: a mark and a zero-width space"): (
        "\ufeffhttp://host/v1\u200b", "http://host/v1", {}),
    (ADDRESS, "a page: a fragment"): ("http://host/v1#chat", "http://host/v1", {}),
    (ADDRESS, "a gateway: slashes too many, an empty query"): (
        "http://host//v1//?", "http://host/v1", {}),
}  # fmt: skip
AYE = {"message": {"content": "Aye."}, "finish_reason": "stop"}
COUNTED = {"prompt_tokens": 120, "completion_tokens": 7}
SPOKE = delta(content="Aye.")
# a reply whose usage is 120 and 7 tokens
USAGES = {
    (USAGE, "Groq: x_groq (vercel/ai#1651)"): (
        SPOKE, {**delta("stop"), "x_groq": {"id": "r", "usage": COUNTED}}),
    (USAGE, "Mimo: none behind a good one (jeremychone/rust-genai#242)"): (
        SPOKE, {**delta("stop"), "usage": COUNTED}, {"choices": [], "usage": None},
        {"choices": [], "usage": {}}),
    (USAGE, "Perplexity: running totals"): (
        {**SPOKE, "usage": {**COUNTED, "completion_tokens": 0}},
        {**delta(content=" Aye."), "usage": {**COUNTED, "completion_tokens": 3}},
        {**delta("stop"), "usage": COUNTED}),
    (USAGE, "a gateway: in the delta"): (SPOKE, delta("stop", usage=COUNTED)),
    (USAGE, "a gateway: in the message"): {
        "choices": [{"message": {"content": "Aye.", "usage": COUNTED}, "finish_reason": "stop"}]},
    (USAGE, "Cohere: tokens"): {
        "choices": [AYE], "usage": {"billed_units": {"input_tokens": 20, "output_tokens": 7},
                                    "tokens": {"input_tokens": 120, "output_tokens": 7}}},
    (USAGE, "Gemini: usageMetadata"): {
        "choices": [AYE], "usageMetadata": {"promptTokenCount": 120, "candidatesTokenCount": 7}},
    (USAGE, "Ollama: eval_count"): {
        "choices": [AYE], "prompt_eval_count": 120, "eval_count": 7},
    (USAGE, "llama.cpp: timings alone"): {
        "choices": [AYE], "timings": {"cache_n": 100, "prompt_n": 20, "predicted_n": 7}},
    (USAGE, "Bedrock: inputTokens"): {
        "choices": [AYE], "usage": {"inputTokens": 120, "outputTokens": 7, "totalTokens": 127}},
}  # fmt: skip
# usage of a second call of about 551 tokens: no server cut it
UNTRUNCATED = {
    (UNCACHED, "llama.cpp: cache_n in timings"): {
        "usage": {"prompt_tokens": 12, "completion_tokens": 7},
        "timings": {"cache_n": 539, "prompt_n": 12}},
    (UNCACHED, "Ollama: nothing told (window of 12?)"): {
        "usage": {"prompt_tokens": 12, "completion_tokens": 7}},
    (UNCACHED, "DeepSeek by a gateway: hits beside misses"): {
        "usage": {"prompt_tokens": 12, "completion_tokens": 7, "prompt_cache_hit_tokens": 539,
                  "prompt_cache_miss_tokens": 12}},
    (UNCACHED, "LiteLLM: a zero in one place, the count in another"): {
        "usage": {"prompt_tokens": 12, "completion_tokens": 7,
                  "prompt_tokens_details": {"cached_tokens": 0}, "cache_read_input_tokens": 539}},
    (UNCACHED, "Bedrock: cacheReadInputTokens"): {
        "usage": {"prompt_tokens": 12, "completion_tokens": 7, "cacheReadInputTokens": 539}},
    (UNCACHED, "SGLang: cached_tokens_details"): {
        "usage": {"prompt_tokens": 12, "completion_tokens": 7,
                  "prompt_tokens_details": {"cached_tokens": 539, "device": 539}}},
}  # fmt: skip
# a key, and what people read
SPELLED = {
    (COLOURS, "Evennia: backgrounds"): ("|[rQuill|n |[500Red|n", "Quill Red"),
    (COLOURS, "Evennia: bold, underlined, inverse"): ("|hQuill|H |u|*Red|n", "Quill Red"),
    (COLOURS, "Evennia: greys and true colours"): ("|=mQuill|n |[#102030Red|n", "Quill Red"),
    (COLOURS, "Evennia: a space as a code"): ("Quill|_Red", "Quill Red"),
    (COLOURS, "a client: raw ANSI"): ("\x1b[1;31mQuill\x1b[0m Red", "Quill Red"),
}
