"""What hidden and edited lines leave in a prompt."""

import json

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import PERCEIVED, make_message, to_wire, wire_call
from evennia_ai.policy.compaction.plan import orphans
from evennia_ai.policy.context.projection import ConversationView
from evennia_ai.policy.recallable_lines import (
    EDITED,
    HIDDEN,
    UNRECALLED,
    LineAmendment,
    amend,
    is_withheld,
    latest,
    unit_of,
    why_no_new_words,
)
from evennia_ai.policy.tokens import count_message

AT = "2026-11-20T12:00:00+00:00"


def heard(seq, text="Ann says: I owe you forty crowns.", **fields):
    known = {"speaker": "#5", "speaker_name": "Ann", "authors": ["#5"], "nature": "claimed"}
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


def test_what_the_game_perceived_and_what_is_no_line_gets_no_new_words():
    assert why_no_new_words(heard(1)) == ""
    assert why_no_new_words(said(1, ("say", {"text": "Yes."}))) == ""
    assert "observed" in why_no_new_words(heard(1, "◆ Ann arrives.", nature=PERCEIVED))
    assert "observed" in why_no_new_words(result(1, "c"))
    assert "an act" in why_no_new_words(said(1, ("give", {"item": "gold"})))
    assert "an act" in why_no_new_words(said(1, ("say", {"text": "a"}), ("say", {"text": "b"})))


def test_a_call_and_its_results_are_one_unit():
    turn = [
        said(1, ("say", {}), ("give", {})),
        result(2, "c10"),
        result(3, "c11"),
        said(4, ("say", {})),
    ]
    assert unit_of(1, turn) == unit_of(3, turn) == [1, 2, 3]
    assert unit_of(4, turn) == [4]


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


@st.composite
def logs(draw):
    """A log of heard lines and units, and what builders did to it, one command after the other."""
    messages, seq = [], 0
    for calls in draw(st.lists(st.integers(0, 3), max_size=12)):
        seq += 1
        if not calls:
            messages.append(heard(seq, f"Ann says: secret{seq}."))
            continue
        first = seq
        messages.append(said(seq, *[("say", {"text": f"secret{seq}."})] * calls))
        for number in range(calls):
            seq += 1
            messages.append(result(seq, f"c{first}{number}"))
    acts = draw(st.lists(st.tuples(st.booleans(), st.integers(1, max(seq, 1)), st.booleans())))
    amendments = []
    for hides, at, undone in acts if seq else ():
        seqs = unit_of(at, messages) if hides else [at]
        message = messages[at - 1]
        if undone or (not hides and why_no_new_words(message)):
            continue
        kind, words = (HIDDEN, "") if hides else (EDITED, "new words")
        amendments += [change(n, kind, words, id=len(amendments)) for n in seqs]
    return messages, amendments


@given(logs())
def test_units_stay_whole_and_nothing_hidden_is_shown(log):
    messages, amendments = log
    before = json.dumps(messages)
    amended = latest(amendments)
    view = ConversationView(None, amend(messages, amended), 0, count_message)
    assert not orphans(view.messages)
    wire = json.dumps(to_wire(view.items))
    for message in messages:
        seq = message["metadata"]["seq"]
        found = amended.get(seq)
        is_shown = seq in [m["metadata"]["seq"] for m in view.messages]
        assert is_shown == (found is None or found.kind != HIDDEN)
        if found is not None:
            assert f"secret{seq}." not in wire
    assert "outcome unknown" not in wire.lower()
    assert amend(amend(messages, amended), amended) == amend(messages, amended)
    assert json.dumps(messages) == before
