"""``aboutme``: what the characters with minds know of a player, for that player alone."""

from __future__ import annotations

from evennia.utils.evmore import EvMore

from evennia_ai.commands.common import Dialogue
from evennia_ai.commands.players import PlayersCommand
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.texts import TEXTS, text
from evennia_ai.store.about_speaker import BUILT, CONFIDED, KINDS, KnownBy, known_of, tokens_used

LINE_CHARS = 2_000
PAUSE_S = 0.01
AT_ONCE = 4  # characters between two pauses


class CmdAboutMe(PlayersCommand):
    __doc__ = TEXTS["help_about"]

    key = "aboutme"
    locks = "cmd:all()"
    switch_options = ("account",)
    help_text = "help_about"

    def run(self) -> Dialogue:
        """Collect what is known, a few characters at a time, and show it in pages."""
        people, lines = self.own_people(), list[str]()
        for number, known in enumerate(known_of(people), 1):
            lines += section(known)
            if number % AT_ONCE == 0:
                yield PAUSE_S
        days, tokens = tokens_used(people)
        if tokens:
            lines += ["", text("about_use", count=tokens, days=days)]
        if not lines:
            self.msg(text("about_nothing"))
            return
        shown = [f"|w{text('about_title')}|n", *lines, "", text("about_end")]
        EvMore(self.caller, "\n".join(shown), session=self.session, exit_on_lastpage=True)


def section(known: KnownBy) -> list[str]:
    """Return what one character knows, as lines under its name."""
    lines = ["", f"|w{clean_output(known.name, 60)}|n"]
    for kind in KINDS:
        found = known.texts.get(kind, ())
        if found:
            lines.append(f"  |c{text(f'kind_{kind}')}|n ({len(found)})")
            lines += [f"    {clean_output(one, LINE_CHARS)}" for one in found]
    if known.counts[CONFIDED] or known.counts[BUILT]:
        counts = {CONFIDED: known.counts[CONFIDED], BUILT: known.counts[BUILT]}
        lines.append("  " + text("about_withheld", name=clean_output(known.name, 60), **counts))
    return lines
