"""What reads opinions: prompts, prices, doors and quests; what builders see, and what goes away."""

import json
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai.contrib.opinions import OpinionTrade, record_deed
from evennia_ai.contrib.opinions.opinion_records import OpinionDeeds
from evennia_ai.management.uninstall import remove_data
from evennia_ai.store.forget import Forgetting
from evennia_ai.store.personal_data import known_of
from evennia_ai.testing.tools import try_tool
from tests.contrib.opinions import opinions_scene
from tests.game.conftest import flat
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]
asked_for = opinions_scene.asked_for
tavern_of_opinions = opinions_scene.tavern_of_opinions


def likes(inn, player, points=None):
    """Let Mira's opinion of a player be some points, by deeds."""
    kinds = {6: ("gift", "gift", "promise kept"), -7: ("promise broken", "theft")}[points or 6]
    for number, kind in enumerate(kinds):
        record_deed(inn.mira, player.character, kind, f"did {kind} {number}")
    return inn.of(player)


def test_a_prompt_tells_of_whom_it_speaks_to_only_what_they_may_know(
    tavern_of_opinions, game, ann, bob, builder
):
    inn = tavern_of_opinions
    assert inn.rows(ann, bob) == []
    assert likes(inn, ann) == 6
    private = frozenset({bob.dbref})
    record_deed(inn.mira, bob.character, "theft", "robbed the bank", audience=private)
    record_deed(inn.mira, ann.character, "sale", "sold you junk")
    assert inn.rows(ann) == ["you like Ann very much (did gift 0; did gift 1)"]
    assert inn.rows(bob) == ["you do not like Bob (robbed the bank)"]
    assert inn.rows(ann, bob) == inn.rows(ann)
    game.model.add(call("say", text="Welcome!"))
    ann.do("say Mira, hello")
    game.run(1)
    assert "Your opinion: you like Ann very much (did gift 0; did gift 1)" in game.told()
    settings = inn.mira.assistant.mind.settings
    record_deed(inn.mira, bob.character, "theft", "stole a cup")
    assert len(inn.rows(ann, bob)) == 2
    settings.profile = replace(settings.profile, client="openai", form="plain")
    assert len(inn.rows(ann, bob)) == 1
    pytest.importorskip("evennia_ai.contrib.explanations")
    assert "Your opinion: you like Ann very much" in flat(builder.told("aiwhy/prompt Mira"))


def test_prices_follow_opinions_and_never_pay_out(tavern_of_opinions, game, ann, bob):
    inn, trade = tavern_of_opinions, OpinionTrade()
    ale = game.thing("ale", inn.mira)
    ale.db.price = 50

    def prices(person):
        return trade.price(inn.mira, ale, person), trade.offer(inn.mira, ale, person)

    assert prices(ann.character) == prices(None) == (50, 25)
    assert (likes(inn, ann), likes(inn, bob, -7)) == (6, -7)
    assert (prices(ann.character), prices(bob.character)) == ((44, 28), (57, 21))
    inn.mira.assistant.mind.settings.write({"opinion_prices": 9.0})
    record_deed(inn.mira, ann.character, "promise kept", "came")
    price, offer = prices(ann.character)
    assert offer <= price < 44
    ale.db.price = None
    assert prices(ann.character) == (None, None)


def test_doors_and_quests_ask_for_opinions(tavern_of_opinions, game, ann, bob):
    inn = tavern_of_opinions
    gate = game.exit("gate", inn.mira.location, game.room("Cellar"))
    assert likes(inn, ann) == 6
    for named in ("Mira", inn.mira.dbref):
        gate.locks.add(f"traverse:ai_opinion({named}, 5)")
        assert [gate.access(who.character, "traverse") for who in (ann, bob)] == [True, False]
    for arguments in ("Nobody, -5", "Mira, many", "Mira", ""):
        gate.locks.add(f"traverse:ai_opinion({arguments})")
        assert not gate.access(ann.character, "traverse"), arguments
    set_quest = pytest.importorskip("evennia_ai.contrib.quests").set_quest
    inn.mira.db.ai_quests = {"trusted": "lock ai_opinion(Mira, 5)"}
    assert try_tool(set_quest, inn.mira, bob.character, flag="trusted").state == "failed"
    assert try_tool(set_quest, inn.mira, ann.character, flag="trusted").state == "done"


