"""The requests of a probe, within one deadline; each has an `Answer`."""

from __future__ import annotations

import json

from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.llm.http_client import connection_trouble
from evennia_ai.llm.openai_client import OpenAIClient, RawReply
from evennia_ai.llm.openai_wire import Body, parse_reply
from evennia_ai.llm.quirks import WindowPage
from evennia_ai.llm.refusals import shown_error
from evennia_ai.policy.limits.endpoint_facts import UNKNOWN, measure_speed, smooth_speed
from evennia_ai.policy.probe.cases import TIMEOUT, Answer
from evennia_ai.policy.probe.forms import probe_limit_s
from evennia_ai.scheduling import Clock, Steps


class ProbeRequests:
    """Sends requests to a profile's endpoint until ``limit_s`` seconds have passed."""

    def __init__(self, clock: Clock, client: OpenAIClient, profile: ModelProfile) -> None:
        self._clock = clock
        self._client = client
        self._profile = profile
        self.limit_s = probe_limit_s(profile.base_url)
        self.speed = UNKNOWN  # by the replies so far
        self.reported = UNKNOWN  # the same, if the endpoint itself reports speeds
        self._deadline_at = clock.seconds() + self.limit_s

    def ask_page(self, page: WindowPage) -> Deferred[Answer]:
        """Request a page of a local server. Fires and fails as `ask` does."""
        body = {"model": self._profile.model} if page.method == "POST" else None
        return self.ask(page.method, page.path, body)

    @inlineCallbacks
    def ask(
        self, method: str, path: str, body: Body | None = None, share: float = 1.0
    ) -> Steps[Answer]:
        """Send one request, for at most a ``share`` of the time that is left.

        Fires with an `Answer`, even if none came in time. Fails with ProviderMisconfigured, and
        with CancelledError if the server stops.
        """
        started = self._clock.seconds()
        if self._deadline_at <= started:
            return Answer(trouble=TIMEOUT)
        call = self._client.exchange(self._profile, method, path, body)
        timer = self._clock.callLater(share * (self._deadline_at - started), call.cancel)
        try:
            raw: RawReply = yield call
        except ProviderMisconfigured:
            raise
        except CancelledError:
            if timer.active():
                raise
            return Answer(trouble=TIMEOUT)
        except Exception as error:  # noqa: BLE001  # any error of the connection is a finding
            return Answer(trouble=connection_trouble(error))
        finally:
            if timer.active():
                timer.cancel()
        took_s = self._clock.seconds() - started
        answer = read_answer(raw, int(took_s * 1000))
        if answer.reply is not None:
            self.speed = smooth_speed(self.speed, measure_speed(answer.reply, took_s))
            if answer.reply.timings:
                self.reported = self.speed
        return answer


def read_answer(raw: RawReply, duration_ms: int) -> Answer:
    """Return a response in the form that `policy.probe` judges."""
    try:
        data = json.loads(raw.content)
    except (ValueError, RecursionError):
        data = None
    reply = None
    if 200 <= raw.status < 300 and isinstance(data, dict) and "choices" in data:
        reply = parse_reply(raw.content, lambda: "probe")
    failed = reply is None and isinstance(data, dict)
    return Answer(
        status=raw.status,
        told=shown_error(data.get("error", data), "") if failed else "",
        html="html" in raw.content_type or raw.content.lstrip()[:1] == b"<",
        data=data,
        reply=reply,
        duration_ms=duration_ms,
    )
