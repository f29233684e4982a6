"""What a character perceives of the world now, and who wrote it; nothing here writes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import evennia
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter, DefaultExit, DefaultObject
from evennia.utils.ansi import strip_ansi

from evennia_ai.game.client_text import as_shown
from evennia_ai.messages import Audience, Authors, Situation, as_name
from evennia_ai.policy.audience import BUILDER, STRANGER, editors_in
from evennia_ai.policy.conversation.persona_and_lore import EVERYBODY, QUEST, LoreEntry
from evennia_ai.policy.facts.check import HAPPENED
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import Character
from evennia_ai.store.attributes import read_attribute, tell_once
from evennia_ai.store.lore_records import LoreRecords, read_entries
from evennia_ai.store.names import own_name, plain_name

DESCRIPTION_CHARS = 600
WORD_OF_NAME = re.compile(r"[^\W_](?:[\w-]*\w)?")
MOST_WORDS = 4  # of a name that is looked up
ARTICLE = re.compile(r"\A(?:an?|the|some|der|die|das|ein|eine|le|la|el)\s+", re.IGNORECASE)


def find_object(dbref: str) -> Any | None:
    """Return the object with a dbref, None without one; ask the database only if needed."""
    number = dbref.removeprefix("#")
    if not number.isdecimal():
        return None
    known = ObjectDB.get_cached_instance(int(number))
    return known or ObjectDB.objects.filter(id=int(number)).first()


def find_objects(dbrefs: Iterable[str]) -> list[Any]:
    return [obj for dbref in dbrefs if (obj := find_object(dbref))]


def objects_named_in(text: str) -> dict[Any, str]:
    """Return the objects of the game whose keys stand in a text, each as it is spelled there.

    Of those that begin at the same word the longest name comes first.
    """
    words, runs, spelled = [*WORD_OF_NAME.finditer(text)], list[str](), dict[str, str]()
    for at, first in enumerate(words):
        runs += [text[first.start() : word.end()] for word in words[at : at + MOST_WORDS][::-1]]
    for run in reversed(runs):
        forms = {run, run.replace(".", "")}
        spelled |= {form: run for name in forms for form in (name, name.lower(), name.title())}
    named = ObjectDB.objects.filter(db_key__in=[*spelled])  # MySQL ignores case
    objects = {obj: spelled[obj.db_key] for obj in named if obj.db_key in spelled}
    return dict(sorted(objects.items(), key=lambda item: runs.index(item[1])))


def is_assistant(obj: Any) -> bool:
    """True for a character whose assistant is on and whom no player controls."""
    script = getattr(obj, "assistant", None)
    return bool(script and script.is_on and not obj.has_account)


def can_hear(obj: Any) -> bool:
    """True for a character that a player controls and for an assistant's character."""
    return bool(obj.has_account) or is_assistant(obj)


def puppets() -> set[Any]:
    """Return the characters that connected accounts play now."""
    return {session.puppet for session in evennia.SESSION_HANDLER.get_sessions()} - {None}


def players_in(place: Any) -> set[Any]:
    """Return the characters in a place that players control; place may be None."""
    return {obj for obj in place.contents if obj.has_account} if place else set()


def listening_objects(character: Character) -> list[Any]:
    """Return everybody who would hear the character speak aloud."""
    location = character.location
    if location is None:
        return []
    return [obj for obj in location.contents if obj is not character and can_hear(obj)]


def plain(text: Any, limit: int = 200) -> str:
    """Return a text without markup, on one line of at most ``limit`` characters."""
    return clean_heard(strip_ansi(str(text or "")), limit)


def display_name(obj: Any, looker: Any) -> str:
    """Return the name that the looker sees; one like the label of what happened in quotes."""
    name = plain_name(str(obj.get_display_name(looker=looker))) or own_name(obj)
    return f"'{name}'" if name.lower() == HAPPENED.lower() else name


def name_in_act(obj: Any, looker: Any) -> str:
    """Return a name for a sentence that tells an act: in quotes, unless it is short and plain."""
    return as_name(display_name(obj, looker))


