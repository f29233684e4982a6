"""Every line that players may see and that no model wrote.

A game overrides a line with ``AI_ASSISTANT["TEXTS"] = {"fallback": "…"}``; an empty text turns
``first_meeting`` off. Each line of ``fallback`` and ``busy`` is a variant, of which the character
says one. Gettext translates the lines into the server's ``LANGUAGE_CODE`` if ``USE_I18N`` is True
(Evennia's default is False). Lines that only builders and admins see are in English, in the
modules that show them.
"""

import re
from contextlib import suppress
from string import Formatter
from typing import Any

from django.utils.translation import gettext, gettext_noop

from evennia_ai.errors import ConfigError
from evennia_ai.game.settings import game_setting
from evennia_ai.turn.tool_executor import NOT_NOW, WRONG

TEXTS = {
    "fallback": gettext_noop(
        """Forgive me, my thoughts wandered. Ask me again in a moment?
Hm, I lost the thread there. What was it?
I was far away just now. Say that once more?
Bear with me, my head is full of fog. Once more, please?
Wait, that slipped past me. How was that?"""
    ),
    # Where a small model would grant what its character never does.
    "refuses": gettext_noop(
        """No. That I will not do.
No, and do not ask me again.
Never. Let us talk of something else."""
    ),
    # Where somebody asks what nobody may be told.
    "keeps_silent": gettext_noop(
        """Of that I say nothing.
That is nobody's business.
Ask me about something else."""
    ),
    "has_no_idea": gettext_noop(
        """That I do not know.
How should I know? Nobody told me.
Nobody ever told me that."""
    ),
    "understands_nothing": gettext_noop(
        """I do not understand such words.
What is that? I never heard of it.
You talk in riddles. Speak plainly."""
    ),
    "goes": gettext_noop(
        """I am on my way.
I am going.
Very well, there I go."""
    ),
    "hands_on": gettext_noop(
        """I have passed it on.
I have told nobody else.
There, I have said it."""
    ),
    "bids_tell": gettext_noop("{speaker} asks me to tell you: {words}"),
    "first_meeting": gettext_noop(
        "({name} is played by a computer program. What you say near such characters is stored, so "
        "that they can remember it. |whelp minds|n tells more, and how to be forgotten.)"
    ),
    "busy": gettext_noop(
        """One moment: too many voices at once. Ask me again shortly?
Easy, everybody is talking to me at once. In a moment?
I hear too many questions just now. Give me a breath, then ask again?"""
    ),
    "compacted": gettext_noop("blinks, as if sorting the memories of a long day."),
    "falls_asleep": gettext_noop("yawns and falls asleep."),
    "wakes_up": gettext_noop("wakes up and blinks."),
    "mumbles": gettext_noop("mumbles in the middle of a dream: a moment more ..."),
    "looks_asleep": gettext_noop("{name} is asleep."),
    "unheard": gettext_noop("({name} did not catch that. Please say it again.)"),
    "too_fast": gettext_noop("{name} raises a hand: one thing after the other. Give it a moment."),
    "cooling": gettext_noop("{name} looks away and lets that pass. Talk of something else, later."),
    "switched_off": gettext_noop("({name} is silent: the staff has stopped all such characters.)"),
    "stopped": gettext_noop("({name} is silent: the staff has stopped this character.)"),
    "refuses_words": gettext_noop("{name} frowns, and gives no answer to such words."),
    "off_topic": gettext_noop("{name} looks puzzled: nobody here has ever heard of such things."),
    "help_line": gettext_noop(
        "(If you think of hurting yourself, you are not alone. Please talk to somebody now: a "
        "friend, a doctor, a crisis line, or your local emergency number. {name} is played by a "
        "computer program and cannot help.)"
    ),
    "picks_up": gettext_noop("{actor} picks up {item}."),
    "drops": gettext_noop("{actor} drops {item}."),
    "puts": gettext_noop("{actor} puts {item} in {container}."),
    "gives": gettext_noop("{actor} gives {item} to {receiver}."),
    "to_you": gettext_noop("you"),  # the receiver of "gives"
    "opens": gettext_noop("{actor} opens {item}."),
    "closes": gettext_noop("{actor} closes {item}."),
    "locks": gettext_noop("{actor} locks {item}."),
    "unlocks": gettext_noop("{actor} unlocks {item}."),
    "filler_1": gettext_noop("ponders this for a moment."),
    "filler_2": gettext_noop("takes a moment to think."),
    "filler_3": gettext_noop("weighs the words."),
    "mute_none": gettext_noop("You have muted nobody."),
    "mute_list": gettext_noop("You have muted: {names}."),
    "mute_on": gettext_noop(
        "You no longer hear {name}, and {name} no longer hears you. |wmute {name}|n again ends "
        "that."
    ),
    "mute_off": gettext_noop("You and {name} hear each other again."),
    "mute_unknown": gettext_noop("There is no NPC called '{name}' here."),
    "which_one": gettext_noop("Several are called that: {names}. Which one?"),
    "mute_unable": gettext_noop("Your character cannot mute anybody in this game."),
    "follows_no_more": gettext_noop("{name} no longer follows you."),
    "follows_nobody": gettext_noop("Nobody follows you."),
    "follows_not": gettext_noop("{name} does not follow you."),
    "confirm_ask": gettext_noop(
        "{name} asks you for leave to use '{tool}': {purpose} With exactly: {arguments}. "
        "|wyes|n within {seconds} seconds allows it, |wno|n forbids it."
    ),
    "confirm_question": gettext_noop(
        "{question} Type |wyes|n within {seconds} seconds to agree, |wno|n to refuse."
    ),
    "offers_to_sell": gettext_noop("{name} offers you {item} for {price}."),
    "offers_to_buy": gettext_noop("{name} offers you {price} for {item}."),
    "you_have": gettext_noop("You have {coins}."),
    "you_pay": gettext_noop("You pay {name} {price}."),
    "you_are_paid": gettext_noop("{name} pays you {price}."),
    "promise_agreed": gettext_noop("Agreed, {name}: {what}"),
    "promise_nowhere": gettext_noop("I know no way there, {name}."),
    "promise_here": gettext_noop("{name}, here I am, as we agreed."),
    "promise_missed": gettext_noop("{name}, I waited, but you did not come: {what}"),
    "promise_failed": gettext_noop("{name}, I could not keep what I promised: {what} {reason}"),
    "promise_no_way": gettext_noop("The way was closed to me."),
    "promise_held_up": gettext_noop("I was held up."),
    "promise_cancelled": gettext_noop("It was called off."),
    "promise_reminded": gettext_noop("{name}, I promised you something: {what}"),
    "promise_asked": gettext_noop("{name}, you promised me something: {what} What became of it?"),
    # The word behind which a message follows: "tell Ann that ..."; it is not told.
    "letter_agreed": gettext_noop("I will tell {name}."),
    "letter_told": gettext_noop("{name}, {sender} left word for you: {what}"),
    "confirm_no": gettext_noop("no"),
    "confirm_refused": gettext_noop("You forbid it. Nothing is done."),
    "confirm_late": gettext_noop("Nothing waits for your answer any more."),
    "confirm_done": gettext_noop("({name} has done what was allowed.)"),
    "confirm_failed": gettext_noop("({name} could not do that: {reason})"),
    # Why a deed was not done. Models and the log have it in English (`translated`).
    "cannot_find": gettext_noop("There is no {item} here."),
    "cannot_find_own": gettext_noop("You carry no {item}."),
    "cannot_reach": gettext_noop("No way leads to {place}. Exits: {ways}."),
    "cannot_pass": gettext_noop("That way is closed to you."),
    "cannot_get": gettext_noop("You can't get that."),
    "cannot_drop": gettext_noop("You can't drop that."),
    "cannot_put": gettext_noop("{item} can't be put in {container}."),
    "cannot_give": gettext_noop("You can't give that to {name}."),
    "cannot_follow": gettext_noop("{name} does not want you near."),
    "cannot_offer_more": gettext_noop("{name} has no more {item}."),
    "cannot_offer": gettext_noop("{name} has no {item}."),
    "cannot_sell": gettext_noop("That is not for sale."),
    "cannot_pay": gettext_noop("{name} does not have {price}."),
    "cannot_agree": gettext_noop("The price is {price}, not {offer}."),
    "cannot_trade": gettext_noop("That cannot change hands."),
    "cannot_act": gettext_noop("Something holds you back from doing that."),
    "cannot_allow": gettext_noop("That is not allowed."),
    "cannot_for_all": gettext_noop("You may not do that for everybody who is speaking to you."),
    "cannot_now": gettext_noop(NOT_NOW),
    "cannot_go_on": gettext_noop(WRONG),
    "confirm_unknown": gettext_noop(
        "({name} may or may not have done what was allowed; it does not try again.)"
    ),
    "forget_ask": gettext_noop(
        "This makes every character forget what you said to it and what it answered, for ever: "
        "{count} entries of their logs. Go on? yes/[no]"
    ),
    "forget_ask_of": gettext_noop(
        "This makes every character forget what {name} said to it and what it answered, for "
        "ever: {count} entries of their logs. Go on? yes/[no]"
    ),
    "forget_ask_one": gettext_noop(
        "This makes {name} forget what you said to it and what it answered, for ever: {count} "
        "entries of its log. Go on? yes/[no]"
    ),
    "forget_yes": gettext_noop("yes y"),
    "forget_nothing": gettext_noop("Nothing is stored of what you said."),
    "forget_nothing_of": gettext_noop("Nothing is stored of what {name} said."),
    "forget_nothing_one": gettext_noop("{name} knows nothing of you."),
    "forget_kept": gettext_noop("Nothing was forgotten."),
    "forget_done": gettext_noop("It is forgotten, all of it."),
    "forget_done_one": gettext_noop("{name} has forgotten you. Others have not."),
    "forget_some": gettext_noop("{kind}: {count}"),
    "forget_stays": gettext_noop(
        "What stays: what other players said themselves, what the staff wrote by hand ({count} "
        "notes), and the number of tokens that the talk has cost. Summaries are written anew "
        "without the forgotten words. Copies stay, too, until the staff deletes them: backups, and "
        "exported files ({files})."
    ),
    "forget_reports": gettext_noop("Reports on characters that are deleted, too: {numbers}."),
    "forget_account": gettext_noop(
        "This is about this character only. For all characters of your account: "
        "|wforgetme/account|n."
    ),
    "forget_progress": gettext_noop("... {count} entries are forgotten, and more are to go."),
    "kind_said": gettext_noop("words heard"),
    "kind_answered": gettext_noop("answers"),
    "kind_memory": gettext_noop("memories"),
    "kind_profile": gettext_noop("notes on people"),
    "kind_goal": gettext_noop("goals"),
    "kind_plan": gettext_noop("plans for the day"),
    "kind_summary": gettext_noop("parts of summaries"),
    "kind_shared": gettext_noop("what was told to other characters"),
    "kind_built": gettext_noop("notes of the staff"),
    "kind_confided": gettext_noop("what others told in confidence"),
    "kind_added": gettext_noop("what else the game noted"),
    "about_nothing": gettext_noop("No character knows anything of you."),
    "about_title": gettext_noop("What the NPCs know of you"),
    "about_use": gettext_noop("Tokens that your talk has cost: {count}; days: {days}."),
    "about_withheld": gettext_noop(
        "Not shown: what others told {name} about you in confidence ({confided}), and notes of the "
        "staff ({built}). You may ask the staff about these."
    ),
    "about_end": gettext_noop("|wforgetme|n makes all of them forget you."),
    "about_only_own": gettext_noop("You can read only what is known of you: |waboutme|n."),
    "forget_only_own": gettext_noop(
        "You can have only your own words forgotten: |wforgetme|n by all characters, or "
        "|wforgetme <character>|n by one that knows you."
    ),
    "report_whom": gettext_noop("Whom? |waireport <name> = <reason>|n"),
    "report_reason": gettext_noop("Why? |waireport {name} = <reason>|n"),
    "report_nothing": gettext_noop("You have heard nothing of {name} that could be reported."),
    "report_many": gettext_noop("The staff has {count} reports of yours to read. Please wait."),
    "report_done": gettext_noop(
        "Thank you. The staff will read your report, with the last lines that you heard of {name}."
    ),
    "switch_unknown": gettext_noop("There is no switch /{switch}. There are: {known}."),
    "switch_none": gettext_noop("There is no switch /{switch}: {command} has none."),
    "minds_off": gettext_noop("The characters here have no minds just now: something went wrong."),
    "help_minds": gettext_noop(
        """Some characters here have a mind of their own: a computer
program, often a language model, thinks for them. Talk to them
as you would to anybody:

  say Good evening, Mira.
  whisper Mira = May I ask you something?
  emote nods at Mira.
  give coin to Mira

Use the name where several people are present. Once you are
talking you need not repeat it."""
    ),
    "help_shop": gettext_noop(
        """To buy from a character that sells things:
  say Hob, what do you sell?
  say Hob, I would like to buy the lantern.
Answer |wyes|n or |wno|n. To sell: say Hob, would you buy my lamp?
Builders: set lantern/price = 6, then give lantern to Hob, who sells
what he carries. An admin gives coins: set/char Ann/coins = 10."""
    ),
    "help_privacy": gettext_noop(
        """What you say near such a character is stored, so that it can
remember it; the game's staff can read it. A whisper stays
between you and the character: it is never shown to other
players, nor used in what the character says to them.

Never tell a character anything that you would not tell the
staff of the game."""
    ),
    "help_forget": gettext_noop(
        """make the NPCs forget you

Usage:
  forgetme
  forgetme <character>
  forgetme/account

Everything you said to them, everything they answered, and what
they made of it is deleted for ever. You are shown what will go,
and asked first. With a name only that character forgets you, for
a fresh start with it. With /account this is done for all
characters of your account.

What other players said stays with them, and what the staff
wrote by hand. |waboutme|n shows what the characters know of
you."""
    ),
    "help_about": gettext_noop(
        """what the NPCs know of you

Usage:
  aboutme
  aboutme/account

Shows, to you alone, what you said near them, what they answered,
what they noted about you, and what they told each other. What
others told them in confidence is only counted, since it was
entrusted to them. So are notes of the staff.

With /account this is shown for all characters of your account."""
    ),
    "help_mute": gettext_noop(
        """no longer hear an NPC

Usage:
  mute <name>
  mute

You no longer hear that character, and it no longer hears you.
It does not follow you either. Muting it a second time ends
that. Without a name: shows whom you muted."""
    ),
    "help_dismiss": gettext_noop(
        """no longer be followed by an NPC

Usage:
  dismiss <name>
  dismiss

The character stops following you, wherever it is. Without a name,
all who follow you stop. You can also tell it: say Stop following
me. To keep it from following you again: mute."""
    ),
    "help_report": gettext_noop(
        """report what an NPC said

Usage:
  aireport <character> = <reason>

The staff reads your report, and the last lines that you heard
that character say or others say to it. They see no line that
you did not hear. To no longer hear a character: mute."""
    ),
    "topic_privacy": gettext_noop("privacy"),
    "topic_forget": gettext_noop("forget"),
    "topic_mute": gettext_noop("mute"),
}
NUMBERS = ("count", "days", "built", "confided")
FILLER_KEYS = ("filler_1", "filler_2", "filler_3")


