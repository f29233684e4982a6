"""What staff change in a page: persona, settings and note of a character, lore, marks of turns."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.views.generic import TemplateView
from evennia.accounts.models import AccountDB
from twisted.internet.defer import inlineCallbacks

from evennia_ai.config import FIELDS
from evennia_ai.contrib.staff_pages import access
from evennia_ai.contrib.staff_pages.access import (
    AccessDenied,
    NotFound,
    StaffPage,
    find_script,
    game,
)
from evennia_ai.contrib.staff_pages.disclosure import asked_text, page_text
from evennia_ai.contrib.staff_pages.page_rows import MARKS
from evennia_ai.errors import AssistantError, ConfigError
from evennia_ai.game import setup
from evennia_ai.messages import Audience
from evennia_ai.policy.conversation import persona_and_lore
from evennia_ai.policy.conversation.persona_and_lore import EVERYBODY, LISTS, LoreEntry, LoreTrial
from evennia_ai.policy.read_permissions import Reader, words_kind
from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.staff_controls import DEFAULT_TURNS, MOST_TURNS, NOTE_CHARS, AuthorNote
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.attributes import read_attribute, write_attribute
from evennia_ai.store.lore_records import shared_name
from evennia_ai.store.reports import Row, find_row
from evennia_ai.store.turns import mark_turn

MOST_CHARS = 8_000


def area(label: str, rows: int, most: int = MOST_CHARS, required: bool = False) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows})
    return forms.CharField(label=label, max_length=most, required=required, widget=widget)


class PersonaForm(forms.Form):
    """A persona, with the lists one entry on a line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, what in setup.PERSONA_FIELDS.items():
            label = what.capitalize() + ", one on a line" * (name in LISTS)
            self.fields[name] = area(label, 12 if name == "text" else 2)

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        fields = {n: v.splitlines() if n in LISTS else v for n, v in data.items()}
        stored = persona_and_lore.stored_fields(persona_and_lore.read_persona(fields))
        if not stored.get("text"):
            raise forms.ValidationError("A persona cannot be empty. Say who the character is.")
        return {"persona": stored}


class SettingForm(forms.Form):
    """One setting and its new value."""

    setting = forms.ChoiceField(choices=[("", "Choose one"), *((one, one) for one in FIELDS)])
    value = forms.CharField(required=False, max_length=1_000, label="Value; empty to inherit it")


class NoteForm(forms.Form):
    """A note for the next turns."""

    text = area("Bear in mind now; no text removes the note", 2, NOTE_CHARS)
    turns = forms.IntegerField(min_value=1, max_value=MOST_TURNS, initial=DEFAULT_TURNS)


class LoreForm(forms.Form):
    """A piece of lore; it replaces the one with the same title."""

    title = forms.CharField(max_length=80)
    scopes = forms.CharField(
        required=False, max_length=200, initial=EVERYBODY, label="Who knows it"
    )
    keys = forms.CharField(required=False, max_length=500, label="Key words")
    always = forms.BooleanField(required=False, label="In every prompt")
    text = area("Text", 3, required=True)


class TitleForm(forms.Form):
    """The title of a piece of lore."""

    title = forms.CharField(max_length=200)


class Submission(NamedTuple):
    """What somebody asked for with a form: ``fields`` are those of the form for ``act``."""

    who: Row
    reader: Reader
    account: int
    act: str
    fields: Row
    number: int = 0  # of the row, of a page about one
    seen: str | None = None  # `state_of` what the form showed


class EditingPage(StaffPage):
    """A page with forms, by the act that each is for, which is the prefix of its fields, too."""

    get: Any

    by_act: ClassVar[Mapping[str, type[forms.Form]]] = {}
    # Changes something on the reactor's thread; returns what, and a sentence, perhaps later.
    # Raises AssistantError.
    change: Callable[[Submission], Any]
    prefixed = True
    bound: forms.Form | None = None

    def post(self, request: Any, **numbers: int) -> HttpResponse:
        if not access.may_act():
            raise AccessDenied("These pages only show: WEB_ACTS is off. Use the commands.")
        act = request.POST.get("act", "")
        if act not in self.by_act:
            raise NotFound("There is no such act.")
        self.bound = form = self.by_act[act](request.POST, prefix=act if self.prefixed else None)
        if form.is_valid():
            try:
                account, number = request.user.pk, numbers.get("number", 0)
                fields, seen = form.cleaned_data, request.POST.get("seen")
                submission = Submission(self.who, self.reader, account, act, fields, number, seen)
                outcome = game.ask(self.change, submission)
            except (AccessDenied, NotFound):
                raise
            except AssistantError as error:
                messages.error(request, page_text(error))
            else:
                about = f"{self.who['name']} ({self.who['dbref']}): {page_text(outcome[0], 200)}"
                access.log_sec(request, f"changed on the page of {about}")
                messages.success(request, page_text(outcome[1]))
                return HttpResponseRedirect(request.get_full_path())
        shown: HttpResponse = self.get(request, **numbers)
        return shown

    def form(self, act: str, initial: Mapping[str, Any] | None = None) -> forms.Form:
        """Return the form for an act: as it was sent, if that failed, else as it is stored."""
        if isinstance(self.bound, self.by_act[act]) and self.bound.prefix == act:
            return self.bound
        return self.by_act[act](prefix=act, initial=initial)


