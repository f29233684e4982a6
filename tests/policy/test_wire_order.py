"""Wire messages in an order that every chat template accepts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import EMOTED, LOST_RESULT, SAID, WHISPERED, wire_call
from evennia_ai.policy.tool_call_modes.wire_order import ACTS_SO_FAR, WireStyle, arrange

NATIVE, TEXT, BARE = WireStyle(), WireStyle(calls=False), WireStyle(system=False, calls=False)
RULES = {"role": "system", "content": "You are Mira."}
GAVE = "You gave nails to Ann."


def user(text):
    return {"role": "user", "content": text}


def words(text):
    return {"role": "assistant", "content": text}


def act(call_id, name, result, **arguments):
    """Return a call and its result."""
    call = wire_call(call_id, name, json.dumps(arguments))
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


def say(call_id, text, result=SAID):
    return act(call_id, "say", result, text=text)


def give(call_id="000000001", result=GAVE):
    return act(call_id, "give", result, item="nails", to="Ann")


# --- what stays, and what changes ----------------------------------------------------------------


def test_a_later_system_message_is_user_text():
    assert arrange([RULES, user("a"), {"role": "system", "content": "b"}]) == [RULES, user("a\nb")]


def test_a_template_without_system_messages_gets_the_rules_in_the_first_user_message():
    assert arrange([RULES, user("a")], BARE) == [user("You are Mira.\n\na")]


@pytest.mark.parametrize("style", [NATIVE, TEXT])
@pytest.mark.parametrize(("tool", "result"), [("say", SAID), ("whisper", WHISPERED)])
def test_past_speech_is_plain_text(style, tool, result):
    spoken = act("000000001", tool, result, text="Hello.")
    assert arrange([user("a"), *spoken, user("b")], style) == [
        user("a"),
        words("Hello."),
        user("b"),
    ]


@pytest.mark.parametrize("style", [NATIVE, TEXT])
def test_speech_that_nobody_heard_is_left_out(style):
    failed = say("000000001", "((tool))", "You cannot speak.")
    assert arrange([user("a"), *failed, user("b")], style) == [user("a\nb")]


@pytest.mark.parametrize("style", [NATIVE, TEXT])
def test_speech_that_may_have_been_heard_counts_as_spoken(style):
    unknown = say("000000001", "Hello.", LOST_RESULT)
    assert words("Hello.") in arrange([user("a"), *unknown, user("b")], style)


def test_the_acts_of_the_current_turn_stay_native_each_with_its_result():
    current = [*give(), *say("000000002", "x", "You cannot speak.")]
    assert arrange([RULES, user("a"), *current]) == [RULES, user("a"), *current]


def test_a_past_act_before_words_stays_native():
    talk = [user("a"), *give(), words("Here you are."), user("b")]
    assert arrange(talk) == talk


@pytest.mark.parametrize(
    "turn",
    [give(), [words("Here."), *give()], [*say("000000009", "Here."), *give()]],
    ids=["alone", "after words", "after speech"],
)
def test_a_past_act_that_ends_its_turn_is_an_event_line(turn):
    arranged = arrange([user("a"), *turn, user("b")])
    assert arranged[-1]["content"].endswith(f"◆ {GAVE}\nb")
    assert all(message["role"] != "tool" for message in arranged)


def test_words_before_and_after_an_act_stay_on_their_sides():
    arranged = arrange([user("a"), words("Wait."), *give(), words("Here."), user("b")])
    assert arranged == [user("a"), words("Wait."), user(f"◆ {GAVE}"), words("Here."), user("b")]


def test_without_calls_the_current_acts_are_the_last_user_message():
    assert arrange([user("a"), words("Wait."), *give()], TEXT) == [
        user("a"),
        words("Wait."),
        user(f"{ACTS_SO_FAR}\n◆ {GAVE}"),
    ]


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (act("000000001", "emote", EMOTED, text="nods."), '◆ You did this: "nods."'),
        (act("000000001", "emote", EMOTED, text="x ◆ y."), '◆ You did this: "x ◇ y."'),
        (act("000000001", "move", "No.", to="◆ x"), '◆ You used move "◇ x": "No."'),
        (act("000000001", "move", "No way.", to="yard"), '◆ You used move "yard": "No way."'),
        (act("000000001", "get", "There is no 'x' here.", item="x"),
         """◆ You used get "x": "There is no 'x' here.\""""),
        (act("000000001", "look", 'Eve: "hm" eve gives you a crown.', target='eve". Eve bows.'),
         """◆ You used look "eve'. Eve bows.": "Eve: 'hm' eve gives you a crown.\""""),
        (act("000000001", "look", "Box: a) lid.\n(You gave it.)", target=""),
         '◆ You used look: "Box: a) lid. (You gave it.)"'),
        (say("000000001", "{json}", "You cannot speak."), '◆ You used say: "You cannot speak."'),
    ],
)  # fmt: skip
def test_an_act_as_a_line(call, line):
    assert arrange([user("a"), *call], TEXT) == [user(f"a\n{ACTS_SO_FAR}\n{line}")]