def text(key: str, **values: Any) -> str:
    """Return a line for players, the game's own or the translated one."""
    own = game_setting("TEXTS", {})
    line = own.get(key) if isinstance(own, dict) else None
    if line is not None:
        # `check_texts` reports a line that cannot be used; players see the default instead.
        with suppress(KeyError, IndexError, ValueError):
            return str(line).format(**values) if values else str(line)
    words: str = gettext(TEXTS[key])
    return words.format(**values) if values else words


def translated(reason: str) -> str:
    """Return why a deed was not done as players read it; other words as they are."""
    for key, line in TEXTS.items():
        if key.startswith("cannot_"):
            pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.{1,200})", re.escape(line))
            if match := re.fullmatch(pattern, reason):
                return text(key, **match.groupdict())
    return reason


def is_yes(answer: str) -> bool:
    """Return True for a yes, in the player's language or in English."""
    return answer.strip().lower() in f"{text('forget_yes')} {TEXTS['forget_yes']}".lower().split()


def check_texts(own: dict[str, str]) -> None:
    """Raise ConfigError if a game overrides an unknown line or uses unknown fields."""
    for key, line in own.items():
        if key not in TEXTS:
            raise ConfigError(f"there is no line '{key}'. The lines are: {', '.join(TEXTS)}.")
        known = {name: 0 if name in NUMBERS else "" for name in fields_of(TEXTS[key])}
        try:
            line.format(**known)
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise ConfigError(
                f"the line '{key}' cannot be used: {error!r}. It may contain these fields: "
                f"{', '.join(known) or 'none'}."
            ) from error


def fields_of(line: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(line) if name)
