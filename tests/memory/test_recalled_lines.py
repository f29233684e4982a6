"""Lines are recalled for those alone who heard them (P9)."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.config import AssistantConfig
from evennia_ai.messages import heard_line, make_message
from evennia_ai.policy.recallable_lines import line_id, read_line, seq_of
from tests.memory.bag_of_words import BagOfWords
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM

NAMES = {"#5": "Ann", "#6": "Bob", "#7": "Cel"}
people = st.sampled_from(sorted(NAMES))
audiences = st.frozensets(people)
talks = st.lists(st.tuples(people, audiences, st.booleans()), min_size=1, max_size=12)


def script_with(talk):
    script = MemoryMind(ScriptedLLM([]), AssistantConfig(), embedder=BagOfWords())
    for number, (speaker, others, private) in enumerate(talk):
        words = f"goose number {number}"
        kind = "whisper" if private else "say"
        message = make_message(
            "user", heard_line(kind, NAMES[speaker], words), speaker=speaker,
            speaker_name=NAMES[speaker], audience=sorted(others | {speaker}), private=private,
        )  # fmt: skip
        script.conversation.append([message])
    script.memories.prepare(script.services)
    return script


@given(talks, audiences, st.none() | st.integers(0, 12))
def test_no_whisper_is_recalled_for_anybody_else(talk, audience, upto):
    script = script_with(talk)
    memories, now = script.memories, script.services.now()
    known = {
        seq
        for seq, (speaker, others, private) in enumerate(talk, 1)
        if (upto is None or seq <= upto)
        and (not private or (audience and audience <= others | {speaker}))
    }
    found = memories.search("goose number", 20, audience, now, upto=upto)
    assert {hit.record["seq"] for hit in found} == known
    hits = memories.search("goose number", 20, audience, now, everything=True)
    assert {hit.record["seq"] for hit in hits} == set(range(1, len(talk) + 1))


def test_a_private_line_with_nobody_in_its_audience_is_for_nobody():
    message = make_message("user", "Ann whispers to you: hush", speaker="#5", private=True)
    message["metadata"] |= {"seq": 1, "at": "2026-01-01T00:00:00+00:00"}
    assert read_line(message, "Mira")["audience"] == []


def test_only_ids_of_lines_have_a_message():
    assert seq_of(line_id(7)) == 7
    assert [seq_of(name) for name in ("j7", "line:", "line:x", "p1")] == [None] * 4
