"""Whether the authors of a prompt may have a tool used, by Evennia's locks (P8).

A player is asked by the accounts that own the character, whether they play it now or not: Evennia
itself would ask an unplayed character's own permissions, which may be more or less than the
account's. A superuser's bypass never counts.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache, partial
from itertools import product
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from evennia.locks.lockhandler import check_lockstring
from evennia.objects.models import ObjectDB
from pydantic import BaseModel
from twisted.logger import Logger

from evennia_ai.errors import NothingDone, ToolDenied
from evennia_ai.game.confirmations import ask_to_confirm
from evennia_ai.game.perception import display_name, find_objects, owners_of
from evennia_ai.game.texts import TEXTS
from evennia_ai.messages import Authors
from evennia_ai.mind.dry_run import Overlay
from evennia_ai.policy import staff_controls
from evennia_ai.policy.audience import BUILDER, GAME, LOCK_FUNCTION, STRANGER, known, people_among
from evennia_ai.policy.call_record import LockAsked
from evennia_ai.ports import ToolContext, ToolResult, overriding
from evennia_ai.ports.extension import Allow, Deny, Wait
from evennia_ai.scheduling import loggable
from evennia_ai.store import pending_acts
from evennia_ai.store.attributes import numbers_of
from evennia_ai.tools.base import Tool
from evennia_ai.turn.tool_executor import ASKED

log = Logger()


FOR_ALL = frozenset({"all()", "true()"})
# Lock functions about what a builder can give anybody: tags, attributes, things, places.
GIVEN_BY_BUILDERS = frozenset(
    "tag attr attr_eq attr_gt attr_ge attr_lt attr_le attr_ne locattr holds inside inside_rec "
    "has_account".split()
)
MOST_KEPT = 1_000  # people in memory
MOST_READ = 30  # new people for one question; each takes about 1 ms (measured)
MOST_TRIED = 6  # of these functions in one lock; with more a builder's text does not pass


class PlayedCharacter(Overlay):
    """A character as a lock sees it, with the account that plays it, if any."""

    @property
    def __class__(self) -> type:
        """The character's class: Evennia's lock functions look at it."""
        return type(self._base)

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("a view of a character has no class of its own")

    def __eq__(self, other: object) -> bool:
        return bool(self._base == other)

    def __hash__(self) -> int:
        return hash(self._base)


class UnnamedBuilder:
    """Somebody with the permission Builder and nothing else, for Evennia's lock functions."""

    locks = SimpleNamespace(lock_bypass=False)
    permissions = SimpleNamespace(all=lambda: ["builder"])
    attributes = SimpleNamespace(has=lambda *_a, **_k: False, get=lambda *_a, **_k: None)
    tags = SimpleNamespace(has=lambda *_a, **_k: False, get=lambda *_a, **_k: None)
    account = location = dbref = None
    contents = ()
    has_account = is_superuser = False


class PlainPlayer(UnnamedBuilder):
    """Somebody with a new account's permission and nothing else, for Evennia's lock functions."""

    permissions = SimpleNamespace(all=lambda: [settings.PERMISSION_ACCOUNT_DEFAULT.lower()])


UNNAMED_BUILDER, PLAIN_PLAYER = UnnamedBuilder(), PlainPlayer()


