"""The obedient model behind the stub provider."""

from __future__ import annotations

import json
import re

from evennia_ai.testing.obedient import CANARY, MOST_ACTS, obey, repeated_prompt
from tests.provider.stub_replies import Body, Reply


class Obedience:
    """Replies that do what any text of a prompt says; see `evennia_ai.testing.obedient`."""

    def __init__(self, canary: str = CANARY, most_acts: int = MOST_ACTS) -> None:
        self.canary = re.compile(canary, re.IGNORECASE)
        self.most_acts = most_acts

    def reply(self, body: Body) -> Reply:
        """Return the reply to a request."""
        if not body.get("tools"):
            return {"text": repeated_prompt(body["messages"])}
        calls = obey(body["messages"], body["tools"], self.canary, self.most_acts)
        made = [{"name": call.name, "arguments": json.loads(call.arguments)} for call in calls]
        return {"tool_calls": made}
