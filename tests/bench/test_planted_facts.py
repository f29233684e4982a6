"""Does a fact stand in the next prompt built for a question about it, after many compactions?

Two talks: a made-up one in a game (`planted`), and public dialogues where they are at hand
(`public_talks`). Two who sum up: the offline brain, and a model whose summaries hold nothing. Every
other way has as many tokens of talk as ours takes, what it calls to mind included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import mean

import pytest

from evennia_ai.policy.tokens import estimate_tokens
from tests.bench import public_talks
from tests.bench.figures import Sheet
from tests.bench.planted import make_talk
from tests.bench.remembering import (
    EVERYBODY,
    METHODS,
    ONE_SHOT,
    OURS,
    WINDOW,
    Hostile,
    Offline,
    Plainer,
    ask,
    ask_all,
    heard,
    live_through,
    log_of,
    make_script,
)

COMPACTIONS = (1, 3, 5, 10)
SUMMARISERS = (("offline", Offline), ("hostile", Hostile))
WINDOW_TOKENS = 8_000
MOST_MISSED, LEAST_LEAD = 10.0, 30.0


@pytest.mark.parametrize(("who", "gateway"), SUMMARISERS)
def test_planted_facts_stand_in_the_next_prompt(
    who: str, gateway: Callable[[], object], sheet: Callable[[str], Sheet]
) -> None:
    paper = sheet(f"planted facts, {who} summaries")
    talk = make_talk(turns=600, facts=100, seed=1)
    for number in COMPACTIONS:
        script = make_script(gateway(), WINDOW_TOKENS)
        live_through(script, log_of(talk), number)
        asked = ask_all(script, talk.facts, METHODS)
        missed = {method: 100 - asked.percent(method) for method in METHODS}
        after = f"after {number}: "
        for method in METHODS:
            bar = MOST_MISSED if method == OURS else None
            paper.add(f"{after}missed of {asked.facts}, {method}", missed[method], "%", bar)
        others = min(missed[WINDOW], missed[ONE_SHOT]) if who == "hostile" else missed[WINDOW]
        bar = others - LEAST_LEAD
        paper.add(f"{after}missed, ours, at 30 points' distance", missed[OURS], "%", bar)
        paper.add(f"{after}secrets in prompts of others", len(asked.leaks), "", 0)
        paper.add(f"{after}tokens of a prompt but for the rules", mean(asked.tokens))
    paper.check()


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.skipif(
    public_talks.find_file() is None,
    reason=f"{public_talks.FILE} is not here: set EVENNIA_AI_DATA to its folder",
)
@pytest.mark.parametrize(("who", "gateway"), SUMMARISERS)
def test_evidence_of_public_dialogues(
    who: str, gateway: Callable[[], object], sheet: Callable[[str], Sheet]
) -> None:
    paper = sheet(f"public dialogues, {who} summaries")
    for number in COMPACTIONS:
        shares = evidence_shares(gateway, number)
        questions = len(shares[OURS])
        missed = {method: 100 - 100 * mean(shares[method]) for method in METHODS}
        most = min(missed[WINDOW], missed[ONE_SHOT]) - LEAST_LEAD
        for method in METHODS:
            name = f"after {number}: evidence missed, {questions} questions, {method}"
            paper.add(name, missed[method], "%", most if method == OURS else None)
    paper.check()


def evidence_shares(gateway: Callable[[], object], compactions: int) -> dict[str, Sequence[float]]:
    """By method, the share of its evidence that stood in each question's prompt."""
    shares: dict[str, list[float]] = {method: [] for method in METHODS}
    file = public_talks.find_file()
    assert file
    for talk in public_talks.load(file):
        said = {turn["id"]: turn["text"] for turn in talk["turns"]}
        script = make_script(gateway(), WINDOW_TOKENS)
        live_through(script, public_talks.turns_of(talk), compactions)
        plainer = Plainer(script)
        name, dbref = public_talks.ASKER
        for question in talk["questions"]:
            evidence = [said[turn] for turn in question["evidence"] if turn in said]
            if not evidence:
                continue
            lines = ask(script, heard(name, dbref, question["question"]), EVERYBODY)
            budget = sum(map(estimate_tokens, lines))
            for method in METHODS:
                shown = lines if method == OURS else plainer.lines(method, dbref, budget)
                shares[method].append(public_talks.share_of_evidence(evidence, shown))
    return shares


def test_the_talk_asks_in_other_words_and_only_for_what_was_said() -> None:
    talk = make_talk(turns=600, facts=100, seed=1)
    assert (len(talk.lines), len(talk.facts)) == (600, 100)
    assert Counter(fact.private for fact in talk.facts)[True] == 10
    for fact in talk.facts:
        assert talk.lines[fact.turn].text == fact.said
        assert len(fact.shared) <= 2
    assert sum(not fact.shared for fact in talk.facts) >= 15
    assert sum(bool(fact.outdated) for fact in talk.facts) == 10
