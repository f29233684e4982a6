"""A stub provider that says one line about the marks of new lines, such as ``k17``."""

import json
import re
import sys

from tests.provider import stub as provider
from tests.provider.stub_process import StubProvider
from tests.provider.stub_replies import Body, Reply

SITUATION_END = "</situation>\n"
MARK = re.compile(r"\bk\d+\b")


class ShardModel(StubProvider):
    """A running provider with this model."""

    module = __name__


def answer(body: Body) -> Reply:
    """Return a line about the new marks, a summary, or a call of `noop`."""
    messages = body["messages"]
    if not body.get("tools"):
        return {"text": "They talked about the harbour."}
    asked = next(str(m["content"]) for m in reversed(messages) if m["role"] == "user")
    marks = list(dict.fromkeys(MARK.findall(asked.rpartition(SITUATION_END)[2])))
    if messages[-1]["role"] == "tool" or not marks:
        return {"tool_calls": [{"name": "noop", "arguments": "{}"}]}
    words = json.dumps({"text": f"I think well of {' and '.join(marks)}."})
    return {"tool_calls": [{"name": "say", "arguments": words}]}


if __name__ == "__main__":
    provider.answer_politely = answer
    provider.main(sys.argv[1:])
