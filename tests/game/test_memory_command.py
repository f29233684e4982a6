"""``aimemory`` and ``aihistory/journal``: a character's memory, read and searched."""

import pytest

from evennia_ai.game.memory_reading import search_for_staff
from evennia_ai.policy.read_permissions import Reader
from evennia_ai.sleep.consolidation import consolidate_memories_to_semantic
from tests.game import memory_command_scene as scene
from tests.game.memory_command_scene import RING, TOLL, contents, restarted
from tests.game.profile_values import set_attribute
from tests.game.screens import on_web, telnet
from tests.scripted import call

told, ask, builder, ring = scene.told, scene.ask, scene.builder, scene.ring


def test_what_is_private_is_shown_to_admins_and_only_counted_for_builders(
    mira, ann, ring, ask, told, builder
):
    mira.journal.add(TOLL)
    assert "private to Ann (private)" in ask("aimemory Mira") and RING in ask("aimemory Mira")
    text = told(builder, "aimemory Mira")
    assert TOLL in text and "ring" not in text
    assert "1 more: private, only admins may read this." in text


@pytest.mark.parametrize(
    "line",
    [
        "aimemory/show Mira = {id}",
        "aimemory/edit Mira/{id} = No ring.",
        "aimemory/pin Mira = {id}",
        "aimemory/delete Mira = {id}",
    ],
)
def test_what_is_private_is_not_there_for_a_builder(mira, ring, told, builder, line):
    assert f"Mira has no entry '{ring}'" in told(builder, line.format(id=ring))
    assert contents(mira) == [RING]


@pytest.mark.parametrize("line", ["search Mira as Ann = ring", "add Mira for Ann = A ring."])
def test_a_builder_neither_asks_as_a_player_nor_writes_what_is_private_to_one(
    mira, ann, told, builder, line
):
    refused = "Only admins may read or write what is private to a player."
    assert told(builder, f"aimemory/{line}") == refused
    assert contents(mira) == []


def test_a_builder_reads_only_characters_that_they_may_edit(game, tavern, mira, told, builder):
    mira.journal.add(TOLL)
    other = game.player("Cy", tavern, permissions=["Builder"])
    assert told(other, "aimemory Mira").startswith("You may not change Mira")
    assert TOLL in told(builder, "aimemory Mira")


def test_one_entry_is_shown_whole_with_what_it_comes_from_and_leads_to(game, mira, ann, ask):
    game.model.add(call("add_journal_entry", content=TOLL), call("noop"))
    ann.do("say Mira, the toll is five pennies")
    game.run(1)
    (entry,) = mira.journal.all()
    other = mira.journal.add("The bridge is old.")
    mira.journal.update(entry["id"], links=[other, "mem0:x"], tags=["money"])
    set_attribute(mira.ai_profiles, ann.dbref, "knows", "the toll", sources=[entry["id"]])
    text = ask(f"aimemory/show Mira = {entry['id']}")
    assert ask(f"aimemory/show Mira = {entry['id'].removeprefix('j')}") == text
    assert TOLL in text
    assert "Source: direct, from Ann, perhaps with words of Ann, Ada; trust 0.60" in text
    assert "Tags: money" in text
    assert f"Linked to: {other} The bridge is old.; mem0:x" in text
    assert "Derived from it: p1 knows: the toll" in text
    assert "Mira, the toll is five pennies" in text  # the line of talk itself


def test_of_somebody_old_values_contradictions_and_observations_are_told(game, mira, ann, bob, ask):
    profiles = mira.ai_profiles
    set_attribute(profiles, ann.dbref, "town", "Riverton", source_entity=bob.dbref)
    game.clock.advance(60)
    set_attribute(profiles, ann.dbref, "town", "Oakdale", source_entity=ann.dbref, sources=["j1"])
    profiles.observe(ann.dbref, "hums a tune", speakers=[ann.dbref])
    profiles.update(profiles.note_contact(ann.dbref)["id"], sentiment=0.1)
    text = ask("aimemory/about Mira = Ann")
    assert f"What Mira knows about Ann ({ann.dbref}):" in text
    assert "They met once" in text and "feelings +0.10" in text
    now, before = text.index("Oakdale, since 20"), text.index("Riverton, 20")
    assert now < before
    assert "from Ann; known to all; made of j1; against p1 Riverton (from Bob)" in text
    assert "hums a tune (from Ann; known to all; not consolidated yet)" in text
    assert "has no profile of Bob" in ask("aimemory/about Mira = Bob")


def test_markup_in_what_was_said_does_nothing(mira, ann, admin, ask):
    evil = "|lcquit|ltclick|le |500red {x} $func(1)"
    mira.journal.add(evil, tags=[evil])
    mira.ai_profiles.observe(ann.dbref, evil)
    set_attribute(mira.ai_profiles, ann.dbref, evil, evil)
    for line in (
        "aimemory Mira",
        "aimemory/show Mira = j1",
        "aimemory/about Mira = Ann",
        "aimemory/search Mira = click",
        "aimemory/search Mira as Ann = click",
        "aimemory/pin Mira = j1",
        "aihistory/journal Mira",
    ):
        ask(line)
        for sent in admin.session.sent:
            assert "\x1b[4z" not in telnet(sent, MXP=True) and not on_web(sent)[1], line
        assert evil in "".join(admin.heard()), line


