"""Failures, waits, addresses and counts of tokens as servers send them: the rest of the rows of
`endpoint_neighbours`."""

import json

from evennia_ai.errors import (
    ContextOverflow,
    ProviderMisconfigured,
    ProviderUnavailable,
    QuotaExhausted,
)
from tests.llm.endpoint_cases import delta
from tests.llm.endpoint_neighbours import CUT

HIDDEN = "failure inside a success"
MINUTE = "a minute's limit worded as a quota"
OVERFLOWS, ADDRESS = "overflow in other words", "an address with parts"
UNCACHED, USAGE = "usage without the cached part", "usage in other places"

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
    (HIDDEN, "LM Studio: a wrong path"): (
        200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"},
        ProviderMisconfigured),
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
    (ADDRESS, ".env: blanks and a line end around"): (" http://host/v1/\r\n", "http://host/v1", {}),
    (ADDRESS, "curl: the whole path"): ("http://host/v1/chat/completions", "http://host/v1", {}),
    (ADDRESS, "a gateway: the path, a slash, a query"): (
        "http://host/v1/chat/completions/?a=1&b=2", "http://host/v1", {"a": "1", "b": "2"}),
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
    (USAGE, "a gateway: zeros behind a good one"): (
        SPOKE, delta("stop"), {"choices": [], "usage": COUNTED},
        {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}),
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