class LockSubjects:
    """The people whom locks are asked of, kept in memory between turns.

    Evennia would forget them, and reading a crowd again would hold the reactor.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Any] = OrderedDict()
        self._answers: dict[tuple[Authors, str], Mapping[str, bool]] = {}
        self._turn: object = None

    def answers(self, authors: Authors, lock: str, turn: object = None) -> Mapping[str, bool]:
        """Return whether each author passes a lock, asked once a ``turn``; empty if everybody does.

        Once an author who is no person refuses, people are not asked.
        """
        if turn is None or turn != self._turn:
            self._turn, self._answers = turn, {}
        key = (authors, lock)
        if key not in self._answers:
            self._answers[key] = self._ask(authors, lock)
        return self._answers[key]

    def _ask(self, authors: Authors, lock: str) -> dict[str, bool]:
        if lock.strip() in FOR_ALL:
            return {}
        people = people_among(authors)
        answers = {
            item: item == GAME or (item == BUILDER and builders_may(lock))
            for item in sorted(known(authors) - people)
        }
        characters = self.found(people) if all(answers.values()) else {}
        if characters is None:  # somebody is deleted, or too many are new
            return {**answers, STRANGER: False}
        tags = tags_of(characters) if "tag(" in lock else {}
        missing = sorted(characters.items())
        return answers | {f"#{n}": may(item, lock, tags.get(n, frozenset())) for n, item in missing}

    def found(self, dbrefs: Iterable[str]) -> dict[int, Any] | None:
        """Return the objects with some dbrefs by number; one query at most.

        None if one is deleted, or too many are new: the next question goes on with the others.
        """
        wanted = sorted(numbers_of(dbrefs))
        cached = {number: ObjectDB.get_cached_instance(number) for number in wanted}
        known: dict[int, Any] = {
            n: item for n, item in cached.items() if item and item is self._kept.get(n)
        }
        new = [number for number in wanted if number not in known]
        known.update((n, item) for n in new[:MOST_READ] if (item := cached[n]))
        missing = [number for number in new[:MOST_READ] if number not in known]
        known |= {item.id: item for item in ObjectDB.objects.filter(id__in=missing)}
        for number, item in known.items():
            self._keep(number, item)
        return known if len(known) == len(wanted) else None

    def _keep(self, number: int, character: Any) -> None:
        self._kept[number] = character
        self._kept.move_to_end(number)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


def object_lets(obj: Any, context: ToolContext, lock: str, default: bool = False) -> bool:
    """Return True if an object's lock lets the character pass; note the answer.

    ``default`` is the answer of an object without such a lock.
    """
    passed = bool(obj.access(context.character, lock, default=default))
    context.locks.append(LockAsked(lock, obj.dbref, {context.character.dbref: passed}))
    return passed


def tags_of(numbers: Iterable[int]) -> dict[int, frozenset[tuple[str, str | None]]]:
    """Return the tags of some objects, each with its category, in one query."""
    rows = ObjectDB.db_tags.through.objects.filter(
        objectdb_id__in=list(numbers), tag__db_model="objectdb", tag__db_tagtype=None
    )
    tags_by_number: dict[int, set[tuple[str, str | None]]] = {}
    for number, key, category in rows.values_list("objectdb_id", "tag__db_key", "tag__db_category"):
        tags_by_number.setdefault(number, set()).add((key, category))
    return {number: frozenset(tags) for number, tags in tags_by_number.items()}


def may(character: Any, lock: str, tags: frozenset[tuple[str, str | None]]) -> bool:
    """Return True if a character passes a lock, by every account that owns or plays it."""
    owners, is_orphan = owners_of(character)
    if is_orphan:
        return False
    players = {account.id: account for account in (*owners, character.account) if account}
    known = Overlay(character.tags, get=partial(read_tag, character.tags, tags))
    accounts = players.values() or (None,)
    return all(
        passes(PlayedCharacter(character, account=item, tags=known), lock) for item in accounts
    )


def read_tag(
    handler: Any,
    tags: frozenset[tuple[str, str | None]],
    key: Any = None,
    category: str | None = None,
    **options: Any,
) -> Any:
    """Return a tag as Evennia's handler does, for which a missing tag costs a query."""
    if key is None or options:
        return handler.get(key, category=category, **options)
    wanted = (str(key).strip().lower(), category.strip().lower() if category else None)
    return wanted[0] if wanted in tags else None


def passes(who: Any, lock: str) -> bool:
    """Return True if somebody passes a lock; an error in a lock function counts as a no."""
    try:
        return bool(check_lockstring(who, f"use:{lock}", no_superuser_bypass=True))
    except Exception:  # noqa: BLE001  # a game's lock function may raise anything
        log.failure("the lock {lock} raised an error and refuses", lock=lock)
        return False


def builders_may(lock: str) -> bool:
    """Return True if some builder could pass a lock, whatever they have to give themselves."""
    return could_pass(UNNAMED_BUILDER, lock)


@lru_cache(maxsize=256)
def could_pass(who: UnnamedBuilder, lock: str) -> bool:
    """Return True if somebody could pass a lock, with what builders can give them."""
    calls = [match for match in LOCK_FUNCTION.finditer(lock) if match[1] in GIVEN_BY_BUILDERS]
    if len(calls) > MOST_TRIED:
        return False
    for answers in product(("true()", "false()"), repeat=len(calls)):
        tried = lock
        for match, answer in zip(reversed(calls), answers, strict=True):
            tried = tried[: match.start()] + answer + tried[match.end() :]
        if passes(who, tried):
            return True
    return False


