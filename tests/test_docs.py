"""What the documentation says is so, as far as that can be checked without a game.

The tables of docs/configuration.md come from the code; after a change of that:

    DJANGO_SETTINGS_MODULE=server.conf.settings python -m tests.test_docs --write
"""

import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import evennia_ai
from evennia_ai.config import FIELDS, HINTS
from evennia_ai.config.declared import declare_settings
from evennia_ai.config.fields import OWN_NAMES
from tests.e2e.fresh_game import DOCS, read_blocks
from tests.e2e.harness import ROOT

PACKAGE = Path(evennia_ai.__file__).parent
TABLES_PAGE = DOCS / "configuration.md"
SETTINGS_TABLE = re.compile(r"(<!-- begin -->\n).*?(<!-- end -->)", re.S)
ADDED_TABLE = re.compile(r"(<!-- begin extensions -->\n)(.*?)(<!-- end extensions -->)", re.S)
TEXTS_TABLE = re.compile(r"(<!-- begin texts -->\n).*?(<!-- end texts -->)", re.S)
ENTRY = re.compile(
    r"""(?:game_setting|settings\.read)\(\s*["']([A-Z_]+)["']|AI_ASSISTANT[^\n]{0,9}["']([A-Z_]+)["']"""
)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#([^)]*))?\)")
# A command with switches, in code or typed, such as `aihistory/turns` or > aimemory/add
SWITCHED = re.compile(r"(?:`|> )(ai\w+|forgetme|aboutme|mute|dismiss)((?:/[a-z]+)+)")
POINT = re.compile(r"^\| (\d+) \| .+ \| (.+) \| `(.+)` \| `(.+)`: `(\w+)` \|$", re.M)
WORDS = {int: "whole number", float: "number", str: "text", bool: "true or false"}


def settings_table():
    """A row for each setting: name, kind, limits, default, help."""
    rows = ["| setting | value | default | what it does |", "|---|---|---|---|"]
    return "\n".join([*rows, *map(setting_row, OWN_NAMES)]) + "\n"


def setting_row(name):
    item = FIELDS[name]
    value = " ".join(filter(None, (kind_of(name), limits_of(item.metadata))))
    value += ", or none" if type(None) in kinds_of(name) else ""
    default = default_of(item.default, item.metadata["unit"])
    return f"| `{name}` | {value} | {default} | {item.metadata['help']} |"


def added_table(before):
    """The same for settings of extensions; of one whose folder is deleted, the rows as before."""
    from evennia_ai.game.extensions import own_classes

    heading, line, *rows = before.splitlines()
    own = {item.name for item in own_classes()}
    kept = [row for row in rows if row.split("`")[1] not in own]
    for extension in own_classes():
        if extension.settings:
            declare_settings(extension.settings)
            names = [item.name for item in fields(extension.settings)]
            kept += [f"| `{extension.name}` {setting_row(name)}" for name in names]
    return "\n".join([heading, line, *sorted(kept, key=lambda row: row.split("`")[1])]) + "\n"


def default_of(value, unit):
    """A setting's default with its unit."""
    if value is None:
        return "none"
    return f"{value:g} {unit}".strip() if isinstance(value, float) else f"{value} {unit}".strip()


def kind_of(name):
    """A setting's type in words, or the words it may be."""
    choices = FIELDS[name].metadata["choices"]
    if choices:
        return " or ".join(f"`{choice}`" for choice in choices)
    return " or ".join(WORDS[kind] for kind in kinds_of(name) if kind in WORDS)


def kinds_of(name):
    return getattr(HINTS[name], "__args__", (HINTS[name],))


def limits_of(meta):
    """A setting's limits in words."""
    low, high, unit = meta["low"], meta["high"], meta["unit"]
    spaced = f" {unit}" if unit else ""
    if low is not None and high is not None:
        return f"from {low:.15g} to {high:.15g}{spaced}"
    return "" if low is None else f"from {low:.15g}{spaced}"


def texts_table():
    """A row for each line for players; of a text of several lines, the first."""
    from evennia_ai.game.texts import TEXTS

    rows = ["| key | line |", "|---|---|"]
    for key, text in TEXTS.items():
        first, *more = text.replace("|", r"\|").splitlines()
        rows.append(f"| `{key}` | `{first}`{' …' if more else ''} |")
    return "\n".join(rows) + "\n"


