"""Deeds of people towards a character: from the rows of the log, and from a game's code."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai import models
from evennia_ai.contrib.opinions.opinion_records import LOOK_BACK, OpinionDeeds
from evennia_ai.contrib.opinions.opinion_rules import (
    DEEDS,
    WORDS,
    DeedRule,
    OpinionSettings,
    read_rules,
)
from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.perception import find_object, name_in_act
from evennia_ai.memory.remote_vectors import kinds_in
from evennia_ai.messages import PERCEIVED, Audience, Authors, InboxEvent, as_name
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.staff_controls import AGREED, RUNNING
from evennia_ai.policy.texts import an
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.pending_acts import from_row
from evennia_ai.store.rows import event_from_row
from evennia_ai.store.transactions import store_errors

log = Logger()

REASON_CHARS = 120
EVENTS_A_LOOK = 50  # 1 ms each on busy cores (measured)
DONE = "done"
FIGHT = {"attack": "attacked you", "hit": "hit you", "kill": "felled you"}
DEALS = {"purchase": "bought {} from you", "sale": "sold you {}"}
LINES = Path(__file__).with_name("tones.toml")
NEITHER = "neither"
# Of each example told by all others, 57 of 81 are read rightly and 10 as the opposite, and 4 of the
# 65 others wrongly (MiniLM); by the nearest example alone it is 44, 26 and 18.
SHARED_WORDS, SURE = 0.5, 0.1


def dbref_of(person: Any) -> str:
    return person if isinstance(person, str) else str(getattr(person, "dbref", ""))


def rules_of(character: Any) -> Mapping[str, DeedRule]:
    """Return the rules of a character, by the kind of deed."""
    return read_rules(character.ai_mind.settings.config.part(OpinionSettings).opinion_rules)


def record_deed(  # noqa: PLR0913  # all but four have defaults
    character: Any,
    person: Any,
    kind: str,
    reason: str,
    *,
    key: str = "",
    audience: Audience | None = None,
    authors: Authors = frozenset(),
    at: datetime | None = None,
    thing: str = "",
) -> float:
    """Let a deed of a person change a character's opinion, by the rule for its kind.

    Args:
        character: whose opinion it is; one with an assistant.
        person: who did it, an object or its dbref.
        kind: a deed of the rules, such as "theft"; another changes nothing.
        reason: what was done, in words that follow a name: "took your purse".
        key: what tells this deed from all others, such as "bet 7": the same key counts once.
        audience: dbrefs of those who alone may know it; None for everybody.
        authors: those whose words the reason quotes; by default the person.
        at: when it was done, in UTC; by default now.
        thing: the dbref of what was given, if any: the same thing counts once.

    Returns:
        The points that it changed, 0 if it was counted before or its day has no room.

    Raises:
        BadRecord: the reason is empty, or the person has no dbref.
        StoreUnavailable: the database is busy; nothing has changed.
    """
    mind, dbref = character.ai_mind, dbref_of(person)
    rule = rules_of(character).get(kind) if mind else None
    if rule is None:
        return 0.0
    return OpinionDeeds.of(character).count(
        rule,
        key=key or uuid4().hex,
        entity=dbref,
        deed=kind,
        content=clean_heard(reason, REASON_CHARS),
        made=(at or mind.services.now()).isoformat(),
        thing=thing,
        audience=None if audience is None else sorted(audience),
        speakers=sorted(authors or {dbref}),
        source_type="observation",
    )


def store_of(character: Any) -> OpinionDeeds:
    """Return a character's deeds, with those that the log told since the last look."""
    store = OpinionDeeds.of(character)
    if store.is_behind and character.ai_mind is not None:
        try:
            with store_errors():
                read_rows(character, store)
        except StoreUnavailable as error:
            log.info("{name}: some deeds wait: {error}", name=character.key, error=error)
    return store


def read_rows(character: Any, store: OpinionDeeds) -> None:
    """Count the deeds that the next rows tell, each row once; raises StoreUnavailable."""
    mind, rules = character.ai_mind, rules_of(character)
    names = {*rules, *(name for name, deed in DEEDS.items() if deed in rules)}
    recent = {"assistant_id": mind.who.id, "at__gte": mind.services.now() - LOOK_BACK}
    events = models.Event.objects.filter(evidence=PERCEIVED, kind__in=names, **recent)
    rows = events.filter(id__gt=store.last_event).order_by("id")[:EVENTS_A_LOOK]
    for event in rows:
        count_event(character, event_from_row(event))
        store.last_event = event.id
    acts = models.PendingAct.objects.filter(name__in=names, **recent).order_by("id")
    running = False
    for act in acts.filter(state__in=(AGREED, RUNNING, DONE)):
        running |= act.state != DONE
        if act.state == DONE and act.id not in store.acts:
            count_act(character, act)
            store.acts.add(act.id)
    store.is_behind = running
    if len(rows) == EVENTS_A_LOOK:  # a crowd's, or those since a crash
        store.is_behind = True
        mind.services.slices.put(store_of, character)


def count_event(character: Any, event: InboxEvent, tone: str = "") -> None:
    """Count what somebody did to a character, as the game told it, or the tone of their words."""
    line = event.heard
    deed = tone or DEEDS.get(line.kind, line.kind)
    to_another = deed in FIGHT and line.item not in ("", character.dbref)
    if line.speaker in ("", character.dbref) or to_another:
        return
    reason = f"gave you {an(as_name(line.text))}" if line.kind == "give" else tone or line.text
    reason, authors, audience = FIGHT.get(deed, reason), line.written_by, line.confidants
    about: dict[str, Any] = {"authors": authors, "audience": audience, "at": event.at}
    key, thing = f"{'words' if tone else 'event'} {event.id}", line.item if deed == "gift" else ""
    record_deed(character, line.speaker, deed, reason, key=key, thing=thing, **about)


def count_act(character: Any, row: models.PendingAct) -> None:
    """Count what one person agreed to, such as a sale."""
    act, thing = from_row(row), find_object(row.item) if row.item else None
    deed, named = DEEDS.get(act.name, act.name), "something"
    if thing is not None:
        named = an(name_in_act(thing, character))
    reason = DEALS.get(deed, f"agreed to {deed}").format(named)
    audience, key = act.audience if act.private else None, f"act {act.id}"
    about: dict[str, Any] = {"authors": act.authors, "audience": audience, "at": act.at}
    if len(act.speakers) == 1:
        record_deed(character, act.speakers[0], deed, reason, key=key, **about)


@inlineCallbacks
def weigh_words(character: Any, event: InboxEvent) -> Coroutine[None]:
    """Count a line that is kind or unkind to the character; never fails.

    Examples say which; without an embedder words count for nothing.
    """
    services = character.ai_mind.services
    tones = kinds_in(LINES, services.nearness, SHARED_WORDS)
    words = without_address(event.heard.text, character.key)
    can_tell = yield tones.prepare(services, [words])
    if not can_tell:
        return
    scores = tones.scores(words, services.nearness.cosines)
    tone, second, *_rest = sorted(scores, key=lambda name: -scores[name])
    tone = tone if scores[tone] >= scores[second] + SURE else NEITHER
    try:
        # Its speaker may have been forgotten meanwhile.
        if tone in WORDS and models.Event.objects.filter(id=event.id).exists():
            count_event(character, event, tone)
    except StoreUnavailable as error:
        log.info("{name}: words count for nothing: {error}", name=character.key, error=error)
