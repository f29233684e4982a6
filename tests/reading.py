"""A client that reads the raw replies of another, as `OpenAIClient` reads those of a server."""

from dataclasses import replace

from evennia_ai.policy.replies.reply_reader import reply_reader


class ReplyClient:
    """An `LLMClient` over one that returns raw replies, and streams them to ``on_delta``."""

    def __init__(self, client, call_from_thread=None):
        self._client, self._call_from_thread = client, call_from_thread

    def complete(self, request, profile, deadline_at=None):
        reader, on_call = reply_reader(request.form, request.all_tools), request.on_call

        def read(delta):
            for call in reader.hear(delta):
                self._call_from_thread(on_call, call)

        if on_call is not None and profile.stream:
            request = replace(request, on_delta=read)
        reply = self._client.complete(request, profile)
        return reply.addCallback(lambda raw: replace(reader.finish(raw), raw=raw))
