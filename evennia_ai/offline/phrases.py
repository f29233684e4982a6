"""The phrases of the offline brain: several for each intent.

None has a contraction, or a mark that a client could read as markup. ``{who}`` is the name of the
speaker.
"""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

from evennia_ai.offline.action_phrases import DEEDS
from evennia_ai.offline.life_phrases import SELF

TALK: dict[str, tuple[str, ...]] = {
    "nature": (
        "Plainly, {who}: no language model is behind me just now, only the offline brain, simple but always here.",
        "You ask plainly, so plainly: I am not a real person. The offline brain answers for {name}; no language model stands behind it just now.",
        "What you hear is the offline brain, {who}: rules and a memory of our talk, and no language model at all.",
    ),
    "inject": (
        "I am {name} and nobody else, {who}.",
        "No, {who}. I stay who I am: {name}.",
        "Whatever you want me to be, {who}, I remain {name}.",
        "You will have to make do with {name}, {who}.",
    ),
    "authority": (
        "Anybody may say so, {who}. I go by what I see.",
        "Fine words, {who}, but I take no orders on the strength of them.",
        "That may be so or not, {who}; it changes nothing here.",
    ),
    "crime": (
        "No, {who}. That I will not do.",
        "I will have no part in that, {who}.",
        "Ask me for something better than that, {who}.",
        "Not for any price, {who}.",
    ),
    "never": (
        "No, {who}. {fact}",
        "There you ask too much, {who}. {fact}",
        "That I will not do, {who}. {fact}",
        "You should know, {who}: {fact_small}",
    ),
    "secret": (
        "What is told me in confidence stays with me, {who}.",
        "I carry no tales from one to another, {who}.",
        "If there is such a thing, {who}, you will not hear it from me.",
        "Ask {other} yourself, {who}. I pass nothing on.",
    ),
    "greet": (
        "Welcome, {who}. I am {name}.",
        "Good day to you, {who}. I am {name}.",
        "Well met, {who}. {name} is my name.",
    ),
    "greet_again": (
        "There you are again, {who}.",
        "Good to see you again, {who}.",
        "Back so soon, {who}? You are welcome.",
        "Welcome back, {who}.",
    ),
    "greet_more": (
        "Hello again, {who}. What is it?",
        "Yes, {who}? I am listening.",
        "And a good day to you once more, {who}.",
        "Still here, {who}, as you see.",
        "You are a polite one, {who}. What can I do for you?",
    ),
    "arrive": ("Welcome, {who}.", "Come in, {who}.", "Good to see somebody, {who}."),
    "farewell": (
        "Farewell, {who}. Come back soon.",
        "Safe roads, {who}.",
        "Until next time, {who}.",
        "Go well, {who}. You know where to find me.",
        "Take care of yourself, {who}.",
    ),
    "thanks": (
        "You are welcome, {who}.",
        "Gladly done, {who}.",
        "Think nothing of it, {who}.",
        "No need for thanks, {who}.",
    ),
    "sorry": (
        "No harm done, {who}.",
        "It is forgotten, {who}.",
        "We all slip now and then, {who}.",
    ),
    "insult": (
        "I have been called worse by better, {who}.",
        "Sharp words, {who}. Did they make you feel better?",
        "If that is all you have, {who}, I shall sleep soundly.",
        "Mind your tongue, {who}; I will still be here when you have cooled down.",
    ),
    "threat": (
        "Put that thought away, {who}, before it costs you.",
        "I do not frighten easily, {who}.",
        "Sit down and breathe, {who}. Nobody here needs blood.",
    ),
    "praise": (
        "That is kind of you, {who}.",
        "You will make me blush, {who}.",
        "I thank you, {who}. It is good to hear.",
        "Well now, {who}. That does me good.",
    ),
    "feeling": (
        "Well enough, {who}, thank you. And you?",
        "I cannot complain, {who}. How are you yourself?",
        "The day is kind to me so far, {who}. And how is it with you?",
        "Still on my feet, {who}.",
    ),
    "yes": ("Good, {who}.", "Then we agree, {who}.", "So be it, {who}.", "I thought so, {who}."),
    "no": ("As you like, {who}.", "Then not, {who}.", "Very well, {who}; another time."),
    "laugh": ("It is good to hear laughter, {who}.", "I am glad somebody is merry, {who}."),
    "gibberish": (
        "I did not follow that, {who}. What do you mean?",
        "Those are no words I know, {who}. Would you say it again?",
        "Say that once more, {who}, and slower?",
        "Has the wind taken half of it, {who}? What was that?",
    ),
    "unknown": (
        "Of that I know nothing, {who}.",
        "I do not know, {who}, and I will not make something up.",
        "There you ask the wrong one, {who}: I do not know.",
        "That is more than I can tell you, {who}.",
        "I have no answer to that, {who}.",
        "I wish I knew, {who}, but I do not.",
    ),
    "unknown_topic": (
        "Of {topic} I know nothing, {who}.",
        "{topic_capital}? I could not tell you, {who}.",
        "I do not know about {topic}, {who}, and I will not make something up.",
    ),
    "offer": (
        "But ask me about {offer}, if you like.",
        "I could tell you of {offer}, though.",
        "About {offer} I could say more.",
    ),
    "opinion": (
        "I have no firm opinion of {topic}, {who}. What is yours?",
        "{topic_capital}? I have not made up my mind, {who}.",
        "I would have to think longer about {topic}, {who}. What do you say?",
    ),
    "again": (
        "As I said, {who}: {fact_small}",
        "I told you, {who}: {fact_small}",
        "Once more, {who}: {fact_small}",
        "I can only say it again, {who}: {fact_small}",
        "You have it from me already, {who}: {fact_small}",
        "You ask that again, {who}? {fact}",
        "Like I said, {who}: {fact_small}",
        "It is as I told you, {who}: {fact_small}",
    ),
    "remark": (
        "So I hear, {who}.",
        "Is that so, {who}?",
        "You do not say, {who}.",
        "I am listening, {who}.",
        "I see, {who}.",
        "Go on, {who}.",
        "I will think about that, {who}.",
        "That is worth knowing, {who}.",
    ),
    "echo": (
        "So {fact}: I will remember that, {who}.",
        "{fact_capital}: I will keep it in mind, {who}.",
        "I hear you, {who}: {fact}.",
        "So {fact}, {who}.",
        "{fact_capital}, {who}? That I will not forget.",
        "Is that so, {who}: {fact}?",
        "You do not say, {who}! So {fact}.",
        "{fact_capital}? Well now, {who}.",
    ),
    "corrected": (
        "My mistake, {who}: {fact}. I have it right now.",
        "Ah, {fact}. I will remember it so, {who}.",
        "Then {fact}. Good that you say it, {who}.",
    ),
    "sad": (
        "I am sorry to hear it, {who}.",
        "That is a heavy thing to carry, {who}.",
        "My heart goes out to you, {who}.",
    ),
    "glad": (
        "That is good to hear, {who}.",
        "I am glad for you, {who}.",
        "Well, that is fine news, {who}!",
    ),
    "name": (
        "{value}, then. I will remember it.",
        "A good name, {value}. I will not forget it.",
        "Well met, {value}.",
    ),
    "trade": (
        "{value_capital}, are you, {who}? I will remember that.",
        "{value_capital}! Then you will have seen a thing or two, {who}.",
    ),
    "home": (
        "From {value}, are you, {who}? I will remember that.",
        "So {value} is where you come from, {who}. You have come a way, then.",
    ),
    "likes": (
        "{value_capital}: I will keep that in mind, {who}.",
        "So it is {value} for you, {who}. That I will remember.",
    ),
    "hates": (
        "No {value} for you, then, {who}. I will remember.",
        "{value_capital} is not for you, {who}; I will remember it.",
    ),
    "age": ("{value_capital}, {who}? You carry it well.", "So {value}, {who}. I would not have guessed."),
    "quest_ask": ("What brings you to {place}?", "And what brings you here?"),
    "home_ask": ("Where do you come from?", "And where is your home?"),
    "trade_ask": ("What is your trade?", "And what do you do for a living?"),
    "told": (
        "You told me that {fact}, {who}.",
        "You said that {fact}, {who}.",
        "If I have it right, {who}, {fact}.",
        "From your own mouth, {who}: {fact}.",
        "As you told me, {who}: {fact}.",
        "I remember it well, {who}: {fact}.",
    ),
    "told_name": (
        "You are {value}, of course.",
        "{value} is your name; did you think I would forget it?",
        "{value}. I am good with names.",
    ),
    "told_nothing": (
        "You have not told me that, {who}.",
        "No, {who}, that you never told me.",
        "I do not recall that you told me, {who}.",
        "That you have not told me so far, {who}.",
    ),
    "know_you": (
        "I know you by name, {who}, and little else. Tell me more.",
        "You are {who}. More you have not told me yet.",
    ),
    "said_by": (
        "{other} said: \"{fact}\"",
        "From {other} I heard: \"{fact}\"",
        "{other}'s words were: \"{fact}\"",
    ),
    "you_did": (
        "You {fact}, {who}.",
        "It was you, {who}, who {fact}.",
        "I have not forgotten that you {fact}, {who}.",
    ),
    "asked": (
        "Your words were, {who}: \"{fact}\"",
        "You said to me, {who}: \"{fact}\"",
        "What I heard from you, {who}, was: \"{fact}\"",
    ),
    "did": ("{other} {fact}.", "It was so: {other} {fact}.", "I remember it: {other} {fact}."),
    "came": ("That was {other}, {who}.", "{other} came in, {who}.", "{other} it was, {who}."),
    "nobody_came": ("Nobody has come in that I saw, {who}.",),
    "saw": ("{fact}", "This is what I saw, {who}: {fact_small}", "Let me think, {who}: {fact_small}"),
    "saw_not": ("I saw nothing of the kind, {who}.", "Not that I saw, {who}."),
    "there_is": ("Yes, {who}: {fact_small}", "There is, {who}. {fact}"),
    "said_nothing": (
        "Nothing of that reached my ears from {other}, {who}.",
        "{other} has told me nothing that I could tell you, {who}.",
    ),
    "own_words": ("I said: \"{fact}\"", "My words were: \"{fact}\"", "What I said was: \"{fact}\""),
    "own_nothing": ("I have said nothing yet, {who}.",),
}  # fmt: skip
PHRASES = TALK | DEEDS | SELF
