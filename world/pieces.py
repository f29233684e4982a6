"""What the prototypes of the quarter's rooms, characters and things are made of.

Each prototype has its own key as a tag in the category `TAG_CATEGORY`, so that `world.build` finds
existing pieces.
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
    """Return the prototype of an NPC, attached by ``ai_persona``.

    ``lore`` maps each title to the text that only this character knows.
    """
    pieces = [{"title": title, "text": prose(text)} for title, text in lore.items()]
    return piece(prototype_key, key, desc) | {
        "typeclass": ASSISTANT,
        "locks": "edit:perm(Builder)",
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