def test_what_faded_is_listed_and_put_back(mira, ann, ring, ask, told, builder):
    assert "Mira has no pruned entries." in ask("aimemory/archive Mira")
    kept = mira.journal.add(TOLL)
    mira.journal.archive.put_away(mira.journal, kept, ring)
    assert contents(mira) == []
    assert TOLL in ask("aimemory/archive Mira") and RING in ask("aimemory/archive Mira")
    text = told(builder, "aimemory/archive Mira")
    assert TOLL in text and "1 more: private" in text and RING not in text
    assert f"no entry '{ring}'" in told(builder, f"aimemory/restore Mira = {ring}")
    assert TOLL in told(builder, f"aimemory/restore Mira = {kept}")
    assert [entry["id"] for entry in restarted(mira).all()] == [kept]
    assert TOLL not in ask("aimemory/archive Mira")


def test_a_search_tells_what_a_player_would_be_answered_and_what_is_held_back(
    mira, ann, bob, ring, ask
):
    mira.journal.add("Bob sells rings.", speakers=[bob.dbref])
    text = ask("aimemory/search Mira as Ann = where is the ring")
    assert text.startswith("If Ann asked:")
    assert RING in text and "(private)" in text and "Withheld" not in text
    assert "score " in text and "words: ring" in text
    text = ask("aimemory/search Mira as Bob = where is the ring")
    assert RING not in text and "Bob sells rings." in text
    assert f"Withheld (with its audience): {ring}, private to Ann, and Bob was not told." in text
    text = ask("aimemory/search Mira as Ann, Bob = where is the ring")
    assert RING not in text and "and Bob was not told" in text
    text = ask("aimemory/search Mira = where is the ring")
    assert text.startswith("What anybody may be told:")
    assert RING not in text and f"{ring}, private to Ann." in text


def test_a_search_leaves_out_what_staff_may_not_see(game, mira, ann, ring):
    mira.journal.add(TOLL)
    reader = Reader(game.service.who_may_read, has=lambda permission: permission == "Builder")
    of_ann = frozenset({ann.dbref})
    searching = search_for_staff(mira.assistant.mind.around, "ring toll", of_ann, reader)
    report = game.result(searching)
    assert [hit.record["content"] for hit in report.found] == [TOLL]
    assert (report.withheld, report.hidden, reader.private_shown) == ([], 1, 0)


def test_a_search_says_what_the_tool_finds_and_counts_nothing_as_looked_up(
    game, mira, ann, ring, ask
):
    mira.journal.add(TOLL)
    shown = ask("aimemory/search Mira as Ann = ring")
    assert not mira.journal.recalls
    game.model.add(call("search_memory", query="ring"), call("noop"))
    ann.do("whisper Mira = where is it, that ring?")
    game.run(1)
    (result,) = [m for m in mira.assistant.conversation_history if m["role"] == "tool"][:1]
    found = [line.removeprefix("- ") for line in result["content"].splitlines()]
    assert found and all(line in shown for line in found)


def test_a_rebuild_makes_index_and_long_term_memory_anew(game, mira, ask):
    memory, agent = game.service.semantic, f"npc_{mira.id}"
    for number in range(45):
        mira.journal.add(f"Guest {number} came in.")
    game.result(consolidate_memories_to_semantic(mira.assistant, mira))
    memory.stored[agent].popitem()
    before = mira.assistant.mind.memories()
    text = ask("aimemory/rebuild Mira")
    assert "The index is done, with 45 memories." in text
    assert "Done: 45 entries are in long-term memory." in text
    assert len(memory.stored[agent]) == 45
    assert mira.assistant.mind.memories() is not before
    mira.journal.add("Whoever was put away hears of nothing.")
    assert "j46" not in before._due


def test_a_rebuild_tells_how_far_it_is_and_is_not_begun_twice(game, mira, admin, monkeypatch):
    monkeypatch.setattr("evennia_ai.commands.memories.PROGRESS_EVERY", 20)
    for number in range(45):
        mira.journal.add(f"Guest {number} came in.")
    admin.told("aimemory/rebuild Mira")
    for _ in range(30):
        admin.do("aimemory/rebuild Mira")
        game.run(0.1)
    text = "\n".join(admin.heard())
    assert "Mira's memory is being rebuilt already." in text
    assert "Mira: 20 entries done, 25 to go" in text and "Mira: 40 entries done, 5 to go" in text
    admin.told("aimemory/rebuild Mira")
    assert "already" not in admin.last()


def test_a_rebuild_says_why_long_term_memory_is_not_made_anew(game, mira, ask):
    mira.journal.add(TOLL)
    game.service.semantic.off = "turned off."
    assert "Long-term memory is not rebuilt: turned off." in ask("aimemory/rebuild Mira")
    game.service.semantic.off, game.service.semantic.down = "", True
    assert "Long-term memory is not complete: It is down." in ask("aimemory/rebuild Mira")
