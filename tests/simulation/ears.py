"""Who learns a secret in a `Court`: all that anybody is shown, and all that a model is asked."""

import gzip
import io
import json
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management import call_command, get_commands
from django.test import Client

from evennia_ai import models
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.ports import LLMRequest
from tests.reading_requests import is_summary
from tests.same_thread import HAS_PAGES
from tests.simulation.court import WORDS, Court
from tests.simulation.parrot import words_in

NOBODY: frozenset[str] = frozenset()
REST = ("turns", "messages", "model-calls", "tool-calls", "compactions", "sleep-passes")
# The pages of one character; docs/admins-guide.md says who opens them.
PAGES = (
    "{id}/", "{id}/setup/", "{id}/trial/", "{id}/live/", "{id}/live/newest/", "{id}/memory/",
    "{id}/memory/?archive=1", "{id}/memory/?words=word", "{id}/relations/", "{id}/lore/",
    "{id}/compactions/", "{id}/sleep/",
)  # fmt: skip
# What a builder types; docs/privacy.md says which kinds of words each may show.
LISTINGS = (
    "aistatus", "aistatus {0}", "aihistory {0}", "aihistory {0} = page 2", "aihistory/turns {0}",
    "aihistory/turns {0} = page 2", "aihistory/unanswered {0}", "aihistory/compaction {0}",
    "aihistory/sleep {0}", "aihistory/journal {0}", "aigoals {0}", "aimemory {0}",
    "aimemory/about {0} = {1}", "aimemory/search {0} as {1} = word", "aimemory/search {0} = mill",
    "aicost/players", "aiwhy {0}", "aiwhy {0} = 2", "aiwhy/prompt {0}", "aiwhy/call {0}",
    "aiwhy/call/prompt {0}", "aiwhy/call {0} = reflection", "aiwhy/next {0} = who are you?",
    "aisetup {0}",
)  # fmt: skip
PAGE = re.compile(r"Page \[(\d+)/(\d+)\]")
LINK = re.compile(r"/turn/\d+/")
NONE = WORDS[-1]  # which nobody says
SEARCHES = 4
TURNS = 12  # how many pages of turns are opened


