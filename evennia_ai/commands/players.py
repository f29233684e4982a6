"""Commands for players: ``forgetme`` deletes what they said, ``mute`` silences a character."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.utils import logger
from evennia.utils.evmore import EvMore

from evennia_ai.commands.common import NUMBER, AICommand, Dialogue, UsageError, choose, told_apart
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.confirmations import confirmed
from evennia_ai.game.help_entries import HELP_CATEGORY
from evennia_ai.game.presence import followers_of, shake_off
from evennia_ai.game.settings import export_folder
from evennia_ai.game.texts import TEXTS, text
from evennia_ai.store import personal_data
from evennia_ai.store.attributes import numbers_of
from evennia_ai.store.names import last_name_of, names_of, speakers_among, speakers_named
from evennia_ai.store.personal_data import BUILT, CONFIDED, KINDS, KnownBy, count_traces, is_known


class PlayersCommand(AICommand):
    """A command whose help a game can reword; the lock ``staff`` adds ``for_admins``."""

    help_category = HELP_CATEGORY
    locks = "cmd:all()"
    help_text = for_admins = ""

    def get_help(self, caller: Any, cmdset: Any) -> str:
        """Return the help in the game's own words, or translated."""
        more = f"\n{self.for_admins}" if self.access(caller, "staff") else ""
        return text(self.help_text) + more

    def own_people(self) -> frozenset[str]:
        """Return the dbref of the caller, with ``/account`` of all characters of the account."""
        others = characters_of(self.caller.account) if self.switch else ()
        return frozenset({self.caller.dbref, *others})

    def with_account(self, people: frozenset[str], name: str, who: str) -> Speaker:
        """Return a speaker, with ``/account`` with all characters of the same account."""
        if not self.switch:
            return Speaker(people, name)
        accounts = set(AccountDB.objects.filter(username__iexact=who))
        characters = ObjectDB.objects.filter(id__in=numbers_of(people))
        accounts |= {character.account for character in characters.exclude(db_account=None)}
        every = AccountDB.objects.all()
        accounts |= {item for item in every if people.intersection(characters_of(item))}
        return Speaker(people.union(*map(characters_of, accounts)), name)

    def find_speaker(self, who: str) -> Speaker:
        """Return the speaker whom an admin named; raises UsageError."""
        if not self.access(self.caller, "staff"):
            raise UsageError(text("forget_only_own"))
        shown = clean_output(who, 60)
        if NUMBER.fullmatch(who):
            if not name_of(who):
                raise UsageError(f"There is no object {shown}, and no assistant ever heard it.")
            return self.with_account(frozenset({who}), name_of(who), who)
        accounts = AccountDB.objects.filter(username__iexact=who)
        if self.switch and accounts:
            return self.with_account(frozenset(characters_of(accounts[0])), shown, who)
        candidates = speakers_called(who)
        if not candidates:
            raise UsageError(
                f"There is nobody called '{shown}', and no assistant ever heard anybody of that "
                "name. You can also use a number: |wforgetme #12|n."
            )
        if len(candidates) > 1:
            options = ", ".join(map(describe, candidates))
            raise UsageError(f"Several match: {options}. Use the number.")
        return self.with_account(frozenset({candidates[0]}), name_of(candidates[0]), who)


@dataclass(frozen=True)
class Speaker:
    """Whose words are to be forgotten, and by whom."""

    people: frozenset[str]  # the dbrefs of the speakers
    name: str = ""  # of somebody else than the caller
    # of the only character that is to forget the caller; None for all characters
    assistant: int | None = None
    character: str = ""  # the name of that character

    def line(self, key: str, **values: Any) -> str:
        """Return a line to the caller about themselves, the named speaker, or one character."""
        if self.character:
            return text(f"{key}_one", name=self.character, **values)
        return text(f"{key}_of", name=self.name, **values) if self.name else text(key, **values)


