"""The log of one assistant: turns with their reasons, newest lines, compactions, sleep passes."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any, ClassVar

from django import forms
from django.http import HttpResponse
from django.views.generic import DetailView, ListView, TemplateView

from evennia_ai import models
from evennia_ai.commands.rendering import COMPACTED_FOR, SUMMARISED
from evennia_ai.contrib.staff_pages import disclosure, page_rows
from evennia_ai.contrib.staff_pages.access import StaffPage, extension, services
from evennia_ai.contrib.staff_pages.disclosure import (
    TURN_ENDS,
    RowPresenter,
    page_text,
    people_named,
)
from evennia_ai.contrib.staff_pages.editing import EditingPage, MarkForm, change_mark
from evennia_ai.contrib.staff_pages.page_rows import ANY, MARKS
from evennia_ai.contrib.staff_pages.turn_scenes import as_yaml, scene_of
from evennia_ai.policy import read_permissions as kinds
from evennia_ai.policy import recallable_lines
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.limits.money import money_words
from evennia_ai.policy.read_permissions import Reader
from evennia_ai.policy.sleep_schedule import (
    OUTCOMES,
    REASONS,
    StepTexts,
    describe_cost,
    describe_step,
)
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.sleep import step_texts
from evennia_ai.store.conversation import MASK
from evennia_ai.store.names import locks_of
from evennia_ai.store.reports import Row, seconds_between, unanswered, waiting_events, with_parts
from evennia_ai.store.rows import rows_of

LIVE_LINES, LINES_A_PAGE, MOST_SCENES, MOST_MISSED = 30, 100, 200, 5
DATE = forms.DateInput(attrs={"type": "date"})


class LogPage(StaffPage):
    """A page about rows of one table of the log of an assistant."""

    model: Any
    pk_url_kwarg = "number"
    paginate_by = 25

    def get_queryset(self) -> Any:
        return rows_of(self.model, self.who["id"]).order_by("-id").values()


class TurnFilter(forms.Form):
    """Which turns to show."""

    player = forms.CharField(
        required=False, max_length=disclosure.ASKED_CHARS, label="Players, with commas"
    )
    words = forms.CharField(required=False, max_length=disclosure.ASKED_CHARS)
    since = forms.DateField(required=False, widget=DATE)
    until = forms.DateField(required=False, widget=DATE)
    outcome = forms.ChoiceField(
        required=False, label="How it ended", choices=[("", "in any way"), *TURN_ENDS.items()]
    )
    tool = forms.CharField(required=False, max_length=64)
    tokens = forms.IntegerField(required=False, min_value=0, max_value=10**9, label="Tokens from")
    marks = [("", "with or without"), *((one, one) for one in MARKS), (ANY, "good or bad")]
    mark = forms.ChoiceField(required=False, choices=marks)
    orders = [("", "automatic"), ("newest", "newest first"), ("oldest", "oldest first")]
    order = forms.ChoiceField(required=False, choices=orders)


class Timeline(LogPage, ListView):
    """A page of turns, of one assistant or of all; the first of one also shows what waits."""

    model, tab, template_name = models.Turn, "turns", "evennia_ai/timeline.html"
    paginate_by = 50
    only_turns = False

    def get_queryset(self) -> Any:
        self.form = TurnFilter(self.request.GET)
        number = self.who["id"] if self.who else None
        turns, self.trouble = find_turns(number, self.form, self.reader)
        # Who asks for a talk reads it from its beginning.
        filters = self.form.cleaned_data
        is_talk = any(map(filters.get, ("player", "since", "until")))
        order = filters.get("order") or ("oldest" if is_talk else "newest")
        self.oldest_first = order == "oldest"
        return turns.order_by("id" if self.oldest_first else "-id").values()

    def get_context_data(self, **values: Any) -> Row:
        context = super().get_context_data(**values)
        rows = context["object_list"]
        shown = RowPresenter(self.reader, self.who, rows, services().gateway.limits.currency)
        turns = [shown.turn(row) for row in with_parts(rows)]
        filled = {name for name, value in self.form.cleaned_data.items() if value}
        context |= {
            "form": self.form,
            "asked": filled,
            "trouble": self.trouble,
            "oldest_first": self.oldest_first,
            "turns": turns,
            "half_searched": bool(filled & {"player", "words"})
            and not self.reader.may(kinds.PRIVATE_WORDS),
        }
        if self.who is None:
            names = {row["id"]: row["name"] for row in page_rows.assistant_rows()}
            for turn in turns:
                turn["name"] = names.get(turn["assistant_id"], "somebody deleted")
            return context
        if self.only_turns or context["shown_page"].number > 1 or filled:
            return context
        number = self.who["id"]
        chart = page_rows.use_by_day(datetime.now(UTC).date(), assistant_id=number)
        missed = unanswered(assistant_id=number).order_by("-id").values()[:MOST_MISSED]
        lists = {"waiting": waiting_events(number), "missed": missed}
        events = {name: [shown.event(row) for row in rows] for name, rows in lists.items()}
        return {**context, **events, **chart_values(chart)}


def find_turns(assistant: int | None, form: TurnFilter, reader: Reader) -> tuple[Any, str]:
    """Return the turns that were asked for, as a queryset, and what is wrong with the question."""
    if not form.is_valid():
        first = next(iter(form.errors))
        return models.Turn.objects.none(), f"{form[first].label}: {form.errors[first][0]}"
    filters = form.cleaned_data
    player, words = page_text(filters["player"]), page_text(filters["words"])
    named = {name: people_named(name) for item in player.split(",") if (name := item.strip())}
    unknown = next((name for name, dbrefs in named.items() if not dbrefs), "")
    if words and not reader.may(kinds.PUBLIC_WORDS):
        trouble = f"Only {reader.whose(kinds.PUBLIC_WORDS)} may search words."
    elif unknown:
        trouble = f"Nobody is called '{unknown}'. Use a whole name, or a number such as #12."
    else:
        wanted = page_rows.TurnsWanted(
            assistant=assistant,
            with_private=reader.may(kinds.PRIVATE_WORDS),
            speakers=[dbref for dbrefs in named.values() for dbref in dbrefs],
            words=words,
            least_tokens=filters["tokens"],
            **{name: filters[name] for name in ("since", "until", "outcome", "tool", "mark")},
        )
        return page_rows.turns_wanted(wanted), ""
    return models.Turn.objects.none(), trouble


def chart_values(days: Sequence[Row]) -> Row:
    """Return the use by day for ``chart.html``, which draws it if there were several days."""
    used = [day for day in days if day["turns"] or day["calls"]]
    for day in used:
        day["cost"] = money_words(day["money"]) if day["money"] else ""
    return {"chart": days if len(used) > 1 else None, "only_day": used[-1] if used else None}


class Scenes(Timeline):
    """The marked turns of one assistant, as far as they were asked for, as a file of scenes."""

    paginate_by, only_turns = MOST_SCENES, True

    def get_queryset(self) -> Any:
        return super().get_queryset().exclude(mark="")

    def render_to_response(self, context: Row, **_options: Any) -> HttpResponse:
        scenes = filter(None, (scene_of(turn, self.who["name"]) for turn in context["turns"]))
        file = as_yaml({"scenes": list(scenes)})
        name = f"attachment; filename=scenes_{self.who['id']}.yaml"
        return HttpResponse(file, "text/yaml; charset=utf-8", headers={"Content-Disposition": name})


class TurnPage(EditingPage, LogPage, DetailView):
    """One turn: what was heard, each call, why each sentence was said, and a mark."""

    model, tab, template_name = models.Turn, "turns", "evennia_ai/turn.html"
    by_act: ClassVar[Mapping[str, type[forms.Form]]] = {"mark": MarkForm}
    change = staticmethod(change_mark)

    def get_context_data(self, **values: Any) -> Row:
        (row,) = with_parts([self.object])
        currency = services().gateway.limits.currency
        turn = RowPresenter(self.reader, self.who, [row], currency).turn(row)
        for act in turn["acts"]:
            act["locks"] = [page_text(explanation) for explanation in locks_of(act["locks"])]
        explanations = extension("explanations")
        lines = explanations.explain_turn(row["id"], self.who["name"]) if explanations else ()
        whys = [why_line(why, self.reader) for why in lines]
        scene = scene_of(turn, self.who["name"])
        may_mark = self.reader.may(kinds.words_kind(row["private"]))
        turns = rows_of(models.Turn, self.who["id"]).values_list("id", flat=True)
        return super().get_context_data(
            title=f"Turn {row['id']}",
            older=turns.filter(id__lt=row["id"]).order_by("-id").first(),
            newer=turns.filter(id__gt=row["id"]).order_by("id").first(),
            turn=turn,
            whys=whys,
            scene=as_yaml({"scenes": [scene]} if scene else None),
            mark_form=self.form("mark", turn) if may_mark and self.rights()["acts"] else None,
            **values,
        )


def why_line(why: Any, reader: Reader) -> Row:
    """Return the values of an `Explanation` of the extension for explanations."""
    kind = kinds.words_kind(why.private)
    text = page_text(reader.show(kind, why.text, "words"))
    if not (reader.may(kind) and reader.may(kinds.memory_kind(why.private))) or why.stored is None:
        return {"line": text, "state": why.state}
    counted = why.call.prompt_tokens if why.call else None
    shown = why_values(why.parts, why.sentences)
    return {"line": text, "state": why.state, "why": {**shown, "counted": counted}}


def why_values(parts: Sequence[Any], sentences: Sequence[Any]) -> Row:
    """Return the values of the template ``why.html``, which the reader must be allowed to read."""
    sizes = [estimate_tokens(part.text) for part in parts]
    total = sum(sizes) or 1
    ends = list(accumulate(round(1_000 * tokens / total) for tokens in sizes))
    return {
        "total": total,
        "parts": [
            {
                "name": page_text(part.name, 40),
                "tokens": tokens,
                "at": start,
                "permille": end - start,
                "percent": round(100 * tokens / total),
                "lines": [page_text(line) for line in part.text.splitlines()],
            }
            for part, tokens, start, end in zip(parts, sizes, [0, *ends], ends, strict=False)
        ],
        "sentences": [
            {
                "text": page_text(sentence.sentence),
                "tells": sentence.tells,
                "source": shown_source(sentence),
            }
            for sentence in sentences
        ],
    }


def shown_source(attribution: Any) -> Row | None:
    if attribution.source is None:
        return None
    texts = {
        "part": page_text(attribution.source.part, 40),
        "text": page_text(attribution.source.text),
    }
    return {**texts, "score": attribution.share}


class Live(StaffPage, TemplateView):
    """The newest lines; the page asks for newer ones every few seconds."""

    tab, template_name = "live", "evennia_ai/live.html"

    def get_context_data(self, **values: Any) -> Row:
        """Return the newest lines, oldest first, and the number of the last."""
        rows = page_rows.lines_after(self.who["id"], 0, LIVE_LINES)
        shown = RowPresenter(self.reader, self.who, rows)
        last, notice = str(rows[-1]["id"]) if rows else "0", recallable_lines.EMPTY_RESULTS
        # A result such as "You said it." tells nothing beside its call.
        lines = [shown.line(row) for row in rows if row["content"] not in notice]
        return super().get_context_data(lines=lines, last=last, **values)


class NewestLines(Live):
    """The list of lines alone, or nothing (204) if there is none after ``after``."""

    template_name = "evennia_ai/live_lines.html"

    def get(self, request: Any, **numbers: int) -> HttpResponse:
        after = disclosure.number_or_none(request.GET.get("after")) or 0
        if not page_rows.lines_after(self.who["id"], after, 1):
            return HttpResponse(status=204)
        return super().get(request, **numbers)


class CompactionsPage(LogPage, ListView):
    """The compactions."""

    model, tab, template_name = models.Compaction, "compactions", "evennia_ai/compactions.html"

    def get_context_data(self, **values: Any) -> Row:
        context = super().get_context_data(**values)
        return {**context, "rows": [shown_compaction(row) for row in context["object_list"]]}


class CompactionPage(LogPage, DetailView):
    """One compaction: the messages before it beside the summary after it."""

    model, tab, template_name = models.Compaction, "compactions", "evennia_ai/compaction.html"

    def get_context_data(self, **values: Any) -> Row:
        row, who = self.object, self.who
        first = max(row["from_seq"], disclosure.number_or_none(self.request.GET.get("from")) or 0)
        rows = rows_of(models.Message, who["id"]).filter(id__gte=first, id__lte=row["upto_seq"])
        messages = list(rows.order_by("id").values()[: LINES_A_PAGE + 1])
        lines = messages[:LINES_A_PAGE]
        parts = disclosure.compaction_row(row, self.reader)["summary"]
        shown = RowPresenter(self.reader, who, [*lines, *parts])
        for part in parts:
            everybody = part["audience"] == [PUBLIC]
            part["whom"] = "everybody" if everybody else shown.whom(part["audience"])
        explanations, key = extension("explanations"), (who["id"], row["id"], row["at"])
        whys = explanations.explain_compaction(*key, who["name"]) if explanations else ()
        return super().get_context_data(
            title=f"Compaction {row['id']}",
            whys=[why_line(why, self.reader) for why in whys],
            row=shown_compaction(row),
            lines=[shown.line(line) for line in lines],
            later=str(messages[-1]["id"]) if len(messages) > LINES_A_PAGE else "",
            parts=parts,
            **values,
        )


def shown_compaction(row: Row) -> Row:
    before, after = row["original_token_count"], row["summary_token_count"]
    return {
        **row,
        "summary": None,
        "mask": row["reason"] == MASK,
        "reason": disclosure.worded(COMPACTED_FOR, row["reason"]),
        "how": disclosure.worded(SUMMARISED, row["rung"]),
        "percent": min(100, round(100 * after / (before or 1))),
        "cost": describe_cost(row["cost"]),
    }


class SleepPassesPage(LogPage, ListView):
    """The sleep passes, step by step."""

    model, tab, template_name = models.SleepPass, "sleep", "evennia_ai/sleep.html"

    def get_context_data(self, **values: Any) -> Row:
        context = super().get_context_data(**values)
        texts = step_texts(services().extensions)
        rows = [shown_pass(self.reader, row, texts) for row in context["object_list"]]
        return {**context, "rows": rows}


def shown_pass(reader: Reader, row: Row, texts: StepTexts) -> Row:
    errors = disclosure.sleep_pass_row(row, reader)["errors"]
    took_s = seconds_between(row["at"], row["ended_at"])
    ended = OUTCOMES.get(row["outcome"], "ended").format(took_s=took_s)
    return {
        "id": row["id"],
        "at": row["at"],
        "reason": REASONS.get(row["reason"], "asleep"),
        "ended": ended if row["ended_at"] else "in progress",
        "cost": describe_cost(row["cost"]),
        "steps": [
            page_text(describe_step(texts, name, figures, errors.get(name, "")))
            for name, figures in row["results"].items()
        ],
    }
