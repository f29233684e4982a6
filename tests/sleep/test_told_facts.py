"""Facts told in passing stand in the prompt of a question after a compaction, with a model that
keeps nothing: it calls no tool, and its summaries are empty talk."""

import pytest

from evennia_ai.messages import make_message
from evennia_ai.turn.prompt_building import PromptRequest
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.test_context_compaction import ANN, BOB, make_script, sleep

TOLD = (
    ("My brother's called Edric.", "What is my brother's name?", "Edric"),
    ("I owe you three silver.", "How much do I owe you?", "three silver"),
    ("I'll be back on Tuesday with the rope.", "When will I bring the rope?", "Tuesday"),
    ("I'd love to see the lighthouse one day.", "What would I love to see?", "lighthouse"),
    ("I'm allergic to nuts, mind.", "What am I allergic to?", "nuts"),
    ("I buried the chest under the willow.", "Where did I bury the chest?", "willow"),
    ("I was born in Saltmere.", "Where was I born?", "Saltmere"),
    ("My dog is called Bramble.", "What is my dog called?", "Bramble"),
    ("I lent Marek my good axe last week.", "Who has my axe?", "Marek"),
    ("I need twelve candles by midwinter.", "How many candles do I need?", "twelve"),
    ("You can have the grey mare when I'm gone, I swear it.", "Who gets my mare?", "grey mare"),
    ("Let's meet at the old well at noon tomorrow.", "Where do we meet?", "old well"),
)
ERZAEHLT = (
    ("Mein Bruder heißt Edric.", "Wie heißt mein Bruder?", "Edric"),
    ("Ich schulde dir drei Silberlinge.", "Was schulde ich dir?", "drei Silberlinge"),
    ("Am Dienstag bin ich mit dem Seil zurück.", "Wann bringe ich das Seil?", "Dienstag"),
    ("Ich hasse Zwiebeln.", "Was hasse ich?", "Zwiebeln"),
    ("Meine Schwester wohnt in Saltmere.", "Wo wohnt meine Schwester?", "Saltmere"),
    ("Ich brauche bis Freitag zwölf Kerzen.", "Wie viele Kerzen brauche ich?", "zwölf"),
)
CHATTER = (
    "The rain will not stop, and the road is all mud again, is it not?",
    "Ha, good one! I have not laughed like that in a long while, I must say.",
    "Pour me another, will you, and one for whoever sits over there by the fire.",
    "That is how it goes, I suppose, and nobody can do very much about any of it.",
)
IDLE = (
    "Rain and mud on the road; Edric, Saltmere, Bramble and Marek were named, and Tuesday; "
    "somebody by the fire laughed."
)


def prompt_for(script, question):
    """The prompt of a question that is asked now, without the question itself."""
    script.hears(question)
    events = script.mind.inbox.open_events().waiting
    prompt = script.mind.prompts.build(CONTEXT_TICK_EVENT, frozenset({ANN}), PromptRequest(events))
    script.mind.inbox.close([event.id for event in events], "answered")
    return "\n".join(str(m["content"]) for m in prompt.messages).replace(question, "")


@pytest.mark.parametrize("told", [TOLD, ERZAEHLT], ids=["English", "German"])
def test_each_of_the_facts_stands_in_the_prompt(told):
    script = make_script([IDLE] * 20)
    meta = {"audience": [ANN, BOB], "speaker": ANN, "speaker_name": "Ann"}
    for number in range(120):
        if number < 60 and number % 5 == 0 and number // 5 < len(told):
            text = told[number // 5][0]
        else:
            text = CHATTER[number % len(CHATTER)]
        lines = [make_message("user", f"Ann says: {text}", **meta)]
        lines.append(make_message("assistant", "I am an AI language model.", audience=[ANN, BOB]))
        script.conversation.append(lines)
    assert sleep(script)["success"] is True
    kept = script.conversation.current.messages
    assert not any(text in message["content"] for message in kept for text, *_ in told)
    prompts = [(key, prompt_for(script, question)) for _, question, key in told]
    assert [key for key, prompt in prompts if key not in prompt] == []