def fresh_page():
    """docs/configuration.md with its tables as the code has them."""
    page = TABLES_PAGE.read_text(encoding="utf-8")
    page = ADDED_TABLE.sub(lambda m: m[1] + added_table(m[2]) + m[3], page)
    page = SETTINGS_TABLE.sub(lambda m: m[1] + settings_table() + m[2], page)
    return TEXTS_TABLE.sub(lambda m: m[1] + texts_table() + m[2], page)


def pages():
    return sorted([ROOT / "README.md", PACKAGE / "README.md", *DOCS.glob("*.md")])


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_tables_of_settings_and_lines_are_those_of_the_code():
    assert TABLES_PAGE.read_text(encoding="utf-8") == fresh_page(), __doc__


def test_every_entry_for_the_whole_game_is_documented_and_known():
    from evennia_ai.game.extensions import own_classes
    from evennia_ai.game.settings import GAME_ENTRIES

    read = set()
    for file in PACKAGE.rglob("*.py"):
        found = ENTRY.findall(file.read_text(encoding="utf-8"))
        read |= {first or second for first, second in found}
    page = TABLES_PAGE.read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.M))
    assert {"TOOLS", "PROFILES"} <= read
    of_extensions = frozenset().union(*(item.entries for item in own_classes()))
    assert read == GAME_ENTRIES | of_extensions <= documented
    # The entries of an extension stay in the table when its folder is deleted.
    page = (DOCS / "extensions.md").read_text(encoding="utf-8")
    assert documented - GAME_ENTRIES <= set(re.findall(r"`([A-Z_]+)`", page))


def test_every_command_is_in_the_guides():
    from evennia_ai.commands.cmdset import all_commands

    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*guide.md"))
    for command in all_commands():
        names = (command.key, *command.aliases)
        assert any(f"`{name}" in text or f"> {name}" in text for name in names), command.key


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_switch_that_a_page_names_exists(page):
    from evennia_ai.commands.cmdset import all_commands

    known = {key: one for one in all_commands() for key in (one.key, *one.aliases)}
    # Those of an extension may be gone with its folder.
    of_extensions = SWITCHED.findall((DOCS / "extensions.md").read_text(encoding="utf-8"))
    for key, switches in SWITCHED.findall(page.read_text(encoding="utf-8")):
        if key in known and (key, switches) not in of_extensions:
            assert set(switches.strip("/").split("/")) <= set(known[key].switch_options), key


def test_each_point_of_the_design_has_its_place_and_its_test():
    rows = POINT.findall((DOCS / "design-points.md").read_text(encoding="utf-8"))
    assert [int(number) for number, *_rest in rows] == [*range(1, len(rows) + 1)]
    assert f"ask for {len(rows)} things" in (DOCS / "design-points.md").read_text(encoding="utf-8")
    for _number, here, place, file, name in rows:
        if place.startswith("contrib/") and not (PACKAGE / place).exists():
            continue  # a deleted extension
        assert here.startswith(("as described", "differs: ")), here
        assert (PACKAGE / place).is_file(), place
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), name


def test_screenshots_are_few_small_and_used():
    images = sorted((DOCS / "images").glob("*.webp"))
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    assert len(images) <= 8
    for image in images:
        assert image.stat().st_size <= 100_000, image.name
        assert f"images/{image.name})" in text, image.name


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve()
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target), f"{path}#{anchor}"


def test_every_page_can_be_found_from_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in DOCS.glob("*.md") if f"docs/{page.name}" not in readme]
    assert missing == []


def test_the_readme_shows_what_the_quick_start_does():
    def shown(page, *headings):
        blocks = read_blocks(page.read_text(encoding="utf-8"))
        return [(b.language, b.marks, b.body) for b in blocks if b.marks and b.heading in headings]

    readme = shown(ROOT / "README.md", "Install it in your own game")
    guide = shown(DOCS / "quick-start.md", "Install", "Create a character and talk to it")
    assert len(readme) >= 3
    for language, marks, body in readme:
        assert any((language, marks) == b[:2] and b[2].startswith(body) for b in guide), body


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    import django
    import evennia

    django.setup()
    evennia._init()
    TABLES_PAGE.write_text(fresh_page(), encoding="utf-8")
