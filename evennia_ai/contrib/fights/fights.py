"""A fight as characters notice it: `combat_event` for any game, and two of Evennia's contribs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from twisted.logger import Logger

from evennia_ai.errors import ConfigError
from evennia_ai.extension import Around
from evennia_ai.game.perception import is_assistant, name_in_act
from evennia_ai.signals import fight_noticed

log = Logger()

URGENT, NOTEWORTHY, KNOWN = 7, 4, 3  # as `notify` has importance
FIGHT_S = 60.0  # without a blow, and the next one begins another fight

# What the one who is hit, the one who hits and everybody else notice.
LINES = {
    "attacked": ("{actor} attacks you", "You attack {victim}", "{actor} attacks {victim}"),
    "hit": ("{actor} hits you", "You hit {victim}", "{actor} hits {victim}"),
    "missed": ("{actor} misses you", "You miss {victim}", "{actor} misses {victim}"),
    "killed": ("{actor} fells you", "You fell {victim}", "{actor} fells {victim}"),
    "flees": ("You break off the fight", "", "{victim} breaks off the fight"),
}


def combat_event(
    character: Any, kind: str, actor: Any = None, damage: int = 0, remaining: float | None = None
) -> None:
    """Let all assistants in a character's place notice what happens to it in a fight.

    Each gets an event of this kind, with which `ai_perceived` answers. Whom a player attacks takes
    a turn at once, as if spoken to; whom another character attacks may react as to other news.

    Args:
        character: who is attacked, hit, missed or killed, or who flees; any Evennia object.
        kind: "attacked" (a fight begins), "hit", "missed", "killed" or "flees".
        actor: who does it to them, None for nobody.
        damage: points that a hit takes.
        remaining: the part of the health that is left, from 0 to 1; None if it is unknown.

    Raises:
        ValueError: the kind is another one. Whatever else fails is logged: the fight goes on.
    """
    if kind not in LINES:
        raise ValueError(f"no event of a fight: {kind!r}; use {', '.join(LINES)}")
    health = 100 if remaining is None else round(100 * min(1.0, max(0.0, remaining)))
    by = character if kind == "flees" else actor
    details = [f"damage {damage}"] * bool(damage)
    details += [f"{health} % of the health left"] * (kind == "hit" and remaining is not None)
    try:
        # Nobody has noticed what it lost since the last blow, such as by poison.
        noticed = 100 if character.ndb.ai_health is None else character.ndb.ai_health
        before = max(noticed, health + round(100 * damage / health_of(character)[1]))
        character.ndb.ai_health = health if remaining is not None else noticed
        blow = {"kind": kind, "actor": by, "victim": character, "damage": damage}
        for me in witnesses(character.location):
            about = {"character": me, "health": health, "before": before, "since": began(me)}
            fight_noticed.send_robust(me.assistant, **about, **blow)
            notice(me, kind, by, character, f": {', '.join(details)}." if details else ".")
    except Exception:  # noqa: BLE001  # a game's own classes may raise anything
        log.failure("evennia_ai: an event of a fight was not noticed")


def witnesses(place: Any) -> list[Any]:
    """Return the characters in a place whose minds work."""
    return [obj for obj in place.contents if is_assistant(obj) and obj.ai_mind] if place else []


def began(me: Any) -> float:
    """Return when the fight began that goes on near a character, in unix seconds; note a blow."""
    now = me.ai_mind.services.now().timestamp()
    since, last = me.ndb.ai_fight or (now, now)
    since = since if now - last < FIGHT_S else now
    me.ndb.ai_fight = since, now
    return float(since)


def notice(me: Any, kind: str, actor: Any, victim: Any, end: str) -> None:
    """Tell a character, as a fact, what it sees of a fight."""
    line = LINES[kind][0 if victim is me else 1 if actor is me else 2]
    doer = name_in_act(actor, me) if actor else "Something"
    words = line.format(actor=doer, victim=name_in_act(victim, me)) + end
    importance = NOTEWORTHY if victim is me else KNOWN
    if victim is me and kind == "attacked" and actor and actor.has_account:
        importance = URGENT
    by, whom = (None if who is me else who for who in (actor, victim))
    me.ai_mind.hearing.notify(words, importance, kind, by, whom)


@contextmanager
def blow(
    _by: Any, attacker: Any, target: Any = None, *_more: Any, defender: Any = None, **_options: Any
) -> Iterator[None]:
    """Let characters notice an attack that runs inside, by the health before and after it."""
    target = defender if target is None else target
    before, most = health_of(target)
    if is_new_fight(attacker, target):
        combat_event(target, "attacked", attacker)
    yield
    after = health_of(target)[0]
    if before > after:
        combat_event(target, "hit", attacker, before - after, after / most)
    else:
        combat_event(target, "missed", attacker)
    if before > 0 >= after:
        combat_event(target, "killed", attacker, remaining=0.0)


def health_of(obj: Any) -> tuple[int, int]:
    """Return health and most health, by EvAdventure's and turnbattle's names for them."""
    now = int(getattr(obj, "hp", None) or obj.db.hp or 0)
    return now, int(getattr(obj, "hp_max", None) or obj.db.max_hp or 0) or max(now, 1)


def is_new_fight(attacker: Any, target: Any) -> bool:
    """Return True for the first blow of somebody against somebody in `FIGHT_S` seconds."""
    for me in witnesses(target.location):
        now, blows = me.ai_mind.services.clock.seconds(), target.ndb.ai_blows or {}
        target.ndb.ai_blows = {**blows, attacker.dbref: now}
        return bool(now - blows.get(attacker.dbref, -FIGHT_S) >= FIGHT_S)
    return False


@contextmanager
def flight(action: Any) -> Iterator[None]:
    """Let characters notice that a fighter of EvAdventure begins to flee."""
    if action.combatant not in action.combathandler.fleeing_combatants:
        combat_event(action.combatant, "flees")
    yield


@contextmanager
def end_of_turn(
    _rules: Any, fighter: Any, _actions: Any, action_name: Any = None
) -> Iterator[None]:
    """Let characters notice that a fighter of turnbattle disengages."""
    if action_name == "disengage":
        combat_event(fighter, "flees")
    yield


# By the entry COMBAT: modules of `evennia.contrib`, their classes and methods, and what notices.
EVADVENTURE, RULES = "tutorials.evadventure", "game_systems.turnbattle.tb_"
BATTLES = ("basic", "Basic"), ("equip", "Equipment"), ("items", "Item"), ("range", "Ranged")
SYSTEMS: Mapping[str, Sequence[tuple[str, str, str, Around]]] = {
    "evadventure": (
        (f"{EVADVENTURE}.objects", "EvAdventureWeapon", "use", blow),
        (f"{EVADVENTURE}.combat_turnbased", "CombatActionFlee", "execute", flight),
    ),
    "turnbattle": (
        *((f"{RULES}{name}", f"{of}CombatRules", "resolve_attack", blow) for name, of in BATTLES),
        (f"{RULES}basic", "BasicCombatRules", "spend_action", end_of_turn),
    ),
}


def read_systems(value: Any) -> Sequence[tuple[str, str, str, Around]]:
    """Return the rows of `SYSTEMS` for the entry ``COMBAT``; raises ConfigError."""
    names = [value] if isinstance(value, str) else list(value)
    if not SYSTEMS.keys() >= {*names}:
        raise ConfigError(f"knows {', '.join(SYSTEMS)}, not {value!r}")
    return [row for name in names for row in SYSTEMS[name]]