def asked_for(name: str) -> str:
    """Return what a tool was asked for in single quotes, with no end of them inside."""
    return f"'{plain(name, 60).replace(chr(39), '’')}'"


def description_of(obj: Any, looker: Any) -> str:
    """Return an object's description, "" for none; a class of the game may make its own."""
    own = type(obj).get_display_desc is not DefaultObject.get_display_desc
    return plain(obj.get_display_desc(looker) if own else obj.db.desc, DESCRIPTION_CHARS)


def has_short_description(obj: Any) -> bool:
    """Return True for an object of Evennia's contrib ``rpsystem`` (`game.perception`)."""
    return hasattr(type(obj), "sdesc")


def is_masked(obj: Any, looker: Any) -> bool:
    """Return True if a mask keeps the looker from recognising somebody."""
    return has_short_description(obj) and not obj.access(looker, "enable_recog", default=True)


def find_named(name: str, candidates: Iterable[Any], looker: Any) -> Any | None:
    """Return the candidate with a name, else the only one with a word that begins with it."""
    here = list(candidates)
    if exact := all_named(name, here, looker):
        return exact[0]
    wanted = spelled(name)
    begun = [obj for obj in here if f" {wanted}" in " ".join(["", *known_names(obj, looker)])]
    return begun[0] if wanted and len(begun) == 1 else None


def all_named(name: str, candidates: Iterable[Any], looker: Any) -> list[Any]:
    """Return all candidates with a name: key, alias or display name, in any case."""
    wanted = {spelled(name), without_article(spelled(name))}
    return [obj for obj in candidates if not wanted.isdisjoint(known_names(obj, looker))]


def spelled(name: str) -> str:
    """Return a name that a model wrote in the form in which names are compared."""
    return name.strip().lower().lstrip("@#")


def known_names(obj: Any, looker: Any) -> list[str]:
    """Return an object's names in lower case, with and without an article."""
    names = [own_name(obj), display_name(obj, looker), *map(plain_name, obj.aliases.all())]
    lowered = [name.lower() for name in names]
    return [*lowered, *map(without_article, lowered)]


def without_article(name: str) -> str:
    """Return a name without its leading article: "the old guard" → "old guard"."""
    return ARTICLE.sub("", name).strip() or name


class EvenniaPerception:
    """The `World` port over Evennia's objects and the game's lore."""

    def __init__(self, records: LoreRecords) -> None:
        self._records = records

    def listeners(self, character: Character) -> Audience:
        """Return the dbrefs of everybody who would hear the character speak aloud."""
        return frozenset([obj.dbref for obj in listening_objects(character)])

    def situation(self, character: Character) -> Situation:
        """Return what the character sees, as its hook `at_ai_situation` leaves it."""
        seen: Situation = character.at_ai_situation(look_around(character))
        state = plain(character.at_ai_describe_self(), DESCRIPTION_CHARS)
        return replace(seen, state=state) if state else seen

    def lore(
        self, character: Character, audience: Audience
    ) -> tuple[Sequence[LoreEntry], Audience]:
        """Return all lore with the character's own, and the labels of what it may use."""
        own, troubles = read_entries(read_attribute(character, "ai_lore"))
        for trouble in troubles:
            tell_once(character, trouble)
        return [*self._records.entries(), *own], knowledge_labels(character, audience)

    def labels_of(self, character: Character) -> frozenset[str]:
        """Return the scopes that a character belongs to now, by its tags and its place."""
        return knowledge_labels(character, frozenset())

    def name_of(self, character: Character, dbref: str) -> str:
        """Return what the character calls somebody; empty for nobody, and for a mask."""
        obj = find_object(dbref)
        is_hidden = obj is None or is_masked(obj, character)
        return "" if is_hidden else display_name(obj, character)

    def looks_of(self, character: Character, dbref: str) -> str:
        """Return the description of an object in sight, empty for any other."""
        place = character.location
        near = [place, *place.contents, *character.contents] if place else []
        seen = (obj for obj in near if obj.dbref == dbref and obj.access(character, "view"))
        return next((description_of(obj, character) for obj in seen), "")

    def authors_of(self, dbref: str) -> Authors:
        """Return the authors of an object's name and description, none if it is deleted."""
        return authors_of_objects(find_objects([dbref]))


