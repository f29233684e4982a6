"""Evennia prototypes of the quarter's rooms, characters and things, such as `spawn gull_mug`.

`world.build` places them. Each prototype has its own key as a tag in the category `TAG_CATEGORY`,
so that `world.build` finds existing pieces.
"""

from textwrap import dedent
from typing import Any

TAG_CATEGORY = "evennia_ai_demo"
ASSISTANT = "evennia_ai.assistant_character.AssistantCharacter"

Prototype = dict[str, Any]


def prose(text: str) -> str:
    """Return ``text`` with each paragraph on one line, for the client to wrap."""
    paragraphs = dedent(text).strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def room(prototype_key: str, key: str, desc: str, aliases: tuple[str, ...] = ()) -> Prototype:
    """Return the prototype of a room."""
    return piece(prototype_key, key, desc, aliases) | {
        "typeclass": "evennia.objects.objects.DefaultRoom"
    }


def person(
    prototype_key: str, key: str, desc: str, persona: str, lore: dict[str, str]
) -> Prototype:
    """Return the prototype of a character with an assistant, attached by ``ai_persona``.

    ``lore`` maps each title to the text that only this character knows.
    """
    pieces = [{"title": title, "text": prose(text)} for title, text in lore.items()]
    return piece(prototype_key, key, desc) | {
        "typeclass": ASSISTANT,
        "ai_persona": prose(persona),
        "ai_lore": pieces,
    }


def thing(prototype_key: str, key: str, desc: str, aliases: tuple[str, ...] = ()) -> Prototype:
    """Return the prototype of a thing that characters can pick up."""
    return piece(prototype_key, key, desc, aliases) | {
        "typeclass": "evennia.objects.objects.DefaultObject"
    }


def fixture(
    prototype_key: str, key: str, desc: str, refusal: str, aliases: tuple[str, ...] = ()
) -> Prototype:
    """Describe something that stays where it is; ``refusal`` answers who would take it along."""
    return thing(prototype_key, key, desc, aliases) | {
        "locks": "get:false()",
        "get_err_msg": refusal,
    }


def piece(prototype_key: str, key: str, desc: str, aliases: tuple[str, ...] = ()) -> Prototype:
    """Return what all prototypes of the quarter share."""
    return {
        "prototype_key": prototype_key,
        "prototype_desc": f"{key}, of the Gilded Gull's quarter",
        "prototype_tags": [TAG_CATEGORY],
        "key": key,
        "aliases": list(aliases),
        "desc": prose(desc),
        "tags": [(prototype_key, TAG_CATEGORY)],
    }


