"""Does a fact stand in the next prompt built for a question about it, after many compactions?

Two talks: a made-up one in a game (`planted`), and public dialogues if they are here
(`public_talks`). The summaries say nothing, so that only recall can help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import mean

import pytest

from tests.bench import public_talks
from tests.bench.figures import Sheet
from tests.bench.planted import (
    BARE,
    CHANGED,
    CORRECTS,
    FOREIGN,
    GAP,
    HARD,
    NAMED,
    PLAIN,
    REPLACES,
    SECRET,
    Planted,
    make_talk,
    shares,
)
from tests.bench.remembering import (
    EVERYBODY,
    METHODS,
    OURS,
    Asked,
    Hostile,
    Offline,
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


@pytest.mark.timeout(900)
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


def test_plainer_ways_hold_less(sheet: Callable[[str], Sheet]) -> None:
    """Compare at equal cost, with the summaries of the offline brain."""
    paper = sheet("planted facts, offline summaries")
    talk = make_talk(turns=300, facts=80, seed=1)
    script = make_script(Offline(), WINDOW_TOKENS)
    live_through(script, log_of(talk), 3)
    asked = ask_all(script, talk.facts, METHODS)
    missed = {method: 100 - asked.percent(method) for method in METHODS}
    least = min(missed[method] for method in METHODS if method != OURS)
    for method in METHODS:
        paper.add(f"missed, {method}", missed[method], "%", least if method == OURS else None)
    paper.check()


@pytest.mark.timeout(900)
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


def said_lines(fact: Planted) -> list[str]:
    """Return a fact's lines as a prompt shows them."""
    return [f"{line.speaker} says: {line.text}" for line in fact.lines]


@pytest.mark.parametrize(("turns", "facts"), TALKS.items())
def test_the_talk_has_all_kinds_and_says_what_is_asked(turns: int, facts: int) -> None:
    talk = make_talk(turns, facts, seed=1)
    texts = [line.text for line in talk.lines]
    assert (len(texts), len(talk.facts)) == (turns, facts)
    kinds = Counter(fact.kind for fact in talk.facts)
    assert kinds == shares(facts)
    assert sum(kinds[kind] for kind in HARD) == sum(kinds[kind] for kind in FOREIGN) == facts // 4
    for fact in talk.facts:
        places = [texts.index(line.text) for line in fact.lines]
        assert places == sorted(places)
        assert len(fact.runs) == 1 or places[-1] - places[0] >= GAP // 2
        for way, question in fact.questions.items():
            assert question.text not in texts
            assert fact.judge(way, said_lines(fact)) == (True, False)


def test_the_judge_knows_what_stands_and_what_stands_stale() -> None:
    for fact in make_talk(turns=300, facts=80, seed=2).facts:
        said = said_lines(fact)
        asked = fact.questions[BARE].text
        assert fact.judge(BARE, said) == (True, False)
        assert fact.judge(BARE, [asked]) == (False, False)
        if fact.how in (CORRECTS, REPLACES):
            assert fact.judge(BARE, said[:1]) == (False, True)
            assert fact.judge(BARE, said[-1:]) == (fact.how == REPLACES, False)
            assert fact.judge(BARE, said[::-1]) == (fact.how == REPLACES, False)