def knowledge_labels(character: Character, audience: Audience) -> frozenset[str]:
    """Return the scopes that a character knows: tags, place, quest flags of every listener."""
    labels = {EVERYBODY}
    for key, category in tags_of(character):
        labels.add(f"faction:{key}" if category == "faction" else f"tag:{key}")
    place = character.location
    if place is not None:
        labels.add(f"room:{place.dbref}")
        labels.update(f"room:{key}" for key, _category in tags_of(place))
        present = [obj for obj in place.contents if obj.dbref in audience]
        flags = [{key for key, category in tags_of(obj) if category == QUEST} for obj in present]
        if flags and len(flags) == len(audience):
            labels.update(f"{QUEST}:{flag}" for flag in set.intersection(*flags))
    return frozenset(labels)


def tags_of(obj: Any) -> list[tuple[str, str | None]]:
    """Return an object's tags as (key, category) pairs."""
    return list(obj.tags.all(return_key_and_category=True))


def look_around(character: Character) -> Situation:
    location = character.location
    if location is None:
        return Situation()
    others = [obj for obj in location.contents if obj is not character]
    seen = [obj for obj in others if obj.access(character, "view")]
    people = [obj for obj in seen if can_hear(obj) or isinstance(obj, DefaultCharacter)]
    exits = [obj for obj in seen if isinstance(obj, DefaultExit)]
    things = [obj for obj in seen if obj not in people and obj not in exits]
    beyond = [obj.destination for obj in exits if obj.destination]
    return Situation(
        place=display_name(location, character),
        description=description_of(location, character),
        people=tuple(display_name(obj, character) for obj in people),
        exits=tuple(describe_exit(obj, character) for obj in exits),
        things=tuple(display_name(obj, character) for obj in things),
        carrying=tuple(display_name(obj, character) for obj in character.contents),
        notes=following_note(character, people),
        authors=authors_of_objects([location, *seen, *beyond, *character.contents]),
    )


def following_note(character: Character, people: Iterable[Any]) -> tuple[str, ...]:
    """Return a note on whom a character follows, none if nobody."""
    dbref = read_attribute(character, "ai_following")
    if not dbref:
        return ()
    named = (display_name(person, character) for person in people if person.dbref == dbref)
    return (f"You follow {next(named, 'somebody who is not here')}.",)


def describe_exit(exit_obj: Any, character: Character) -> str:
    """Return the name of an exit and of the place it leads to."""
    name = display_name(exit_obj, character)
    if exit_obj.destination is None:
        return name
    return f"{name} (to {display_name(exit_obj.destination, character)})"


TOO_HIGH = "Developer"


def excessive_rights(character: Any) -> str | None:
    """Return why a model must not act through a character, None if it may."""
    # Evennia keeps the lock bypass of a superuser who puppeted the character (measured).
    character.locks.cache_lock_bypass(character)
    name = own_name(character)
    if character.is_superuser or character.locks.lock_bypass:
        return f"{name} has a superuser's rights, and a model must never have those."
    if character.permissions.check(TOO_HIGH):
        return f"{name} has the permission {TOO_HIGH}, and a model must never have that."
    return None


# What its hook at_pre_say makes of speech.
REPORTED = re.compile(r'\A/me\b[^"]*+"(.*)"\s*+', re.IGNORECASE | re.DOTALL)
SELF_REFERENCE = re.compile(r"\A/me\s+", re.IGNORECASE)


def names_known(obj: Any, looker: Any) -> list[str]:
    """Return what somebody may call an object beside its key."""
    if not has_short_description(obj):
        return []
    return [plain(obj.sdesc.get()), display_name(obj, looker)]


