"""What caches know of a prompt: its beginning stays the same, byte for byte."""

from itertools import pairwise

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.policy.tool_call_modes.form import REQUEST_FORMS, TOOLS
from evennia_ai.policy.tool_call_modes.wire_order import WireStyle, arrange
from evennia_ai.turn.prompt_contexts import PRESSURE
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

FORMS = tuple(REQUEST_FORMS)


def assistant(form, *lines, name="Mira", persona="You are Mira, a barkeep."):
    script = MemoryMind(ScriptedLLM(lines), persona=persona, name=name)
    script.mind.settings.profile = ModelProfile(
        "test", client="openai", model="scripted", form=form
    )
    return script


def talk(script, *lines):
    for line in lines:
        script.hears(line)
        fired = []
        script.mind.turn_runner.answer_all().addBoth(fired.append)
        assert fired == [1], fired
    return script.services.gateway.requests


def on_the_wire(messages, form):
    """Messages as one text, in the order in which templates show them."""
    style = WireStyle(calls=REQUEST_FORMS[form].native)
    parts = [
        (m["role"], m["content"], str(m.get("tool_calls", ""))) for m in arrange(messages, style)
    ]
    return "".join("".join(part) for part in parts)


@pytest.mark.parametrize("form", FORMS)
def test_two_characters_share_the_rules_and_the_tools(form):
    persona = "You are Brannoc, a smith who lost his brother."
    (mira,) = talk(assistant(form, call("noop")), "hi")
    (brannoc,) = talk(assistant(form, call("noop"), name="Brannoc", persona=persona), "hi")
    rules = REQUEST_FORMS[form].rules
    systems = [request.messages[0]["content"] for request in (mira, brannoc)]
    assert all(system.startswith(rules) for system in systems)
    assert mira.tools == brannoc.tools
    if REQUEST_FORMS[form].native:
        assert systems == [rules, rules]
        assert brannoc.messages[1]["content"].startswith("<you>\nYou are Brannoc")
    else:
        assert systems[1].removeprefix(rules).lstrip() == persona


@pytest.mark.parametrize("form", FORMS)
def test_the_rules_name_no_character(form):
    assert "Mira" not in REQUEST_FORMS[form].rules


def test_the_next_line_of_a_talk_extends_the_prompt_of_the_one_before():
    replies = [
        (call("give", item=f"mug {n}", to="Ann"), call("say", text=f"{n} mugs.")) for n in "1234"
    ]
    script = assistant("tools", *replies)
    for number in range(4):
        script.services.clock.advance(61)
        script.hears(f"overheard {number}", addressed=False)
        talk(script, f"line {number}")
    requests = script.services.gateway.requests
    assert len(requests) == 4
    for request, following in pairwise(requests):
        start = list(request.messages)
        assert list(following.messages[: len(start)]) == start
        assert len(following.messages) > len(start)
        known = on_the_wire(start, "tools")
        assert on_the_wire(following.messages, "tools").startswith(known)


def test_what_changes_in_a_prompt_of_plain_words_stands_behind_the_talk():
    """Rules, persona, examples and place; what was said; then what belongs to the newest line."""
    script = assistant("plain", *(f"I have {number} mugs." for number in range(4)))
    for number in range(4):
        script.services.clock.advance(61)
        talk(script, f"line {number}")
    requests = script.services.gateway.requests
    assert len(requests) == 4
    for request, following in pairwise(requests):
        line = next(n for n, m in enumerate(request.messages) if "Ann says: line" in m["content"])
        start = list(request.messages[:line])
        assert start and list(following.messages[: len(start)]) == start


@pytest.mark.parametrize("form", FORMS)
def test_a_request_in_mid_turn_extends_the_first(form):
    looks = [call("look", target=str(number)) for number in range(3)]
    requests = talk(assistant(form, *looks, call("say", text="Nothing.")), "look around")
    assert len(requests) == 4
    for request, following in pairwise(requests):
        known = list(request.messages)
        assert list(following.messages[: len(known)]) == known
        assert following.tools == request.tools


@pytest.mark.parametrize(("form", "scene"), [("tools", "<situation>"), ("plain", "◆ Place:")])
def test_the_line_to_be_answered_comes_last_behind_the_situation(form, scene):
    (request,) = talk(assistant(form, call("noop")), "Good morning!")
    texts = [message["content"] for message in request.messages]
    start = next(n for n, text in enumerate(texts) if text.startswith(scene))
    assert texts[start + 1 :] == ["Ann says: Good morning!"]
    assert "Good morning!" not in str(texts[:start])


@pytest.mark.parametrize(("ratio", "is_told"), [(0.5, False), (0.65, True)])
def test_a_full_window_is_told_of_from_its_threshold_on(ratio, is_told):
    script = assistant(TOOLS, call("noop"))
    use = script.mind.meter.measure()
    script.mind.meter.sizes.overhead += int(ratio * use.window) - use.used
    (request,) = talk(script, "hi")
    told = "\n".join(str(message["content"]) for message in request.messages)
    assert (PRESSURE.replace("\n", " ") in told.replace("\n", " ")) == is_told
