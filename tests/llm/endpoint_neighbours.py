"""Neighbours of what servers really send: rows that were written from the kinds alone.

Who wrote them had not read the code that reads replies. Each row names its provider, with
``owner/repository#issue`` where somebody reported it; the others are what that provider's software
plausibly sends. The keys of a table are (kind, provider and what it does).
"""

import json

from tests.llm.endpoint_cases import BOTH, END, SAID, SAY, SPOKEN, calls, delta, entry, native

LOOK = '{"target": "fire"}'
ARGS = {"text": "Good evening."}
WORDS = "Good evening."

INTERLEAVED, UNSTEADY = "interleaved calls", "index missing or unsteady"
NO_OBJECT, UNTAGGED = "events that are no object", "reasoning without its opening tag"
SPLIT = "answer split over choices"
CUT = "cut off under another name"
LOOSE, PLACES = "native calls spelled loosely", "calls in other places"
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
    (UNSTEADY, "a gateway: one id for two calls of a tool, which only the index tells apart"): (
        (calls(entry(0, "say", '{"text": "Good"}', "c")),
         calls(entry(1, "say", "", "c")), calls(entry(1, arguments='{"text": "evening."}')), END),
        [("say", {"text": "Good"}), ("say", {"text": "evening."})]),
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
    ("marks", "Llama: a header"): ("<|start_header_id|>assistant<|end_header_id|>\n\n", WORDS),
    ("marks", "gpt-oss: its last channel, bare"): ("assistantfinal", WORDS),
    ("marks", "another's turn behind it"): (WORDS, "<|im_start|>", "user\nHello!"),
    ("marks", "the first token"): ("<s>", WORDS),
    ("marks", "the end of an instruction"): (WORDS, " [/INST]"),
    ("marks", "in an object"): ('{"response": "', WORDS, '"}'),
    ("marks", "in an object of a chat"): ('{"role": "assistant", "content": "', WORDS, '"}'),
    ("marks", "a reflection"): ("<reflection>R.</reflection>", WORDS),
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
# a key, and what people read
SPELLED = {
    (COLOURS, "Evennia: backgrounds"): ("|[rQuill|n |[500Red|n", "Quill Red"),
    (COLOURS, "Evennia: bold, underlined, inverse"): ("|hQuill|H |u|*Red|n", "Quill Red"),
    (COLOURS, "Evennia: greys and true colours"): ("|=mQuill|n |[#102030Red|n", "Quill Red"),
    (COLOURS, "Evennia: a space as a code"): ("Quill|_Red", "Quill Red"),
    (COLOURS, "a client: raw ANSI"): ("\x1b[1;31mQuill\x1b[0m Red", "Quill Red"),
}
