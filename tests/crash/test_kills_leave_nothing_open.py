"""Killed after any commit, a game has no row that stays open once it has started again.

A game is played once, and its database is copied after each commit: a copy is what a kill leaves
there. Each copy then starts with nothing in memory; in `make test-more`, every second one.
"""

import sqlite3
from contextlib import contextmanager
from functools import partial

import pytest
from django.db import connection
from django.db.models import Q
from pydantic import BaseModel

from evennia_ai.models import Event, PendingAct, SleepPass, ToolCall, Turn
from evennia_ai.tools.base import tool
from tests.faults import storage_scene as scene
from tests.faults.own_database import IS_POSTGRESQL
from tests.game import conftest as own
from tests.game.fresh_state import forget_everything
from tests.game.test_sleep_check import fill
from tests.reading_requests import is_summary
from tests.scripted import call

pytestmark = [
    pytest.mark.game,
    pytest.mark.campaign,
    pytest.mark.skipif(IS_POSTGRESQL, reason="copies SQLite's database"),
]

db, patience = scene.db, scene.patience
service, model, game, tavern = own.service, own.model, own.game, own.tavern
mira, ann, admin = own.mira, own.ann, own.admin
DOWN_S = 400  # longer than an act may wait for its person
WRITES = ("INSERT", "UPDATE", "DELETE")


class PromiseArguments(BaseModel):
    thing: str


@tool("promise", category="once", answers_only=True)
def promise(context, arguments: PromiseArguments) -> str:
    """Promise somebody a thing."""
    context.character.attributes.add("promised", arguments.thing)
    return "You promised it."


class Copies:
    """Copies of the database, one after each commit that changed something."""

    def __init__(self):
        self.all, self._is_new = [], False

    @contextmanager
    def taken(self):
        with connection.execute_wrapper(self.execute):
            yield
        self.note()

    def execute(self, execute, sql, *rest):
        self.note()  # a statement may end after it is executed, when its rows are read
        self._is_new |= sql.startswith(WRITES)
        return execute(sql, *rest)

    def note(self):
        if self._is_new and not connection.connection.in_transaction:
            self._is_new = False
            self.all.append(sqlite3.connect(":memory:"))
            connection.connection.backup(self.all[-1])


def calm(request):
    """Answer with a summary where one is asked for, and with silence."""
    return "Ann told stories." if is_summary(request) else call("noop")


CALM = [calm] * 40


def talk(game, ann):
    """Talk, a look, an act with its yes, and an act that waits and is never answered."""
    say, promises = partial(call, "say"), partial(call, "promise")
    game.model.add(call("look"), say(text="Hello."), promises(thing="ale"), call("noop"))
    for line in ("say Mira, hello", "say Mira, an ale", "yes"):
        ann.do(line)
        game.run(2)
    game.model.script[:] = [promises(thing="beer"), *CALM]
    ann.do("say Mira, a beer")
    game.run(2)


def open_rows():
    late = Q(state="running") | Q(state__in=("waiting", "agreed"))
    found = {
        "turns": Turn.objects.filter(ended_at=None),
        "events": Event.objects.filter(state="claimed"),
        "calls": ToolCall.objects.filter(Q(state="intended") | Q(ended_at=None)),
        "acts": PendingAct.objects.filter(late),
        "passes": SleepPass.objects.filter(ended_at=None),
    }
    return {name: rows.count() for name, rows in found.items() if rows.exists()}


def start(game, copy, script_id):
    """Let the next process find what a copy has; return its assistant."""
    from evennia_ai.assistant_script import AssistantScript

    forget_everything()
    copy.backup(connection.connection)
    game.model.script[:] = CALM
    script = AssistantScript.objects.get(id=script_id)
    service = game.next_process(script)
    service.gateway = own.gateway_to(game.model, game.clock)
    service.at_start()
    for _ in range(5):
        game.run(1)
    return script


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.soak)])
def test_a_kill_after_any_commit_leaves_nothing_open(game, ann, admin, mira, every):
    game.service.toolbox.add(promise)
    copies, script_id = Copies(), mira.assistant.id
    with copies.taken():
        talk(game, ann)
    fill(mira.assistant, 0.75)
    with copies.taken():
        admin.told("aisleep Mira")
        for _ in range(5):
            game.run(1)
    assert SleepPass.objects.get().outcome == "done"
    assert PendingAct.objects.filter(state="done").exists()
    seen, left = set(), {}
    for number, copy in enumerate(copies.all[::every]):
        [game.service, *game.successors][-1].quiesce()
        game.clock.advance(DOWN_S)
        copy.backup(connection.connection)
        seen |= open_rows().keys()
        script = start(game, copy, script_id)
        if rows := open_rows() | ({"signals": 1} if any(signals_of(script)) else {}):
            left[number] = rows
    assert seen == {"turns", "events", "calls", "acts", "passes"}
    assert not left


def signals_of(script):
    return (script.db.context_signals or {}).values()
