"""Fights of Evennia's contribs: every blow becomes an event of each character that sees it."""

import random
from importlib import import_module

import pytest

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.contrib.fights import combat_event, fights
from evennia_ai.models import Event, ToolCall
from evennia_ai.store.attributes import write_attribute
from tests.game import extensions_scene
from tests.game.players import new_object
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for = extensions_scene.asked_for
ADVENTURE = "evennia.contrib.tutorials.evadventure"
BATTLE = "evennia.contrib.game_systems.turnbattle.tb_basic"


def minded(typeclass, key, place, **attributes):
    """Return a character of another typeclass with an assistant."""
    npc = new_object(typeclass, key=key, location=place)
    for name, value in attributes.items():
        setattr(npc.db, name, value)
    add_assistant_mixin(npc)
    npc.attach_assistant(f"You are {key}.")
    return npc


def seen(npc):
    """Return kinds and texts of a character's events of a fight, oldest first."""
    rows = Event.objects.filter(assistant_id=npc.assistant.id, kind__in=fights.LINES)
    return list(rows.order_by("id").values_list("kind", "text"))


def test_a_fight_of_evadventure(game, asked_for, monkeypatch):
    asked_for("fights", COMBAT=["evadventure"])
    from evennia.contrib.tutorials.evadventure import combat_turnbased, rules

    place = new_object(f"{ADVENTURE}.rooms.EvAdventureRoom", key="Arena")
    place.allow_combat = place.allow_death = True
    grim = minded(f"{ADVENTURE}.npcs.EvAdventureNPC", "Grim", place, hit_dice=2, hp=8)
    witness = game.assistant("Mira", place)
    ann = game.player("Ann", place, typeclass=f"{ADVENTURE}.characters.EvAdventureCharacter")
    game.model.add(call("say", text="Then fight!"), *[call("noop")] * 20)
    hits = iter([True, False, True, True])
    monkeypatch.setattr(
        rules.dice, "opposed_saving_throw", lambda *_a, **_k: (next(hits), None, "rolls")
    )
    monkeypatch.setattr(rules.dice, "roll", lambda *_a, **_k: 3)
    monkeypatch.setattr(random, "shuffle", lambda _items: None)
    handler = combat_turnbased._get_combathandler(ann.character)
    handler.flee_timeout = 4  # rounds
    handler.add_combatant(ann.character)
    handler.add_combatant(grim)
    attack = {"key": "attack", "target": grim, "repeat": True}
    for round_ in range(4):
        if round_ == 1:
            handler.queue_action(grim, {"key": "flee"})
        handler.combatants[ann.character] = attack
        handler.at_repeat()
        game.clock.pump([0.5] * 10)
    assert seen(grim) == [
        ("attacked", "Ann attacks you."),
        ("hit", "Ann hits you: damage 3, 62 % of the health left."),
        ("missed", "Ann misses you."),
        ("flees", "You break off the fight."),
        ("hit", "Ann hits you: damage 3, 25 % of the health left."),
        ("hit", "Ann hits you: damage 3, 0 % of the health left."),
        ("killed", "Ann fells you."),
    ]
    assert seen(witness)[0] == ("attacked", "Ann attacks Grim.")
    assert len(seen(witness)) == 7
    said = list(ToolCall.objects.filter(name="say").values_list("arguments", flat=True))
    assert '{"text": "Then fight!"}' in said
    assert grim.ai_perceived("hit", ann.character)


def test_a_fight_of_turnbattle(game, asked_for, monkeypatch):
    asked_for("fights", COMBAT=["turnbattle"])
    from evennia.contrib.game_systems.turnbattle import tb_basic

    place = game.room("Arena")
    grim = minded(f"{BATTLE}.TBBasicCharacter", "Grim", place)
    ann = game.player("Ann", place, typeclass=f"{BATTLE}.TBBasicCharacter")
    game.model.add(*[call("noop")] * 20)
    rolls = {"get_damage": 40, "get_defense": 50, "roll_init": 1}
    for name, value in rolls.items():
        monkeypatch.setattr(tb_basic.COMBAT_RULES, name, lambda *_a, value=value: value)
    attacks = iter([60, 10, 60, 60])
    monkeypatch.setattr(tb_basic.COMBAT_RULES, "get_attack", lambda *_a: next(attacks))
    ann.character.cmdset.add(tb_basic.BattleCmdSet)
    ann.do("fight")
    handler = place.db.combat_turnhandler
    for _ in range(4):
        handler.db.turn = handler.db.fighters.index(ann.character)
        handler.start_turn(ann.character)
        ann.do("attack Grim")
        game.clock.pump([0.5] * 10)
    assert seen(grim) == [
        ("attacked", "Ann attacks you."),
        ("hit", "Ann hits you: damage 40, 60 % of the health left."),
        ("missed", "Ann misses you."),
        ("hit", "Ann hits you: damage 40, 20 % of the health left."),
        ("hit", "Ann hits you: damage 20, 0 % of the health left."),
        ("killed", "Ann fells you."),
    ]
    assert not place.db.combat_turnhandler


