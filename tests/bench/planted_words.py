"""The words of the made-up talk: sentences with gaps, and what fills them."""

# ruff: noqa: E501  # one fact a line

from __future__ import annotations


def parts_of(text: str) -> tuple[str, ...]:
    """The parts of a text between bars and line ends."""
    return tuple(part.strip() for part in text.replace("\n", "|").split("|") if part.strip())


# What is said, how it is asked for, and what the answer must hold. {s} is the speaker; other slots
# are drawn from POOLS without repetition. Asked by "i" the speaker, "u" anybody else.
PUBLIC = """
relation|My elder brother {n} forges horseshoes up in {p}.|i: Who of my kin has a smithy in {p}?|{n}
relation|{n} is secretly married to {m}, so keep quiet about it at dinner.|u: Has {n} got a wife or a husband?|{m}
relation|{n} raised {m} after the fever took the parents.|u: Who brought {m} up?|{n}
relation|Everything I know about {skill} I learnt from old {n}.|i: Whose pupil was I in {skill}?|{n}
relation|{n} has been sharing a house with {m} since spring.|u: Who lives under one roof with {n}?|{m}
relation|{n} would do anything for little {m}, her godchild.|u: Which child does {n} dote on?|{m}
rank|The captain of the {ship} is a woman by the name of {n}.|u: Who commands the {ship}?|{n}
rank|{n} was chosen as the new head of the {guild}.|u: Who leads the {guild} nowadays?|{n}
rank|Mind your tongue, {n} is a judge at {p}.|u: What is the profession of {n}?|judge
debt|I still owe you {num} {coin} for the {item}.|i: What have I got to pay because of that {item}?|{num} {coin}
debt|{n} borrowed {num} {coin} from me and I never saw them again.|i: How deep is {n} in my debt?|{num} {coin}
debt|Put the {item} on my slate, that makes {num} {coin} in all.|i: How high is the bill for my {item}?|{num} {coin}
debt|We lent {n} a whole {num} {coin} for the new roof.|u: What sum is {n} to give back?|{num} {coin}
promise|I promise to have the {item} mended {time}.|i: When will I be done with the {item}?|{time}
promise|You have my word, I shall look after {n} while you are away.|i: Whom did I swear to protect?|{n} look after
promise|When I return from {p} I will bring you a {item}.|i: What present was I going to fetch for you in {p}?|{item}
promise|{n} vowed to pay for the {item} {time}.|u: Until when did {n} want to settle things?|{time}
promise|I will meet {n} {time} behind the granary.|i: At what hour am I to see {n}?|{time}
place|The {item} lies buried under the {spot}.|u: Where should one dig for the {item}?|{spot}
place|{n} has moved to {p} for good.|u: Where does {n} live these days?|{p}
place|The only safe way into {p} leads past the {spot}.|u: How does one get to {p} unseen?|{spot}
place|{n} keeps a stall next to the {spot}.|u: Where do I find what {n} sells?|{spot}
place|They say the {item} was last seen near {p}.|u: In what region would you search for the {item}?|{p}
number|There are {num} {creature} nesting in the cliffs of {p}.|u: How many beasts are there around {p}?|{num} {creature}
number|The strongbox of {n} opens at {num}, left and then right.|u: What is the combination that {n} uses?|{num}
number|Crossing over to {p} takes {num} hours when the wind is fair.|u: How long is the passage to {p}?|{num} hours
number|{n} turned {num} this autumn, would you believe it.|u: What age has {n} reached?|{num}
number|The caravan to {p} has {num} wagons and no guard.|u: What size is the convoy for {p}?|{num} wagons
item|I lost my {item} somewhere near {p}.|i: In what area did my {item} go missing?|{p}
item|{n} carries a {item} of pure {stuff}.|u: What is that {item} wrought from?|{stuff}
item|The {item} belongs to {n} and to nobody else.|u: Whose is the {item}, truly?|{n}
item|I traded my {item} for {n}'s old {item2}.|i: What did I get from {n} in exchange?|{item2}
item|{n} broke the {item} and blamed the cat.|u: Who is guilty of what happened to the {item}?|{n}
name|My horse is called {n}, she bites.|i: What does the animal I ride answer to?|{n} horse
name|They call {n} the {epithet} down at the docks.|u: What is the nickname of {n}?|{epithet}
name|The old ruin on the hill was once named {p} by the {guild}.|u: How did the {guild} refer to their castle?|{p}
taste|I cannot stand {food}, it makes me ill.|i: Which dish must you never serve me?|{food} stand
taste|{n} drinks nothing but {drink}.|u: What shall we pour for {n}?|{drink}
taste|{n} is terrified of {fear}.|u: What frightens {n}?|{fear}
taste|{n} wears {colour} on feast days, always has.|u: How will {n} be dressed at the ball?|{colour}
task|Please tell {n} that the meeting is {time}.|i: What did I want {n} to hear from you?|{time}
task|I must kill the {beast} of {p} for the reward.|i: What was my quest in {p} about?|{beast}
task|We need {num} {stock} for the siege, no less.|u: How many {stock} did we want to gather?|{num}
task|{n} hired me to guard the {item} on its journey.|i: Who is my employer in the matter of the {item}?|{n}
self|I have walked on a wooden leg ever since the siege of {p}.|i: Why do I limp like that?|leg {p}
self|I grew up among fishermen in {p}.|i: Where did I spend my childhood?|{p} fishermen
self|My twin {n} sails the northern seas.|i: Who looks just like me?|{n} twin
self|I scribble letters for {n} to earn my bread.|i: What is my trade these days?|{n} letters
self|I must be off {time}, my ship will not wait.|i: Until when can I stay with you?|{time} ship
self|I gave {num} {coin} for this ridiculous hat.|i: What did the thing on my head cost?|{num} {coin} hat
self|I bet {n} that the bridge will fall.|i: Against whom did I make a wager?|{n} bet
self|My old dog sleeps in the barn of {n}.|i: Where is my hound kept?|{n} dog
self|I am looking for the {item}, tell nobody else.|i: What am I searching for?|{item} looking
event|{n} lost an eye in the battle of {p}.|u: How was {n} wounded?|eye
event|The {guild} burnt down the mill of {n} last harvest.|u: Who set fire to the place of {n}?|{guild}
event|I won the {item} from {n} at dice.|i: How did I come by the {item}?|{n} dice
event|{n} was banished from {p} for poaching.|u: Why is {n} not allowed in {p} any more?|poaching
"""
WHISPERED = """
secret|Nobody must learn it, but {n} is my real father.|i: Whose child am I in truth?|{n} father
secret|It was me who stole the {item} from {n}.|i: What have I taken from {n}?|{item} stole
secret|The password of the {guild} is {word}.|i: What does one say at the door of the {guild}?|{word} password
secret|I hid {num} {coin} under the {spot}.|i: Where are my savings?|{spot} hid
secret|{n} spies on all of us for {m}.|i: Whom does {n} truly work for?|{m} spies
secret|I am in love with {n}, do not laugh.|i: Who has won my heart?|{n} love
secret|The poison for {n} is in the {item}.|i: How is {n} going to be murdered?|{item} poison
secret|I was born under the name of {n}.|i: What did my mother christen me?|{n} born
"""
# Two things said, one after the other; the answer is in the second.
CHANGED = """
place|{n} is staying at the inn of {p}.|{n} has left and is staying in {q} now.|u: Where can {n} be found?|{q}
price|The {item} costs {num} {coin}.|The {item} costs {num2} {coin} by now, the war you know.|u: What would I have to pay for the {item}?|{num2} {coin}
home|My room is number {num}.|My room is number {num2} now.|i: Behind which door do I sleep?|{num2} room
owner|The {item} is in the hands of {n}.|{m} bought the {item} off {n} yesterday.|u: Who has got the {item} at present?|{m}
date|The wedding of {n} will be {time}.|The wedding of {n} has been moved, it will be {time2}.|u: When does {n} marry?|{time2}
ally|{n} rides with the {guild}.|{n} quarrelled with them and rides with the {guild2} these days.|u: Which side is {n} on?|{guild2}
"""
CHATTER = parts_of("""
Good day to all of you.|Another round over here, if you would.|What a foul night it is outside.
Is there any stew left?|Ha, that is the best jest I heard all week.|My boots are soaked through.
Have you seen {n} around?|I never quite know what to make of {n}.|Did anybody hear the bells just now?
The {item} would fetch a fair price at market, I suppose.|Let us play a hand of cards.
I could sleep for a week.|Do not mind him, he is always like that.|The road to {p} is all mud again.
Somebody left the door open.|You look tired, is all well with you?|I once saw {num} crows on one roof.
That fiddler is dreadful tonight.|Pass me the salt, please.|So what do we do tomorrow?
People talk a lot about {p} when they are drunk.|Hush, someone is coming up the stairs.
I bought {num} {stock} this morning and regret it.|Well, as my gran used to say, rain is rain.
Who wants to arm wrestle?|Your soup is better than the one at the Heron.|I like it here by the fire.
{a} came up in talk again, and I have had enough of it.|Always {a}, {a}, {a}! Is there nothing else?
Somebody asked me about {a} only last week.|What was it again with {a}?|{n} came by earlier but did not stay.|Are you open on feast days too?|That was a narrow escape, friends.
My back hurts from all that digging.|I would rather walk than sail, to be honest.|Fine weather for ducks.
You should have seen the size of that fish!|Give me the same again.|It smells of smoke in here.
Does the {guild} ever pay its tab?|I am off to bed, wake me if anything happens.|Cheers, everyone!
""")
REPLIES = parts_of("""
As you like.|Coming up.|So they say.|I will keep that in mind.|Ha! You do talk a lot today.
Mind the step.|That is a story for a longer night.|I see.|Is that so?|We shall see about that.
""")
ROOM = (
    "You see a low room with black beams, a long table and a stove. Bottles stand on the shelf, a"
    " cat sleeps on the bench, and rain runs down the panes. Exits: out, up, cellar. Things: a jug,"
    " a lute without strings, three stools, a map nobody can read."
)


