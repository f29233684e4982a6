"""The players of a test: characters with an account and a session, most of them made ahead."""

import re
import time
from itertools import count

from django.conf import settings

from tests.game.fresh_state import forget_everything

SESSION_IDS = count(1000)
LOBBY, SPARE = "Lobby", "Spare"
PLAIN = "evennia.objects.objects.Default"
SPARES = 4  # a test has two players on average
GAPS = re.compile(r"(?<=[|<:{w])\u200c")  # the sanitizer puts them behind what they make inert


class Player:
    """A connected player: a character with an account, a session, and the text it was sent."""

    def __init__(self, character, account, session):
        self.character = character
        self.account = account
        self.session = session

    @property
    def dbref(self):
        return self.character.dbref

    def do(self, line):
        """Type a command."""
        self.character.execute_cmd(line, session=self.session)

    def heard(self):
        """Return all text sent to the client so far, without markup, as a person reads it."""
        from evennia.utils.ansi import strip_ansi

        return [GAPS.sub("", strip_ansi(text)) for text in self.session.sent]

    def told(self, line):
        """Type a command and return its output as one text."""
        self.forget()
        self.do(line)
        return "\n".join(self.heard())

    def last(self):
        return self.heard()[-1] if self.session.sent else ""

    def forget(self):
        self.session.sent.clear()


def new_object(typeclass, **fields):
    """Return a new object of Evennia's."""
    from evennia.utils.create import create_object

    return create_object(typeclass, **fields)


def made(key, room, typeclass=None):
    """Return a new account with its character."""
    from evennia.utils.create import create_account

    account = create_account(key, f"{key}@example.com", "x" * 12)
    character = new_object(typeclass or "world.characters.Character", key=key, location=room)
    character.locks.add(f"puppet:pid({account.id})")
    return account, character


def new_session(**fields):
    """Return a new session, which keeps the text that it is sent, ahead of its login."""
    import evennia
    from evennia.server.serversession import ServerSession

    session = ServerSession()
    session.init_session("telnet", ("localhost", "testmode"), evennia.SESSION_HANDLER)
    session.load_sync_data({"sessid": next(SESSION_IDS), **fields})
    session.sent = []
    session.data_out = lambda **kwargs: keep_text(session.sent, kwargs)
    evennia.SESSION_HANDLER[session.sessid] = session
    return session


def logged_in(account, character):
    """Return a new session of an account that logs in and puppets the character."""
    import evennia

    session = new_session()
    session.at_sync()
    account.db._last_puppet = character
    evennia.SESSION_HANDLER.login(session, account, testmode=True)
    account.puppet_object(session, character)
    return session


def resumed(account, character):
    """Return a session of an account that has logged in before, as Evennia has it after a reload.

    It takes a third of the time of a login.
    """
    session = new_session(
        uid=account.id, uname=account.username, puid=character.id, logged_in=True,
        conn_time=time.time(), cmdset_storage_string=settings.CMDSET_SESSION, account=account,
    )  # fmt: skip
    session.at_sync()
    return session


def keep_text(sent, kwargs):
    """Keep the text that a session is sent."""
    if text := kwargs.get("text"):
        sent.append(str(text[0] if isinstance(text, (tuple, list)) else text))


def spares():
    """Yield the accounts that this test has not taken yet, with their characters."""
    from evennia.accounts.models import AccountDB
    from evennia.objects.models import ObjectDB

    for account in AccountDB.objects.filter(username__startswith=SPARE):
        yield account, ObjectDB.objects.get(db_key=account.username)


def make_spares():
    """Make players that tests rename: to make one and log it in takes as long as most tests."""
    import evennia

    lobby = new_object(f"{PLAIN}Room", key=LOBBY)
    for number in range(SPARES):
        logged_in(*made(f"{SPARE}{number}", lobby))
    evennia.SESSION_HANDLER.clear()
    forget_everything()
