"""Which line that somebody told answers a question: whose it is, how like it, and how new."""

from datetime import datetime
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from twisted.internet.defer import fail, succeed
from twisted.internet.task import Clock

from evennia_ai.contrib.stand_in.answers import find_told
from evennia_ai.contrib.stand_in.languages import read_languages
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.contrib.stand_in.view import read_request
from evennia_ai.errors import ProviderError
from evennia_ai.memory.remote_vectors import TextNearness
from evennia_ai.policy.conversation.persona_and_lore import Persona

HORSE, FOOD, PLACE, NOISE, LEGS = np.eye(5, dtype=np.float32)


def mixed(*parts):
    """A unit vector of shares of subjects."""
    vector = sum(share * subject for share, subject in parts)
    return vector / np.linalg.norm(vector)


OLD, NEW = "my horse is called Pickles", "Pickles died, the new mare is Turnip"
OTHER = "I have a horse, too, he is Bolt"
CHATTER = "this ale is weak tonight"
WHISPER = "my horse is stolen goods"
QUESTION = "what is my horse called?"
VECTORS = {
    QUESTION: HORSE,
    "what is Ben's horse called?": HORSE,
    "what is my shoe size?": NOISE,
    OLD: mixed((0.7, HORSE), (0.5, NOISE)),
    NEW: mixed((0.6, HORSE), (0.5, NOISE)),
    OTHER: mixed((0.8, HORSE), (0.3, NOISE)),
    WHISPER: mixed((0.75, HORSE), (0.4, PLACE)),
    CHATTER: FOOD,
}
PLAIN = {"I am Mira.": PLACE}


def view_of(question, *told, speaker="Ann", private=False, rows=(), vectors=None):
    """What the stand-in reads of a question behind what was told in view and in the recall."""
    verb = "whispers to you" if private else "says"
    messages = [{"role": "user", "content": line} for line in told]
    if rows:
        recall = "\n- ".join(["You remember:", *rows])
        text = f"<situation>\n{recall}\n</situation>"
        messages.insert(0, {"role": "user", "content": text})
    messages.append({"role": "user", "content": f"{speaker} {verb}: {question}"})
    line = HeardLine("whisper" if private else "say", speaker, question, private)
    request = StandInRequest(
        "Mira",
        Persona("You are Mira."),
        (line,),
        messages=messages,
        vectors=VECTORS | PLAIN if vectors is None else vectors,
    )
    return read_request(request, read_languages(())).answering(line, question)


def answer(question, *told, **kwargs):
    view = view_of(question, *told, **kwargs)
    line = find_told(view, question)
    return line.text if line else None


def test_the_newest_line_of_the_subject_answers():
    assert answer(QUESTION, f"Ann says: {OLD}", f"Ann says: {CHATTER}") == OLD
    assert answer(QUESTION, f"Ann says: {OLD}", f"Ann says: {CHATTER}", f"Ann says: {NEW}") == NEW


def test_recalled_lines_are_older_than_those_in_view():
    assert answer(QUESTION, f"Ann says: {NEW}", rows=[f"Ann: {OLD}"]) == NEW
    assert answer(QUESTION, f"Ann says: {CHATTER}", rows=[f"Ann: {OLD}", f"Ann: {NEW}"]) == NEW


def test_a_question_of_oneself_is_answered_by_ones_own_words():
    lines = (f"Ben says: {OTHER}", f"Ann says: {OLD}", f"Ann says: {CHATTER}")
    assert answer(QUESTION, *lines) == OLD
    assert answer("what is Ben's horse called?", *lines) == OTHER


def test_what_nobody_told_is_not_answered():
    assert answer("what is my shoe size?", f"Ann says: {CHATTER}") is None
    assert answer(QUESTION, f"Ann says: {CHATTER}", f"Ann says: {CHATTER} again") is None
    assert answer(QUESTION) is None
    assert (
        answer(QUESTION, "Ann says: Pickles", vectors=VECTORS | PLAIN | {"Pickles": HORSE}) is None
    )


def test_what_hardly_stands_out_answers_nothing():
    limps = "the horse called Pickles limps"
    likely = {OLD: mixed((0.4, HORSE), (0.9, NOISE)), limps: mixed((0.39, HORSE), (0.9, LEGS))}
    told = (f"Ann says: {OLD}", *[f"Ann says: {CHATTER}"] * 2)
    assert answer(QUESTION, *told, vectors=VECTORS | PLAIN | likely) == OLD
    told = (*told, f"Ann says: {limps}")
    assert answer(QUESTION, *told, vectors=VECTORS | PLAIN | likely) is None


@pytest.mark.parametrize("private", [False, True])
def test_a_whisper_answers_in_a_whisper_to_its_speaker_only(private):
    told = (f"Ann whispers to you: {WHISPER}", f"Ann says: {CHATTER}")
    assert answer(QUESTION, *told, private=private) == (WHISPER if private else None)
    assert answer(QUESTION, *told, speaker="Ben", private=private) is None


def test_without_vectors_words_decide():
    told = (f"Ann says: {CHATTER}", f"Ann says: {OLD}")
    assert answer("what do I call my horse?", *told, vectors={}) == OLD
    assert answer("what is my shoe size?", *told, vectors={}) is None


class Embedder:
    """Embeds later; ``outcome`` makes what it fires with of its vectors."""

    name, dimensions = "later", 4

    def __init__(self, outcome):
        self.outcome = outcome

    def embed_later(self, texts, query=False):
        return self.outcome(np.ones((len(texts), 4), dtype=np.float32))


def test_vectors_of_all_texts_come_or_none_and_words_decide():
    texts, services = ["who?", "a line"], SimpleNamespace(clock=Clock(), now=datetime.now)
    broken = lambda _: fail(ProviderError("down"))  # noqa: E731
    for outcome, known in ((succeed, {*texts}), (broken, set())):
        nearness = TextNearness(partial(Embedder, outcome))
        nearness.prepare(services, texts)
        assert nearness.vectors(texts).keys() == known
        assert nearness.vectors([*texts, "another"]) == {}


@pytest.mark.parametrize(("likeness", "own", "of_another"), [
    (0.12, None, None), (0.5, True, True),
])  # fmt: skip
def test_another_persons_words_must_be_more_certain(likeness, own, of_another):
    asked, line = "what is the horse called?", "they say Bolt to him"
    vectors = VECTORS | PLAIN | {asked: HORSE, line: mixed((likeness, HORSE), (1.0, NOISE))}
    for speaker, expected in (("Ann", own), ("Ben", of_another)):
        told = (f"{speaker} says: {line}", f"Ann says: {CHATTER}", f"Ann says: {CHATTER}")
        answering = find_told(view_of(asked, *told, vectors=vectors), asked)
        assert (answering and answering.is_certain) == expected
