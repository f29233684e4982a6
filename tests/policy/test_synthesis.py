"""What the journal keeps of a compaction follows from its record alone."""

from dataclasses import replace

from evennia_ai.messages import make_message
from evennia_ai.policy.compaction.materials import (
    nearest_lines,
    select_found,
    speakers_of,
    synthesis_entries,
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


def test_each_part_with_words_in_it_is_an_entry_for_its_own_ears():
    entries = synthesis_entries(RECORD)
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
    assert synthesis_entries(turned) == synthesis_entries(RECORD)


def test_whose_words_are_in_a_part_grows_and_whispers_stay_apart():
    heard = [
        make_message("user", "Cy says: hi", speaker="#7"),
        make_message("assistant", "Hello.", authors=["#7", "#8"]),
        make_message("user", "psst", speaker="#5", audience=["#5"], private=True),
    ]
    assert speakers_of(heard, {"public": ["#6"]}) == {
        "public": ["#6", "#7", "#8"],
        "#5": ["#5"],
    }


def test_a_line_without_authors_makes_its_part_a_strangers():
    heard = [make_message("assistant", "Hello.")]
    assert speakers_of(heard, {}) == {"public": ["stranger"]}


def found(id, source="direct"):
    return {"id": id, "source_type": source, "content": id}


def test_of_syntheses_the_best_is_found_and_none_that_is_in_view():
    in_view = "compact_20261120T150000250000Z_1"
    ranked = [
        found(in_view, "compaction"),
        found("compact_b", "compaction"),
        found("j1"),
        found("compact_a", "compaction"),
        found("j2"),
        found("j3"),
    ]
    assert [e["id"] for e in select_found(ranked, RECORD, 3)] == ["compact_b", "j1", "j2"]
    assert [e["id"] for e in select_found(ranked, None, 3)] == [in_view, "j1", "j2"]


def test_of_a_long_entry_the_lines_nearest_to_the_words_are_shown_in_their_order():
    text = "[CONTEXT SYNTHESIS]\n## Aim\n- Ann sells nails.\n- Bob is sad.\n\n- Ann likes Bob."
    assert nearest_lines(text, "Bob", 300) == "- Bob is sad. - Ann likes Bob."
    assert nearest_lines(text, "Bob", 14) == "- Bob is sad."
    assert nearest_lines(text, "Bob", 1) == "- Bob is sad."
    assert nearest_lines(text, "dragon", 300) == "## Aim"
    assert nearest_lines("[CONTEXT SYNTHESIS]", "dragon", 300) == ""