class Setup(EditingPage, TemplateView):
    """The persona, the settings and the note of a character."""

    tab, template_name = "setup", "evennia_ai/setup.html"
    by_act: ClassVar[Mapping[str, type[forms.Form]]] = {
        "persona": PersonaForm,
        "setting": SettingForm,
        "note": NoteForm,
        "stop": forms.Form,
    }

    def get_context_data(self, **values: Any) -> Row:
        setup = game.ask(read_setup, self.who["id"])
        setting_form = self.form("setting")
        now = [(n := item["name"], f"{n} = {item['value'][:40]}") for item in setup["settings"]]
        setting_form.fields["setting"].choices = [("", "Choose one"), *sorted(now)]
        return super().get_context_data(
            **self.rights(),
            **setup,
            persona_form=None if setup["shared"] else self.form("persona", setup["persona"]),
            setting_form=setting_form,
            note_form=self.form("note", setup["note"]),
            **values,
        )

    @staticmethod
    def change(submission: Submission) -> tuple[str, str]:
        script = find_script(submission.who["id"])
        author = access.editor_of(script.character, submission.account)
        if submission.seen not in (None, state_of(script, submission.act)):
            raise ConfigError(
                f"The {submission.act} was changed meanwhile. Save again to overwrite."
            )
        if submission.act == "persona":
            return change_persona(script, author, submission.fields["persona"])
        if submission.act == "setting":
            return change_setting(script, submission.reader, submission.fields)
        if submission.act == "stop":
            return stop_or_start(script)
        return change_note(script, author, submission.fields)


def state_of(script: Any, act: str) -> str:
    """Return what changes whenever something changes that a form of the page shows."""
    shown = {
        "persona": read_attribute(script.character, "ai_persona"),
        "note": (script.mind.status.note_in_force() or [None])[0],
        "setting": sorted(script.mind.settings.own().items()),
        "stop": script.is_on,
    }
    return sha256(repr(shown[act]).encode()).hexdigest()


def read_setup(assistant: int) -> Row:
    """Read what the page shows, on the reactor's thread."""
    script = find_script(assistant)
    mind, stored = script.mind, read_attribute(script.character, "ai_persona")
    persona, own = persona_and_lore.stored_fields(mind.who.persona), mind.settings.own()
    shown = {n: "\n".join(v) if n in LISTS else v for n, v in persona.items()}  # type: ignore[arg-type]
    note = mind.status.note_in_force()
    left = {"turns": note[1]} if note and note[0].turns is not None else {}
    return {
        "persona": shown,
        "seen": {act: state_of(script, act) for act in Setup.by_act},
        "shared": shared_name(stored),
        "is_on": script.is_on,
        "note": {"text": note[0].text, **left} if note else {},
        "complaints": [page_text(named) for named in mind.settings.complaints],
        "settings": [
            {
                "name": name,
                "value": page_text(setup.value_words(name, getattr(script.config, name)), 200),
                "own": name in own,
                "help": item.metadata["help"],
            }
            for name, item in sorted(FIELDS.items(), key=lambda pair: (pair[0] not in own, pair[0]))
        ],
    }


def change_persona(script: Any, author: str, persona: Row) -> tuple[str, str]:
    if shared := shared_name(read_attribute(script.character, "ai_persona")):
        raise ConfigError(f"The character shares the persona @{shared}. Use aisetup/persona.")
    setup.write_persona(script.character, persona, author, keep_authors=True)
    return "the persona", "The persona is changed. The memories stay."


def change_setting(script: Any, reader: Reader, fields: Row) -> tuple[str, str]:
    name, shared = fields["setting"], script.services
    value = setup.read_setting(shared, name, fields["value"].strip())
    profile = script.mind.settings.profile
    if setup.sets_discretion(shared, profile, name, value) and not reader.has("Admin"):
        raise AccessDenied("Only admins may change who is told what players whisper.")
    script.mind.settings.write({name: value})
    shared.watch(script.mind)  # it may sleep at other hours now
    now = getattr(script.config, name)
    return f"{name} = {value}", f"{name} is now {now}{'' if value is not None else ', inherited'}."


def stop_or_start(script: Any) -> tuple[str, str]:
    """Stop a character that is not stopped, or start it, as ``aistop`` and ``aistart`` do."""
    if script.is_on:
        script.mind.stop_thinking()
        return "stopped", "It is stopped: it thinks and says nothing."
    write_attribute(script, "stopped", None)
    script.wake()
    return "started", "It is started."


