"""The beginning of a turn that a cut goes through has a summary of its own, below the rest."""

import json

from evennia_ai.messages import LLMReply, make_message, wire_call
from evennia_ai.policy.compaction.summary import UNDER_WAY
from tests.test_context_compaction import ANN, BOB, SUMMARY, make_script, sleep, talk

BEGUN = "Ann wants to know all of the tower: look at stones 11 to 60."
SEEN = "Ann wants to know all of the tower, and has seen stones 61 to 99."


def long_turn(script, steps, asked="Ann says: Look at all of the tower, please.", private=False):
    """One request, and many looks at the tower."""
    meta = {"audience": [ANN] if private else [ANN, BOB], "private": private}
    script.conversation.append([make_message("user", asked, **meta)])
    look_on(script, steps, **meta)


def look_on(script, steps, **meta):
    for _ in range(steps):
        number = str(len(script.conversation.messages))
        call = wire_call(number, "look", json.dumps({"at": f"stone {number}"}))
        script.conversation.append(
            [
                make_message("assistant", "", tool_calls=[call], **meta),
                make_message("tool", f"stone {number} " * 40, tool_call_id=number, **meta),
            ]
        )


def requests(script):
    return [str(request.messages[1]["content"]) for request in script.services.gateway.requests]


def text_of(script, key="public"):
    return script.conversation.current.record.summary[key]


def test_the_turn_under_way_is_summed_up_apart_and_shortly():
    script = make_script([SUMMARY, BEGUN])
    talk(script, 10)
    long_turn(script, 20)
    assert sleep(script)["success"]
    before, turn = requests(script)
    assert ("line 9 " in before, "tower" in before) == (True, False)
    assert ("line 9 " in turn, "tower" in turn) == (False, True)
    assert f"{SUMMARY}\n{UNDER_WAY}\n{BEGUN}" in text_of(script)
    rooms = [request.source.room_tokens for request in script.services.gateway.requests]
    assert rooms[1] < rooms[0] / 2


def test_while_the_turn_lasts_its_summary_is_brought_up_to_date_and_the_rest_stays():
    script = make_script([SUMMARY, BEGUN, SEEN])
    talk(script, 10)
    long_turn(script, 20)
    sleep(script)
    look_on(script, 20, audience=[ANN, BOB])
    sleep(script)
    assert len(requests(script)) == 3
    assert f"<previous>\n{BEGUN}\n</previous>" in requests(script)[2]
    assert f"{SUMMARY}\n{UNDER_WAY}\n{SEEN}" in text_of(script)


def test_when_the_turn_is_over_it_goes_into_the_rest():
    script = make_script([SUMMARY, BEGUN, f"{SUMMARY} All in one."])
    talk(script, 10)
    long_turn(script, 20)
    sleep(script)
    talk(script, 60)
    sleep(script)
    assert f"<previous>\n{SUMMARY}\n{BEGUN}\n</previous>" in requests(script)[2]
    assert UNDER_WAY not in text_of(script)


def test_each_audience_has_its_own_turn_under_way():
    script = make_script([SUMMARY, "A look at a whispered tower, please: stones 11 to 60."])
    talk(script, 10)
    long_turn(script, 20, private=True)
    sleep(script)
    assert UNDER_WAY not in text_of(script)
    assert "whispered tower" not in text_of(script)
    assert text_of(script, ANN).startswith(f"{UNDER_WAY}\nA look at a whispered tower")


def test_where_one_of_the_two_fails_everything_is_as_it_was():
    script = make_script([SUMMARY, *[LLMReply("")] * 3])
    talk(script, 10)
    long_turn(script, 20)
    assert not sleep(script)["success"]
    assert script.conversation.current.record is None
    script.services.gateway.script[:] = [SUMMARY, BEGUN]
    assert sleep(script)["success"]


def test_a_short_beginning_has_no_summary_of_its_own():
    script = make_script([SUMMARY])
    talk(script, 60)
    sleep(script)
    assert len(requests(script)) == 1
    assert UNDER_WAY not in text_of(script)
