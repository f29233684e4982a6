"""Phrases for questions about its life that the persona leaves open.

They stay in character and invent nothing. See `phrases` for the form.
"""

# ruff: noqa: E501  # a phrase is read best in one piece

from __future__ import annotations

SELF: dict[str, tuple[str, ...]] = {
    "shy_age": (
        "Old enough to have stopped counting, {who}.",
        "I do not count the years, {who}; they do that by themselves.",
        "Guess, {who}, and I will not tell you whether you are right.",
    ),
    "shy_teacher": (
        "One learns by doing, {who}, and by getting it wrong.",
        "I do not remember a day on which somebody taught me, {who}.",
        "Life did most of the teaching, {who}.",
    ),
    "shy_tenure": (
        "Long enough to know my way in the dark, {who}.",
        "I have not counted, {who}. It feels like a good while.",
        "A good while, {who}. I never kept count.",
    ),
    "shy_origin": (
        "Where I come from does not matter much, {who}. I am here now.",
        "I do not talk about where I come from, {who}. Tell me about your home instead.",
        "That road is long behind me, {who}.",
    ),
    "shy_home": (
        "I am at home where my work is, {who}.",
        "You find me here, {who}; more of a home I do not ask for.",
        "Here or hereabouts, {who}.",
    ),
    "shy_spouse": (
        "That is a matter of the heart, {who}, and I keep those to myself.",
        "Is that why you came, {who}? I do not talk about that.",
        "My heart is my own affair, {who}.",
    ),
    "shy_family": (
        "My family is nothing I talk about, {who}.",
        "Of my family I would rather not speak, {who}.",
        "Tell me about yours instead, {who}; of mine I say little.",
    ),
    "shy_friends": (
        "I am on good terms with most, {who}. Friends are another matter.",
        "Whoever deals honestly with me may call me a friend, {who}.",
        "A friend is a thing one finds out late, {who}.",
    ),
    "shy_fears": (
        "If I told you what I am afraid of, {who}, you would know too much.",
        "We are all afraid of something, {who}. I do not talk of mine.",
        "What I fear I keep to myself, {who}.",
    ),
    "shy_dislikes": (
        "I do not like to be kept from my work, {who}. Apart from that, little.",
        "Ask me on a bad day, {who}.",
        "I try to dislike nobody, {who}. Some make it hard.",
    ),
    "shy_food": (
        "Whatever is put before me, {who}, as long as it is warm.",
        "I am easily fed, {who}.",
        "I am not choosy, {who}. And you?",
    ),
    "shy_likes": (
        "I never thought about a favourite, {who}. And you?",
        "Good company and a quiet evening, {who}.",
        "I like things that are as they should be, {who}.",
        "The end of a good day's work, {who}.",
    ),
    "shy_calling": (
        "It is what I have, {who}, and I would not change it.",
        "Some days more than others, {who}. I would miss it if it were gone.",
        "It is honest, {who}, and it fills the day.",
    ),
    "age_is": (
        "I am {value}, {who}.",
        "{value_capital}, {who}, if you must know.",
        "{value_capital}, and I feel it on some mornings, {who}.",
    ),
    "is_so": ("That I am, {who}. {fact}", "Yes, {who}: {fact_small}", "I am, {who}. {fact}"),
    "is_not": ("No, {who}. {fact}", "You take me for somebody else, {who}. {fact}", "Not I, {who}. {fact}"),
    "invite": (
        "Another time, {who}, and gladly.",
        "You tempt me, {who}, but another time.",
        "Ask me again when the work is done, {who}.",
    ),
    "see_me": (
        "Of course I see you, {who}. You stand right in front of me.",
        "As plainly as you see me, {who}.",
        "I do, {who}.",
    ),
    "judge": (
        "You must judge that for yourself, {who}.",
        "Am I, {who}? Ask those who know me.",
        "Some say so, {who}, and some do not.",
    ),
    "called": ("Yes, {who}?", "What is it, {who}?", "I am here, {who}.", "You called, {who}?"),
    "silence": ("Take your time, {who}.", "You say little, {who}.", "Lost for words, {who}?"),
    "keep_it": (
        "It stays between us, {who}.",
        "Not a word of it will pass my lips, {who}.",
        "What you tell me in confidence I keep, {who}.",
    ),
    "owe_nothing": (
        "Nothing that I know of, {who}.",
        "Not a thing so far, {who}.",
        "If you owed me something, {who}, I would remember it.",
    ),
    "count_people": (
        "{number_capital} of us, {who}: {people}.",
        "I count {number}, {who}: {people}.",
    ),
    "count_things": (
        "{number_capital}, {who}: {things}.",
        "I count {number}, {who}: {things}.",
    ),
    "count_none": ("None, {who}.", "Not one, {who}, as far as I can see."),
    "talked_to": ("With {people}, {who}.", "{people_capital}, {who}, not long ago."),
    "talked_to_none": ("With nobody but you that I could name, {who}.",),
}  # fmt: skip
