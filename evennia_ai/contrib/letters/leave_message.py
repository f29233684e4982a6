"""How a letter is left: by the tool, or by the words of a line.

Of a line, first comes structure: the name of somebody elsewhere. Then the embedder compares the
text, without that name, with examples; without one, nothing is read.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from django.db.models import Q
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter
from evennia.utils import create
from pydantic import BaseModel
from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.letters.letter_records import KEPT, Letters, LetterSettings, attend
from evennia_ai.errors import NothingDone
from evennia_ai.extension import tool
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import all_named, asked_for, listening_objects, objects_named_in
from evennia_ai.game.texts import text
from evennia_ai.memory.remote_vectors import kinds_in
from evennia_ai.policy.facts.terms import without_names
from evennia_ai.policy.limits.people import is_reached
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.names import names_of, own_name
from evennia_ai.store.transactions import brief_transaction
from evennia_ai.tools.memory_sources import content_of, heard, only_asker, sources_of, store_record

MOST_CHARS = 400
LETTER, OTHER = "letter", "other"
EXAMPLES = Path(__file__).with_name("examples.toml")
OPENINGS = Path(__file__).with_name("openings.toml")
MOST_WORDS, MOST_BEFORE, WHOLE, PART, OPENED = 14, 8, "whole", "part", 0.05
UNSURE = 0.05
WORTH_TELLING = 0.4  # how like a message a line must be to be told as misunderstood
LATE, NO_MESSAGE = "not read as a message: the embedder was late", "not understood as a message"


class MessageArguments(BaseModel):
    """A message, and for whom it is."""

    to: str
    text: str


@tool("leave_message", world=False, safe_to_retry=True, rare=True)
@inlineCallbacks
def leave_message(context: ToolContext, arguments: MessageArguments) -> Coroutine[str]:
    """Take a message for somebody who is not here. You tell it when you meet, to them alone."""
    letter = yield add_letter(context, arguments.text, find_receiver(context, arguments.to))
    return "It was sent." if letter["state"] == KEPT else "Noted. Tell nobody else."


@inlineCallbacks
def add_letter(context: ToolContext, words: str, receiver: Any) -> Coroutine[Record]:
    """Store a message, or send it by mail if the game wants that; fires with its record.

    Fails with NothingDone. Only its sender and its receiver know it.
    """
    character, settings = context.character, context.assistant.config.part(LetterSettings)
    sender, store = only_asker(context), Letters.of(character)
    content = content_of(context, words, MOST_CHARS)
    yield store.load(context.assistant.services.slices.put)
    if is_reached(store.open(), context.causes, settings.person_letters):
        raise NothingDone("You have enough messages of theirs to pass on.")
    whose = {"entity": receiver.dbref, "source_entity": sender.dbref}
    fields = {**sources_of(context), **whose, "audience": [*whose.values()]}
    number: str = yield store_record(context, lambda: store.add(content, **fields))
    if settings.letters_by_mail and not getattr(receiver, "assistant", None):
        with brief_transaction(characters=[character.id]):
            store.update(number, state=KEPT)
            header = f"From {own_name(sender)}"
            mail = create.create_message(character, clean_output(content), receiver, header=header)
            mail.tags.add("new", category="mail")
    attend(character)
    return store.require(number)


def find_receiver(context: ToolContext, name: str) -> Any:
    """Return the one character with a name or alias; raises NothingDone, for several too."""
    character, name = context.character, name.strip()
    if all_named(name, listening_objects(character), character):
        raise NothingDone("They are here: speak to them.")
    named = any(name.lower() in m["content"].lower() for m in heard(context))
    if context.private and not (named or context.source_seqs):  # those of a line that names them
        raise NothingDone("Nobody asked you to tell them that: it was said in confidence.")
    alias = Q(db_tags__db_key=name.lower(), db_tags__db_tagtype="alias")
    rows = ObjectDB.objects.filter(Q(db_key__iexact=name) | alias).exclude(id=character.id)
    people = [item for item in rows.distinct() if isinstance(item, DefaultCharacter)]
    if len(people) != 1:
        many = "Several are" if people else "Nobody is"
        raise NothingDone(f"{many} called {asked_for(name)}: ask for whom it is.")
    return people[0]


# --- what a line asks for, without the tool -------------------------------------------------------


def requests_in(texts: Sequence[str], character: Any) -> dict[str, tuple[str, str, str]]:
    """Return the texts that name somebody who is not here, by what they are without that name.

    Each is with the one's name and how it is spelled.
    """
    here, requests = {character, *listening_objects(character)}, dict[str, tuple[str, str, str]]()
    for words in texts:
        named = objects_named_in(words).items()
        away = [it for it in named if isinstance(it[0], DefaultCharacter) and it[0] not in here]
        if away:  # "Ann's brother Bob" is Bob
            obj, spelled = min(away, key=lambda item: f"{item[1]}'s" in words)
            requests[without_names(words, [spelled])] = (words, obj.key, spelled)
    return requests


def may_leave_message(context: ToolContext, texts: Sequence[str]) -> bool:
    """Return False if no text leaves a message; while the embedder is late, one may."""
    services: Any = context.assistant.services
    kinds, requests = kinds_in(EXAMPLES, services.nearness), requests_in(texts, context.character)
    if requests:  # a local embedder is never late
        services.nearness.prepare(services, [*requests, *kinds.examples])
    judged = [kinds.scores(compared, services.nearness.cosines) for compared in requests]
    return any(is_message(scores) if scores else services.embedder for scores in judged)


def is_message(scores: Mapping[str, float]) -> bool:
    return scores[LETTER] >= scores[OTHER] + UNSURE


@inlineCallbacks
def take_message(context: ToolContext, texts: Sequence[str]) -> Coroutine[str]:
    """Store the first message that texts ask for. Fires with the words that agree to it.

    Fails with NothingDone.
    """
    services: Any = context.assistant.services
    kinds, requests = kinds_in(EXAMPLES, services.nearness), requests_in(texts, context.character)
    if not requests:
        return ""
    can_tell = yield kinds.prepare(services, [*requests])
    if not can_tell:
        if services.embedder and not context.assistant.profile.has_model:
            return text("fallback").splitlines()[0]  # or the stand-in says that it carries none
        raise NothingDone(LATE * bool(services.embedder))
    likeliest = 0.0
    for compared, (words, name, spelled) in requests.items():
        scores = kinds.scores(compared, services.nearness.cosines)
        if is_message(scores):
            receiver = find_receiver(context, name)
            message = yield find_message(services, words, spelled)
            letter = yield add_letter(context, message, receiver)
            return agreed_words(letter)
        likeliest = max(likeliest, scores[LETTER])
    raise NothingDone(NO_MESSAGE * (likeliest >= WORTH_TELLING))


@inlineCallbacks
def find_message(services: Any, words: str, name: str) -> Coroutine[str]:
    """Fire with what the one with a name in a text is to be told, as it was said.

    That is what stands behind a colon, or else behind the likeliest opening; without one, all.
    """
    head, _name, rest = words.partition(name)
    if ": " in rest:
        return rest.partition(": ")[2]
    before, openings = f"{head}someone".split(), kinds_in(OPENINGS, services.nearness)
    starts = [word.start() for word in islice(re.finditer(r"\w\S*", rest), MOST_WORDS)][:-1]
    messages = {" ".join([*before[-MOST_BEFORE:], rest[:at], "so"]): rest[at:] for at in starts}
    can_tell = messages and (yield openings.prepare(services, [*messages]))
    cosines, surest = services.nearness.cosines, (OPENED, words)
    for opening, message in messages.items() if can_tell else ():
        scores = openings.scores(opening, cosines)
        surest = max(surest, (scores[WHOLE] - scores[PART], message))
    return surest[1]


def agreed_words(letter: Record) -> str:
    return text("letter_agreed", name=names_of([letter["entity"]]).get(letter["entity"], ""))