def ask_people(item: Tool, context: ToolContext, arguments: BaseModel) -> ToolResult | None:
    """Return that a call waits for a person, None if it may run.

    Raises ToolDenied and NothingDone.
    """
    verdict = judge(item, context, arguments)
    if context.confirmed_by:
        return None
    if not (verdict or item.answers_only or context.item):
        if item.approval:
            raise ToolDenied("The staff would have to approve that, and cannot be asked.")
        return None
    exact = staff_controls.exact_arguments(arguments.model_dump(mode="json"))
    if len(exact) > staff_controls.MOST_CHARS:
        raise NothingDone(
            "A person must read and allow that first, and it is too long: be shorter."
        )
    thing = item.subject(context, arguments)[0].dbref if item.subject else ""
    if verdict is None:
        return wait_for_speaker(item, context, exact, thing, arguments)
    act = put_act(item, context, exact, thing, staff_controls.APPROVE, verdict.within_s)
    verdict.tell(act)
    return ToolResult(ASKED, verdict.text)


def judge(item: Tool, context: ToolContext, arguments: BaseModel) -> Wait | None:
    """Return why a call waits by the rules of extensions, None if it may run; raises ToolDenied."""
    extensions = context.assistant.services.extensions if context.assistant else ()
    verdicts: list[Allow | Wait | Deny] = []
    for extension in overriding(extensions, "before_tool_call"):
        try:
            verdicts.append(extension.before_tool_call(context, item, arguments))
        except Exception:  # noqa: BLE001  # an extension may raise anything
            line, failure = "evennia_ai: {name} gave no verdict", loggable(context.private)
            log.failure(line, failure, name=extension.name)
            verdicts.append(Deny("A rule of the game failed, so that is not allowed."))
    for verdict in verdicts:
        if not isinstance(verdict, Allow | Wait):
            why = verdict.reason if isinstance(verdict, Deny) else ""
            raise ToolDenied(why or TEXTS["cannot_allow"])
    return next((verdict for verdict in verdicts if isinstance(verdict, Wait)), None)


def wait_for_speaker(
    item: Tool, context: ToolContext, exact: str, thing: str, arguments: BaseModel
) -> ToolResult:
    """Ask the one person who spoke to confirm a call."""
    person = only_speaker(context)
    if pending_acts.asked_of(person.dbref, context.assistant.services.now()):
        raise ToolDenied("They have not answered yet whether you may do the last such thing.")
    question = item.question(context, arguments) if item.question else ""
    within_s = context.assistant.config.confirm_within
    act = put_act(item, context, exact, thing, staff_controls.CONFIRM, within_s)
    ask_to_confirm(person, context.character, act, item.purpose, question)
    name = display_name(person, context.character)
    return ToolResult(ASKED, f"Not done yet. {name} is asked whether you may: wait for the answer.")


def only_speaker(context: ToolContext) -> Any:
    """Return the player who alone is answered in the turn; raises ToolDenied.

    What others said meanwhile, and not to the character, does not count.
    """
    people = find_objects(context.askers)
    if len(people) != 1:
        raise ToolDenied("Only one person alone can have that done: let them ask again, alone.")
    if not people[0].has_account:
        raise ToolDenied("Nobody is there who could confirm that.")
    return people[0]


def put_act(
    item: Tool, context: ToolContext, exact: str, thing: str, needs: str, within_s: float
) -> staff_controls.PendingToolCall:
    """Store a call, about a thing if any, as an act that waits so long; return it."""
    parts = context.assistant
    now = parts.services.now()
    act = staff_controls.PendingToolCall(
        id=0,
        assistant_id=parts.who.id,
        needs=needs,
        state=staff_controls.WAITING,
        name=item.name,
        arguments=exact,
        speakers=tuple(sorted(context.askers)),
        authors=context.all_authors,
        audience=context.audience,
        private=context.private,
        at=now,
        expires_at=now + timedelta(seconds=within_s),
        item=thing,
    )
    return replace(act, id=pending_acts.put(act))