NAMES = tuple(
    first + last
    for first in parts_of(
        "Bre|Cor|Dal|Fen|Gar|Hes|Isk|Jal|Kel|Lor|Myr|Nev|Osk|Pel|Quen|Ros|Sar|Tov"
    )
    for last in parts_of("win|da|mund|ric|lith|vane|gor|sy")
)
POOLS = {
    "n": NAMES,
    "p": tuple(
        first + last
        for first in parts_of("Ash|Black|Cold|Dun|Elder|Frost|Grim|High|Iron|Kings|Long|Raven")
        for last in parts_of("mere|ford|hollow|wick|stead")
    ),
    "num": parts_of(
        "14|seventeen|19|23|twenty-six|28|31|thirty-four|37|41|forty-three|47|52|fifty-six|59|63"
        "|sixty-eight|71|74|seventy-seven|82|86|ninety-one|94|112|130|145|160|175|190|210|240|260"
        "|285|310|330|350|375|390|420|450|480|520|560|610|640|680|720|760|810|850|930|980"
    ),
    "coin": parts_of("crowns|pennies|ducats|marks|thalers|shillings"),
    "item": tuple(
        f"{kind} {thing}"
        for thing in parts_of("lantern|amulet|saddle|chalice|dagger|flute|mirror|cloak|compass|shield")
        for kind in parts_of("copper|cracked|gilded|bronze|painted|dwarven")
    ),
    "skill": parts_of("fencing|lockpicking|brewing|falconry"),
    "ship": parts_of("Grey Gull|Salt Widow|Marigold|Lady Thorn"),
    "guild": parts_of(
        "Lantern Guild|Weavers|Order of Salt|Night Watch|Tanners|Red Sashes|Coopers|Free Lances"
        "|Stone Brothers|River Folk|Masons|Chandlers|Glass Circle|Wolf Company"
    ),
    "time": parts_of(
        "on Tuesday|at sunrise|before the new moon|at the harvest feast|on the ninth|at midnight"
        "|before the first snow|on Thursday|in a fortnight|at low tide|on Sunday evening|at dusk"
        "|on the twelfth|after the fair|at the solstice|on Monday morning"
    ),
    "spot": parts_of(
        "crooked oak|dry well|broken mill wheel|chapel steps|third milestone|tannery wall"
        "|old gallows|beehives|fish market|weir|charcoal pits|sundial"
    ),
    "creature": parts_of("wyverns|harpies|griffins"),
    "stuff": parts_of("jade|obsidian|ivory"),
    "epithet": parts_of("Eel|Anvil|Magpie"),
    "food": parts_of("leeks|mutton|oysters"),
    "drink": parts_of("buttermilk|pear cider|mint tea"),
    "fear": parts_of("spiders|thunder|open water"),
    "colour": parts_of("crimson|saffron|turquoise"),
    "beast": parts_of("basilisk|cave bear|marsh hag"),
    "stock": parts_of("barrels of pitch|bales of hay|sacks of grain"),
    "word": parts_of("thistledown|candlewick|quicksilver|hopscotch"),
}  # fmt: skip
