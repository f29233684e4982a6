"""The logs over REST at ``/ai/api/``, by the Django REST framework that Evennia brings.

Everything is read-only. Views run in web threads and read tables as plain rows; `disclosure`
takes out of each row what its reader may not see.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import F
from django.urls import include, path
from evennia.utils import logger
from rest_framework import exceptions, viewsets
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from evennia_ai import errors, models
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.staff_pages import disclosure
from evennia_ai.contrib.staff_pages.disclosure import number_or_none
from evennia_ai.policy.read_permissions import FIGURES, Reader
from evennia_ai.policy.sleep_schedule import OUTCOMES
from evennia_ai.store.reports import PRIVATE_CALL, Row

OPEN, OK = "open", "ok"
ENDS = ("answered", "excused", "noted", "expired", "interrupted", "unheard", OPEN)
CLASSES = [item for item in vars(errors).values() if isinstance(item, type)]
KINDS = sorted({item.kind for item in CLASSES if issubclass(item, errors.ProviderError)})
STATES = ("intended", "asked", "done", "failed", "refused", "unknown")


class NotRunning(exceptions.APIException):
    """The assistants were not started."""

    status_code = 503
    default_detail = "The assistants of this game do not run."


class MayRead(IsAuthenticated):
    """Lets whoever may read figures in, and gives the view its `Reader`."""

    def has_permission(self, request: Any, view: Any) -> bool:
        """Return False for a stranger; raises the error that tells others why they may not."""
        if not super().has_permission(request, view):
            return False
        view.services = AssistantScript.shared_services
        if view.services is None or view.services.store_trouble:
            raise NotRunning
        view.reader = disclosure.reader_of(request.user.pk, view.services)
        if not view.reader.may(FIGURES):
            raise exceptions.PermissionDenied(f"Only {view.reader.whose(FIGURES)} may read that.")
        return True


class NewestFirst(CursorPagination):
    """Pages by the rows' numbers, so that a page stays right while rows are added."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def decode_cursor(self, request: Any) -> Any:
        """Return the place in a cursor; raises NotFound unless that is a row's number."""
        cursor = super().decode_cursor(request)
        if cursor and cursor.position is not None and number_or_none(cursor.position) is None:
            raise exceptions.NotFound(self.invalid_cursor_message)
        return cursor


class Moment(forms.DateTimeField):
    """A time that there is in every zone, too."""

    def to_python(self, value: Any) -> Any:
        try:
            moment = super().to_python(value)
            return moment and moment.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error


class QueryParameters(forms.Form):
    """The parameters of an address."""

    character = forms.CharField(required=False)
    turn = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    since = Moment(required=False)
    until = Moment(required=False)
    outcome = forms.CharField(required=False)


