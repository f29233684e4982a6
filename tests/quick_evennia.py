"""Take out of Evennia what costs tests much and changes nothing, as `tests/e2e/site` does.

Each test makes characters anew. Half of that time went into their command sets in Evennia 5, and a
quarter in Evennia 6: with each new command, all commands of a set are compared with each other. The
same few locks were parsed again and again, and their answers, such as "True or False", compiled.
In all versions a seventh of the game tests' time went into composing the same few queries for
attributes and tags, most of which find nothing.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any

from django.db import connection
from evennia.commands.cmdset import CmdSet
from evennia.commands.command import Command
from evennia.locks import lockhandler
from evennia.typeclasses.attributes import Attribute, ModelAttributeBackend
from evennia.typeclasses.tags import TagHandler

ATTRIBUTES = """
    SELECT link.attribute_id FROM {table} link
    JOIN typeclasses_attribute attribute ON attribute.id = link.attribute_id
    WHERE link.{model}_id = %s AND attribute.db_model = %s AND attribute.db_attrtype IS %s
    AND attribute.db_category IS %s COLLATE NOCASE
"""
BY_KEY = f"{ATTRIBUTES} AND attribute.db_key = %s COLLATE NOCASE"
TAGS = """
    SELECT link.tag_id FROM {table} link JOIN typeclasses_tag tag ON tag.id = link.tag_id
    WHERE link.{model}_id = %s AND tag.db_model = %s AND tag.db_tagtype IS %s
"""


def make_quick() -> None:
    """Do once what gives the same each time, and look for duplicates only of known names."""
    if connection.vendor == "sqlite":
        compose_once()
    compare_less()
    parse_once()


def compose_once() -> None:
    """Ask which attributes and tags there are in plain SQL; Evennia reads what is found."""
    by_category, all_tags = ModelAttributeBackend.query_category, TagHandler._query_all

    def query_key(self: Any, key: str, category: str | None) -> list[SimpleNamespace]:
        numbers = found(self, BY_KEY, self._attrtype, category or None, key) if self.obj.pk else []
        return [SimpleNamespace(attribute=Attribute.objects.get(pk=one)) for one in numbers[:1]]

    def query_category(self: Any, category: str | None) -> list[Any]:
        has_some = found(self, ATTRIBUTES, self._attrtype, category or None)
        return by_category(self, category) if has_some else []

    def query_all(self: Any) -> list[Any]:
        return all_tags(self) if found(self, TAGS, self._tagtype) else []

    ModelAttributeBackend.query_key = query_key
    ModelAttributeBackend.query_category = query_category
    TagHandler._query_all = query_all


def found(handler: Any, statement: str, *values: str | None) -> list[int]:
    """Return the numbers that the statement selects for the handler's object."""
    table = getattr(handler.obj, handler._m2m_fieldname).through._meta.db_table
    with connection.cursor() as cursor:
        asked = statement.format(table=table, model=handler._model)
        cursor.execute(asked, [handler._objid, handler._model, *values])
        return [number for (number,) in cursor.fetchall()]


def compare_less() -> None:
    """Let command sets look for duplicates only if a name is there already."""
    add_to_set = CmdSet.add

    def add(self: Any, cmd: Any, allow_duplicates: bool = False) -> None:
        if isinstance(cmd, type) and issubclass(cmd, (Command, CmdSet)):
            cmd = self._instantiate(cmd)
        if isinstance(cmd, (Command, CmdSet)):
            names = set().union(*(known._matchset for known in self.commands))
            new = cmd.commands if isinstance(cmd, CmdSet) else [cmd]
            allow_duplicates |= all(names.isdisjoint(one._matchset) for one in new)
        add_to_set(self, cmd, allow_duplicates)

    CmdSet.add = add


def parse_once() -> None:
    """Keep what locks are parsed to; one with an error is parsed, and told of, each time."""
    parse, known = lockhandler.LockHandler._parse_lockstring, {}

    def parse_new(self: Any, text: str) -> dict[str, Any]:
        if text not in known:
            known[text] = parse(self, text)
        return {**known[text]}

    @cache
    def answer(text: str) -> object:
        return eval(text, {})

    lockhandler.LockHandler._parse_lockstring = parse_new
    lockhandler.eval = lambda text, *_: answer(text)
