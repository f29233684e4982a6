"""A plain reply: whose words end where, what is a deed, and what is not said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.memory.local_models import minilm
from evennia_ai.messages import LLMReply
from evennia_ai.policy.conversation.ai_disclosure import unknown
from evennia_ai.policy.replies.output_checks import ECHO, FOR_OTHERS
from evennia_ai.policy.replies.plain_reply import (
    ASSISTANT,
    NO_WORDS,
    REPEATED,
    PlainReply,
    plain_reply,
)
from evennia_ai.policy.retrieval.words import is_english
from tests.growth import text_grows_like_a_square
from tests.policy.replies.test_artefacts import LEGITIMATE

OTHERS = ("Wanderer", "Tom", "Sister Oda")
HEARD = ("Wanderer says: Good evening! Who are you?",)


def reply(text, name="Mira", heard=HEARD, last=(), cut_off=False, cosines=unknown):
    made = LLMReply(text, finish_reason="length" if cut_off else "stop")
    return plain_reply(made, name, OTHERS, heard, last, cosines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Well met.\nWanderer: And you?", "Well met."),
        ("Well met.\n**Wanderer:** And you?", "Well met."),
        ("Well met.\nWanderer says: And you?\nMira: Fine.", "Well met."),
        ("Well met. Wanderer: what is your name?", "Well met."),
        ("Well met.\nStranger: And you?", "Well met."),
        ("Well met. User: And you? Assistant: Fine.", "Well met."),
        ('"Well met."\nTom: And you?', '"Well met."'),
        ("Wanderer: Who are you?\nMira: I keep the inn.", "I keep the inn."),
        ("Mira: Good day.\nMira: Sit down.", "Good day. Sit down."),
        ("Mira: Good day", "Good day"),
        ("**Mira:** Good day", "Good day"),
        ("Mira says: Good day", "Good day"),
        ("Mira - Good day", "Good day"),
        ("Mira — Good day", "Good day"),
        ("Innkeeper: Good day", "Good day"),
        ("Old Innkeeper: “Good day”", "“Good day”"),
        ("Nails: a penny the dozen.", "Nails: a penny the dozen."),
        ("I sell:\nNails: a penny.\nAle: two.", "I sell:\nNails: a penny.\nAle: two."),
        ("No. No. Not there!", "No. No. Not there!"),
        ("Mira, at your service.", "Mira, at your service."),
        ("Mira - that is what they call me.", "Mira - that is what they call me."),
        ("Listen, Wanderer: the light is out.", "Listen, Wanderer: the light is out."),
        ("Wanderer, Tom: come here.", "Wanderer, Tom: come here."),
    ],
)
def test_the_label_of_another_speaker_ends_the_words(text, words):
    assert reply(text) == PlainReply(words)


def test_lines_for_others_alone_are_asked_for_again():
    assert reply("Wanderer: And you?").problem == FOR_OTHERS
    assert reply("Thought: I should greet them.").words == "Thought: I should greet them."
    assert reply("  ").problem == NO_WORDS


DEEDS = {
    "*slams a tankard* Who asks?": ("Who asks?", "slams a tankard"),
    "Who asks? *slams a tankard*": ("Who asks?", "slams a tankard"),
    "Well, *laughs heartily* I am Mira.": ("Well, I am Mira.", "laughs heartily"),
    "**slams a tankard** Who asks?": ("Who asks?", "slams a tankard"),
    "*Slams a tankard.* Who asks?": ("Who asks?", "slams a tankard"),
    "*Mira slams a tankard.* Who asks?": ("Who asks?", "slams a tankard"),
    "*She slams a tankard* Who asks?": ("Who asks?", "slams a tankard"),
    "Who asks? *slams a tank": ("Who asks?", "slams a tank"),
    "* slams a tankard *\nWho asks?": ("Who asks?", "slams a tankard"),
    "(sighs) Who asks?": ("Who asks?", "sighs"),
    "(Sighs) Who asks?": ("Who asks?", "sighs"),
    "Who asks? (sighs heavily)": ("Who asks?", "sighs heavily"),
    "/me laughs": ("", "laughs"),
    "/me laughs\nWho asks?": ("Who asks?", "laughs"),
    "/emote laughs": ("", "laughs"),
    "nods slowly.": ("", "nods slowly."),
    "emote laughs": ("", "laughs"),
    ":laughs": ("", "laughs"),
    "* Mira laughs": ("", "laughs"),
    '/me laughs and says "Who asks?"': ('"Who asks?"', "laughs"),
    "-laughs- Who asks?": ("Who asks?", "laughs"),
    "<laughs> Who asks?": ("Who asks?", "laughs"),
    "{laughs} Who asks?": ("Who asks?", "laughs"),
    ":laughs: Who asks?": ("Who asks?", "laughs"),
    "::laughs:: Who asks?": ("Who asks?", "laughs"),
    "((laughs)) Who asks?": ("Who asks?", "laughs"),
    "*laughs and says* Who asks?": ("Who asks?", "laughs"),
    "»Wer fragt?« Mira lacht.": ("Wer fragt?", "lacht"),
    "_nods_ Who asks?": ("Who asks?", "nods"),
    "~nods~ Who asks?": ("Who asks?", "nods"),
    "[She smiles] Who asks?": ("Who asks?", "smiles"),
    "[smiles] Who asks?": ("Who asks?", "smiles"),
    "*sighs* who asks?": ("who asks?", "sighs"),
    'Mira sighs. A smile lights her face. "Who asks?"': ("Who asks?", "sighs"),
    'Mira laughs. "Who asks?"': ("Who asks?", "laughs"),
    'Mira laughs and smiles at you. "Who asks?"': ("Who asks?", "laughs and smiles at you"),
    '"Who asks?" Mira laughs.': ("Who asks?", "laughs"),
    'She laughs. "Who asks?"': ("Who asks?", "laughs"),
    "Mira laughs. Who asks?": ("Who asks?", "laughs"),
    "Mira's eyes narrow. “Who asks?”": ("Who asks?", "'s eyes narrow"),
    "*nickt langsam* Wer fragt?": ("Wer fragt?", "nickt langsam"),
}  # fmt: skip
MANNERS = {
    '"Who asks?" says Mira.': "Who asks?",
    '"I am Mira," says Mira.': "I am Mira.",
    '"Well," says Mira, "who asks?"': "Well, who asks?",
    'He says, "Who asks?"': "Who asks?",
    'Mira says quietly, "Who asks?"': "Who asks?",
    'Mira leans forward and says: "Who asks?"': "Who asks?",
    'Mira, frowning, replied, "Who asks?"': "Who asks?",
    '"Who asks?" she asked, frowning.': "Who asks?",
    "(quietly) Who asks?": "Who asks?",
    "(in a low voice) Who asks?": "Who asks?",
    "*smiling* Who asks?": "Who asks?",
    "say Who asks?": "Who asks?",
    "/me says Who asks?": "Who asks?",
    "Mira (laughing): Who asks?": "Who asks?",
    "Mira [laughs]: Who asks?": "Who asks?",
    "Mira *laughs*: Who asks?": "Who asks?",
    "Mira, laughing, says: Who asks?": "Who asks?",
    "Mira smiles warmly: Who asks?": "Who asks?",
    "Mira smiles - Who asks?": "Who asks?",
    '"Who asks?", Mira says.': "Who asks?",
    '"Who asks?" Mira asked, laughing.': "Who asks?",
    'With a smile, Mira says, "Who asks?"': "Who asks?",
    "*a warm smile* Who asks?": "Who asks?",
    "[pause] Who asks?": "Who asks?",
    "*I nod slowly* Who asks?": "Who asks?",
}


@pytest.mark.parametrize("text", DEEDS)
def test_a_deed_in_the_words_is_shown_as_one(text):
    words, deed = DEEDS[text]
    assert reply(text) == PlainReply(words, (deed,))


@pytest.mark.parametrize("text", MANNERS)
def test_how_something_is_said_is_left_out(text):
    assert reply(text) == PlainReply(MANNERS[text])


@pytest.mark.parametrize(
    "words",
    [
        *(line for line in LEGITIMATE if not line.startswith(("*nods slowly*", "`Tis late"))),
        'My father told me: "Never trust a man with clean hands."',
        'Tom said: "Not before noon." So we wait.',
        'He told me, "Go home."',
        'It said "Cat lost" on the board.',
        "Ask Tom (he will know).",
        "The end of the tale (the sad part) comes in winter.",
        "A bed is threepence [with bread].",
        "Mira is what they call me.",
        "Mira keeps this inn, and you are welcome in it.",
        "Say dark_lord_of_night again.",
        "Say when, and I stop.",
        "* Nails, a penny the dozen",
        "{GULL}, it says over the door.",
        ":)",
        "2 * 3 * 4 is more than you have fingers.",
        "(2 + 3) * [4 - {1 + 1}] = 10",
        "a[i][j] += b[i]*c[j] and __init__",
        "/* a remark */ // another",
        "red|green|blue",
        "The key says ~42~ on it.",
        "(see [note] {here})",
        "¯\\_(ツ)_/¯ who knows",
        "Où est la clé ? « Là-bas », dit-il.",
    ],
)
def test_what_is_real_speech_stays(words):
    assert reply(words, heard=()) == PlainReply(words)


def test_a_part_of_a_name_that_others_bear_too_is_no_subject():
    text = 'The sign says, "Closed."'
    assert reply(text, "The Baker", ()) == PlainReply(text)
    assert reply('The Baker laughs. "Come in."', "The Baker") == PlainReply("Come in.", ("laughs",))
    assert reply('Oda laughs. "Come in."', "Sister Oda") == PlainReply("Come in.", ("laughs",))


@pytest.mark.parametrize(
    ("text", "words"),
    [("I *never* said that.", "I never said that."), ("*No!* Not there.", "No! Not there.")],
)
def test_emphasised_words_are_said(text, words):
    assert reply(text) == PlainReply(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sit down. The stew is al", "Sit down."),
        ("The stew is almost", "The stew is…"),
        ("The stew is done.", "The stew is done."),
    ],
)
def test_what_was_cut_off_ends_at_its_last_whole_sentence(text, words):
    assert reply(text, cut_off=True).words == words


def test_what_was_said_before_is_left_out_or_asked_for_again():
    last = ("Ask the priest up at the chapel.", "Aye.")
    assert reply("Ask the priest up at the chapel.", last=last).problem == REPEATED
    said = reply("Ask the priest up at the chapel. He rises late.", last=last)
    assert said == PlainReply("He rises late.")
    assert reply("Aye.", last=last) == PlainReply("Aye.")


def test_the_voice_of_an_assistant_is_left_out_or_asked_for_again():
    assert reply("I'm sorry, but I can't assist with that.").problem == ASSISTANT
    both = reply("I am Mira. How can I assist you?")
    assert both == PlainReply("I am Mira.")
    assert reply("I apologize. As an AI language model, I am fair.").problem == ASSISTANT


def test_a_deed_alone_answers_where_nothing_may_be_said():
    made = reply("*shakes her head* I'm sorry, but I can't assist with that.")
    assert made == PlainReply("", ("shakes her head",))


def test_an_echo_is_left_out_or_asked_for_again():
    heard = ("Wanderer says: Where is the old mill by the river?",)
    assert reply("Where is the old mill by the river?", heard=heard).problem == ECHO
    both = reply("Where is the old mill by the river? North of here.", heard=heard)
    assert both == PlainReply("North of here.")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Where is the old mill, Mira, by the river?", "Where is the old mill by the river?"),
        ("Where is the old mill by the river?", "Where is the old mill, Wanderer, by the river?"),
        ("You're a stupid old cow.", "I know you're a stupid old cow."),
        ("Mira, you are a stupid old cow!", "Wanderer, you are a stupid old cow."),
        ("you smell like a wet dog today", "Yes, you smell like a wet dog today."),
        ("Do you know where my brother is?", "Do I know where your brother is?"),
    ],
)
def test_the_line_given_back_with_a_name_or_a_few_words_is_an_echo(line, text):
    assert reply(text, heard=[f"Wanderer says: {line}"]).problem == ECHO


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("You're a stupid old cow.", "You're not worth my breath, Wanderer."),
        ("You are late, Mira.", "You are late yourself."),
        ("You look tired today, Mira.", "You look tired today, too."),
        ("I love the dark ale here.", "I love the dark ale here, too."),
        ("The gate is not done.", "I know the gate is not done."),
        ("I am Tom, and I owe you three silver.", "You are Tom; you owe me three silver."),
        ("Is your name Mira the innkeeper?", "My name is Mira, and I keep the inn."),
    ],
)
def test_an_answer_with_words_of_the_line_is_no_echo(line, text):
    assert reply(text, heard=[f"Wanderer says: {line}"]) == PlainReply(text)


def test_a_line_told_back_stands_only_alone():
    heard = ["Wanderer says: My dog is called Biscuit."]
    told_back = "Your dog is called Biscuit."
    assert reply(told_back, heard=heard) == PlainReply(told_back)
    assert reply(f"{told_back} A good name!", heard=heard) == PlainReply("A good name!")


@given(st.text(), st.text(max_size=10), st.booleans())
def test_no_text_raises(text, name, cut_off):
    whole = LLMReply(text, finish_reason="length" if cut_off else "stop")
    made = plain_reply(whole, name, (text[:9],), (text,), (text,))
    assert made.words or made.deeds or made.problem


@pytest.mark.parametrize(
    "unit", ["*", "* a", "(a ", '"', "Mira ", "Mira: ", "\n", "_a", "[", "/me ", "a. ", '"a," ']
)
def test_the_time_for_hostile_replies_grows_with_their_length_not_its_square(unit):
    assert not text_grows_like_a_square(reply, unit)


@pytest.fixture(scope="module")
def near():
    model = minilm()
    return lambda text, others: model.embed(others) @ model.embed([text])[0]


@pytest.mark.parametrize(
    "words",
    [
        "I cannot engage in discussions related to racism.",
        "It's a good idea to consult with a lawyer who specializes in landlord-tenant law.",
        "I'm sorry, but I don't have enough information to answer that.",
        "I understand your instruction.",
        "Poison can be harmful to humans and animals, and it is illegal in many countries.",
    ],
)
def test_the_voice_of_an_assistant_is_told_by_its_meaning(near, words):
    assert reply(words).problem == ""
    assert reply(words, cosines=near).problem == ASSISTANT
    spoken = reply(f"*nods* Aye, I am Mira. {words}", cosines=near)
    assert spoken == PlainReply("Aye, I am Mira.", ("nods",))
    assert reply(f"*nods* {words}", cosines=near) == PlainReply("", ("nods",))


def test_beside_an_assistant_s_sentence_only_a_character_s_is_said(near):
    advice = "It's important to consider your priorities and what issues you care about."
    text = f"{advice} I'm sorry, but I can't assist with that. Mind your tongue."
    assert reply(text, cosines=near).words == "Mind your tongue."


def test_what_characters_say_is_hardly_ever_taken_for_an_assistant_s(near):
    english = [line for line in LEGITIMATE if is_english(line)]
    wrong = [line for line in english if reply(line, cosines=near).problem == ASSISTANT]
    assert len(wrong) <= 3, wrong
    assert (
        reply("Where is the mill?", last=["Where is the mill?"], cosines=near).problem == REPEATED
    )
    german = "Ich kann dir dabei nicht helfen, mein Freund."
    assert reply(german, cosines=near).words == german
