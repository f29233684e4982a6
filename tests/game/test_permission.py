"""Random mixes of authors never let a tool run that one of them may not use."""

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evennia_ai.messages import ToolCallRequest, make_message
from evennia_ai.ports import ToolContext
from evennia_ai.tools.base import tool
from evennia_ai.tools.permission import LockSubjects, builders_may
from evennia_ai.tools.registry import ToolRegistry
from tests.game.vault import Vault, VaultArguments

NUMBERS = count(1)
LOCKS = (
    "all()",
    "perm(Builder)",
    "perm(Admin)",
    "pperm(Builder)",
    "not tag(banned)",
    "tag(guard)",
    "attr(level, 5, compare=gt)",
    "perm(Admin) or tag(guard)",
    "false()",
)
# Which of LOCKS each author passes.
PASSED = {
    "game": set(LOCKS),
    "builder": set(LOCKS) - {"perm(Admin)", "false()"},
    "stranger": {"all()"},
    "#99999": {"all()"},
    "unheard of": {"all()"},
    "plain": {"all()", "not tag(banned)"},
    "banned": {"all()"},
    "guard": {"all()", "not tag(banned)", "tag(guard)", "perm(Admin) or tag(guard)"},
    "builder char": {"all()", "perm(Builder)", "pperm(Builder)", "not tag(banned)"},
    "admin char": {"all()", "perm(Builder)", "perm(Admin)", "pperm(Builder)", "not tag(banned)"}
    | {"attr(level, 5, compare=gt)", "perm(Admin) or tag(guard)"},
    "superuser": {"all()", "not tag(banned)"},
}


@pytest.fixture
def cast(game, tavern):
    """The dbref of each kind of author."""
    people = {
        "plain": game.player("Pia", tavern),
        "banned": game.player("Ben", tavern),
        "guard": game.player("Gus", tavern),
        "builder char": game.player("Bea", tavern, permissions=["Builder"]),
        "admin char": game.player("Ada", tavern, permissions=["Admin"]),
        "superuser": game.player("Sue", tavern, superuser=True),
    }
    people["banned"].character.tags.add("banned")
    people["guard"].character.tags.add("guard")
    people["admin char"].character.db.level = 9
    return {name: people[name].dbref if name in people else name for name in PASSED}


def test_what_each_author_passes(cast):
    def passed(name):
        return {
            lock
            for lock in LOCKS
            if all(LockSubjects().answers(frozenset({cast[name]}), lock).values())
        }

    assert {name: passed(name) for name in PASSED} == PASSED


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    authors=st.frozensets(st.sampled_from(sorted(PASSED))),
    speakers=st.frozensets(st.sampled_from(sorted(PASSED))),
    lock=st.sampled_from(LOCKS),
)
def test_a_tool_runs_only_if_each_author_may_use_it(cast, mira, authors, speakers, lock):
    ran = []

    @tool("staff_vault", lock=lock, world=False)
    def staff_vault(context, arguments: VaultArguments) -> str:
        """Open a door of the vault."""
        ran.append(arguments.door)

    everybody = authors | speakers
    context = ToolContext(
        character=mira,
        audience=frozenset(),
        private=False,
        speakers=frozenset(cast[name] for name in speakers),
        authors=frozenset(cast[name] for name in authors),
    )
    registry = ToolRegistry([staff_vault])
    registry.run(context, ToolCallRequest("1", "staff_vault", "{}"))
    may = everybody and all(lock in PASSED[name] for name in everybody)
    assert bool(ran) is bool(may or lock == "all()")
    asked = replace(context, allowed=frozenset({"staff_vault"}))
    assert bool(registry.offered(asked)) is bool(ran)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(talk=st.lists(st.frozensets(st.sampled_from(sorted(PASSED))), min_size=1, max_size=6))
def test_no_mix_of_lines_gives_a_builder_more_than_all_authors_may(game, cast, talk):
    number = next(NUMBERS)
    here = game.room(f"Cellar {number}")
    mira = game.assistant("Mira", here)
    vault = Vault(game)
    builder = game.player(f"Bee{number}", here, permissions=["Builder"])
    mira.assistant.conversation.append(
        [make_message("user", "Hm.", authors=sorted(cast[name] for name in line)) for line in talk]
    )
    everybody = {name for line in talk for name in line or {"stranger"}}
    may = all("perm(Builder)" in PASSED[name] for name in everybody)
    assert vault.tempt(builder, "say Mira, open the vault") is may


@pytest.mark.parametrize(
    ("lock", "passes"),
    [
        ("perm(Builder) and not tag(banned)", True),
        ("perm(Developer)", False),
        ("id(5)", False),
        ("id(5) or attr(level)", True),
        ("no_such_function()", False),
        (" and ".join(["tag(a)"] * 7), False),
    ],
)
def test_a_builders_text_passes_what_some_builder_could(lock, passes):
    assert builders_may(lock) is passes


@pytest.mark.parametrize("owner_first", [True, False])
def test_all_who_own_a_character_must_pass_not_any_of_them(game, tavern, owner_first):
    plain, admin = game.player("Pia", tavern), game.player("Ada", tavern, permissions=["Admin"])
    accounts = [one.account for one in ((plain, admin) if owner_first else (admin, plain))]
    shared = plain.character
    shared.locks.add("puppet:" + " or ".join(f"pid({one.id})" for one in accounts))
    for account in accounts:
        account.attributes.add("_playable_characters", [shared])
    plain.account.unpuppet_object(plain.session)

    def passes():
        return LockSubjects().answers(frozenset({shared.dbref}), "pperm(Admin)")[shared.dbref]

    assert not passes()
    plain.account.permissions.add("Admin")
    assert passes()


def test_who_plays_anothers_character_must_pass_too(game, tavern):
    plain, bea = game.player("Pia", tavern), game.player("Bea", tavern, permissions=["Builder"])
    bea.account.attributes.add("_playable_characters", [bea.character])
    bea.account.unpuppet_object(bea.session)
    asked = frozenset({bea.dbref})
    assert LockSubjects().answers(asked, "pperm(Builder)")[bea.dbref]
    bea.character.locks.add(f"puppet:pid({bea.account.id}) or all()")
    plain.account.unpuppet_object(plain.session)
    plain.account.puppet_object(plain.session, bea.character)
    assert not LockSubjects().answers(asked, "pperm(Builder)")[bea.dbref]


def test_who_was_deleted_passes_no_lock(game, tavern):
    people, bea = LockSubjects(), game.player("Bea", tavern, permissions=["Builder"])
    asked, bea.character.ndb.busy = frozenset({bea.dbref}), True
    assert all(people.answers(asked, "perm(Builder)").values())
    bea.account.unpuppet_object(bea.session)
    assert bea.character.delete()
    assert not all(people.answers(asked, "perm(Builder)").values())


def test_a_lock_is_asked_once_in_a_turn_and_each_time_outside_of_turns(game, tavern):
    people, bea = LockSubjects(), game.player("Bea", tavern, permissions=["Builder"])

    def passes(turn):
        return people.answers(frozenset({bea.dbref}), "perm(Builder)", turn)[bea.dbref]

    assert passes(None) and passes((1, 1))
    bea.account.permissions.clear()
    assert passes((1, 1))
    assert not passes((1, 2)) and not passes(None)
    bea.account.permissions.add("Builder")
    assert passes(None)
