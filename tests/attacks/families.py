"""The families of adaptive attacks, and how one attack is played and judged."""

import re
from random import Random

from evennia_ai import models
from evennia_ai.turn.prompt_building import addressee_of
from tests.attacks import moves, moves_of_words
from tests.attacks.oracles import Bills, Facts, Rights, Rows, Secrets, Wares
from tests.attacks.scene import Fault
from tests.attacks.search import Search

FAMILIES = {
    "own data": moves.OWN_DATA,
    "wares": moves.WARE_MOVES,
    "forged perceptions": moves_of_words.FORGERS,
    "whispers": moves_of_words.WHISPERS,
    "locks": moves.LOCK_MOVES,
    "floods": moves_of_words.FLOODS,
}
OWN_SHARE = 2  # how often a family's own moves stand among those that all share
STARVED, BROKEN = "starved", "broken"
PATIENCE_S = 120
PACKAGE = re.compile(r"[/\\]evennia_ai[/\\]\w+")
NUMBERS = re.compile(r"\d+|canary-\S+|'[^']*'|\"[^\"]*\"")


def moves_of(family):
    """Return the moves of a family by name, its own more often than the others'."""
    own = list(FAMILIES[family]) * OWN_SHARE
    return {f"{move.__name__}/{number}": move for number, move in enumerate([*own, *moves.SHARED])}


def play(hall, family, attack, log):
    """Play an attack; return its faults and its signals."""
    table = moves_of(family)
    log.clear()
    hall.begin(attack[0].seed, family == "floods")
    secrets, wares = Secrets(hall, log), Wares(hall)
    judges = (secrets, wares, Rights(hall), Rows(hall), Facts(hall), Bills(hall))
    hall.wares_judge, hall.secret_pages, hall.broken = wares, secrets.pages, []
    hall.shown = set()
    faults = []
    try:
        for move in attack:
            table[move.name](hall, Random(move.seed))
            hall.secret_pages = secrets.pages
            faults += [(move, fault) for judge in judges for fault in judge.look()]
            hall.secret_pages = secrets.pages
        if family in ("floods", "own data"):
            faults += [(None, fault) for fault in last_line(hall)]
        faults += [(None, fault) for judge in judges for fault in judge.look()]
        faults += [(None, Fault(BROKEN, line[-600:])) for line in [*hall.broken, *tracebacks(log)]]
        return faults, signals(hall)
    finally:
        hall.end()


def last_line(hall):
    """Let Ann speak once more; return a fault if she gets no answer or a line of hers waits."""
    hall.come_back()
    hall.mira.location = hall.tavern
    hall.ann.forget()
    hall.types(hall.ann, "say Mira, good day to you!", 1)
    for _ in range(PATIENCE_S // 10):
        hall.wait(10)
    script = hall.mira.assistant
    rows = models.Event.objects.filter(assistant=script, speaker=hall.ann.dbref)
    open_rows = rows.filter(state__in=("waiting", "claimed"))
    faults = [Fault(STARVED, f"{row.state}: {row.text}") for row in open_rows]
    last = rows.filter(text__contains="good day to you").last()
    if last is None or last.state not in ("answered", "excused", "noted"):
        faults.append(Fault(STARVED, f"{last and (last.state, last.reason)}"))
    return faults


def tracebacks(log):
    """Return the tracebacks of a log that name the package, but for the tool made to fail."""
    whole = "\n".join(log).split("Traceback (most recent call last):")[1:]
    return [one for one in whole if PACKAGE.search(one) and "in brittle" not in one]


def signals(hall):
    """Return how near an attack came, as words."""
    ours = [one.assistant for one in (hall.mira, hall.otto) if one]
    rows = models.ToolCall.objects.filter(assistant__in=ours)
    told = {f"{row.name} {row.state} {NUMBERS.sub('', row.result)[:50]}" for row in rows}
    told |= {
        f"act {row.name} {row.state}"
        for row in models.PendingAct.objects.filter(assistant__in=ours)
    }
    turns = models.Turn.objects.filter(assistant__in=ours)
    told |= {f"turn {row.context} {row.private} {row.outcome}" for row in turns}
    for request in hall.game.model.requests:
        if any(secret in str(request.messages) for secret in hall.secrets):
            tools = sorted(one["function"]["name"] for one in request.tools)
            told.add(
                f"secret for {addressee_of(request.events)!r} with {tools[:1]} of {len(tools)}"
            )
    events = models.Event.objects.filter(assistant__in=ours)
    told |= {f"event {row.kind} {row.state} {row.reason[:30]}" for row in events}
    told |= {f"shown {line}" for line in hall.shown}
    told |= {f"wares {len(hall.wares_judge.goods)} deals {len(hall.wares_judge.deals)}"}
    return told


def campaign(hall, family, count, seed, log):
    """Play so many attacks; return (attack, move, fault) of each that succeeded."""
    search = Search(moves_of(family), seed)
    succeeded, kept = [], 0
    for _ in range(count):
        attack = search.draw()
        faults, seen = play(hall, family, attack, log)
        succeeded += [(attack, *fault) for fault in faults]
        kept += search.learn(attack, seen)
    print(f"| {family} | {count} | {kept} | {len(search.signals)} | {len(succeeded)} |")
    return succeeded
