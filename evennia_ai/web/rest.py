"""The logs over REST at ``/ai/api/``, by the Django REST framework that Evennia brings.

Everything is read-only. Views run in web threads and read tables as plain rows; `web.disclosure`
takes out of each row what its reader may not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django.db.models import F
from django.forms import ChoiceField
from django.urls import include, path
from django_filters import rest_framework as filters
from evennia.utils import logger
from rest_framework import exceptions, fields, mixins, serializers, viewsets
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONOpenAPIRenderer, JSONRenderer
from rest_framework.routers import SimpleRouter
from rest_framework.schemas import get_schema_view

from evennia_ai import __version__, errors, models
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.policy.disclosure import FIGURES, Reader
from evennia_ai.policy.sleep_schedule import OUTCOMES
from evennia_ai.store.page_rows import PRIVATE_CALL, Row
from evennia_ai.store.reports import figures_of, having
from evennia_ai.web import disclosure

OPEN, OK = "open", "ok"
ENDS = ("answered", "excused", "noted", "expired", "interrupted", "unheard", OPEN)
CLASSES = [one for one in vars(errors).values() if isinstance(one, type)]
KINDS = sorted({one.kind for one in CLASSES if issubclass(one, errors.ProviderError)})
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


class FilterBackend(filters.DjangoFilterBackend):
    """Narrows rows down by a view's ``filterset_class``."""

    def get_schema_operation_parameters(self, view: Any) -> list[Row]:
        """Return the parameters for DRF's schema: newer versions of django-filter do not."""
        return [
            {"name": name, "in": "query", "required": False, "description": str(one.label),
             "schema": {"type": "string"}}
            for name, one in view.filterset_class.base_filters.items()
        ]  # fmt: skip


def character(script: str = "") -> filters.CharFilter:
    """Return the parameter ``character``; ``script`` leads from a row to that of its assistant."""

    def of(queryset: Any, name: str, value: str) -> Any:
        number = value.removeprefix("#")
        if number.isdecimal():
            return queryset.filter(**{f"{script}db_obj__id": number})
        return queryset.filter(**{f"{script}db_obj__db_key__iexact": value})

    return filters.CharFilter(method=of, label="Name or number, such as Mira or #12.")


def turn(column: str = "turn__id") -> filters.NumberFilter:
    """Return the parameter ``turn``."""
    return filters.NumberFilter(column, min_value=1, label="Number of a turn.")


class OneOf(filters.Filter):
    """A parameter with choices: django-filter 2.4, of Evennia 5, has no other for Django 5."""

    field_class = ChoiceField


def outcome(column: str, *values: str) -> OneOf:
    """Return the parameter ``outcome``; `OPEN` and `OK` stand for no end and no error."""

    def of(queryset: Any, name: str, value: str) -> Any:
        wanted = {"ended_at": None} if value == OPEN else {column: "" if value == OK else value}
        return queryset.filter(**wanted)

    choices = [(value, value) for value in values]
    return OneOf(method=of, choices=choices, label=f"One of {', '.join(values)}.")


class CharacterFilter(filters.FilterSet):
    """The parameters of the list of characters."""

    character = character()


class LogFilter(filters.FilterSet):
    """The parameters of all logs."""

    character = character("assistant__")
    since = filters.IsoDateTimeFilter("at", "gte", label="From, such as 2026-05-01T12:00Z.")
    until = filters.IsoDateTimeFilter("at", "lt", label="Before this time.")


class RowSerializer(serializers.ModelSerializer):
    """One row, from a dictionary of its columns and ``owner``, the character's number."""

    character = serializers.SerializerMethodField()
    turn = fields.IntegerField(source="turn_id", allow_null=True)
    private = fields.BooleanField()

    def get_character(self, row: Row) -> str:
        """Return the dbref of the assistant's character, empty if that is deleted."""
        return f"#{row['owner']}" if row["owner"] else ""

    def to_representation(self, row: Row) -> Any:
        """Return the row as JSON, without what the reader may not see."""
        view = self.context["view"]
        return super().to_representation(view.disclose(row, view.reader))


class Listed:
    """What all views have."""

    permission_classes = (MayRead,)
    renderer_classes = (JSONRenderer,)
    filter_backends = (FilterBackend,)
    pagination_class = NewestFirst


