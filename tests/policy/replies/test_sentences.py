"""Sentences come out as soon as they are finished, wherever the text was cut."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evennia_ai.policy.replies.speech import FIRST_CHARS, SentenceSplitter

PIECES = st.sampled_from(
    [
        "Aye", "no", "Dr.", "z.B.", "3.5", "12.", "…", "...", ".", "?!", "。", "！」", '"', "“",
        "”", "«", "»", " »", " ", "\n", " ", "(", ")", "Über", "你好", "I.", "end.", "’s",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=40).map("".join)


def split(pieces):
    splitter = SentenceSplitter()
    found = [sentence for piece in pieces for sentence in splitter.feed(piece)]
    return found, splitter.rest()


@given(TEXTS, st.lists(st.integers(0, 120), max_size=10))
@example('AyeAyeAyeAyeAyeAyeAyeDr."…Aye', [])
def test_the_split_does_not_depend_on_how_the_text_arrives(text, cuts):
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    assert split(pieces) == split([text]) == split(list(text))


@given(TEXTS)
@example(" »Sit down, sit down, sit down?!Aye")
def test_nothing_is_lost_but_white_space(text):
    sentences, rest = split([text])
    assert "".join("".join([*sentences, rest]).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)
    assert not sentences or len(sentences[0]) >= FIRST_CHARS


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "The gate is only half done. Hand me that.",
            ["The gate is only half done.", "Hand me that."],
        ),
        (
            "Aye. The gate is only half done. Now go.",
            ["Aye. The gate is only half done.", "Now go."],
        ),
        ("Old Dr. Pell and Mrs. Oda know it. Ask.", ["Old Dr. Pell and Mrs. Oda know it.", "Ask."]),
        ("It weighs 3.5 stone, I should say. No more.", None),
        ("Wir haben z.B. Fisch und z. B. Brot. Willst du?", None),
        ("Am 3. Mai kommt das Schiff zurück. Dann sehen wir.", None),
        ("I never sold him that blade, and you know it... or do you? Speak.", None),
        ("Well… I never thought of that before. Go on.", None),
        ('"Never go out on a Friday!" he told me. I went.', None),
        ('He said "I am done with the sea." Then he left.', None),
        ("(Nobody has seen it since the storm.) Ask Oda.", None),
        ("« Je ne sais pas où il est ! » dit-il. Va-t'en.", None),
        ("Er sagte: »Das weiß ich wirklich nicht.« Dann ging er.", None),
        ("Das habe ich ihm lange gesagt. »Komm!« rief er.", None),
        ("That would be you, and I. Then we go.", None),
        ("我不知道这件事情是谁做的，也不想知道，因为这与我无关。你去问别人吧！", None),
        ("「今日は魚のシチューしかありませんよ、お客さん。」そうですか。", None),
    ],
)
def test_sentences_of_many_kinds(text, sentences):
    found, rest = split([text])
    if sentences is None:
        assert len(found) == 1, found
    else:
        assert [*found, rest] == sentences


@pytest.mark.parametrize("space", ["  ", " \n", "\n\n"])
def test_more_white_space_does_not_show_the_next_letter(space):
    first, then = "The mill stands by the river.", "said the miller."
    whole, cut = SentenceSplitter(), SentenceSplitter()
    assert whole.feed(first + space + then) == cut.feed(first + space) + cut.feed(then) == []


def test_a_finished_sentence_does_not_wait_for_the_next_one():
    splitter = SentenceSplitter()
    assert splitter.feed("The gate is only half done.") == []  # it may be "done.)" or "done..."
    assert splitter.feed(" ") == []
    assert splitter.feed("H") == ["The gate is only half done."]
    assert splitter.feed("urry.") == []
    assert splitter.rest() == "Hurry."
    assert splitter.rest() == ""
