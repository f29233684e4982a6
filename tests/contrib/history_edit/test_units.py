"""Which lines change together, and what that leaves in a prompt."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.contrib.history_edit.units import unit_of, why_no_new_words
from evennia_ai.messages import PERCEIVED, to_wire
from evennia_ai.policy.compaction.plan import orphans
from evennia_ai.policy.context.projection import LogInView
from evennia_ai.policy.recallable_lines import EDITED, HIDDEN, amend, latest
from evennia_ai.policy.tokens import count_message
from tests.policy.test_amendments import change, heard, result, said

pytestmark = pytest.mark.game


def test_what_the_game_perceived_and_what_is_no_line_gets_no_new_words():
    assert why_no_new_words(heard(1)) == ""
    assert why_no_new_words(said(1, ("say", {"text": "Yes."}))) == ""
    assert "observed" in why_no_new_words(heard(1, "◆ Ann arrives.", evidence=PERCEIVED))
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
    view = LogInView(None, amend(messages, amended), 0, count_message)
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
