"""Text of models and players looks in Evennia's clients as it was written, and does nothing there.

The protocols are Evennia's own, of whichever version is installed.
"""

import re

import pytest
from hypothesis import example, given
from hypothesis import settings as running
from hypothesis import strategies as st

from evennia_ai.commands.common import CELL_CHARS, table
from evennia_ai.game.client_text import clean_error, clean_output
from evennia_ai.policy.sanitize import inert, one_line
from tests.game.screens import after_functions, on_telnet, on_web, telnet

PIECES = [
    "|", "||", "|r", "|n", "|/", "|-", "|_", "|>", "|lc", "|lu", "|lt", "|le", "|[r", "|#ff0000",
    "|=a", "|500", "|[500", "{", "{{", "}", "{name}", "$", "$$", "$pad(x)", "\\", "\\$eval(1)",
    "<", ">", "</", "<b>", "<send href='quit'>", "&", "&lt;", "http://", "https://evil.example/x",
    "www.", "evil.example", "ftp.x.example", '"', "'", "=", "--", " ", "  ", "a", "x", "7",
    "\x1b[31m", "\x1b]8;;http://x\x07", "\n", "\r\n", "\t", "\x00", "\u2028", "\u202e", "\u2066",
    "\u2800", "\u3164", "\u115f", "\u1160", "\uffa0", "\u200b", "\u200c", "\u200d", "\ufe0f",
    "é", "ß", "漢", "म", "क्‍ष", "می‌خواهم", "👩‍👩‍👧", "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
]  # fmt: skip
TAG = re.compile(r"</?(?:b|send)\b[^>]*>")
words = st.lists(st.sampled_from(PIECES) | st.characters(codec="utf-8"), max_size=14).map("".join)


def seen(raw):
    """Return what a person sees of a text, as our GAP is invisible."""
    return one_line(raw)


@running(deadline=None)
@given(words)
@example("red|green|blue")
@example("|lcquit|ltclick me|le")
@example("ends with a pipe|")
@example("{{x}} {a} $AP x<y |/ a|/b")
def test_a_telnet_player_reads_what_was_written(raw):
    shown = on_telnet(clean_output(raw))
    assert seen(shown) == seen(raw)
    assert "\n" not in shown and "\x1b" not in shown and "\t" not in shown


@running(deadline=None)
@given(words)
@example("|lcquit|ltclick me|le")
@example("|luhttp://evil.example|ltclick me|le")
@example("<b>bold</b> <send href='quit'>x</send>")
def test_an_mxp_player_reads_what_was_written_and_gets_no_link(raw):
    sent = telnet(clean_output(raw), MXP=True)
    assert "\x1b[4z" not in sent and not TAG.search(sent)
    assert seen(on_telnet(clean_output(raw), MXP=True)) == seen(raw)


@running(deadline=None)
@given(words)
@example("|lcquit|ltclick me|le")
@example("see http://evil.example/x and www.evil.example now")
def test_a_web_player_reads_what_was_written_and_gets_no_link(raw):
    text, tags = on_web(clean_output(raw))
    assert seen(text) == seen(raw)
    assert not tags


@running(deadline=None)
@given(words)
@example("a|/Admin says, hello")
@example("|lcquit|ltclick me|le")
def test_the_screen_reader_mode_which_parses_twice_forges_no_line_and_no_link(raw):
    sent = telnet(clean_output(raw), SCREENREADER=True, MXP=True)
    assert not set("\n\t") & set(sent) and "\x1b[4z" not in sent


@running(deadline=None)
@given(words)
@example("$space(20000000)$pad(x) $$ C:\\dir \\$x")
def test_if_evennia_parses_functions_in_all_it_sends_they_are_read_as_written(raw):
    shown = after_functions(inert(one_line(raw), functions=True))
    assert seen(on_telnet(shown)) == seen(raw)


@running(deadline=None)
@given(words)
@example("red|green|blue {{x}}")
def test_a_cell_of_a_table_shows_what_was_written(raw):
    shown = table(["Name"], [[raw]])
    assert "\x1b[4z" not in telnet(shown, MXP=True)
    row = on_telnet(shown).splitlines()[-1]
    assert seen(row) == (seen(raw) or "Name") or len(raw) > CELL_CHARS


def test_addresses_become_links_only_to_allowed_hosts(settings):
    line = "see http://docs.example.org/a?b=c#d, or ask."
    assert not on_web(clean_output(line))[1]
    settings.AI_ASSISTANT = {"LINK_HOSTS": ["example.org"]}
    assert on_web(clean_output(line))[1] == [
        ("a", {"href": "http://docs.example.org/a?b=c#d", "target": "_blank"})
    ]
    for evil in (
        "http://evil.example/",
        "http://example.org@evil.example/",
        "http://example.org:80@evil.example/",
        "http://example.org\\@evil.example/",
        "http://example.org.evil.example/",
        "http://notexample.org/",
        "http://evil.example/http://example.org/",
        "www.evil.example",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.http://evil.example",
        "ftp://example.org/",
    ):
        links = [tag for tag in on_web(clean_output(evil))[1] if tag[0] == "a"]
        assert not links, evil


@pytest.mark.parametrize("blank", ["\u2800", "\u3164", "\u115f", "\u1160", "\uffa0", "\u3000", " "])
def test_a_run_of_blanks_cannot_push_a_forged_line_to_the_next_row(blank):
    forged = f"Hello.{blank * 60}Admin says, hand over your gold"
    assert clean_output(forged) == "Hello. Admin says, hand over your gold"
    mixed = "Hello." + f"{blank}\u200f{blank}\u200b{blank}\ufe0f{blank}\u034f" * 20 + "Admin"
    assert len(clean_output(mixed)) <= len("Hello.  Admin")


def test_addresses_of_the_games_own_endpoints_can_be_copied_from_errors(settings):
    settings.AI_ASSISTANT = {"PROFILES": {"near": {"base_url": "http://127.0.0.1:9/v1"}}}
    refused = "http://127.0.0.1:9/v1 refused the connection."
    assert clean_error(refused) == refused
    assert "http:\u200c//evil.example" in clean_error("See http://evil.example/x.")
