"""How many of the facts planted in a talk are found. The talk is made of word lists of its own.

Measured (seed 1 to 5): all planted sentences are facts, and
all facts that are no questions were planted.
"""

import random

import pytest

from evennia_ai.messages import make_message
from evennia_ai.policy.facts.check import extract_facts, facts_in
from tests.growth import grows_like_a_square


def heard(speaker, text, seq):
    return make_message("user", f"{speaker} says: {text}", seq=seq, speaker_name=speaker)


# The planted corpus: people, places and things that stand nowhere in the extractor.
PEOPLE = """Ysmay|Corwin|Dalla|Petrok|Lady Ombrine|Captain Rusk|Old Fennic|Tavish|Inga|Bexley|
Sorrel Quist|Hamo|Wystan|Perpetua|Jory|Ketil|Nessa Drum|Orla|Zebedee|Brother Clovis""".replace(
    "\n", ""
).split("|")
PLACES = """Saltmere|Thornwick|the Broken Oar|the Vale of Ashes|Cinder Bay|Harrowgate|Low Pell|
the Gilded Heron|Mistral Point|Brackwater""".replace("\n", "").split("|")
SPOTS = """the third bridge|the weeping oak|the tannery|the north cistern|the bell loft|
the smugglers' cave|the dry fountain|the goat market""".replace("\n", "").split("|")
GOODS = """copper compass|bone flute|amber brooch|goatskin map|cracked lantern|velvet mask|
iron strongbox|heron feather|jar of leeches|violin|wax tablet|scarlet cloak""".replace(
    "\n", ""
).split("|")
UNITS = """crowns|silver pennies|sacks of barley|arrows|barrels of pitch|gold florins|horses|
casks of ale""".replace("\n", "").split("|")
WHENS = """dawn|midnight|the next full moon|Friday|market day|the 9th of Frostfall|noon|sundown|
the harvest feast""".replace("\n", "").split("|")
DISHES = "turnips|smoked eel|thunder|loud drums|spiders|plum wine|the sea|cats".split("|")
KIN = "sister brother cousin aunt father wife nephew".split()
TRADES = "cooper|glassblower|ratcatcher|locksmith|ferryman|midwife|sailmaker".split("|")
SECRETS = "marigold|quicksand|seven herons|limestone|jackdaw".split("|")
COUNTS = "3|12|42|117|1,250|nine|forty|twenty-five|two hundred".split("|")

PLANTS = (
    "I promise to bring {person} the {good} before {when}.",
    "i swear ill give the {good} back to {person}",
    "You have my word, {count} {unit} by {when}.",
    "{person} owes me {count} {unit}.",
    "I still owe {person} {count} {unit}, don't remind me",
    "You owe {count} {unit} to {person}, and he wants it by {when}!",
    "Bring me the {good} from {spot} by {when}.",
    "Meet me at {spot} at {when}, and come alone.",
    "if you find the {good}, take it to {person} in {place}",
    "My {kin} {person} lives in {place}.",
    "{person} is my {kin}, you know.",
    "Did I tell you? My {kin} is a {trade} in {place}.",
    "I hate {dish}, always have.",
    "well, {person} loves {dish} more than anything",
    "I can't stand {dish}.",
    "The password for {spot} is {secret}.",
    "Don't tell anyone: {person} hid the {good} under {spot}.",
    "Between us, {person} is a {trade} from {place}",
    "I have {count} {unit} left.",
    "The toll at {place} is {count} {unit} now.",
    "{person} gave me a {good}.",
    "{person} stole my {good} and sold it in {place}!",
    "somebody left a {good} near {spot} yesterday",
    "There are {count} {unit} in the cellar of {spot}.",
    "We sail for {place} at {when}.",
    "The {good} belongs to {person}.",
    "I'm {person}, a {trade} from {place}.",
    "they call her {person}, she is the {trade} here",
    "I was robbed at {spot} by {count} men and {person}",
    "{person} will marry {other} on {when}.",
    "It was {person} who told {other} about the {good}.",
    "{person} died in {place} {count} years ago.",
    "Listen... {person} wants the {good}. Be careful!",
    "Nobody but {person} knows the way to {place}.",
    "So we agreed: {count} {unit} for the {good}.",
)
SMALL_TALK = """hello there|how are you?|what a night|hm, maybe|thanks, that's kind of you|yes|no|
I don't know.|Good evening!|well well|and then?|really?|I see.|ha ha ha|that sounds about right|
what do you mean?|tell me more|please go on|oh dear|it is what it is|who knows|good night then|
are you sure?|I think so too.|never mind|that's what I thought|what are you doing here?|sorry!|
you look tired|I'm so hungry|nice weather, isn't it?|can you help me?|smiles|let me think|fine.|
I was only joking.|as you wish|not today|welcome back|take a seat|it's getting late|mind the step
""".replace("\n", "").split("|")
LISTS = {
    "person": PEOPLE, "place": PLACES, "spot": SPOTS, "good": GOODS, "unit": UNITS, "when": WHENS,
    "dish": DISHES, "kin": KIN, "trade": TRADES, "secret": SECRETS, "count": COUNTS,
}  # fmt: skip
SPEAKERS = ("Ann", "Bob", "Mila")


def planted_talk(seed, planted=150, small=450):
    """Messages, and the key terms by the seq of the message they were planted in."""
    dice = random.Random(seed)
    lines = [None] * planted + dice.choices(SMALL_TALK, k=small)
    dice.shuffle(lines)
    messages, keys = [], {}
    for seq, small_talk in enumerate(lines, 1):
        line = small_talk
        if line is None:
            template = dice.choice(PLANTS)
            chosen = {name: dice.choice(words) for name, words in LISTS.items()}
            chosen["other"] = dice.choice([each for each in PEOPLE if each != chosen["person"]])
            used = {name: word for name, word in chosen.items() if f"{{{name}}}" in template}
            line = template.format(**used)
            if "count" in used and "unit" in used:
                used["count"] = f"{used['count']} {used.pop('unit')}"
            keys[seq] = [word.removeprefix("the ") for word in used.values()]
        messages.append(heard(dice.choice(SPEAKERS), line, seq))
    return messages, keys


@pytest.mark.parametrize("seed", range(1, 6))
def test_nearly_all_planted_sentences_are_facts_and_little_else(seed):
    messages, keys = planted_talk(seed)
    found = {m["metadata"]["seq"]: facts_in(m) for m in messages}
    missed = [messages[seq - 1]["content"] for seq in keys if not found[seq]]
    told = [fact.seq for facts in found.values() for fact in facts if not fact.asked]
    precision = sum(seq in keys for seq in told) / len(told)
    print(f"seed {seed}: missed {len(missed)} of {len(keys)}, precision {precision:.3f}")
    assert len(missed) <= 0.05 * len(keys), missed
    assert precision >= 0.9


def test_the_time_for_lines_of_play_grows_with_their_number_not_its_square():
    messages, _keys = planted_talk(7, planted=300, small=1700)
    assert not grows_like_a_square(extract_facts, messages[:200], messages)
