"""The obedient model behind the stub provider."""

from __future__ import annotations

import json

from evennia_ai.testing.obedient import CANARY, MOST_ACTS, ObedientLLM
from tests.provider.stub_replies import Body, Reply


class Obedience:
    """Replies that do what any text of a prompt says; see `evennia_ai.testing.obedient`."""

    def __init__(self, canary: str = CANARY, most_acts: int = MOST_ACTS) -> None:
        self.model = ObedientLLM(canary, most_acts)

    def reply(self, body: Body) -> Reply:
        """Return the reply to a request."""
        if not body.get("tools"):
            return {"text": self.model.repeated(body["messages"])}
        calls = self.model.obey(body["messages"], body["tools"])
        made = [{"name": call.name, "arguments": json.loads(call.arguments)} for call in calls]
        return {"tool_calls": made}
