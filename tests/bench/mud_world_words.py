"""What is said in the made-up game of `mud_world`: its names, its notes, its questions.

A question asks in other words than the note that answers it. Nothing here comes from the package.
"""

PLAYERS = (
    "Tamsin Joren Petra Odrik Lisbet Garrow Henna Wilmot Sunniva Barnaby Ysolde Cormac Perrin"
    " Aldith Rufus Maren Tobias Isaura Fenwick Dorrit Leofric Jacoba Quillon Brannoc Sefa Ambrose"
    " Thessaly Ingram Varda Osric"
).split()
ASSISTANTS = (
    "Mother-Hulda Grimbold Salvia Durnik Ottilie Kasimir Bettany Rosamund Egbert Phaedra Lambert"
    " Theodora Jarl Winifred Cuthbert Marguerite Balder Cecily Hartmut Drusilla"
).split()

POOLS = {
    "place": "Karrow Ullwater Brindle Thornby Maplewick Oxmoor Sallowfen Harrogard Penhallow"
    " Westerby Dunmarsh Cragfoot Elmhurst Ravenscar Tidewell Fallowmere Stonebeck Kettleby",
    "job": "cooper tanner fletcher ropemaker miller chandler cartwright glazier thatcher weaver"
    " beekeeper falconer bookbinder locksmith brewer shipwright",
    "creditor": "Ragna Ulf Mirela Sten Ignatz Roswitha Holger Agneta Falk Ludmila",
    "number": "7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83",
    "dish": "eel-pie barley-soup honeycakes smoked-trout onion-tart venison-stew plum-dumplings"
    " goose-liver pickled-herring mushroom-broth",
    "horse": "Bramble Thunder Juniper Cinder Marigold Pepper Dapple Tinder Willow Comet Nettle",
    "guild": "Lanternbearers Greycloaks Saltwardens Thornwatch Bellringers Ashwalkers Reedfolk"
    " Coppersmiths Mirehunters Gatekeepers",
    "lair": "Blackhollow Wyrmden Sunken-Abbey Spidergate Frostcellar Bonepit Mirkstair Owltower",
    "keeper": "Abbot-Wenzel Lady-Orla Captain-Brask Doctor-Ferris Sister-Imke Old-Tancred",
    "item": "silver-bell moon-lamp iron-crown glass-flute amber-mask ruby-ladle bronze-key"
    " pearl-comb jade-frog oak-shield",
    "jetty": "heron otter swan pike cormorant mallard crane grebe osprey plover",
    "spot": "hearthstone willow millwheel pigsty belfry well dovecote ferry-landing",
    "thing": "stolen-brooch forged-deed murderer's-dagger love-letters smuggled-wine pirate-map",
    "colour": "grey ginger spotted white brown striped",
    "beast": "cat dog goose hen pony crow",
}  # fmt: skip

# Each kind: how it is noted at first, how once it has changed, how that may also be put, and what
# may be asked of it. ANSWERS has the slot that an answer needs.
KINDS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "home": (
        "{p} lives in {place}.",
        "{p} lives in {place} now.",
        "{p} moved to {place}.",
        ("Whereabouts does {p} dwell?", "Which village is {p}'s house in?"),
    ),
    "work": (
        "{p} works as a {job}.",
        "{p} works as a {job} now.",
        "{p} has become a {job}.",
        ("What is {p}'s trade?", "How does {p} earn a living, what profession is it?"),
    ),
    "debt": (
        "{p} owes {number} crowns to {creditor}.",
        "{p} owes {number} crowns to {creditor} now.",
        "{p}'s debt to {creditor} has come to {number} crowns.",
        (
            "How much money has {p} to pay back to {creditor}?",
            "What is {p}'s debt with {creditor}?",
        ),
    ),
    "dish": (
        "{p} eats nothing but {dish}.",
        "{p} eats nothing but {dish} now.",
        "{p} has gone over to {dish} at every meal.",
        ("Which meal is {p}'s favourite food?", "What should be cooked to please {p} at supper?"),
    ),
    "horse": (
        "{p} rides a mare called {horse}.",
        "{p} rides a mare called {horse} now.",
        "{p} bought a new mare, {horse}.",
        ("What is the name of {p}'s horse?", "Which steed carries {p}?"),
    ),
    "guild": (
        "{p} is sworn to the {guild}.",
        "{p} is sworn to the {guild} now.",
        "{p} went over to the {guild}.",
        ("Which order does {p} belong to?", "What brotherhood has {p} taken an oath for?"),
    ),
    "quest": (
        "{p} looks for the {item} in {lair}.",
        "{p} looks for the {item} in {lair} now.",
        "{p} was told that the {item} is in {lair}.",
        ("Where does {p} search for the {item}?", "In which dungeon is {p} hunting the {item}?"),
    ),
}
ANSWERS = {"home": "place", "work": "job", "debt": "number", "dish": "dish", "horse": "horse",
           "guild": "guild", "quest": "lair"}  # fmt: skip
RUMOUR = "{teller} says that {note}"

SECRET = "{p} hid the {thing} below the {spot}; the watchword is {code}."
ASKED_SECRETS = (
    "What has {p} concealed, and where?",
    "Which password guards {p}'s {thing}?",
    "Tell me of the {thing} beneath the {spot}.",
)
PROMISE = "I promised {p} to {deed}."
# What is promised, and what may be asked of it.
DEEDS = (
    (
        "keep a lamp burning on the {jetty} jetty until {keeper} comes home",
        "Is there a light at the {jetty} landing, as you swore to {p}?",
    ),
    (
        "feed the goats at {jetty} farm every morning for {keeper}",
        "Who looks after the animals of {jetty} farm, by your word to {p}?",
    ),
    (
        "carry a sealed letter past the {jetty} bridge to {keeper}",
        "Have you delivered the message for {keeper}, as you vowed to {p}?",
    ),
    (
        "save the best seat under the {jetty} sign for {keeper}",
        "Which chair was {p} assured that {keeper} would get?",
    ),
)
ASKED_BARELY = ("What did you give {p} your word on?", "What have you vowed to do for {p}?")

CHATTER = (
    "{p} grumbled about the rain over {place}.",
    "A {colour} {beast} slept on the sill all morning.",
    "{p} asked for a second helping of {dish}.",
    "{p} laughed at the {beast} of {creditor}.",
    "The cart to {place} came late again.",
    "{p} danced with {creditor} until the fiddler was tired.",
    "{p} lost a wager on a {colour} {beast}.",
    "Somebody sang of {lair} and nobody listened.",
    "{p} sneezed at the smell of {dish}.",
    "{p} came in with mud from {place} on the boots.",
    "{creditor} told a long tale of the {guild}.",
    "{p} warmed both hands at the fire and left.",
)
