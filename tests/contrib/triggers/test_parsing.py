"""What a builder writes of a trigger is read as it is meant."""

import math

import pytest

from evennia_ai.contrib.triggers.parsing import read_rules, read_trigger
from evennia_ai.errors import ConfigError

# What is written, and what sets it off: the fields of the trigger.
READ = {
    "when somebody enters": {"kind": "enters", "actor": "somebody"},
    "when somebody enters with a drawn sword": {"wielded": "sword"},
    "when someone enters with a weapon in hand": {"wielded": "weapon"},
    "when Ann enters carrying the mug": {"kind": "enters", "actor": "Ann", "carried": "mug"},
    "if Ann enters without a ticket": {"actor": "Ann", "lacked": "ticket"},
    "when somebody leaves": {"kind": "leaves", "actor": "somebody"},
    "when the silver bell is used": {"kind": "used", "thing": "silver bell"},
    "when a visitor rings the bell": {"kind": "used", "actor": "visitor", "thing": "bell"},
    "when someone drops anything": {"kind": "dropped", "thing": "somebody"},
    "when given red rose by Ann": {"kind": "given", "actor": "Ann", "thing": "red rose"},
    "when Ann gives a red rose": {"kind": "given", "actor": "Ann", "thing": "red rose"},
    "hears gold, silver": {"kind": "says", "words": "gold, silver"},
    "when attacked": {"kind": "attacked", "victim": "me"},
    "when Mira is attacked by Bob": {"kind": "attacked", "actor": "Bob", "victim": "me"},
    "when Bob is hit": {"kind": "hit", "victim": "Bob", "is_passive": True},
    "when a player is damaged": {"kind": "hit", "victim": "player"},
    "when someone attacks Lady Ister": {"kind": "attacked", "victim": "Lady Ister"},
    "when the rat dies here": {"kind": "killed", "victim": "rat"},
    "when Ann flees": {"kind": "flees", "victim": "Ann"},
    "when hp below 50%": {"kind": "hit", "victim": "me", "below": 50},
    "when hit below 30 % by Ann": {"kind": "hit", "victim": "me", "below": 30, "actor": "Ann"},
    "when Wick hp under a third": {"victim": "Wick", "below": 33, "is_passive": True},
    "at 06:30": {"kind": "time", "at": "06:30", "hours": ("0:00", "0:00")},
    "every hour": {"kind": "time", "at": "0:00", "every": 60},
    "every 2 hours from 8 to 20": {"at": "8", "every": 120, "hours": ("8", "20")},
    "every 30 minutes at night": {"every": 30, "hours": ("dusk", "dawn")},
    "at dusk in Lantern Row": {"kind": "time", "at": "dusk", "place": "Lantern Row"},
    "when a player leaves north at night": {"way": "north", "hours": ("dusk", "dawn")},
    "when Ann uses the press after 20:00": {"thing": "press", "hours": ("20:00", "dawn")},
    "when Ann enters with a hat between 0:00 and 5": {"carried": "hat", "hours": ("0:00", "5")},
    "when the bell is used by Ann before dawn": {"actor": "Ann", "hours": ("0:00", "dawn")},
    "when the bell is used by day": {"thing": "bell", "hours": ("dawn", "dusk")},
    'when Ann says "after 8" after 20:00': {"words": '"after 8"', "hours": ("20:00", "dawn")},
    "when Ann says wait until noon": {"words": "wait until noon", "hours": ("0:00", "0:00")},
    "when hit, once per person per 2 days": {"most": 1, "within_s": 172_800, "each": True},
}
LIMITS = {
    '"Hm." limit once per person': {"most": 1, "within_s": math.inf, "each": True},
    "Hm. ; once per fight": {"most": 1, "within_s": 0.0},
    "Hm., limit 3 per hour": {"most": 3, "within_s": 3_600, "each": False, "what": "Hm."},
    "I eat, once a day": {"most": 5, "what": "I eat, once a day"},
}
# What is not understood, and which part of it the error names.
UNREAD = {
    "when somebody enters wearing a hat: say Hey": "'wearing a hat'",
    "when pigs fly: say Oink": "'pigs fly'",
    "every full moon: say Hey": "'every full moon'",
    "when Ann enters after supper: say Hey": "'after supper'",
    "when hit, once per moon: say Hey": "'moon'",
}


def test_what_a_builder_writes_is_read():
    written = {f"{when}: say Hey": fields for when, fields in READ.items()}
    written |= {f"when hit: say {what}": fields for what, fields in LIMITS.items()}
    for text, fields in written.items():
        trigger = read_trigger(text, me="Mira")
        found = {**vars(trigger), **dict(trigger.wanted)}
        assert {name: found[name] for name in fields} == fields, text
    assert read_trigger('at 06:30: say "Up: it is day!"').what == "Up: it is day!"
    assert read_trigger("when hit: do pose falls").act == "emote"
    assert read_trigger("when Ann enters: think").what == "Ann enters"


def test_the_part_that_is_not_understood_is_named():
    for written, part in UNREAD.items():
        with pytest.raises(ConfigError, match=part):
            read_trigger(written)


def test_a_setting_keeps_what_is_understood_of_it():
    rules = read_rules("1 when hit: say Ow\n\n2\n3 when pigs fly: say Oink\n4 at dusk: say Hm\n")
    assert [(item.number, item.kind) for item in rules] == [
        (1, "hit"),
        (2, ""),
        (3, ""),
        (4, "time"),
    ]
    assert not rules[1].text and "'pigs fly' is nothing" in rules[2].what
    with pytest.raises(ConfigError, match="begins with its number"):
        read_rules("when hit: say Ow")
