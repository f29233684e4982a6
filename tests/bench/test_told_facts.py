"""Do forty facts in players' words stand in the prompt for a question after a night?

Four players type as players do: slang, no capitals, corrections, a thought over three lines. Two
compactions whose summaries say nothing, a sleep and a restart come before the questions. What
recall may be fitted on is the first half of `data/told.txt` alone.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from statistics import mean

import pytest

from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.messages import ChatMessage, make_message
from evennia_ai.sleep import run_sleep_tick
from tests.bench.figures import Sheet
from tests.bench.planted import (
    BARE,
    BOTH,
    CORRECTS,
    LAST_TURNS,
    Line,
    Planted,
    Question,
    arranged,
    runs_of,
)
from tests.bench.planted_words import parts_of
from tests.bench.remembering import Hostile, ask, at_once, live_through, make_script
from tests.minds import MemoryMind

FILE = Path(__file__).parent / "data" / "told.txt"
PLAYERS = {"Tamsin": "#11", "Joren": "#12", "Petra": "#13", "Wim": "#14"}
EVERYBODY = frozenset(PLAYERS.values())
FITTED, MEASURED = "fit", "measured"
SEEDS = (1, 2, 3)
COMPACTIONS, WINDOW_TOKENS, NIGHT_S = 2, 8_000, 30_000.0
MOST_MISSED = {400: 3.0, 1_500: 5.0}  # per cent, by lines
CHATTER = parts_of("""
hey all|brb|lol|omg same|anyone up for a dungeon later?|gg|haha nice one|this ale is weak|wb {n}
sup {n}|gtg soon|who wants to duel me|lag again ugh|ok ok|idk ask {n}|dude what|nvm found it|afk 5
need a healer for the crypt run|selling wolf pelts pm me|{n} r u even listening|k
my bag is full again
lvl 12 finally!!|where did {n} go|that bard is awful lmao|rain again..|one more round pls|yeah sure
did u see {n}s new hat|im so broke rn|cya tmrw|how much for the stew|ew whats that smell
same as always
the castle gate is closed again|got lost in the swamp for like an hour|any1 got a spare torch
""")


def facts_of(part: str, chance: random.Random) -> Iterator[Planted]:
    """Yield the facts of a part of the file, each told by somebody."""
    rows = FILE.read_text(encoding="utf-8").split(f"## {part}\n")[1].split("\n\n")[0]
    for row in rows.splitlines():
        said, asked, needs = row.split(" | ")
        speaker, other = chance.sample(sorted(PLAYERS), 2)
        how = CORRECTS if CORRECTS in needs else BOTH
        asker = other if asked.startswith("o: ") else speaker
        question = Question(asker, asked.removeprefix("o: ").format(s=speaker))
        runs = runs_of(said, speaker, other)
        parts = tuple(tuple(keys.split()) for keys in needs.split(how))
        yield Planted(part, runs, {BARE: question}, parts, how)


def chatter_of(chance: random.Random) -> Iterator[Line]:
    """Yield what players say beside, without end."""
    for _ in count():
        text = chance.choice(CHATTER).format(n=chance.choice(sorted(PLAYERS)).lower())
        yield Line(chance.choice(sorted(PLAYERS)), text)


def heard(speaker: str, text: str) -> ChatMessage:
    """Return a player's words as the log holds them."""
    return make_message(
        "user", f"{speaker} says: {text}", speaker=PLAYERS[speaker], speaker_name=speaker,
        audience=sorted(EVERYBODY), private=False,
    )  # fmt: skip


def lived(lines: list[Line]) -> MemoryMind:
    """Return an assistant that heard these lines, slept and was started again."""
    script = make_script(Hostile(), WINDOW_TOKENS)
    script.services.world.present = EVERYBODY
    live_through(script, [[heard(line.speaker, line.text)] for line in lines], COMPACTIONS)
    script.services.clock.advance(NIGHT_S)
    at_once(run_sleep_tick(script, script.character))
    script.memories.close()
    name_of = partial(script.services.world.name_of, script.character)
    stores = script.journal, script.character.ai_profiles
    embedder = script.services.embedder
    script.memories = RecallIndex(*stores, embedder, name_of, script.log.lines, script.who.name)
    script.rebuild()
    return script


@pytest.mark.parametrize("turns", MOST_MISSED)
def test_what_players_told_stands_in_the_prompt(turns: int, sheet: Callable[[str], Sheet]) -> None:
    paper, stands = sheet(f"facts in players' words, {turns:,} lines"), dict[str, list[bool]]()
    stale = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        facts = [fact for part in (FITTED, MEASURED) for fact in facts_of(part, chance)]
        chance.shuffle(facts)
        chatter = chatter_of(chance)
        told = arranged(facts, turns - LAST_TURNS, chatter, chance)
        script = lived([*told, *(next(chatter) for _ in range(LAST_TURNS))])
        for fact in facts:
            question = fact.questions[BARE]
            shown = ask(script, heard(question.asker, question.text), EVERYBODY)
            found, alone = fact.judge(BARE, shown)
            stands.setdefault(fact.kind, []).append(found)
            stale += alone
    for part, found in stands.items():
        paper.add(f"missed, {part}", 100 * (1 - mean(found)), "%")
    both = [one for found in stands.values() for one in found]
    paper.add(f"missed, of {len(both)}", 100 * (1 - mean(both)), "%", MOST_MISSED[turns])
    paper.add("stale values alone", stale, "", 0)
    paper.check()
