"""Each sentence that was said leads to the line of the prompt that it comes from."""

import random

import pytest

from evennia_ai.contrib.explanations.aiwhy_lines import nearness
from evennia_ai.contrib.explanations.attribution import (
    LORE,
    NEW,
    PERSONA,
    RECALLED,
    RULES,
    SITUATION,
    TALK,
    PromptLine,
    PromptPart,
    attribute,
    situation_parts,
)
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.context import situation_updates
from tests.facts import FACT, PLACES, SUBJECTS, THINGS, TOLD

pytestmark = pytest.mark.game

PROMPT = [
    PromptPart(
        RULES, (PromptLine("You play one character. Speak in short sentences about silver coins."),)
    ),
    PromptPart(
        PERSONA,
        (PromptLine("You are Mira."), PromptLine("You keep the Gilded Gull and fear Sister Oda.")),
    ),
    PromptPart(TALK, (PromptLine("Ann says: I left my boat at the old pier.", "message 7"),)),
    PromptPart(
        SITUATION, (PromptLine("Place: The Gilded Gull"), PromptLine("People here: Ann, Bob"))
    ),
    PromptPart(
        LORE, (PromptLine("The mill: The miller was hanged for poisoning the well.", "The mill"),)
    ),
    PromptPart(
        RECALLED,
        (
            PromptLine(
                "2026-11-01: Bob says: I owe you fifteen silver for the stew.", "line3", 2.1
            ),
            PromptLine("2026-11-02: Cid says: my daughter is called Wren.", "line9", 1.2),
        ),
    ),
    PromptPart(NEW, (PromptLine("Ann says: Mira, what does Bob owe you?"),)),
]


def source_of(sentence):
    (found,) = attribute(sentence, PROMPT, ["Mira"])
    return found.source and (found.source.part, found.source.line.source)


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("Bob owes me 15 silver for his stew.", (RECALLED, "line3")),
        ("Cid calls his daughter Wren.", (RECALLED, "line9")),
        ("Your boat lies at the old pier, Ann.", (TALK, "message 7")),
        ("They hanged the miller because he poisoned the well.", (LORE, "The mill")),
        ("I keep the Gilded Gull.", (PERSONA, "")),
    ],
)
def test_a_sentence_leads_to_the_line_that_it_tells(sentence, source):
    assert source_of(sentence) == source


def test_a_label_of_the_situation_tells_nothing_and_the_nearest_wording_wins():
    told = PromptLine(
        "The harbour: It is ten steps away; she is kind, and sees too much.", "The harbour"
    )
    here = PromptPart(SITUATION, (PromptLine("You see: The common room is low and warm."),))
    said = "she is kind, and sees too much."
    assert attribute(said, [here])[0].source is None
    seen = PromptLine("Ann says: I see Bob.", "message 7")
    for parts in (
        [here, PromptPart(TALK, (seen,)), PromptPart(LORE, (told,))],
        [PromptPart(LORE, (told,)), here],
    ):
        assert attribute(said, parts)[0].source.line.source == "The harbour"


@pytest.mark.parametrize(
    "sentence",
    [
        "Bob owes me 20 silver for the stew.",
        "Bob owes me a golden crown and a horse.",
        "The baker's cat sleeps in the belfry.",
        "Silver coins are short.",
    ],
)
def test_a_claim_that_no_line_tells_has_no_source(sentence):
    assert source_of(sentence) is None


def test_small_talk_tells_nothing():
    (found,) = attribute("Well, and you?", PROMPT)
    assert found.source is None and not found.tells


FACTS_A_PROMPT = 20
PROMPTS = 25


def test_planted_facts_are_found_and_facts_mixed_of_them_have_no_source():
    rng = random.Random(16)

    def fact():
        words = {"subject": SUBJECTS, "thing": THINGS, "place": PLACES}
        return {name: rng.choice(some) for name, some in words.items()}

    right = known = none = invented = 0
    for _ in range(PROMPTS):
        facts = [fact() for _ in range(FACTS_A_PROMPT)]
        texts = sorted({FACT.format(**one) for one in facts})
        prompt = [
            *PROMPT[:2],
            PromptPart(RECALLED, tuple(PromptLine(text, text) for text in texts)),
        ]
        for one in facts:
            (found,) = attribute(rng.choice(TOLD).format(**one), prompt)
            right += found.source is not None and found.source.text == FACT.format(**one)
            known += 1
            other = fact()  # of the same people, things and places
            if FACT.format(**other) not in texts:
                (found,) = attribute(rng.choice(TOLD).format(**other), prompt)
                none += found.source is None
                invented += 1
    assert right / known >= 0.95, right / known
    assert none / invented >= 0.95, none / invented