class CmdForgetMe(PlayersCommand):
    __doc__ = TEXTS["help_forget"]

    key = "forgetme"
    aliases = ("aiforget",)
    locks = "cmd:all();staff:perm(Admin)"
    switch_options = ("account",)
    switches: list[str] = []  # Evennia sets it on each instance
    help_text = "help_forget"
    for_admins = """
For admins:
  forgetme <name or #number>
  forgetme/account <name or #number>

Does the same for another player. They may be offline or deleted: the logs
keep their last name and their number. With /account: for all characters of
the account. To check afterwards, type it again: it then says that nothing is
stored. |waiforget|n is another name of this command."""

    def run(self) -> Dialogue:
        speaker = self.find_people()
        if not any(is_known(dbref, speaker.assistant) for dbref in speaker.people):
            self.msg(speaker.line("forget_nothing"))
            return
        lines, count = self.preview(speaker)
        self.msg("\n".join(lines))
        question = speaker.line("forget_ask", count=count)
        if not (yield from confirmed(self, question, text("forget_kept"))):
            return
        if speaker.name:
            people = ", ".join(sorted(speaker.people))
            logger.log_sec(f"aiforget: {self.caller} has {speaker.name} ({people}) forgotten")
        character = speaker.character
        done = text("forget_done_one", name=character) if character else text("forget_done")
        forgetting = self.services.forgetting.forget(
            speaker.people,
            speaker.assistant,
            lambda gone: self.msg(text("forget_progress", count=gone)),
        )
        forgetting.addCallback(lambda _: self.msg(done)).addErrback(self.tell_failure)

    def preview(self, speaker: Speaker) -> tuple[list[str], int]:
        """Return what would be forgotten, in lines, and the sum of the counts in them."""
        lines, built, count = [], 0, 0
        for known in personal_data.known_of(speaker.people, speaker.assistant):
            listed = [(kind, len(known.texts[kind])) for kind in KINDS if kind in known.texts]
            kinds = [text("forget_some", count=n, kind=text(f"kind_{kind}")) for kind, n in listed]
            count += sum(number for _, number in listed)
            built += known.counts[BUILT]
            lines.append(f"|w{clean_output(known.name, 60)}|n: {', '.join(kinds) or '-'}")
        if not speaker.character and (reports := personal_data.reports_of(speaker.people)):
            lines.append(text("forget_reports", numbers=", ".join(map(str, reports))))
            count += len(reports)
        files = sum(1 for _ in export_folder().glob("aihistory-*"))
        lines.append(text("forget_stays", count=built, files=files))
        whole = not (speaker.name or speaker.character or self.switch)
        if whole and len(characters_of(self.caller.account)) > 1:
            lines.append(text("forget_account"))
        return lines, count

    def find_people(self) -> Speaker:
        who, people = self.args.strip(), self.own_people()
        if not who:
            return Speaker(people)
        scripts = {script.db_obj: script for script in personal_data.scripts_who_know(people)}
        character = choose(who, scripts, self.caller)
        if character is not None:
            return Speaker(people, "", scripts[character].id, shown_name(character))
        return self.find_speaker(who)


def characters_of(account: Any) -> list[str]:
    """Return the dbrefs of an account's characters, without those that have an assistant."""
    characters = account.characters if account else ()
    return [
        character.dbref
        for character in characters
        if character and not getattr(character, "assistant", None)
    ]


def speakers_called(name: str) -> list[str]:
    """Return the dbrefs of all of a name; if some spoke near an assistant, theirs alone."""
    accounts = AccountDB.objects.filter(username__iexact=name)
    objects = [*ObjectDB.objects.filter(db_key__iexact=name)]
    objects += [character for account in accounts for character in account.characters if character]
    speakers = speakers_named(name).union(obj.dbref for obj in objects)
    return sorted(speakers_among(speakers) or speakers, key=lambda dbref: numbers_of([dbref]))


def name_of(dbref: str) -> str:
    """Return the name of an object, or the last one in the logs; empty if neither is known."""
    return clean_output(names_of([dbref]).get(dbref) or last_name_of(dbref), 60)


def describe(dbref: str) -> str:
    gone = "" if names_of([dbref]) else ", deleted"
    return f"{name_of(dbref)} ({dbref}{gone}, {count_traces(dbref)} lines)"