def change_note(script: Any, author: str, fields: Row) -> tuple[str, str]:
    words, life, after = one_line(fields["text"]), script.mind.status, script.mind.turns.newest()
    turns = fields["turns"]
    note = AuthorNote(text=words, by=author, after_turn=after, turns=turns) if words else None
    life.write_note(note)
    return "the note", f"The note stands for {turns} turns." if note else "There is no note now."


class LorePage(EditingPage, TemplateView):
    """All lore; with a line, what of it the prompt would hold if a player said that."""

    tab, template_name = "lore", "evennia_ai/lore.html"
    by_act: ClassVar[Mapping[str, type[forms.Form]]] = {"lore": LoreForm, "delete": TitleForm}

    def get_context_data(self, **values: Any) -> Row:
        line, wanted = (asked_text(self.request.GET, name) for name in ("line", "edit"))
        trials, kept, labels, budget = game.ask(read_lore, self.who["id"], line)
        chosen = next((e for t in trials if (e := t.entry).title == wanted and e not in kept), None)
        initial = {
            **vars(chosen), "scopes": ", ".join(chosen.scopes), "keys": ", ".join(chosen.keys)
        } if chosen else None  # fmt: skip
        return super().get_context_data(
            line=line,
            budget=budget,
            labels=sorted(page_text(label, 60) for label in labels),
            entries=[{**shown_trial(item, line), "kept": kept.get(item.entry)} for item in trials],
            lore_form=self.form("lore", initial),
            editing=chosen is not None or self.bound is not None,
            **values,
        )

    @staticmethod
    def change(submission: Submission) -> tuple[str, str]:
        fields, lore = submission.fields, access.services().lore
        title = fields["title"].strip()
        before = lore.find(title)
        is_taken = before in (None, *lore.fixed) and lore.kept_elsewhere(
            title, submission.who["dbref"]
        )
        if is_taken:
            raise ConfigError(is_taken)
        if submission.act == "delete":
            if not lore.remove(title):
                raise NotFound(f"There is no lore '{title}' any more.")
            return f"the lore '{title}', deleted", f"'{title}' is deleted."
        written = fields["scopes"].split(",") if fields["scopes"].strip() else [EVERYBODY]
        scopes = tuple(setup.read_scope(scope) for scope in written)
        own = access.characters_of(AccountDB.objects.get(id=submission.account))
        earlier = before.authors if before else ()
        authors = frozenset(author.dbref for author in own[:1]).union(earlier)
        keys, always = persona_and_lore.split_keys(fields["keys"]), fields["always"]
        text = fields["text"].strip()
        lore.write(LoreEntry(title, text, scopes, authors, keys, always))
        return f"the lore '{title}'", f"'{title}' is written."


@inlineCallbacks
def read_lore(
    assistant: int, line: str
) -> Coroutine[tuple[list[LoreTrial], dict[LoreEntry, str], Audience, str]]:
    """Try a line before nobody: trials, where those not of the game are kept, labels, budget."""
    script = find_script(assistant)
    nobody: Audience = frozenset()
    lore = script.mind.lore
    _entries, labels = script.services.world.lore(script.character, nobody)
    yield lore.prepare([line], nobody)
    trials = lore.try_lines([line], nobody)
    records = script.services.lore
    own = {trial.entry for trial in trials}.difference(records.entries())
    kept = dict.fromkeys(own, "its own (ai_lore)") | dict.fromkeys(records.fixed, "in LORE")
    return trials, kept, frozenset(labels), lore.budget_words


def shown_trial(trial: LoreTrial, line: str) -> Row:
    entry = trial.entry
    return {
        "title": page_text(entry.title or "(no title)", 80),
        "text": page_text(entry.text),
        "keys": page_text(", ".join((*entry.keys, *["always"] * entry.always)), 200),
        "scopes": page_text(", ".join(entry.scopes), 200),
        "known": not trial.why_unknown,
        "chosen": trial.is_chosen,
        "why": page_text(trial.verdict(bool(line)), 200),
    }


COMMENT_CHARS = 2_000


class MarkForm(forms.Form):
    """A mark and a comment, whose lines ``says: …`` and ``does: …`` are what is expected."""

    mark = forms.ChoiceField(required=False, choices=[(one, one or "none") for one in ("", *MARKS)])
    comment = area(
        "Comment; a line “says: …” or “does: tool argument = value” is what is expected of a scene",
        3,
        COMMENT_CHARS,
    )


def change_mark(submission: Submission) -> tuple[str, str]:
    """Store a mark, on the reactor's thread; raises Refused, Missing and StoreUnavailable."""
    assistant, turn = submission.who["id"], submission.number
    access.editor_of(find_script(assistant).character, submission.account)
    row = find_row("Turn", assistant, turn)
    if row is None:
        raise NotFound("There is no such turn.")
    if not submission.reader.may(words_kind(row["private"])):
        raise AccessDenied("Only who may read a private turn may mark it.")
    by = AccountDB.objects.get(id=submission.account).username
    mark_turn(turn, submission.fields["mark"], submission.fields["comment"].strip(), by)
    return f"the mark of turn {turn}", f"The mark of turn {turn} is stored."
