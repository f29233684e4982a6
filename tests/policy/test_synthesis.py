"""What the journal keeps of a compaction follows from its record alone."""

from dataclasses import replace

from evennia_ai.messages import make_message
from evennia_ai.policy.compaction.restored_context import (
    nearest_lines,
    plan_syntheses,
    select_found,
    speakers_of,
)
from evennia_ai.policy.context.projection import CompactionRecord

RECORD = CompactionRecord(
    id=7,
    reason="sleep",
    from_seq=1,
    upto_seq=9,
    summary={"#6": "Bob is sad.", "public": "Ann is a smith.", "#5": "Ann is a spy.", "#9": " "},
    compacted_count=9,
    compacted_at="2026-11-20T16:00:00.250000+01:00",
    original_token_count=90,
    summary_token_count=9,
    speakers={"public": ["#5", "#6"], "#5": ["#5"]},
)


def read(*records):
    """What finds a compaction in force by its id."""
    return {record.id: record for record in records}.get


def held(changes):
    """The journal's entries after changes to an empty one."""
    return [{"id": known, **fields} for known, fields in changes.new.items()]


def test_each_part_with_words_in_it_is_an_entry_for_its_own_ears():
    entries = plan_syntheses(RECORD, read(), ()).new
    assert {tuple(e["source_seqs"]) for e in entries.values()} == {
        (RECORD.from_seq, RECORD.upto_seq)
    }
    assert [(key, e["audience"], e["speakers"]) for key, e in entries.items()] == [
        ("compact_20261120T150000250000Z_1", None, ["#5", "#6"]),
        ("compact_20261120T150000250000Z_2", ["#5"], ["#5"]),
        ("compact_20261120T150000250000Z_3", ["#6"], []),
    ]
    first = next(iter(entries.values()))
    assert first["content"] == "[CONTEXT SYNTHESIS]\nAnn is a smith."
    assert (first["source_type"], first["importance"]) == ("compaction", 7)
    assert first["tags"] == ["compaction", "synthesis"]


def test_the_order_in_which_parts_were_stored_changes_nothing():
    turned = replace(RECORD, summary=dict(reversed(RECORD.summary.items())))
    assert plan_syntheses(turned, read(), ()) == plan_syntheses(RECORD, read(), ())


def test_a_later_summary_of_the_talk_takes_the_place_of_the_one_before():
    parts = {**RECORD.summary, "public": "Ann is a smith. She paid."}
    later = replace(RECORD, id=8, from_seq=10, upto_seq=20, summary=parts, previous_id=7)
    before = held(plan_syntheses(RECORD, read(), ()))
    changes = plan_syntheses(later, read(RECORD), before)
    assert (changes.new, changes.gone) == ({}, [])
    ((known, fields),) = changes.changed.items()
    assert known == before[0]["id"], "a part without new words is left alone"
    assert fields["content"].endswith("She paid.")
    assert (fields["source_seqs"], fields["links"]) == ([1, 20], ["c7", "c8"])
    after = [{**before[0], **fields, "links": ["mem0:x", *fields["links"]]}, *before[1:]]
    undone = plan_syntheses(RECORD, read(), after).changed[known]
    assert undone["content"] == before[0]["content"]
    assert (undone["source_seqs"], undone["links"]) == ([1, 9], ["mem0:x", "c7"])


def test_a_digest_is_no_memory():
    parts = {"public": "[Compacted 9 messages: 9 heard]\nAnn is a smith.", "#6": "Bob is sad."}
    later = replace(RECORD, id=8, summary=parts, previous_id=7)
    before = held(plan_syntheses(RECORD, read(), ()))
    changes = plan_syntheses(later, read(RECORD), before)
    assert (changes.new, changes.changed) == ({}, {})
    assert plan_syntheses(replace(later, previous_id=None), read(), ()).new.keys() == {
        "compact_20261120T150000250000Z_2"
    }


def test_without_a_compaction_in_force_no_summary_stays():
    before = held(plan_syntheses(RECORD, read(), ()))
    assert plan_syntheses(None, read(), before).gone == [entry["id"] for entry in before]


def test_whose_words_are_in_a_part_grows_and_whispers_stay_apart():
    heard = [
        make_message("user", "Cy says: hi", speaker="#7"),
        make_message("assistant", "Hello.", authors=["#7", "#8"]),
        make_message("user", "psst", speaker="#5", audience=["#5"], private=True),
    ]
    assert speakers_of(heard, {"public": ["#6"]}) == {"public": ["#6", "#7", "#8"], "#5": ["#5"]}


def test_a_line_without_authors_makes_its_part_a_strangers():
    heard = [make_message("assistant", "Hello.")]
    assert speakers_of(heard, {}) == {"public": ["stranger"]}


def found(id, source="direct", text=""):
    return {"id": id, "source_type": source, "content": text or id}


def test_of_summaries_the_best_is_found_and_none_that_is_in_view():
    ranked = [
        found("s1", "compaction", "[CONTEXT SYNTHESIS]\nAnn is a smith."),
        found("s2", "compaction"),
        found("j1"),
        found("s3", "compaction"),
        found("j2"),
        found("j3"),
    ]
    assert [e["id"] for e in select_found(ranked, RECORD, 3)] == ["s2", "j1", "j2"]
    assert [e["id"] for e in select_found(ranked, None, 3)] == ["s1", "j1", "j2"]


def test_of_a_long_entry_the_lines_nearest_to_the_words_are_shown_in_their_order():
    text = "[CONTEXT SYNTHESIS]\n## Aim\n- Ann sells nails.\n- Bob is sad.\n\n- Ann likes Bob."
    assert nearest_lines(text, "Bob", 300) == "- Bob is sad. - Ann likes Bob."
    assert nearest_lines(text, "Bob", 14) == "- Bob is sad."
    assert nearest_lines(text, "Bob", 1) == "- Bob is sad."
    assert nearest_lines(text, "dragon", 300) == "## Aim"
    assert nearest_lines("[CONTEXT SYNTHESIS]", "dragon", 300) == ""