def test_a_character_strikes_back_by_a_command_and_notices_flight(game, asked_for, monkeypatch):
    pytest.importorskip("evennia_ai.contrib.command_tools")
    from evennia.contrib.game_systems.turnbattle import tb_basic

    from tests.contrib.command_tools.smithy_scene import TRIED, read_commands

    asked_for("fights", "command_tools", COMBAT="turnbattle")
    monkeypatch.setattr(tb_basic.COMBAT_RULES, "get_attack", lambda *_a: 60)
    monkeypatch.setattr(tb_basic.COMBAT_RULES, "roll_init", lambda who: who.key == "Ann")
    place = game.room("Arena")
    grim = minded(f"{BATTLE}.TBBasicCharacter", "Grim", place)
    ann = game.player("Ann", place, typeclass=f"{BATTLE}.TBBasicCharacter")
    for fighter in (grim, ann.character):
        fighter.cmdset.add(tb_basic.BattleCmdSet)
    grim.assistant.mind.settings.write({"allowed_commands": "attack <enemy>"})
    forms = [item.form for item in read_commands("attack <enemy>")]
    write_attribute(grim.assistant, TRIED, forms)
    game.model.add(call("use_command", line="attack Ann"), call("noop"))
    ann.do("fight")
    ann.do("attack Grim")
    game.clock.pump([0.5] * 10)
    ann.do("disengage")
    assert [kind for kind, _text in seen(grim)] == ["attacked", "hit", "attacked", "hit", "flees"]
    assert seen(grim)[-1][1] == "Ann breaks off the fight."
    assert seen(grim)[3][1].startswith("You hit Ann: damage ")


def test_each_variant_of_turnbattle(game, tavern, mira, ann, asked_for, monkeypatch):
    asked_for("fights", COMBAT="turnbattle")
    for name in ("basic", "equip", "items", "range"):
        rules = import_module(f"{BATTLE[:-5]}{name}").COMBAT_RULES
        monkeypatch.setattr(rules, "get_damage", lambda *_a: 10)
        mira.db.hp = mira.db.max_hp = 100
        for attack in (60, 40):
            rules.resolve_attack(
                ann.character, defender=mira, attack_value=attack, defense_value=50
            )
        assert [kind for kind, _text in seen(mira)[-2:]] == ["hit", "missed"], name


def test_two_characters_that_fight_take_few_turns(game, tavern, mira, ann, asked_for):
    asked_for("fights")
    otto = game.assistant("Otto", tavern)
    for item in (mira, otto):
        item.assistant.mind.settings.write({"autonomous_calls_per_hour": 2})
    game.model.add(*[call("noop")] * 100)
    for _ in range(50):
        combat_event(mira, "attacked", otto)
        combat_event(otto, "attacked", mira)
        game.clock.pump([0.5] * 4)
    assert len(game.model.requests) <= 4
    assert len(seen(mira)) == len(seen(otto)) == 100


def test_an_unknown_kind_is_told(mira):
    with pytest.raises(ValueError, match="attacked, hit, missed, killed, flees"):
        combat_event(mira, "kissed")


def test_a_trigger_hears_of_each_blow(game, tavern, mira, ann, asked_for):
    pytest.importorskip("evennia_ai.contrib.triggers")
    asked_for("fights", "triggers")
    rules = "1 when attacked: pose snarls at $who.\n2 when hit below half: say Only $health left!"
    mira.assistant.mind.settings.write({"trigger_rules": rules})
    game.model.add(*[call("noop")] * 20)
    mira.db.max_hp = 20
    combat_event(mira, "attacked", ann.character)
    for damage, left in ((6, 14), (4, 10), (2, 8), (2, 6)):  # half is not below half
        combat_event(mira, "hit", ann.character, damage, left / 20)
        game.clock.pump([0.5] * 4)
    done = ToolCall.objects.filter(turn__context="trigger").order_by("id")
    said = ['{"text": "snarls at Ann."}', '{"text": "Only 40 left!"}']
    assert list(done.values_list("arguments", flat=True)) == said