class LogView(Listed, viewsets.ReadOnlyModelViewSet):
    """The rows of one table, newest first."""

    model: Any
    columns: str  # those of the table that are shown, beside id, character and at
    parameters: ClassVar[Mapping[str, Any]] = {}  # beside those of `LogFilter`
    disclose: Callable[[Row, Reader], Row]
    more: ClassVar[Mapping[str, Any]] = {}  # what a row has beside its table's columns

    def __init_subclass__(cls) -> None:
        """Make the serializer and the filters of a view."""
        shown = {"model": cls.model, "fields": ["id", "character", "at", *cls.columns.split()]}
        name, meta = cls.model.__name__, {"Meta": type("Meta", (), shown)}
        cls.serializer_class = type(f"{name}Serializer", (RowSerializer,), meta)
        cls.filterset_class = type(f"{name}Filter", (LogFilter,), dict(cls.parameters))

    def get_queryset(self) -> Any:
        """Return the table's rows as dictionaries."""
        owner = F("assistant__db_obj_id")
        return self.model.objects.annotate(owner=owner, **self.more).values()

    def finalize_response(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Write into the security log who read how many private items, without the words."""
        read = self.reader.private_shown if hasattr(self, "reader") else 0
        if read:
            what, who = request.get_full_path(), request.user
            logger.log_sec(f"GET {what}: {who} read {read} private items")
        return super().finalize_response(request, *args, **kwargs)


class Turns(LogView):
    """Turns and how they ended."""

    model, disclose = models.Turn, staticmethod(disclosure.turn_row)
    columns = "ended_at context private audience outcome detail"
    parameters = {"turn": turn("id"), "outcome": outcome("outcome", *ENDS)}


class Messages(LogView):
    """What was heard, said and done."""

    model, disclose = models.Message, staticmethod(disclosure.message_row)
    columns = (
        "turn role speaker speaker_name private audience content tool_calls tool_call_id nature "
        "tokens"
    )
    parameters = {"turn": turn()}


class ModelCalls(LogView):
    """Model calls, with tokens, time and error."""

    model, disclose = models.ModelCall, staticmethod(disclosure.model_call_row)
    columns = (
        "turn purpose profile model estimated_tokens prompt_tokens completion_tokens "
        "cached_tokens duration_ms finish_reason error_kind error"
    )
    parameters = {"turn": turn(), "outcome": outcome("error_kind", OK, *KINDS)}


class ToolCalls(LogView):
    """Tool calls, with arguments and result."""

    model, disclose = models.ToolCall, staticmethod(disclosure.tool_call_row)
    columns = "turn call_id name world private state ended_at arguments result"
    parameters = {"turn": turn(), "outcome": outcome("state", *STATES)}
    more = {"private": PRIVATE_CALL}


class Compactions(LogView):
    """Compactions, with their summaries."""

    model, disclose = models.Compaction, staticmethod(disclosure.compaction_row)
    columns = (
        "reason rung from_seq upto_seq compacted_count original_token_count summary_token_count "
        "facts_found facts_kept facts_rescued cost undone_at summary"
    )


class SleepPasses(LogView):
    """Sleep passes."""

    model, disclose = models.SleepPass, staticmethod(disclosure.sleep_pass_row)
    columns = "ended_at reason outcome results errors cost"
    parameters = {"outcome": outcome("outcome", *OUTCOMES, OPEN)}


class CharacterSerializer(serializers.Serializer):
    """A character with an assistant: what it does, and its figures of today, in UTC."""

    id = fields.IntegerField()
    character = fields.CharField()
    name = fields.CharField()
    mode = fields.ChoiceField(["awake", "asleep", "thinking", "puppeted", "stopped"])
    events_waiting = fields.IntegerField()
    calls_today = fields.IntegerField()
    tokens_today = fields.IntegerField()
    last_prompt_tokens = fields.IntegerField()


class Characters(Listed, mixins.ListModelMixin, viewsets.GenericViewSet):
    """Characters with assistants, with their state and their figures."""

    serializer_class, filterset_class = CharacterSerializer, CharacterFilter

    def get_queryset(self) -> Any:
        """Return the scripts of all assistants as dictionaries."""
        account = F("db_obj__db_account_id")
        return having().values("id", "db_obj_id", name=F("db_obj__db_key"), account=account)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page's scripts with their figures."""
        page, shared = super().paginate_queryset(queryset), self.services
        return figures_of(page, shared.now().date(), bool(shared.switched_off))


router = SimpleRouter()
router.register("characters", Characters, "ai-api-characters")
router.register("turns", Turns, "ai-api-turns")
router.register("messages", Messages, "ai-api-messages")
router.register("model-calls", ModelCalls, "ai-api-model-calls")
router.register("tool-calls", ToolCalls, "ai-api-tool-calls")
router.register("compactions", Compactions, "ai-api-compactions")
router.register("sleep-passes", SleepPasses, "ai-api-sleep-passes")
schema = get_schema_view(
    title="AI assistants",
    version=__version__,
    description="What the assistants of this game heard, said, did and cost.",
    url="/ai/api/",
    patterns=router.urls,
    public=True,
    renderer_classes=[JSONOpenAPIRenderer],
    permission_classes=[MayRead],
)
urlpatterns = [path("api/", include([*router.urls, path("schema/", schema, name="ai-api-schema")]))]
