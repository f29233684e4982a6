"""Select what a prompt holds beside the talk: lore, pins, memories and restored materials."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config.profiles import request_form
from evennia_ai.messages import (
    Audience,
    Authors,
    ChatMessage,
    InboxEvent,
    Situation,
    is_scene,
    unmarked,
)
from evennia_ai.policy.audience import (
    GAME,
    KnownLine,
    known,
    of_messages,
    of_record,
    of_records,
    of_turn,
)
from evennia_ai.policy.compaction.restored_context import ENTITY, ENTRY, select_restored
from evennia_ai.policy.context.projection import visible_items
from evennia_ai.policy.context.situation_updates import (
    BACKGROUND,
    LATE_TOOLS,
    LORE,
    MATERIALS,
    NOTHING,
    PEOPLE,
    REMEMBERED,
    Row,
    scene_text,
)
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry
from evennia_ai.policy.facts.terms import HEARD
from evennia_ai.policy.records.record import Record, is_known_to, time_of
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.staff_controls import LABEL as NOTE
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.policy.tool_call_modes.plain_prompt import LEAST_FIT
from evennia_ai.ports import MindContext, TurnRecord
from evennia_ai.ports.extension import Extension, collect, overriding
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.context_use import ContextMeter
from evennia_ai.turn.line_notes import LineNotes
from evennia_ai.turn.pinned_context import LoreContext, PeopleContext, PinnedContext
from evennia_ai.turn.prompt_contexts import lore_text
from evennia_ai.turn.recall import (
    MARK_TOKENS,
    Recall,
    RecallRequest,
    RecentTalk,
    follow_up_query,
    memory_query,
)

PINNED = "Keep in mind"
LORES = (LORE, BACKGROUND)
TALK_LINES = 3
# Shares of the window. No provider's cache keeps a prompt's last part, so each call pays for it.
TAIL_PART = 0.075
LEAST_RECALL = 0.02
MATERIALS_PART = 0.02
LINE_CHARS = 300
NOTED = 3
FOREIGN_TOKENS = 250  # of lore before a line with which nothing can be compared


@dataclass(frozen=True)
class ContextItems:
    """What a prompt tells beside the talk: the situation, lore, people, pins, goals, memories."""

    lore: tuple[LoreEntry, ...]
    rows: tuple[Row, ...]
    # What is recalled for these lines. It stands before them in this prompt alone: kept, it would
    # fill a small window with what is recalled again when it is asked for.
    passing: tuple[Row, ...] = ()


@dataclass(eq=False)
class ContextSelector:
    """Selects what a prompt holds beside the talk."""

    _mind: MindContext
    _meter: ContextMeter
    _knowledge: PinnedContext
    _people: PeopleContext
    _recall: Recall
    _lore: LoreContext
    _line_notes: LineNotes

    @inlineCallbacks
    def prepare(
        self, turn: TurnRecord, lines: Sequence[str], audience: Audience
    ) -> Coroutine[None]:
        """Make ready what the next prompt of a turn on some lines may need of lore and memory."""
        yield self._lore.prepare(lines, audience)
        queries = [memory_query(lines, self._mind.name)]
        if request_form(self._mind.profile).native:
            yield self._recall.prepare(turn, queries)
            return
        talk = latest_talk(visible_items(self._mind.log.view(), audience), lines)
        yield self._recall.prepare(turn, [*queries, follow_up_query(talk, self._mind.name)])
        yield self._line_notes.prepare(lines, talk.before)

    @inlineCallbacks
    def note_turn(self, turn: TurnRecord, is_answered: bool) -> Coroutine[None]:
        """Note whom a stored turn answered, and take its lines into memory."""
        if is_answered:
            yield self._people.record_contacts(turn)
        yield self._recall.remember_turn()

    def select(
        self,
        audience: Audience,
        talk: RecentTalk,
        situation: Sequence[Row],
        late_tools: Sequence[str] = (),
        secret: bool = False,
        upto: int | None = None,
        brief: bool = False,
        all_lore: bool = False,
    ) -> ContextItems:
        """Return everything about the conversation that this audience may know, within its budget.

        ``situation`` is what the character perceives, ``late_tools`` are lines about tools. If the
        talk is ``secret``, so is the lore that it touches: it would tell others what was asked.
        ``upto`` is the last message that the prompt does not show, None for all. If ``brief``, for
        a model that reads slowly, only what fits the new lines best. ``all_lore`` is for a line
        that nothing can be compared with.
        """
        window = self._meter.window
        before = talk.before[-1:] if brief else talk.before
        trials = self._lore.try_lines([*talk.asked, *reversed(before)], audience)
        lore = [trial.entry for trial in trials if trial.is_chosen]
        is_stand_in = not self._mind.profile.has_model
        if is_stand_in or all_lore:
            lore = self._all_lore(lore, audience, FOREIGN_TOKENS if all_lore else 0)
        # What is named is told to a small model if nothing fits its line better.
        fits = {item.entry: max(item.score, LEAST_FIT * item.is_named) for item in trials}
        rows = list(situation)

        def add(label: str, lines: Iterable[KnownLine]) -> None:
            # Only recalled lines may tell what the game perceived.
            rows.extend((label, line._replace(text=unmarked(line.text))) for line in lines)

        def rows_of(extension: Extension) -> list[Row]:
            own_rows = extension.prompt_rows(self._mind, audience)
            # Who wrote a row without authors is a stranger.
            return [
                (str(label), line._replace(authors=known(line.authors))) for label, line in own_rows
            ]

        for entry in lore:
            touched = brief or not (entry.always or is_stand_in)
            line = KnownLine(lore_text(entry), secret, entry.authors, entry.title)
            add(LORE if touched else BACKGROUND, [line._replace(score=fits.get(entry, 0.0))])
        add(LATE_TOOLS, (KnownLine(line, authors=frozenset({GAME})) for line in late_tools))
        add(PEOPLE, self._people.describe_present(audience, known_only=brief))
        add(PINNED, self._knowledge.pins(audience))
        extensions = overriding(self._mind.services.extensions, "prompt_rows")
        for label, line in collect(extensions, rows_of):
            add(label, [line])
        add(NOTE, self._mind.status.author_note())
        # Each of them within what the earlier ones leave.
        least, left = LEAST_RECALL * window, TAIL_PART * window
        most = min(MATERIALS_PART * window, left - estimate_tokens(scene_text(rows)) - least)
        add(MATERIALS, self._restored_materials(audience, int(most)))
        most = max(left - estimate_tokens(scene_text(rows)), least)
        most = min(self._mind.config.recall_tokens, int(most))
        shown_lines = [line.text for label, line in rows[len(situation) :] if label not in LORES]
        shown_lines += talk.shown
        wanted = RecallRequest(audience, most, upto, shown_lines, brief)
        recalled = self._recall.recall(talk, wanted)
        passing = [(REMEMBERED, line) for line in recalled]
        return ContextItems(tuple(lore), tuple(rows), tuple(passing))

    def _all_lore(
        self, chosen: Sequence[LoreEntry], audience: Audience, least_tokens: int
    ) -> list[LoreEntry]:
        """Return the chosen lore and, within its budget, what else these listeners may hear.

        The stand-in has nothing else to talk about, and its prompt costs nothing; others have at
        least so many tokens of it.
        """
        left, entries = max(self._lore.budget_tokens, least_tokens), list[LoreEntry]()
        for entry in dict.fromkeys([*chosen, *self._lore.known(audience)]):
            left -= estimate_tokens(entry.title + entry.text)
            entries += [entry] if left >= 0 or entry in chosen else []
        return entries

    def standing(self, scenes: Iterable[ChatMessage], audience: Audience) -> list[ChatMessage]:
        """Return the scenes whose lore, memories and note are still as they were shown.

        Others are left out: what was deleted, changed or taken back stands in no later prompt.
        """
        scenes = list(scenes)
        rows = [row for scene in scenes for row in scene["metadata"]["rows"]]
        tellable = self._lore.tellable(audience) if any(row[0] in LORES for row in rows) else ()
        known_lore = {unmarked(lore_text(lore_entry)) for lore_entry in tellable}
        noted = {line for label, line in rows if label not in LORES and line.source}
        gone = self._recall.gone(noted, audience)
        notes = {unmarked(line.text) for line in self._mind.status.author_note()}

        def stands(row: Row) -> bool:
            label, line = row
            if label in (*LORES, NOTE):
                return line.text in (known_lore if label in LORES else (*notes, NOTHING))
            return line not in gone

        return [scene for scene in scenes if all(map(stands, scene["metadata"]["rows"]))]

    def authors_of(
        self, events: Iterable[InboxEvent], shown: Iterable[ChatMessage], situation: Situation
    ) -> Authors:
        author_sets = (event.heard.written_by for event in events)
        shown = list(shown)
        messages = [message for message in shown if not is_scene(message)]
        written = self._mind.who.persona_authors.union(
            known(situation.authors), of_messages(messages), *author_sets
        )
        return of_turn(written) | of_messages(filter(is_scene, shown))

    def _restored_materials(self, audience: Audience, budget_tokens: int) -> list[KnownLine]:
        """Return one line for each restored material that this audience may know (P9)."""
        # `select_restored` chooses the materials. Each is read again for each prompt, from a loaded
        # journal and loaded profiles, so that changed or deleted records show correctly.
        view = self._mind.log.current
        lines: list[KnownLine] = []
        for item in select_restored(view.record, view.messages, audience):
            kind, _, id = item.ref.partition(":")  # noqa: A001
            read = {ENTRY: self._read_entry, ENTITY: self._read_entity}.get(kind)
            text = read and read(id, audience)
            if not text:
                continue
            budget_tokens -= estimate_tokens(text.text) + MARK_TOKENS
            if budget_tokens < 0:
                break
            private = text.private or item.heard_by is not None
            lines.append(text._replace(private=private))
        return lines

    def _read_entry(self, id: str, audience: Audience) -> KnownLine | None:
        """Return a journal entry as a line, None if it is deleted, withheld, secret, or pinned."""
        journal = self._mind.character.journal
        entry = journal.get(id)
        if entry is None or not is_known_to(entry, audience) or journal.withholds(entry):
            return None
        if entry["pinned"]:  # in the prompt already
            return None
        day = self._mind.world_clock.day(time_of(entry))
        line = f"you noted on {day}: {clean_heard(entry['content'], LINE_CHARS)}"
        return KnownLine(line, entry["audience"] is not None, of_record(entry), id)

    def _read_entity(self, dbref: str, audience: Audience) -> KnownLine | None:
        """Return a person or thing as a line: its looks if visible, and what is known about it."""
        world, character = self._mind.world, self._mind.character
        name = clean_heard(world.name_of(character, dbref), LINE_CHARS)
        # The prompt holds the values of people present already.
        profiles, known = character.ai_profiles, list[Record]()
        if profiles.is_loaded:
            is_here = dbref in audience | world.listeners(character)
            values = [] if is_here else profiles.attributes(dbref, audience)
            known = [*values[-NOTED:], *profiles.observations(dbref, audience)[-NOTED:]]
        looks = world.looks_of(character, dbref)
        texts = [looks]
        for record in known:
            is_value = record["kind"] == "attribute"
            value = f"{record['attribute']}: {record['value']}" if is_value else record["content"]
            texts.append(str(value))
        lines = [clean_heard(text, LINE_CHARS) for text in texts if text]
        if not name or not lines:
            return None
        private = any(item["audience"] is not None for item in known)
        authors = world.authors_of(dbref) | of_records(known)
        return KnownLine(f"{name}: {'; '.join(lines)}", private, authors)


def latest_talk(visible: Sequence[ChatMessage], unanswered: Sequence[str]) -> RecentTalk:
    """Return what is being talked about: the unanswered lines, and the latest lines before them."""
    # If no line is unanswered, the last line that somebody said counts as one.
    heard_lines = [
        m["content"] for m in visible if m["role"] == "user" and "type" not in m["metadata"]
    ]
    latest = heard_lines[-TALK_LINES:]
    spoken_lines = [line for line in latest if HEARD.match(line)]
    query_lines = list(unanswered) or spoken_lines[-1:] or latest[-1:]
    return RecentTalk(query_lines, [line for line in latest if line not in query_lines])