class CmdMute(PlayersCommand):
    __doc__ = TEXTS["help_mute"]

    key = "mute"
    aliases = ("aimute",)
    help_text = "help_mute"

    def run(self) -> None:
        if not hasattr(self.caller, "muted_assistants"):
            raise UsageError(text("mute_unable"))
        name = self.args.strip()
        if name:
            target = self.find_target(name)
            muted = self.caller.toggle_mute(target.dbref)
            if muted:
                shake_off(target, self.caller)
            self.msg(text("mute_on" if muted else "mute_off", name=shown_name(target)))
        else:
            names = clean_output(", ".join(told_apart(self.muted_characters())))
            self.msg(text("mute_list", names=names) if names else text("mute_none"))

    def muted_characters(self) -> list[Any]:
        return list(ObjectDB.objects.filter(id__in=numbers_of(self.caller.muted_assistants)))

    def find_target(self, name: str) -> Any:
        """Return an NPC, here or muted; raises UsageError."""
        here = self.caller.location.contents if self.caller.location else []
        characters = [obj for obj in here if getattr(obj, "assistant", None)]
        target = choose(name, [*characters, *self.muted_characters()], self.caller)
        if target is None:
            raise UsageError(text("mute_unknown", name=clean_output(name, 60)))
        return target


class CmdDismiss(PlayersCommand):
    __doc__ = TEXTS["help_dismiss"]

    key = "dismiss"
    aliases = ("aidismiss",)
    help_text = "help_dismiss"

    def run(self) -> None:
        followers, name = followers_of(self.caller), self.args.strip()
        if not followers:
            raise UsageError(text("follows_nobody"))
        named = choose(name, followers, self.caller)
        chosen = [named] if named else [] if name else followers
        if not chosen:
            raise UsageError(text("follows_not", name=clean_output(name, 60)))
        for follower in chosen:
            shake_off(follower, self.caller)


LINE_CHARS = 2_000
PAUSE_S = 0.01
AT_ONCE = 4  # characters between two pauses


class CmdAboutMe(PlayersCommand):
    __doc__ = TEXTS["help_about"]

    key = "aboutme"
    locks = "cmd:all();staff:perm(Admin)"
    switch_options = ("account",)
    help_text = "help_about"
    for_admins = """
For admins:
  aboutme <name or #number>
  aboutme/account <name or #number>

Shows the same of another player, as they would see it."""

    def run(self) -> Dialogue:
        speaker, lines = self.whose(self.args.strip()), list[str]()
        people = speaker.people
        for number, known in enumerate(personal_data.known_of(people), 1):
            lines += section(known)
            if number % AT_ONCE == 0:
                yield PAUSE_S
        days, tokens = personal_data.tokens_used(people)
        if tokens:
            lines += ["", text("about_use", count=tokens, days=days)]
        if not lines:
            nothing = f"No character knows anything of {speaker.name}."
            self.msg(nothing if speaker.name else text("about_nothing"))
            return
        shown = [f"|w{text('about_title')}|n", *lines, "", text("about_end")]
        if speaker.name:
            shown = [f"|wWhat the NPCs know of {speaker.name}|n", *lines]
        EvMore(self.caller, "\n".join(shown), session=self.session, exit_on_lastpage=True)

    def whose(self, who: str) -> Speaker:
        if not who:
            return Speaker(self.own_people())
        if not self.access(self.caller, "staff"):
            raise UsageError(text("about_only_own"))
        speakers = self.find_speaker(who)
        logger.log_sec(f"aboutme: {self.caller} reads what is known of {speakers.name}")
        return speakers


def section(known: KnownBy) -> list[str]:
    lines = ["", f"|w{clean_output(known.name, 60)}|n"]
    for kind in KINDS:
        texts = known.texts.get(kind, ())
        if texts:
            lines.append(f"  |c{text(f'kind_{kind}')}|n ({len(texts)})")
            lines += [f"    {clean_output(item, LINE_CHARS)}" for item in texts]
    if known.counts[CONFIDED] or known.counts[BUILT]:
        counts = {CONFIDED: known.counts[CONFIDED], BUILT: known.counts[BUILT]}
        lines.append("  " + text("about_withheld", name=clean_output(known.name, 60), **counts))
    return lines