class LogView(viewsets.GenericViewSet):
    """The rows of one table, newest first."""

    permission_classes = (MayRead,)
    renderer_classes = (JSONRenderer,)
    pagination_class = NewestFirst
    model: Any
    columns: str  # those of the table that are shown, beside id, character and at
    turn = "turn_id"  # the column of the turn's number, "" for none
    ends: Sequence[str] = ()  # values of the parameter ``outcome``, which is about ``end``
    end = "outcome"
    disclose: Callable[[Row, Reader], Row]
    more: ClassVar[Mapping[str, Any]] = {}  # what a row has beside its table's columns

    def filter_queryset(self, rows: Any) -> Any:
        form = QueryParameters(self.request.query_params)
        if not form.is_valid():
            raise exceptions.ValidationError(form.errors)
        parameters = {name: value for name, value in form.cleaned_data.items() if value}
        wanted = parameters.get("character", "")
        number = number_or_none(wanted.removeprefix("#"))
        if number is not None:
            rows = rows.filter(assistant__db_obj__id=number)
        elif wanted:
            rows = rows.filter(assistant__db_obj__db_key__iexact=wanted)
        for name, column in (("since", "at__gte"), ("until", "at__lt"), ("turn", self.turn)):
            if name in parameters and column:
                rows = rows.filter(**{column: parameters[name]})
        if not self.ends or not (end := parameters.get("outcome")):
            return rows
        if end not in self.ends:
            problem = f"{end} is not one of {', '.join(self.ends)}."
            raise exceptions.ValidationError({"outcome": [problem]})
        return rows.filter(
            **{"ended_at": None} if end == OPEN else {self.end: "" if end == OK else end}
        )

    def get_queryset(self) -> Any:
        """Return the table's rows as dictionaries, with the number of the character as owner."""
        owner = F("assistant__db_obj_id")
        return self.model.objects.annotate(owner=owner, **self.more).values()

    def shown(self, rows: list[Row]) -> list[Row]:
        """Return the columns of rows, without what the reader may not see."""
        rows_shown = []
        for row in rows:
            values = {**type(self).disclose(row, self.reader), "turn": row.get("turn_id")}
            own = {"character": f"#{row['owner']}" if row["owner"] else ""}
            kept = {name: values[name] for name in self.columns.split()}
            rows_shown.append({"id": row["id"], **own, "at": row["at"], **kept})
        return rows_shown

    def list(self, request: Any) -> Any:
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(self.shown(page))

    def retrieve(self, request: Any, pk: str) -> Any:
        return Response(self.shown([self.get_object()])[0])

    def finalize_response(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Write into the security log who read how many private items, without the words."""
        read = self.reader.private_shown if hasattr(self, "reader") else 0
        if read:
            path, who = request.get_full_path(), request.user
            logger.log_sec(f"GET {path}: {who} read {read} private items")
        return super().finalize_response(request, *args, **kwargs)


class TurnsView(LogView):
    """Turns and how they ended."""

    model, disclose = models.Turn, staticmethod(disclosure.turn_row)
    columns = "ended_at context private audience outcome detail"
    turn, ends = "id", ENDS


class MessagesView(LogView):
    """What was heard, said and done."""

    model, disclose = models.Message, staticmethod(disclosure.message_row)
    columns = (
        "turn role speaker speaker_name private audience content tool_calls tool_call_id evidence "
        "tokens"
    )


class ModelCallsView(LogView):
    """Model calls, with tokens, time and error."""

    model, disclose = models.ModelCall, staticmethod(disclosure.model_call_row)
    columns = (
        "turn purpose profile model estimated_tokens prompt_tokens completion_tokens "
        "cached_tokens duration_ms finish_reason error_kind error"
    )
    ends, end = (OK, *KINDS), "error_kind"


class ToolCallsView(LogView):
    """Tool calls, with arguments and result."""

    model, disclose = models.ToolCall, staticmethod(disclosure.tool_call_row)
    columns = "turn call_id name world private state ended_at arguments result"
    ends, end = STATES, "state"
    more = {"private": PRIVATE_CALL}


class CompactionsView(LogView):
    """Compactions, with their summaries."""

    model, disclose, turn = models.Compaction, staticmethod(disclosure.compaction_row), ""
    columns = (
        "reason rung from_seq upto_seq compacted_count original_token_count summary_token_count "
        "facts_found facts_kept facts_rescued cost undone_at summary"
    )


class SleepPassesView(LogView):
    """Sleep passes."""

    model, disclose = models.SleepPass, staticmethod(disclosure.sleep_pass_row)
    columns = "ended_at reason outcome results errors cost"
    turn, ends = "", (*OUTCOMES, OPEN)


router = SimpleRouter()
router.register("turns", TurnsView, "ai-api-turns")
router.register("messages", MessagesView, "ai-api-messages")
router.register("model-calls", ModelCallsView, "ai-api-model-calls")
router.register("tool-calls", ToolCallsView, "ai-api-tool-calls")
router.register("compactions", CompactionsView, "ai-api-compactions")
router.register("sleep-passes", SleepPassesView, "ai-api-sleep-passes")
urlpatterns = [path("api/", include(router.urls))]
