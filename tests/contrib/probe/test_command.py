"""``aitest/provider``: probes of model profiles, as admins see them."""

import time

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.contrib.probe.prober import BAD, GOOD, STEPS, TOOL, ProbeFinding, sum_up
from tests.provider import one_provider

pytestmark = pytest.mark.engine

provider_process, provider = one_provider.provider_process, one_provider.provider

SECRET = "4f1c9e77-a2b8-tavern"
TWO_CALLS = {"tool_calls": [{"name": TOOL, "arguments": {"colour": c}} for c in ("red", "blue")]}


@pytest.fixture
def handed_over(service):
    """What the loop thread hands to the reactor, which does not run here."""
    jobs = []
    service.models.loop_thread.call_from_thread = lambda *job: jobs.append(job)
    return jobs


@pytest.fixture
def castle(service, provider, monkeypatch):
    service.profiles["castle"] = {
        "client": "openai", "model": "stub", "base_url": provider.base_url,
    }  # fmt: skip
    return service.profiles["castle"]


def probe(player, line, jobs, until=(" good enough", "cannot be used yet")):
    """Type the command and play the reactor until the verdict is there."""
    player.forget()
    player.do(line)
    end = time.monotonic() + 120
    while not any(end in player.last() for end in until):
        assert time.monotonic() < end, player.heard()
        while jobs:
            function, *arguments = jobs.pop(0)
            function(*arguments)
        time.sleep(0.005)
    return "\n".join(player.heard())


def test_an_admin_sees_the_steps_and_the_verdict(admin, castle, provider, handed_over, service):
    provider.queue({"text": "Good evening."}, TWO_CALLS, {"text": "It is old and warm."})
    text = probe(admin, "aitest/provider castle", handed_over)
    assert text.startswith(f"Testing 'castle': {provider.base_url}, stub")
    for number, title in enumerate(STEPS, 1):
        assert f"{number} of 3: {title}" in text
    assert "ok    It answers, and takes a system message." in text
    assert "ok    Its form of request is tools:" in text
    assert "ok    It streams:" in text
    assert "note  Its speed is not known" in text
    verdict = "'castle' is good enough for characters that talk and act, because it answers and its"
    assert f"{verdict} form of request is tools" in text
    assert text.endswith("your scenes show: evennia ai_check <file> --profile castle.")
    told = service.endpoints.told(ModelProfile("castle", model="stub", base_url=provider.base_url))
    assert (told.told.form, told.told.system) == ("tools", True)


def test_what_is_wrong_comes_with_what_to_do(admin, castle, provider, handed_over):
    castle["model"] = "nobody"
    provider.queue({"raw": '{"error": {"message": "no"}}', "status": 404})
    text = probe(admin, "aitest/provider castle", handed_over)
    assert "wrong There is no model 'nobody' at" in text
    assert "(HTTP 404): no.\n      There are: stub." in text
    assert text.endswith("'castle' cannot be used yet: do what is said above, and test again.")
    assert text.count("no model 'nobody'") == 1


def test_a_key_is_never_shown(admin, castle, provider, handed_over, service):
    service.models.client._environ["CASTLE_KEY"] = SECRET
    castle["api_key_env"] = "CASTLE_KEY"
    provider.control(require_key="another")
    text = probe(admin, "aitest/provider castle", handed_over)
    assert "refused the key in CASTLE_KEY" in text
    assert SECRET not in text


def test_one_probe_at_a_time(admin, castle, provider, handed_over):
    provider.control(latency=60)
    admin.do("aitest/provider castle")
    assert "Another probe is running" in admin.told("aitest/provider castle")


def test_without_a_model_nobody_is_sent_to_look_at_the_address(admin, castle, handed_over):
    castle.update(model="", base_url="http://127.0.0.1:9/v1")
    text = probe(admin, "aitest/provider castle", handed_over)
    assert "'castle' names no model. Set 'model' in the profile" in text
    assert "Is it started?" not in text


def test_a_model_that_can_only_talk_is_not_good_enough():
    talks = [
        ProbeFinding(GOOD, "It answers."),
        ProbeFinding(BAD, "Its form of request is text: it cannot act."),
    ]
    assert sum_up(talks, "tiny") == (
        "'tiny' is not good enough: Its form of request is text: it cannot act; take a larger "
        "model, or play your scenes to see whether talk alone is enough."
    )