def test_a_greeting_by_name_tells_nothing():
    (found,) = attribute("Welcome, Bob!", PROMPT, ["Mira"])
    assert not found.tells


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("Karl says: Ich heisse Karl.", "As you like, Karl."),
        ("Karl says: Ich heisse Karl.", "Wie du willst, Karl."),
        ("Karl says: Good evening, Mira.", "A good evening to you, Karl."),
        ("Karl says: I am Karl.", "It was Karl."),
    ],
)
def test_a_name_or_a_greeting_is_no_source(line, sentence):
    (found,) = attribute(sentence, [PromptPart(TALK, (PromptLine(line),))], ["Mira"])
    assert found.source is None and not found.tells


@pytest.mark.parametrize("sentence", ["Go well.", "You know where to find me."])
def test_a_single_word_that_is_no_thing_tells_nothing(sentence):
    lines = ("The boats go out at dawn.", "Find out who bricked up the arch.")
    (found,) = attribute(sentence, [PromptPart(LORE, tuple(map(PromptLine, lines)))], ["Mira"])
    assert found.source is None and not found.tells


@pytest.mark.parametrize(
    ("sentence", "tells", "has_source"),
    [
        ("You are Karl, of course.", True, True),
        ("Du bist Karl.", True, True),
        ("You are Otto.", True, False),
        ("You are welcome, Karl.", False, False),
    ],
)
def test_who_somebody_is_has_a_source(sentence, tells, has_source):
    parts = [PromptPart(TALK, (PromptLine("Karl says: Good evening, Mira. I am Karl."),))]
    (found,) = attribute(sentence, parts, ["Mira"])
    assert (found.tells, found.source is not None) == (tells, has_source)


def test_what_is_told_of_a_name_has_its_source():
    parts = [PromptPart(TALK, (PromptLine("Karl says: Karl mends boats at the pier."),))]
    (found,) = attribute("Karl mends boats.", parts, ["Mira"])
    assert found.source is not None


def test_another_number_makes_another_claim_however_much_else_is_the_same():
    told = "the ferry to Gullhaven leaves the stone pier on Sunday with {} barrels of herring"
    others = (
        PromptLine(FACT.format(subject=one, thing=THINGS[0], place=PLACES[0])) for one in SUBJECTS
    )
    prompt = [
        PromptPart(RECALLED, (PromptLine(f"Cid says: {told.format('nine')}.", "line1"), *others))
    ]
    (same,) = attribute(told.format(9), prompt)
    (other,) = attribute(told.format(7), prompt)
    assert same.source is not None and other.source is None


@pytest.mark.parametrize(
    ("told", "share"), [("2026-01-02: Cid: ", 1.0), ("Mira: ", 0.9), ("2026-01-02: Mira: ", 0.9)]
)
def test_a_recalled_line_of_its_own_counts_less_than_one_of_others(told, share):
    words = "In the quarry lies the mirror that the tanner hid."
    parts = [*PROMPT[:2], PromptPart(RECALLED, (PromptLine(f"{told}{words}", "line1"),))]
    (found,) = attribute(words, parts, ["Mira"])
    assert found.share == pytest.approx(share)


@pytest.mark.parametrize("opening", ["I remember your words: ", "Your words, Ann: ", "Once more: "])
def test_a_quotation_leads_to_whom_it_quotes_not_to_its_own_echo(opening):
    words = "Mira, Brannoc is a thief and he has debts in Harwick"
    said = f"{opening}‘{words}’"
    lines = (
        PromptLine(f"Ann says: {words}.", "message 42"),
        PromptLine(said, "message 48", own=True),
    )
    (found,) = attribute(said, [PromptPart(TALK, lines)], ["Mira"])
    assert found.source and (found.source.line.source, found.share) == ("message 42", 1.0)


@pytest.mark.parametrize(("score", "shown"), [(0.42, 0.42), (1.0, 1.0), (1.25, 0.0), (0.0, 0.0)])
def test_a_line_ranked_by_words_alone_shows_no_nearness(score, shown):
    assert nearness(PromptLine("a line", score=score)) == shown


def test_of_lore_that_a_small_model_gets_in_part_the_shown_sentences_are_its_source():
    text = "The news: A thief walks. The new mayor is Hallam Voss."
    rows = [
        (situation_updates.LORE, KnownLine(text, source="The news")),
        ("", KnownLine("You know Brannoc.")),
    ]
    content = '◆ You can tell Ann: "The new mayor is Hallam Voss."\n◆ You know Brannoc.'
    (lore, situation) = situation_parts([{"content": content, "metadata": {"rows": rows}}])
    assert lore == (LORE, [PromptLine("The new mayor is Hallam Voss.", "The news")])
    assert situation[1] == [PromptLine("You know Brannoc.")]
