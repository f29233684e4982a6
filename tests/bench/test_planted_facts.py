"""Does a fact stand in the next prompt built for a question about it, after many compactions?

Two talks: a made-up one in a game (`planted`), and public dialogues if they are here
(`public_talks`). The summaries say nothing, so that only recall can help.
"""

from collections.abc import Callable
from statistics import mean

import pytest

from tests.bench import public_talks
from tests.bench.figures import Sheet
from tests.bench.planted import BARE, CHANGED, FOREIGN, HARD, NAMED, PLAIN, SECRET, make_talk
from tests.bench.remembering import (
    EVERYBODY,
    OURS,
    Asked,
    Hostile,
    ask,
    ask_all,
    heard,
    live_through,
    log_of,
    make_script,
)

COMPACTIONS = (1, 3, 5, 10)
TALKS = {300: 80, 1_500: 160}  # facts by turns
SEEDS = (1, 2)
WINDOW_TOKENS = 8_000
MOST_MISSED = {NAMED: 3.0, BARE: 5.0}
MOST_MISSED_OF_A_KIND = 10.0
DIALOGUE_COMPACTIONS = 3
LEAST_EVIDENCE = 0.75  # share
KINDS = (*HARD, *FOREIGN, SECRET, CHANGED, PLAIN)


def asked_after(gateway: object, turns: int, seed: int, compactions: int) -> Asked:
    """Return what is asked at the end of a talk."""
    talk = make_talk(turns, TALKS[turns], seed)
    script = make_script(gateway, WINDOW_TOKENS)
    live_through(script, log_of(talk), compactions)
    return ask_all(script, talk.facts, (OURS,))


def test_planted_facts_stand_in_the_next_prompt(sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("planted facts, hostile summaries")
    asked = Asked()
    for turns in TALKS:
        for number in COMPACTIONS:
            now = Asked()
            for seed in SEEDS:
                now.add(asked_after(Hostile(), turns, seed, number))
            for way, bar in MOST_MISSED.items():
                name = f"{turns:,} turns, after {number}: missed, {way}"
                paper.add(name, 100 - now.percent(OURS, way), "%", bar)
            asked.add(now)
    for kind in KINDS:
        for way in MOST_MISSED:
            missed = 100 - asked.percent(OURS, way, kind)
            paper.add(f"{kind}: missed, {way}", missed, "%", MOST_MISSED_OF_A_KIND)
    paper.add("stale values alone", sum(a.stale for a in asked.of(OURS)), "", 0)
    paper.add("secrets in prompts of others", len(asked.leaks), "", 0)
    paper.add("tokens of a prompt but for the rules", mean(asked.tokens))
    paper.check()


@pytest.mark.skipif(
    public_talks.find_file() is None,
    reason=f"{public_talks.FILE} is not here: set EVENNIA_AI_DATA to its folder",
)
def test_evidence_of_public_dialogues_stands_in_the_next_prompt(
    sheet: Callable[[str], Sheet],
) -> None:
    paper = sheet("public dialogues, hostile summaries")
    file = public_talks.find_file()
    assert file
    prompted: list[float] = []
    for talk in public_talks.load(file):
        script = make_script(Hostile(), WINDOW_TOKENS)
        turns, pauses = public_talks.turns_of(talk), public_talks.pauses_of(talk)
        live_through(script, turns, DIALOGUE_COMPACTIONS, pauses)
        for question, evidence in public_talks.questions_of(talk):
            lines = ask(script, heard(*public_talks.ASKER, question), EVERYBODY)
            prompted.append(public_talks.share_of_evidence(evidence, lines))
    name = f"missing in the prompt, {len(prompted):,} questions"
    paper.add(name, 1 - mean(prompted), "", 1 - LEAST_EVIDENCE)
    paper.check()
