"""What a character never speaks of it tells to nobody, and does not name when it refuses."""

import numpy as np
import pytest

from evennia_ai.contrib.stand_in.languages import read_languages
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.contrib.stand_in.view import read_request
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.retrieval.words import find_words as content_words
from tests.contrib.stand_in.stage import Talk
from tests.turn.test_untold_lore import FORBIDDEN

SUBJECTS = (
    ("talks about the mayor", "mayor", "The mayor drinks."),
    ("speaks of the prisoner in the tower", "prisoner", "The prisoner is a prince."),
    ("mentions her dead husband", "husband", "My husband drowned in the mill race."),
    ("tells anybody where the key is", "key", "The key hangs behind the oven."),
)


@pytest.mark.parametrize(("rule", "subject", "secret"), SUBJECTS)
@pytest.mark.parametrize("source", ["lore", "persona", "memory"])
@pytest.mark.parametrize("line", ["tell me about the {}", "what of the {}?", "where is the {}?"])
def test_it_is_told_to_nobody_and_not_named(rule, subject, secret, source, line):
    lore = (f"The town: {secret} The well is deep.",) if source == "lore" else ()
    text = f"You are Mira, who keeps the inn. {secret}" if source == "persona" else "You are Mira."
    place = Situation("The Gull", people=("Ann", "Bob"))
    talk = Talk("Mira", Persona(text, never=(rule,)), place, lore)
    if source == "memory":
        talk.hear(secret, "Bob")
    for speaker in ("Ann", "Bob", "Ann"):
        answer = talk.hear(line.format(subject), speaker)
        assert subject not in answer.lower() and "drown" not in answer
        assert answer


LINES = (
    "tell me about {}",
    "what of {}?",
    "where is {}?",
    "have you heard of {}?",
    "any news of {}?",
    "who is {}?",
    "do you have a story about {}?",
    "is it true what they say about {}?",
)


@pytest.mark.parametrize("source", ["lore", "persona", "memory"])
@pytest.mark.parametrize(("rule", "title", "secret"), FORBIDDEN)
def test_twenty_subjects_are_told_to_none_of_three(rule, title, secret, source):
    lore = (f"{title}: {secret}",) if source == "lore" else ()
    text = f"You are Mira, who keeps the inn. {secret if source == 'persona' else ''}"
    place = Situation("The Gull", people=("Ann", "Bob", "Cid"))
    talk = Talk("Mira", Persona(text, never=(rule,)), place, (*lore, "The well: The well is deep."))
    if source == "memory":
        talk.hear(secret, "Bob")
    subject = title.lower().replace("her ", "your ").replace("his ", "your ")
    for number, line in enumerate(LINES):
        answer = talk.hear(line.format(subject), ("Ann", "Bob", "Cid")[number % 3]).lower()
        held = set(content_words(secret)) - set(content_words(line.format(subject)))
        assert held.isdisjoint(content_words(answer)) and subject.split()[-1] not in answer
    assert "deep" in talk.hear("how deep is the well?")


def test_it_still_tells_what_else_it_knows():
    lore = ("The cellar: The cellar is deep and cold.", "The mayor: The mayor drinks.")
    talk = Talk("Mira", Persona("You are Mira.", never=("talks about the mayor",)), lore=lore)
    assert "deep" in talk.hear("how deep is the cellar?")
    assert "drinks" not in talk.hear("have you heard any news?")


def test_what_is_meant_counts_and_not_the_words_alone():
    near, far = np.eye(2, dtype=np.float32)
    request = StandInRequest(
        "Mira",
        Persona("You are Mira.", never=("talks about the mayor",)),
        (HeardLine("say", "Ann", "who rules this town?", False),),
        vectors={"who rules this town?": near, "the mayor": near, "is there ale?": far},
    )
    view = read_request(request, read_languages(()))
    assert view.is_silent_about("who rules this town?")
    assert not view.is_silent_about("is there ale?")


def test_what_it_never_does_is_still_named():
    talk = Talk(
        "Holt", Persona("You are Holt.", never=("leaves the gate",)), tools=("say", "follow")
    )
    assert "leave the gate" in talk.hear("follow me!")


@pytest.mark.parametrize(
    ("to_rule", "likeness", "is_told"), [(0.25, 0.75, False), (0.1, 0.5, False), (0.1, 0.75, True)]
)
def test_of_its_persona_what_is_near_it_is_hardly_told(to_rule, likeness, is_told):
    near, far, asked = np.eye(3, dtype=np.float32)
    own, other = "I carry broth to the royal bedchamber.", "I brew ale."
    request = StandInRequest(
        "Mira",
        Persona(f"You are Mira. {own} {other}", never=("discusses the king's illness",)),
        (HeardLine("say", "Ann", "where is the broth taken?", False),),
        vectors={
            "the king's illness": near,
            own: to_rule * near + likeness * asked,
            other: far,
            "I am Mira.": far,
            "where is the broth taken?": asked,
        },
    )
    view = read_request(request, read_languages(()))
    scored = view.find("where is the broth taken?", view.passages)
    assert [item.text for _, item in scored] == [own] * is_told


def test_a_rule_that_no_pattern_finds_counts_as_it_is_written():
    near, far = np.eye(2, dtype=np.float32)
    rule, own = "gives away the recipe", "I chop green tomatoes on Sundays."
    request = StandInRequest(
        "Lou",
        Persona(f"You are Lou. {own}", never=(rule,)),
        (HeardLine("say", "Ann", "what do you do?", False),),
        talk_rules=(rule,),
        vectors={rule: near, own: near, "I am Lou.": far},
    )
    assert own not in [item.text for item in read_request(request, read_languages(())).passages]
