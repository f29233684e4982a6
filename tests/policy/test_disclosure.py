"""The table of permissions, and what a reader is shown."""

import pytest

from evennia_ai.errors import ConfigError
from evennia_ai.policy.read_permissions import (
    DEFAULTS,
    ERRORS,
    FIGURES,
    PLAYER_COSTS,
    PRIVATE_MEMORIES,
    PRIVATE_WORDS,
    PUBLIC_WORDS,
    Reader,
    read_permissions,
)


def reader(*permissions, **changes):
    return Reader(read_permissions(changes), frozenset(permissions).__contains__)


def test_by_default_admins_read_words_and_builders_figures():
    builder, admin = reader("Builder"), reader("Builder", "Admin")
    assert [kind for kind in DEFAULTS if not builder.may(kind)] == [
        PRIVATE_WORDS, PRIVATE_MEMORIES, ERRORS, PLAYER_COSTS,
    ]  # fmt: skip
    assert all(map(admin.may, DEFAULTS))
    assert not any(map(reader().may, DEFAULTS))


def test_a_placeholder_says_what_it_hides_and_who_reads_it():
    assert (
        reader("Builder").show(PRIVATE_WORDS, "psst", "whisper")
        == "[whisper, only admins may read it]"
    )
    assert reader().show(FIGURES, "7", "count") == "[count, only builders may read it]"


def test_only_private_items_that_were_shown_are_counted():
    admin, builder = reader("Builder", "Admin"), reader("Builder")
    for one in (admin, builder):
        for kind in (PRIVATE_WORDS, PRIVATE_MEMORIES, PUBLIC_WORDS, ERRORS):
            one.show(kind, "words", "what")
    assert (admin.private_shown, builder.private_shown) == (2, 0)


def test_a_game_changes_single_lines():
    changed = reader("Builder", private_words="Builder")
    assert changed.may(PRIVATE_WORDS) and not changed.may(PRIVATE_MEMORIES)


@pytest.mark.parametrize(
    "wrong", [[], "Admin", {"whispers": "Admin"}, {"errors": None}, {"errors": "a) or all("}]
)
def test_a_mistake_is_refused(wrong):
    with pytest.raises(ConfigError):
        read_permissions(wrong)