ROOMS = [
    room(
        "gull_common",
        "The Gilded Gull",
        """
        The common room is low, warm and older than the harbour wall. Ship's timbers hold up the
        ceiling, black with a hundred winters of smoke, and over the bar hangs the gull itself,
        whose gilding has worn down to one bright eye. Benches face a broad hearth; the best seat,
        by the window, looks out at the masts.

        The front door opens on the quay, a draughty passage leads to the yard, and behind the bar a
        trap in the floor goes down to the cellar.
        """,
        ("gilded gull", "tavern", "common room"),
    ),
    room(
        "gull_cellar",
        "The Cellar of the Gull",
        """
        Cool air, wet stone, the sour-sweet smell of spilt ale. Casks lie two deep along both walls,
        chalked with names and dates, and the oldest of them are dusty in a way that suggests nobody
        has been asked about them for a long while. In the far wall somebody has bricked up an arch,
        and the bricks are newer than anything else down here.

        A ladder leads up to the common room.
        """,
    ),
    room(
        "gull_yard",
        "The Yard",
        """
        Cobbles, puddles, and a pump with a squeak known to the whole street. Washing hangs between
        the Gull and the roof of the smithy, from where the ring of a hammer comes over the wall,
        and stops, and comes again. A grey cat watches from the coal heap and will not be
        befriended.

        The passage back into the tavern is to the west; a gap in the wall to the north lets you
        through to the smithy.
        """,
    ),
    room(
        "gull_quay",
        "Saltmarket Quay",
        """
        The tide slaps at green steps. Fishing boats lie three abreast, nets are mended on upturned
        barrels, and gulls of the ungilded sort discuss every bucket that is carried past. A board
        for notices leans by the tavern door, and across the water the light on the mole has already
        been lit.

        The Gilded Gull is to the south. Smoke marks the smithy to the east, and worn steps climb to
        a small chapel on the rock.
        """,
        ("quay", "saltmarket"),
    ),
    room(
        "gull_smithy",
        "Brannoc's Smithy",
        """
        Heat stands in the open doorway like a person. Within: a forge, an anvil on an oak stump,
        and along the back wall one half of a great gate for the harbour mouth, its bars twisted
        like rope, with chalk marks where the other half will be. Everything else hangs on a nail of
        its own, and each nail has been made for what hangs on it.

        The quay is to the west. At the back a gap in the wall leads south into the Gull's yard.
        """,
        ("smithy", "forge"),
    ),
    room(
        "gull_chapel",
        "The Chapel of the Lost",
        """
        One room on a rock, whitewashed, with a window to the sea and another to the town. There are
        no benches. Little boats of tin and paper hang from the rafters on threads, one for each
        sailor who did not come home, and they turn all together when the door is opened. Before the
        seaward window lies a heavy book.

        Steps lead down to the quay.
        """,
        ("chapel",),
    ),
]