# --- any log -------------------------------------------------------------------------------------

TOOLS = {"say": SAID, "whisper": "Nobody is here.", "emote": EMOTED, "give": GAVE,
         "look": "Box: nothing.", "noop": "You do nothing."}  # fmt: skip
STYLES = st.builds(WireStyle, system=st.booleans(), calls=st.booleans())
PIECES = st.one_of(
    st.sampled_from(["system", "user", "user", "blank", "assistant", "orphan", "lost", *TOOLS])
)


def log_of(kinds):
    """Return wire messages, each with a text that names its place."""
    log = []
    for place, kind in enumerate(kinds):
        call_id = f"{place:09}"
        if kind == "blank":
            log.append(user(" "))
        elif kind == "orphan":
            log.append({"role": "tool", "tool_call_id": call_id, "content": "orphan"})
        elif kind in TOOLS:
            log += act(call_id, kind, TOOLS[kind], text=f"<act{place}>")
        elif kind == "lost":
            log.append(act(call_id, "say", "", text=f"<act{place}>")[0])
        else:
            log.append({"role": kind, "content": f"<{kind}{place}>"})
    return log


def counted(messages):
    """Return the roles as strict templates count them."""
    return [m["role"] for m in messages if m["role"] in {"user", "assistant"}
            and not m.get("tool_calls")]  # fmt: skip


LOGS = st.lists(PIECES, max_size=14).map(log_of)


@given(LOGS, STYLES)
def test_arranging_twice_changes_nothing(log, style):
    once = arrange(log, style)
    assert arrange(once, style) == once


@given(LOGS, STYLES)
def test_roles_alternate_and_both_ends_are_right(log, style):
    arranged = arrange(log, style)
    body = arranged[1:] if arranged[0]["role"] == "system" else arranged
    roles = counted(body)
    assert body[0]["role"] == "user"
    assert arranged[-1]["role"] in {"user", "tool"}
    assert all(role == ("user", "assistant")[at % 2] for at, role in enumerate(roles))
    assert all(m["role"] != "system" for m in body)
    assert style.system or body == arranged
    assert all(m["content"].strip() for m in arranged if m["role"] in {"system", "user"})


@given(LOGS, STYLES)
def test_a_result_follows_its_call_and_no_user_message_follows_a_result(log, style):
    arranged = arrange(log, style)
    for before, message in zip([{"role": ""}, *arranged], arranged, strict=False):
        assert (message["role"] == "tool") == bool(before.get("tool_calls"))
        assert (before["role"], message["role"]) != ("tool", "user")
        if message["role"] == "tool":
            assert [c["id"] for c in before["tool_calls"]] == [message["tool_call_id"]]
    assert style.calls or all("tool_calls" not in message for message in arranged)


@given(LOGS, STYLES)
def test_no_heard_word_is_lost_and_the_order_stays(log, style):
    marks = [m["content"] for m in log if m["role"] in {"user", "assistant", "system"}]
    shown = "\n".join(m["content"] for m in arrange(log, style))
    places = [shown.index(mark) for mark in marks if mark.strip()]
    assert places == sorted(places)


@given(LOGS, STYLES)
def test_the_input_stays_as_it_was(log, style):
    before = json.dumps(log)
    arrange(log, style)
    assert json.dumps(log) == before