def bare_words(speech: str) -> str:
    """Return speech without ``/Me says, "…"`` around it."""
    match = REPORTED.fullmatch(speech)
    return match[1] if match else speech


class SentenceStart:
    """A person whose name begins a sentence, as `msg_contents` asks for it."""

    def __init__(self, person: Any) -> None:
        self._person = person

    def get_display_name(self, looker: Any, **_options: Any) -> str:
        return str(self._person.get_display_name(looker, ref="t", noid=True))


class QuotedSpeech:
    """Spoken words; each listener understands as much as they know of the language."""

    def __init__(self, speaker: Any, words: str) -> None:
        self._speaker, self._words = speaker, words

    def get_display_name(self, looker: Any, **_options: Any) -> str:
        quoted = f'"{self._words}"'
        understand = getattr(looker, "process_language", None)
        return str(understand(quoted, self._speaker, None)) if understand else quoted


def with_people(deed: str, character: Any, people: Iterable[Any]) -> tuple[str, Mapping[str, Any]]:
    """Return a deed as a template and its mapping for `msg_contents`, its names as people."""
    known = {display_name(person, character).lower(): person for person in people}
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    text = SELF_REFERENCE.sub("", deed)
    parts = re.split(rf"(?<!\w)({names})(?!\w)", text, flags=re.IGNORECASE) if names else [text]
    mapping = {
        f"part{number}": known[part.lower()] if number % 2 else as_shown(part)
        for number, part in enumerate(parts)
    }
    return "".join(f"{{{key}}}" for key in mapping), mapping


PUPPETEERS = re.compile(r"\bp(?:id|dbref)\(#?(\d+)\)")


def authors_of_object(obj: Any) -> Authors:
    """Return who may have written an object's name and description (`policy.audience`).

    Builders may have, those whom its locks ``edit`` and ``control`` pass, and a player's character.
    """
    objects, accounts, anybody = editors_in(" or ".join(map(obj.locks.get, ("edit", "control"))))
    authors = {BUILDER, *(f"#{number}" for number in objects)}
    is_played = obj.has_account or PUPPETEERS.search(str(obj.locks.get("puppet")))
    if isinstance(obj, DefaultCharacter) and is_played:
        authors.add(obj.dbref)
    elif accounts:
        authors.update(characters_of(accounts))
    return frozenset({*authors, STRANGER} if anybody else authors)


def authors_of_objects(objects: Iterable[Any]) -> Authors:
    return frozenset[str]().union(*map(authors_of_object, objects))


def characters_of(accounts: Iterable[int]) -> Authors:
    """Return the characters of some accounts, a stranger for an account without any."""
    characters_found = set[str]()
    for number in accounts:
        account = AccountDB.get_cached_instance(number) or AccountDB.objects.get_id(number)
        characters = [item.dbref for item in listed_by(account)] if account else []
        characters_found.update(characters or [STRANGER])
    return frozenset(characters_found)


def listed_by(account: Any) -> list[Any]:
    """Return an account's characters; Evennia's handler needs four queries a reading (measured)."""
    return [item for item in account.attributes.get("_playable_characters") or () if item]


def owners_of(character: Any) -> tuple[list[Any], bool]:
    """Return the accounts that own a character, and whether a deleted one may have owned it.

    The ``puppet`` lock names whom to ask, among them a builder who only created the character.
    """
    numbers = {int(number) for number in PUPPETEERS.findall(str(character.locks.get("puppet")))}
    cached = {number: AccountDB.get_cached_instance(number) for number in numbers}
    accounts = [account for account in cached.values() if account]
    missing = [number for number, account in cached.items() if not account]
    accounts += AccountDB.objects.filter(id__in=missing)
    owners = [account for account in accounts if character in listed_by(account)]
    return owners, bool(numbers) and not accounts


def is_played_by(account: Any, character: Any) -> bool:
    """Return True unless a builder's account lists a character that nobody ever played."""
    has_been_left = character.attributes.has("prelogout_location")
    is_builders = account.check_permstring("Builder")
    return has_been_left or not is_builders or account.db._last_puppet == character
