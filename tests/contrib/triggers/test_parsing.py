"""What a builder writes of a trigger is read as it is meant."""

import math
from datetime import datetime

from evennia_ai.contrib.triggers.occasions import is_time
from evennia_ai.contrib.triggers.parsing import read_trigger
from evennia_ai.contrib.triggers.surroundings import place_in_time
from evennia_ai.ports.world import TimeSource, WorldClock

# What is written, and what sets it off: the fields of the trigger.
READ = {
    "when somebody enters with a drawn sword": {"thing": "sword", "how": "wielded"},
    "when someone enters with a weapon in hand": {"thing": "weapon", "how": "wielded"},
    "when Ann enters carrying the mug": {"kind": "enters", "actor": "Ann", "thing": "mug"},
    "if Ann comes in through the north door without a ticket": {
        "actor": "Ann", "way": "north door", "how": "without", "thing": "ticket"},
    "when somebody leaves north": {"kind": "leaves", "way": "north"},
    "when somebody carrying a torch goes east": {"kind": "leaves", "thing": "torch", "way": "east"},
    "when the silver bell is used": {"kind": "used", "thing": "silver bell"},
    "when a visitor rings the bell": {"kind": "used", "actor": "visitor", "thing": "bell"},
    "when the door opens": {"kind": "used", "actor": "", "thing": "door"},
    "when someone picks up the crown": {"kind": "taken", "thing": "crown"},
    "when someone drops anything": {"kind": "dropped", "thing": ""},
    "when given 10 coins": {"kind": "given", "count": 10, "thing": "coins"},
    "when Ann gives Mira a red rose": {"kind": "given", "actor": "Ann", "thing": "red rose"},
    "when somebody asks about the dragon": {"kind": "says", "words": "dragon"},
    "hears gold, silver": {"kind": "says", "words": "gold, silver"},
    "when attacked": {"kind": "attacked", "victim": None},
    "when I am attacked by Bob": {"kind": "attacked", "actor": "Bob", "victim": None},
    "when hit for the first time": {"victim": None, "most": 1, "each": True},
    "when Bob is hit": {"kind": "hit", "victim": "Bob", "is_passive": True},
    "when a player is damaged": {"kind": "hit", "victim": "player"},
    "when someone attacks Lady Ister": {"kind": "attacked", "actor": "", "victim": "Lady Ister"},
    "when the rat dies": {"kind": "killed", "victim": "rat"},
    "when hp below 50%": {"kind": "hit", "victim": None, "health": range(50)},
    "when Mira's health drops below a third": {"victim": None, "health": range(33)},
    "when Wick hp under 33 %": {"victim": "Wick", "health": range(33)},
    "when a fight starts": {"kind": "attacked", "victim": "*", "within_s": 0.0},
    "every day at noon": {"kind": "time", "hours": ("noon", "noon"), "period": ("day", 1)},
    "at 06:30": {"kind": "time", "hours": (390, 390)},
    "at 8 pm in Lantern Row": {"hours": (1_200, 1_200), "place": "Lantern Row"},
    "every 2 hours": {"kind": "time", "period": ("hour", 2)},
    "every hour from 8 to 20": {"period": ("hour", 1), "hours": (480, 1_200)},
    "when Ann enters between 22:00 and 5:00": {"kind": "enters", "hours": (1_320, 300)},
    "when hit, once per person per 2 days": {"most": 1, "within_s": 172_800, "each": True},
}  # fmt: skip
LIMITS = {
    '"Hm." limit once per person': {"most": 1, "within_s": math.inf, "each": True},
    "Hm. ; once per fight": {"most": 1, "within_s": 0.0},
    "Hm. (max 3 per hour)": {"most": 3, "within_s": 3_600, "each": False},
    "Hm!, once per day": {"most": 1, "within_s": 86_400, "what": "Hm!"},
    "Hm. cooldown 10 minutes": {"most": 1, "within_s": 600},
    "I eat, once a day": {"most": 5, "what": "I eat, once a day"},
}


def test_what_a_builder_writes_is_read():
    written = {f"{when}: say Hey": fields for when, fields in READ.items()}
    written |= {f"when hit: say {what}": fields for what, fields in LIMITS.items()}
    for text, fields in written.items():
        trigger = read_trigger(text, me="Mira")
        assert {name: getattr(trigger, name) for name in fields} == fields, text
    assert read_trigger('at 06:30: say "Up: it is day!"').what == "Up: it is day!"
    assert read_trigger("when hit: do pose falls").act == "emote"
    assert read_trigger("when Ann enters: think").what == "Ann enters"


def test_dusk_and_night_are_those_of_the_worlds_clock(monkeypatch):
    clock, night = WorldClock(TimeSource(datetime.now)), read_trigger("at night: say Hush.")
    monkeypatch.setattr(clock, "day_parts", {**clock.day_parts, "dusk": 20.0, "dawn": 4.5})
    hours = {4: True, 5: False, 19: False, 20: True}
    for hour, is_dark in hours.items():
        monkeypatch.setattr(clock.source, "seconds", lambda hour=hour: hour * 3_600.0)
        assert is_time(night, clock) is is_dark, hour
    assert place_in_time(read_trigger("at dusk: say Hush."), clock)[1] * clock.pace == 86_400