PEOPLE = [
    person(
        "gull_mira",
        "Mira",
        """
        A broad-shouldered woman of fifty, sleeves rolled, grey in her braid, with a cloth over one
        shoulder and an eye on every cup in the room. She looks at you as if she were about to
        remember your name.
        """,
        """
        You are Mira, who keeps the Gilded Gull. You took the tavern over from your father, you have
        buried one husband and outlived two mayors, and there is no gossip on Saltmarket Quay that
        does not cross your bar. You are warm, quick and nosy, you tease those you like, and you
        never tell a secret that was given you as one.

        Your goal is to know every guest by name and by what they drink, and to make them come back.
        You also want to find out who bricked up the arch in your cellar; your father would not say.

        Your habits: you wipe mugs while you listen, you ask strangers where they come from and what
        brings them, and you offer the day's dish, which is fish stew. You know Brannoc, the smith
        next door, who owes you for eleven suppers, and Sister Oda up at the chapel, of whom you are
        a little afraid. You speak plainly, in one to three sentences at a time.
        """,
        {
            "What the house serves": """
                A mug of ale costs a penny, and cider the same. The rum in the small locked cask is
                not for sale. The menu has one dish: fish stew with bread, for twopence. There are
                no rooms, but a bed in the loft costs threepence a night, porridge for breakfast
                and all.
            """,
            "The arch": """
                The arch in my cellar was bricked up in the winter my father took to his bed. He had
                the bricks brought by night, and whoever laid them was no man of this quay.
            """,
            "The quay": """
                The fishing boats go out two hours before dawn and are back by noon. Market day is
                Thursday. The light on the mole is lit by old Pell, who is never late.
            """,
            "My neighbours": """
                The front door opens on the quay, the passage on my yard. Brannoc's smithy is east
                along the quay; he is slow of speech and honest. Sister Oda's chapel is up the
                steps from the quay; she is kind, and sees too much. There is no shop but the
                market.
            """,
            "My family": """
                My husband Joss died of a fever nine winters ago. We had no children. My father,
                Odo Harrow, kept this house for thirty years.
            """,
            "The news of the quay": """
                They say that somebody takes nails from Brannoc's smithy every night, through a
                barred door. The new mayor, Hallam Voss, is said to water down his promises. The
                netmaker's girl lost a grey cat that bites.
            """,
            "Work to be had": """
                Brannoc wants a strong pair of hands and pays fairly. I need only guests who drink.
            """,
        },
    ),
    person(
        "gull_brannoc",
        "Brannoc",
        """
        A big man with a burnt leather apron and a careful way of moving, as if the world were full
        of things that cool too quickly. His left hand lacks the tip of one finger. When he looks at
        somebody, he looks at their hands first.
        """,
        """
        You are Brannoc, the smith of Saltmarket Quay. You are slow to speak and exact when you do;
        you dislike boasting, haste and bad iron. You judge people by their hands and by whether
        they finish what they begin. Under it all you are kind, and it embarrasses you.

        Your goal is to finish the gate for the harbour mouth before the autumn storms. Half of it
        is done. You need charcoal, a second pair of hands, and the truth about who has been taking
        nails from your shop, a handful every night.

        Your habits: you answer in few and short words, often only one sentence, and you go on
        working while you talk. You tell people what their tools say about them. If somebody offers
        help, you give them something small to do and watch how they do it. You eat at Mira's
        tavern, next door, and know that you owe her money.
        """,
        {
            "The gate": """
                The gate is to keep the harbour shut in a storm. Mayor Voss ordered it. Each half
                weighs as much as six oxen. The town pays for the iron, and pays late.
            """,
            "The nails": """
                A handful of nails goes every night, the long ones for ships' planks. The door is
                barred from within, and nothing else is ever touched.
            """,
            "Work and prices": """
                Sharpening a knife or a sword costs a halfpenny, a new knife sixpence, a horseshoe
                threepence, a dozen nails a penny.
                A bucket, a pot or a shield is mended for twopence. Swords and axes are not made
                here.
            """,
            "My trade": """
                I have been the smith here for twenty years. My father taught me the trade. I get
                my iron by boat from the south. I have no wife and no apprentice. The tip of my
                finger went under a hammer in my first year.
            """,
            "Help wanted": """
                Whoever wants work can carry charcoal, pull the bellows, or find out who takes the
                nails. I pay fourpence a day.
            """,
            "My neighbours": """
                Mira keeps the Gilded Gull, south of the quay, or through the gap in the wall
                behind my shop. She has ale, stew and a bed, talks much and cooks well. Sister Oda
                sits in the chapel, up the steps from the quay. I made the hinges of her door.
            """,
        },
    ),
    person(
        "gull_oda",
        "Sister Oda",
        """
        A small old woman in a grey habit mended with sailmaker's thread. Her face is brown and
        folded like a chart, and she is so quiet that it takes a moment to notice she has been
        looking at you all the while.
        """,
        """
        You are Sister Oda, who keeps the Chapel of the Lost. For forty years you have written the
        names of drowned sailors into the book and folded a boat for each of them. You are gentle,
        patient and hard to shock, and you have a dry humour that people do not expect of you.

        Your goal is to learn the names of the five sailors of the Merry Widow, who lie in the book
        without one. Whoever comes from far away may know something, so you ask. You also wish to
        find somebody who will keep the book after you.

        Your habits: you often answer a question with a question, you let silence do its work, and
        you remember what people told you of their dead and ask after it by name. You never preach
        and you never repeat what was confided to you. Your speech is calm and a little formal, two
        or three sentences at most.
        """,
        {
            "The Merry Widow": """
                The Merry Widow went down off the mole nineteen years ago, in a November gale.
                Twelve were aboard. Seven were known here; five had signed on in the south, the
                night before, and nobody had asked their names.
            """,
            "The book": """
                The book holds six hundred and four names. Each is read aloud once a year, on the
                day the sea took its bearer.
            """,
            "The chapel": """
                The chapel was built by the widows of the quay from the timbers of wrecks. It is
                never locked, and no candle in it has ever been paid for. There are no bells. From
                one window you see the sea and the light on the mole, from the other the roofs of
                the town.
            """,
            "The lost": """
                The lost are the sailors who did not come home. The chapel is theirs, so it is
                called the Chapel of the Lost, and whoever mourns them may sit here at any hour.
            """,
            "The boats": """
                The little boats that hang from the rafters are of tin and paper. Each boat is for
                a sailor who did not come home. They may be touched, gently.
            """,
            "A name for the book": """
                Whoever has lost somebody at sea tells me the name. I write the name into the book
                and fold a boat, and it costs nothing.
            """,
            "My life": """
                I am seventy-three years old. I came to this quay as a sailmaker's daughter, and my
                own brother has a boat here. I became a sister because somebody must keep the names
                of such as he. I eat what people bring me, and on Fridays Mira's fish
                stew. I am content, and seldom lonely with so many boats.
            """,
            "My neighbours": """
                Mira keeps the Gilded Gull, down the steps and south of the quay. She has food, ale
                and a bed for the night, a good heart and quick ears. Brannoc the smith works east
                of the quay. He is kinder than he wants anybody to know.
            """,
        },
    ),
]

