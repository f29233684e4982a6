"""What a customer wants of a shop's wares, by the words and numbers of a line."""

from evennia_ai.contrib.stand_in.brain import _by_speaker
from evennia_ai.contrib.stand_in.languages import read, read_languages
from evennia_ai.contrib.stand_in.requests import Deal, numbers_in, read_deal
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.contrib.stand_in.view import read_request
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.contrib.stand_in.stage import Talk

CARRIED = ("bowl of green tea", "ration bar", "ration bar", "wool cap", "silk cap", "watering can")
PLACE = Situation("The Gull", people=("Ann",), carrying=CARRIED)
PRICES = "bowl of green tea: 3 coins; ration bar: 4 coins; wool cap: 9 coins; silk cap: 20 coins"


def deal(line):
    """Return the deal of Ann's line after she heard that a ration bar costs 4 coins."""
    talk = Talk("Hob", Persona("You are Hob."), PLACE, tools=("say", "prices", "sell"))
    talk.happens("say", "Ann", "a bar?")
    talk.messages.append({"role": "assistant", "content": "A ration bar costs 4 coins."})
    talk.happens("say", "Ann", line)
    heard = HeardLine("say", "Ann", line, False)
    talk.think(heard)
    talk.messages[-1]["content"] = PRICES
    request = StandInRequest("Hob", Persona("You are Hob."), (heard,), PLACE, step=2,
                             messages=talk.messages, tools=talk.tools)  # fmt: skip
    (view,) = _by_speaker(read_request(request, read_languages(())))
    return read_deal(view, view.sentences[-1])


def test_numbers_in_words_are_read():
    counts = read("en").data["counts"]
    for text, numbers in (
        ("thirty eight it is", [38]),
        ("2 ropes and one hundred twenty nails", [2, 120]),
        ("both please", [2]),
        ("no number", []),
    ):
        assert list(numbers_in(text.split(), counts).values()) == numbers, text


def test_a_line_is_read_as_a_deal_about_wares():
    bar = "ration bar"
    for line, expected in (
        ("two ration bars please", Deal("order", (bar, bar), named=True)),
        ("3 ration bars", Deal("few", (bar,), named=True)),
        ("yes", Deal("order", (bar,))),
        ("a bowl of soup", Deal("missing", named=True)),
        ("the cap please", Deal("which", ("wool cap", "silk cap"), named=True)),
        ("what does a ration bar cost?", Deal("price", (bar,), named=True)),
        ("what can I do here?", Deal()),
        ("two cans of lager and a ration bar please", Deal("order", (bar,), named=True)),
    ):
        assert deal(line) == expected, line
