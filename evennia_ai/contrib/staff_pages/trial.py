"""A trial talk with a character, with two models side by side; nothing is done or stored."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.core import signing
from django.views.generic import TemplateView
from evennia.accounts.models import AccountDB
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.rendering import call_words
from evennia_ai.contrib.staff_pages import access
from evennia_ai.contrib.staff_pages.access import (
    AccessDenied,
    NotFound,
    StaffPage,
    find_script,
    game,
    services,
)
from evennia_ai.contrib.staff_pages.disclosure import page_text
from evennia_ai.errors import AssistantError
from evennia_ai.game.room_lines import ensure_answered, hear_typed
from evennia_ai.messages import SAY, WHISPER, ChatMessage
from evennia_ai.mind.dry_run import DryRun, as_drafted
from evennia_ai.policy.read_permissions import DRY_RUNS, ERRORS, Reader
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.reports import Row

MOST_WAIT_S = 200.0  # a little more than the longest deadline of a slow local model
MOST_LINES = 10  # of a talk that goes on
LEFT_OUT = (
    "The talk so far was left out: since it began, somebody's words were forgotten or the game was "
    "restarted, or it belongs to another character or account."
)


class TrialForm(forms.Form):
    """A line, and the model profiles that answer it; the talk so far comes signed."""

    line = forms.CharField(max_length=1_000, label="Say to the character")
    whisper = forms.BooleanField(required=False, label="Whisper")
    first = forms.ChoiceField(label="Model profile")
    second = forms.ChoiceField(required=False, label="Beside it")
    talk = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, profiles: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(name, page_text(name, 60)) for name in profiles]
        self.fields["first"].choices = choices
        self.fields["second"].choices = [("", "none"), *choices]


class Trial(StaffPage, TemplateView):
    """A talk that nobody else hears, and that is gone with the page."""

    get: Any

    tab, template_name = "trial", "evennia_ai/trial.html"
    talk: Sequence[Row] = ()
    form: TrialForm | None = None

    @cached_property
    def salt(self) -> str:
        """Return what binds a talk to its character, its account, and the words known at first."""
        whose = f"{self.who['id']} {self.request.user.pk}"
        return f"evennia_ai.trial {whose} {services().forgetting.era}"

    def post(self, request: Any, **numbers: int) -> Any:
        """Ask the chosen models, one after the other, and show the talk with their answers."""
        if not access.may_act():
            raise AccessDenied("Trials are off, since WEB_ACTS is off. Use aitest.")
        if not self.reader.may(DRY_RUNS):
            raise AccessDenied(f"Only {self.reader.whose(DRY_RUNS)} may read trials.")
        form = self.form = TrialForm(request.POST, profiles=sorted(services().profiles))
        if form.is_valid():
            self.talk = self.read_talk(form.cleaned_data["talk"], self.salt)
            try:
                self.talk = [*self.talk, self.exchange(form.cleaned_data)][-MOST_LINES:]
            except (AccessDenied, NotFound):
                raise
            except AssistantError as error:
                messages.error(request, page_text(error))
        return self.get(request, **numbers)

    def read_talk(self, signed: str, salt: str) -> list[Row]:
        """Return the lines and answers so far; leaves out a talk with another signature."""
        try:
            return list(signing.loads(signed, salt=salt)) if signed else []
        except signing.BadSignature:
            messages.warning(self.request, LEFT_OUT)
            return []

    def exchange(self, submission: Row) -> Row:
        sides = []
        for profile in dict.fromkeys(filter(None, (submission["first"], submission["second"]))):
            earlier_sides = [side for item in self.talk for side in item["sides"]]
            before = [
                line
                for earlier_side in earlier_sides
                if earlier_side["profile"] == profile
                for line in earlier_side["lines"]
            ]
            given = self.who["id"], self.request.user.pk, submission, profile, before
            answer, model = game.ask(answer_of, *given, wait_s=MOST_WAIT_S)
            sides.append({"profile": profile, "model": model, **shown_run(answer, self.reader)})
        return {
            "line": page_text(submission["line"]),
            "whispered": submission["whisper"],
            "sides": sides,
        }

    def own_profile(self) -> str:
        return str(find_script(self.who["id"]).mind.settings.profile.name)

    def get_context_data(self, **values: Any) -> Row:
        talk, form = self.talk, self.form
        if form is None or form.is_valid():
            choices = form.cleaned_data if form else {"first": game.ask(self.own_profile)}
            kept = {name: choices.get(name) for name in ("first", "second", "whisper")}
            kept["talk"] = signing.dumps(talk, salt=self.salt, compress=True)
            form = TrialForm(initial=kept, profiles=sorted(services().profiles))
        return super().get_context_data(talk=talk, trial_form=form, **self.rights(), **values)


@inlineCallbacks
def answer_of(
    assistant: int, account: int, submission: Row, profile: str, before: list[ChatMessage]
) -> Coroutine[tuple[DryRun, str]]:
    """Ask a profile's model; ``before`` are its lines so far. Fires with the run and a name."""
    script = find_script(assistant)
    access.editor_of(script.character, account)  # raises Refused
    speakers = access.characters_of(AccountDB.objects.get(id=account))
    if not speakers:
        raise AccessDenied("Your account has no character who could say a line.")
    mind = script.mind
    config, used = mind.settings.beside(profile)
    kind = WHISPER if submission["whisper"] else SAY
    event = hear_typed(script.character, config, speakers[0], kind, submission["line"])
    ensure_answered(mind.who.name, event, "whisper it")
    around = as_drafted(mind.around, config, used, mind.who.persona, mind.who.persona_authors)
    dry_run: DryRun = yield mind.dry_run(around, event, before=before)
    return dry_run, page_text(f"{used.name}:{used.model}".removesuffix(":"), 80)


def shown_run(dry_run: DryRun, reader: Reader) -> Row:
    costs = [step.cost for step in dry_run.steps]
    problem = dry_run.problem and reader.show(ERRORS, dry_run.problem, "a model error")
    return {
        "lines": dry_run.lines,
        "acts": [
            {
                "name": page_text(call.call.name, 40),
                "text": " ".join(filter(None, map(page_text, call_words(call.call.arguments)))),
                "refused": "" if call.would_be_tried else page_text(call.result.text, 300),
            }
            for step in dry_run.steps
            for call in step.calls
        ],
        "problem": page_text(problem),
        "fallback": not (dry_run.ended or dry_run.problem),
        "took_s": sum(cost.duration_ms for cost in costs) / 1000,
        "tokens": sum(cost.estimated_tokens or 0 for cost in costs),
    }
