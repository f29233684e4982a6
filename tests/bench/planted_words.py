"""The words of the made-up talk: chatter, replies, and what fills the gaps of sentences."""

# ruff: noqa: E501  # one fact a line


def parts_of(text: str) -> tuple[str, ...]:
    """Return the parts of a text between bars and line ends."""
    return tuple(part.strip() for part in text.replace("\n", "|").split("|") if part.strip())


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
    "drink": parts_of("buttermilk|pear cider|mint tea"),
    "fear": parts_of("spiders|thunder|open water"),
    "colour": parts_of("crimson|saffron|turquoise"),
    "beast": parts_of("basilisk|cave bear|marsh hag"),
    "stock": parts_of("barrels of pitch|bales of hay|sacks of grain"),
    "word": parts_of("thistledown|candlewick|quicksilver|hopscotch"),
}  # fmt: skip
