"""What hidden and edited lines leave in a prompt."""

import json

from evennia_ai.messages import make_message, wire_call
from evennia_ai.policy.recallable_lines import (
    EDITED,
    HIDDEN,
    UNRECALLED,
    LineAmendment,
    amend,
    is_withheld,
    latest,
)

AT = "2026-11-20T12:00:00+00:00"


def heard(seq, text="Ann says: I owe you forty crowns.", **fields):
    known = {"speaker": "#5", "speaker_name": "Ann", "authors": ["#5"], "evidence": "claimed"}
    return make_message("user", text, seq=seq, audience=["#5"], **{**known, **fields})


def said(seq, *calls, content=""):
    asked = [
        wire_call(f"c{seq}{n}", name, json.dumps(args)) for n, (name, args) in enumerate(calls)
    ]
    return make_message("assistant", content, tool_calls=asked, seq=seq, audience=["#5"])


def result(seq, call_id):
    return make_message("tool", "Done.", tool_call_id=call_id, seq=seq, audience=["#5"])


def change(seq, kind=HIDDEN, text="", id=9, at=AT):
    return LineAmendment(id, seq, kind, at, text, ("#2", "builder") if text else ())


def shown(message, words):
    (new,) = amend(
        [message], {message["metadata"]["seq"]: change(message["metadata"]["seq"], EDITED, words)}
    )
    return new


def test_new_words_keep_the_speaker_and_add_the_builder_to_the_authors():
    new = shown(heard(1), "I owe you four crowns.")
    assert new["content"] == "Ann says: I owe you four crowns."
    assert new["metadata"]["authors"] == ["#2", "#5", "builder"]
    assert new["metadata"]["amendment"] == 9
    assert shown(heard(1, "Ann acts out: waves."), "bows.")["content"] == "Ann acts out: bows."
    assert shown(heard(1, "Ann whispers to you: Psst."), "Go.")["content"].endswith("to you: Go.")


def test_new_words_of_the_character_stand_in_its_call():
    line = said(1, ("whisper", {"target": "Ann", "text": "Old."}))
    (asked,) = shown(line, "New.")["tool_calls"]
    assert json.loads(asked["function"]["arguments"]) == {"target": "Ann", "text": "New."}
    assert shown(said(1, content="Old."), "New.")["content"] == "New."
    assert json.loads(line["tool_calls"][0]["function"]["arguments"])["text"] == "Old."


def test_the_last_new_words_count_and_hiding_counts_more():
    edits = [change(1, EDITED, "b", id=2), change(1, EDITED, "a", id=1), change(2, UNRECALLED)]
    assert latest(edits)[1].text == "b"
    assert 2 not in latest(edits)
    assert latest([change(1, id=1), *edits])[1].kind == HIDDEN


def test_a_memory_of_a_hidden_line_is_withheld_and_one_of_older_words():
    entry = {
        "source_type": "direct",
        "source_seqs": [1, 2],
        "timestamp": "2026-11-20T11:00:00+00:00",
    }
    later = {**entry, "timestamp": "2026-11-20T13:00:00+00:00"}
    hidden, edited = {2: change(2)}, {2: change(2, EDITED, "x")}
    assert is_withheld(entry, hidden) and is_withheld(later, hidden)
    assert is_withheld(entry, edited) and not is_withheld(later, edited)
    assert not is_withheld(entry, {3: change(3)})
    assert not is_withheld({**entry, "source_type": "compaction"}, hidden)
