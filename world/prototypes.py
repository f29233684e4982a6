"""Evennia prototypes of the quarter's rooms, characters and things, such as `spawn gull_mug`.

`world.build` places them.
"""

from world.people import PEOPLE
from world.pieces import fixture, room, thing

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
