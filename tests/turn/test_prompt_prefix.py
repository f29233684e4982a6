"""What caches know of a prompt: its beginning stays the same, byte for byte."""

from itertools import pairwise

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.policy.tool_call_modes.known_models import REQUEST_FORMS
from evennia_ai.policy.tool_call_modes.wire_order import WireStyle, arrange
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


def without_question(request, form):
    """The messages up to the line that is answered."""
    messages = list(request.messages)
    return messages[:-1] if REQUEST_FORMS[form].question("Mira", "Ann") else messages


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
    rules = REQUEST_FORMS[form].rules(mira.tools)
    systems = [request.messages[0]["content"] for request in (mira, brannoc)]
    assert all(system.startswith(rules) for system in systems)
    assert mira.tools == brannoc.tools
    assert mira.response_schema == brannoc.response_schema
    if REQUEST_FORMS[form].persona_in_system:
        assert [system.partition(rules)[2].lstrip()[:13] for system in systems][
            1
        ] == "You are Brann"
    else:
        assert systems == [rules, rules]
        assert brannoc.messages[1]["content"].startswith("<you>\nYou are Brannoc")


@pytest.mark.parametrize("form", FORMS)
def test_the_rules_name_no_character(form):
    (request,) = talk(assistant(form, call("noop")), "hi")
    assert "Mira" not in REQUEST_FORMS[form].rules(request.tools)


@pytest.mark.parametrize("form", FORMS)
def test_the_next_line_of_a_talk_extends_the_prompt_of_the_one_before(form):
    replies = [
        (call("give", item=f"mug {n}", to="Ann"), call("say", text=f"{n} mugs.")) for n in "1234"
    ]
    script = assistant(form, *replies)
    for number in range(4):
        script.services.clock.advance(61)
        script.hears(f"overheard {number}", addressed=False)
        talk(script, f"line {number}")
    requests = script.services.gateway.requests
    assert len(requests) == 4
    for request, following in pairwise(requests):
        start = without_question(request, form)
        assert list(following.messages[: len(start)]) == start
        assert len(without_question(following, form)) > len(start)
        known = on_the_wire(start, form)
        assert on_the_wire(following.messages, form).startswith(known)


@pytest.mark.parametrize("form", FORMS)
def test_a_request_in_mid_turn_extends_the_first(form):
    looks = [call("look", target=str(number)) for number in range(3)]
    requests = talk(assistant(form, *looks, call("say", text="Nothing.")), "look around")
    assert len(requests) == 4
    native = REQUEST_FORMS[form].native
    for request, following in pairwise(requests):
        known = list(request.messages) if native else list(request.messages)[:-1]
        assert list(following.messages[: len(known)]) == known
        assert following.tools == request.tools


@pytest.mark.parametrize("form", FORMS)
def test_the_line_to_be_answered_comes_behind_the_situation_and_the_question_last(form):
    (request,) = talk(assistant(form, call("noop")), "Good evening!")
    texts = [message["content"] for message in request.messages]
    start = next(n for n, text in enumerate(texts) if text.startswith("<situation>"))
    tail = texts[start:]
    assert tail[1] == "Ann says: Good evening!"
    question = REQUEST_FORMS[form].question("Mira", "Ann")
    assert tail[2:] == ([question] if question else [])
    assert "Good evening!" not in str(texts[:start])