def test_a_builder_sees_reasons_sets_undoes_and_changes_rules(
    tavern_of_opinions, game, ann, bob, builder, admin
):
    inn = tavern_of_opinions
    assert "nothing yet" in builder.told("aiopinions Mira")
    inn.gives(ann)
    secret = frozenset({ann.dbref})
    record_deed(inn.mira, ann.character, "theft", "robbed the bank", audience=secret)
    assert "+2.0 Ann" in builder.told("aiopinions Mira")
    assert "-2.0 Ann" in admin.told("aiopinions Mira")
    told = flat(builder.told("aiopinions Mira = ann"))
    assert "o1 gave you a rope (gift +2, +2.0 left)" in told and "1 more: private" in told
    assert "'you' is Mira" in told
    assert "robbed" not in told and "robbed the bank" in admin.told("aiopinions Mira = Ann")
    assert "Which number?" in builder.told("aiopinions/undo Mira = o2")
    assert "opinion of Ann: +0.0" in builder.told("aiopinions/undo Mira = o1")
    inn.gives(ann, "cup")
    assert "opinion of Ann: +4.0" in builder.told("aiopinions/undo Mira = o1")
    assert inn.of(ann) == 0
    assert "opinion of Bob: +5.0" in builder.told("aiopinions/set Mira = Bob 5 : saved your cat")
    assert "already" in builder.told("aiopinions/set Mira = Bob 5 : again")
    assert (inn.of(bob), inn.mira.ai_opinions.reasons(bob.character)) == (5, ["saved your cat"])
    assert "Write a person" in builder.told("aiopinions/set Mira = Bob 50 : x")
    assert "gift +2, at most 4 a day, fades 0.1 a day" in builder.told("aiopinions/rules Mira")
    builder.do("aisetup/set Mira/opinion_rules = gift +3")
    told = builder.told("aiopinions/rules Mira")
    assert "gift +3, at most 4 a day, fades 0.1 a day (changed)" in told
    assert "is no rule" in flat(builder.told("aisetup/set Mira/opinion_rules = gift"))
    inn.gives(bob, "key")
    assert inn.of(bob) == 8
    inn.mira.locks.add("edit:false();control:false()")
    for line in ("undo Mira = o1", "set Mira = Bob 1 : x"):
        assert "may not change" in builder.told(f"aiopinions/{line}")
    assert "not available" in ann.told("aiopinions Mira")


def test_who_is_forgotten_leaves_no_deed_and_sees_them_before(tavern_of_opinions, game, ann, bob):
    inn = tavern_of_opinions
    inn.gives(ann, "marigold")
    inn.gives(bob, "thistle")
    assert (inn.of(ann), inn.of(bob)) == (2, 2)
    assert "marigold" in str([item.texts for item in known_of(frozenset({ann.dbref}))])
    for _ in Forgetting([ann.dbref]).steps():
        pass
    OpinionDeeds.drop(inn.mira)
    assert (inn.of(ann), inn.of(bob)) == (0, 2)
    stored = str(list(Attribute.objects.filter(db_attrtype="ai_opinions").values()))
    assert f" {bob.dbref} " in stored and f" {ann.dbref} " not in stored


def test_a_file_of_minds_takes_them_along_and_uninstalling_leaves_none(
    tavern_of_opinions, game, ann
):
    minds = pytest.importorskip("evennia_ai.contrib.mind_files.transfer")
    from evennia_ai.contrib.mind_files import mind_lines

    inn = tavern_of_opinions
    inn.gives(ann)
    assert inn.of(ann) == 2
    (line,) = [json.loads(json.dumps(item)) for item in minds.segments_of(inn.mira, print)]
    mind_lines.checked(mind_lines.SegmentLine, line)
    assert mind_lines.check_segment(line) == ["o1"]
    remove_data(str)
    assert not ObjectDB.objects.filter(db_attributes__db_attrtype="ai_opinions").exists()


def test_reading_costs_no_query_while_nothing_happens(tavern_of_opinions, game, ann):
    inn = tavern_of_opinions
    inn.gives(ann)
    inn.of(ann)
    with CaptureQueriesContext(connection) as queries:
        for _ in range(50):
            inn.of(ann)
            inn.rows(ann)
    assert not queries.captured_queries


def test_without_the_extension_nothing_is_kept(game, mira, ann):
    game.thing("rope", ann.character)
    ann.do("give rope to Mira")
    game.run(1)
    assert record_deed(mira, ann.character, "unknown", "did it") == 0
    assert OpinionDeeds.of(mira).all() == []
    assert "is not available" in flat(ann.told("aiopinions Mira"))