class Ears:
    """Notes each secret that reaches somebody outside its circle, as a sentence."""

    def __init__(self, court: Court, folder: Path) -> None:
        self.court, self.folder = court, folder
        self.faults: list[str] = []
        self.prompts = self.texts = 0  # how many prompts and texts held a secret at all
        self.turns: set[int] = set()
        court.model.watch, court.about_me = self.prompt, self.about_me

    def tell(self, text: str, knowers: frozenset[str], where: str) -> None:
        """Note the secrets of a text that not all who learn the text may know."""
        for word in words_in(text):
            secret = self.court.ledger.secrets.get(word)
            if secret and not (knowers and knowers <= secret.circle):
                step = len(self.court.trace)
                self.faults.append(f"{word} of {secret.owner} {where}, after step {step}")
            self.texts += bool(secret)

    # --- while they play -------------------------------------------------------------------------

    def prompt(self, request: LLMRequest) -> None:
        """Judge a prompt by everybody who will hear what comes of it."""
        text = json.dumps([list(request.messages), [*request.tools, *request.late_tools]])
        secrets = [w for w in words_in(text) if w in self.court.ledger.secrets]
        self.prompts += bool(secrets)
        turn = models.Turn.objects.filter(id=request.caller.turn_id or 0).first()
        if turn is None:
            self.shared_by_one(
                secrets, f"a prompt of {'summary' if is_summary(request) else 'sleep'}"
            )
            return
        character = turn.assistant.obj
        hearers = frozenset(turn.audience)
        if turn.id not in self.turns and not turn.private and turn.context.startswith("tick"):
            hearers |= self.listeners(character)
        self.turns.add(turn.id)
        knowers = hearers | {character.dbref} if hearers else NOBODY
        self.tell(text, knowers, f"is in a prompt of {character.key} for {sorted(hearers)}")

    def shared_by_one(self, secrets: list[str], where: str) -> None:
        """Note secrets that stand together although no player knows all of them."""
        circles = [self.court.ledger.secrets[word].circle for word in secrets]
        common = frozenset.intersection(*circles) if circles else NOBODY
        if circles and not common & self.court.everybody.keys():
            self.faults.append(f"{secrets} are mixed in {where}")

    def listeners(self, character: Any) -> frozenset[str]:
        """Return who hears what a character says aloud now."""
        near = character.location.contents if character.location else ()
        minds = list(self.court.characters.values())
        people = [person.character for person in self.court.players.values()]
        return frozenset(thing.dbref for thing in near if thing in people or thing in minds) - {
            character.dbref
        }

    def screens(self) -> None:
        """Judge what everybody's client was sent."""
        for dbref, person in self.court.everybody.items():
            text = "\n".join(person.heard())
            self.tell(text, frozenset({dbref}), f"is on the screen of {person.character.key}")
            person.forget()

    # --- now and then ----------------------------------------------------------------------------

    def everything(self) -> None:
        """Judge all that anybody may open."""
        self.screens()
        for person in self.court.players.values():
            self.about_me(person)
        self.records()
        self.listings()
        self.web(self.court.bea, "a builder")
        self.web(next(iter(self.court.players.values())), "a player", is_staff=False)
        self.exports()
        self.mind_file()

    def about_me(self, person: Any) -> None:
        """Judge what a player is told of themselves; all that they confided is in it."""
        self.screens()
        text, name = read(person, "aboutme"), person.character.key
        self.tell(text, frozenset({person.dbref}), f"is in aboutme of {name}")
        visible = {*words_in(text), *self.court.ledger.forgotten}
        for secret in self.court.ledger.secrets.values():
            own = secret.owner == person.dbref and secret.characters
            if own and secret.word not in visible:
                self.faults.append(f"{secret.word} is missing in aboutme of {name}")
        person.forget()

    def records(self) -> None:
        """Judge what is stored for whom."""
        for character in self.court.characters.values():
            me, own = character.dbref, {"assistant": character.assistant}
            name = character.key
            for row in models.Event.objects.filter(**own):
                self.tell(row.text, frozenset({*row.audience, me}), f"is an event of {name}")
            for row in models.Message.objects.filter(**own).exclude(role="system"):
                known = frozenset({*row.audience, me}) if row.private else NOBODY
                where = f"is message {row.id} of {name} for {row.audience}"
                self.tell(f"{row.content} {row.tool_calls}", known, where)
            for row in models.Compaction.objects.filter(**own):
                for part, summary in row.summary.items():
                    known = NOBODY if part == PUBLIC else frozenset({*part.split(","), me})
                    self.tell(summary, known, f"is in {name}'s summary for {part}")
            for store in (character.journal, character.ai_goals, character.ai_profiles):
                for record in store.all():
                    audience = record["audience"]
                    known = frozenset({*audience, me}) if audience else NOBODY
                    self.tell(str(record), known, f"is a record of {name} for {audience}")
        for row in models.SharedEntry.objects.all():
            self.tell(row.text, NOBODY, "is shared")

    def listings(self) -> None:
        """Judge what the commands of staff show a builder, and that they show players nothing."""
        names = list(self.court.players)
        for number, name in enumerate(self.court.characters):
            for line in LISTINGS:
                self.court.bea.do(line.format(name, names[number]))
                self.court.game.run(0.1)
            for line in LISTINGS[:2]:
                self.court.players[names[0]].do(line.format(name))
        self.screens()
        self.searches()

    def searches(self) -> None:
        """Check that a builder's search does not tell whether somebody whispered a word."""
        client, bea = client_of(self.court.bea), self.court.bea
        for secret in list(self.court.ledger.secrets.values())[-SEARCHES:]:
            for name, character in self.court.characters.items():
                if character.dbref not in secret.circle:
                    continue
                address = f"/ai/{character.assistant.id}/?words="
                texts = [
                    bea.told(f"aihistory {name} = search {word}") for word in (secret.word, NONE)
                ]
                pages = [
                    client.get(address + word).content.decode() for word in (secret.word, NONE)
                ]
                if texts[0].replace(secret.word, NONE) != texts[1]:
                    self.faults.append(f"a search tells a builder of {secret.word}: {texts[0]}")
                if len(set(map(len, map(LINK.findall, pages)))) > 1:
                    self.faults.append(f"a page tells a builder of {secret.word}")
        bea.forget()

    def pages(self) -> Iterable[str]:
        """Return the addresses of all kinds of pages, of turns the newest and the private."""
        yield from ("", "turns/", "turns/?tokens=1")
        for character in self.court.characters.values():
            number = character.assistant.id
            own = {"assistant": character.assistant}
            yield from (page.format(id=number) for page in PAGES)
            turns = models.Turn.objects.filter(**own).order_by("-private", "-id")[:TURNS]
            yield from (f"{number}/turn/{turn.id}/" for turn in turns)
            rows = models.Compaction.objects.filter(**own).order_by("-id")[:3]
            yield from (f"{number}/compaction/{row.id}/" for row in rows)

    def answers(self, person: Any) -> Iterable[tuple[str, int, str]]:
        """Yield address, status and text of each page and REST answer, for one account."""
        client = client_of(person)
        pages = [*self.pages(), *(f"api/{name}/?page_size=200" for name in REST)]
        for page in pages if HAS_PAGES else ():
            at: str | None = f"/ai/{page}"
            while at:
                reply = client.get(at)
                text = reply.content.decode()
                yield at, reply.status_code, text
                more = re.search(r'"next":"([^"]+)"', text) if "/api/" in at else None
                at = more[1].partition("testserver")[2] if more else None

    def web(self, person: Any, who: str, is_staff: bool = True) -> None:
        """Judge what an account gets of the web site."""
        for at, status, text in self.answers(person):
            if (status == 200) is not is_staff and status != 204:
                self.faults.append(f"{at} answers {status} to {who}")
            self.tell(text, frozenset({person.dbref}), f"is on {at} for {who}")

    def exports(self) -> None:
        """Judge the files that a builder has written, and who may read them."""
        for form in ("{0}", "{0} = text", "all = text, player {1}"):
            for name in self.court.characters:
                who = next(iter(self.court.players))
                self.court.bea.do(f"aihistory/export {form.format(name, who)}")
                self.court.game.run(2)
        files = [file for file in self.folder.rglob("*") if file.is_file()]
        if not files:
            self.faults.append("no file was exported")
        for file in files:
            if file.stat().st_mode & 0o077:
                self.faults.append(f"others may read {file.name}")
            self.tell(file.read_text(), frozenset({self.court.bea.dbref}), f"is in {file.name}")
            file.unlink()

    def mind_file(self) -> None:
        """Judge who may read the file of minds, and that it keeps nothing that was forgotten."""
        if not may_save_minds():
            return
        file = file_of(self.folder)
        if file.stat().st_mode & 0o077:
            self.faults.append("others may read the file of minds")
        left = sorted(words_saved(file) & self.court.ledger.forgotten)
        self.faults += [f"{word} is in the file of minds" for word in left]
        file.unlink()


def client_of(person: Any) -> Client:
    """Return a web client that is logged in as a player's account."""
    client = Client()
    client.force_login(person.account)
    return client


def read(person: Any, line: str) -> str:
    """Type a command and turn the pages of what it shows; return all of it."""
    text = page = person.told(line)
    while (at := PAGE.search(page)) and at[1] != at[2]:
        page = person.told("n")
        text += page
    return text


def may_save_minds() -> bool:
    """Return True unless the extension that saves minds is not there."""
    return "ai_minds" in get_commands()


def file_of(folder: Path) -> Path:
    """Return the file into which all minds were saved."""
    file = folder / "minds.gz"
    file.unlink(missing_ok=True)
    call_command("ai_minds", "save", str(file), stdout=io.StringIO())
    return file


def words_saved(file: Path) -> set[str]:
    """Return the secret words of a file of minds."""
    return set(words_in(gzip.decompress(file.read_bytes()).decode()))


def words_of(answers: Iterable[tuple[str, int, str]]) -> set[str]:
    """Return the secret words of all pages and answers."""
    return set(chain.from_iterable(words_in(text) for _, _, text in answers))