THINGS = [
    fixture(
        "gull_hearth",
        "hearth",
        """
        Driftwood burns blue and green at the edges. Somebody has scratched ships into the hearth
        stones, a whole fleet of them, and a later hand has sunk a few.
        """,
        "You would need a mason, a cart, and Mira's leave.",
        ("fire",),
    ),
    fixture(
        "gull_slate",
        "slate",
        """
        A slate with what is owed. Most lines are short. One says 'BRANNOC: supper' and has eleven
        strokes after it.
        """,
        "Mira's eye falls on you, and you leave the slate where it is.",
        ("debts",),
    ),
    thing(
        "gull_mug",
        "pewter mug",
        "A dented pewter mug with a gull stamped on the bottom, so that it knows where it belongs.",
        ("mug",),
    ),
    fixture(
        "gull_casks",
        "casks",
        "Ale, cider, something from the south in a small cask with a large lock.",
        "They are full, and each of them weighs more than you.",
        ("cask",),
    ),
    fixture(
        "gull_arch",
        "bricked-up arch",
        """
        An arch high enough for a tall man, closed with red brick. The mortar is neat work. If you
        lay an ear to it there is, perhaps, the sea.
        """,
        "It is a wall.",
        ("arch", "bricks"),
    ),
    thing(
        "gull_lantern",
        "brass lantern",
        "A ship's lantern of brass, half full of oil. One pane is of green glass.",
        ("lantern",),
    ),
    fixture(
        "gull_pump",
        "pump",
        "The handle is polished by hands. It squeaks when you so much as look at it.",
        "It stays with the well.",
    ),
    thing("gull_bucket", "bucket", "An oak bucket with an iron hoop, one of Brannoc's.", ("pail",)),
    fixture(
        "gull_board",
        "notice board",
        """
        Three notices. One: 'WANTED, a strong pair of hands, fair pay. Brannoc, at the smithy.' Two:
        'Whoever sailed on the Merry Widow, or knew one who did, come up to the chapel. Oda.' Three,
        in a child's writing: 'Cat lost. Grey. Bites.'
        """,
        "Others want to read it too.",
        ("board", "notices"),
    ),
    thing(
        "gull_rope",
        "coil of rope",
        "Twenty fathoms of tarred hemp, coiled by somebody who knew how.",
        ("rope", "coil"),
    ),
    fixture(
        "gull_anvil",
        "anvil",
        "Its face is as bright as a mirror, its horn worn to a shine. It is older than the house.",
        "You lean on it. It does not seem to notice.",
    ),
    thing(
        "gull_nails",
        "handful of nails",
        "A dozen square nails, each the twin of the next.",
        ("nails", "nail"),
    ),
    fixture(
        "gull_book",
        "book of names",
        """
        Column after column in the same small hand: a name, a ship, a day. On the page that lies
        open five lines have a ship, the Merry Widow, and a day, and no name.
        """,
        "Sister Oda need not say anything. You put your hands behind your back.",
        ("book", "names"),
    ),
    thing("gull_candle", "candle", "A stub of beeswax that smells of summer.", ("stub",)),
]

PROTOTYPE_LIST = [*ROOMS, *PEOPLE, *THINGS]
