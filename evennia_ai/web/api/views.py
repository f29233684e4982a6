"""The resources of the REST API. They run in web threads, and only read tables."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import Exists, F, OuterRef
from evennia.scripts.models import ScriptDB
from rest_framework.generics import ListAPIView
from rest_framework.renderers import JSONRenderer

from evennia_ai import models
from evennia_ai.errors import ProviderError
from evennia_ai.policy.schedule.sleep_report import OUTCOMES
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.reports import figures_of
from evennia_ai.web.api import rows
from evennia_ai.web.api.access import OK, OPEN, LogFilter, MayRead, NewestFirst, log_private_reading


class LogView(ListAPIView):
    """A table of the log, newest row first."""

    permission_classes: ClassVar = [MayRead]
    renderer_classes: ClassVar = [JSONRenderer]
    filter_backends: ClassVar = [LogFilter]
    pagination_class = NewestFirst
    outcomes: ClassVar[tuple[str, ...]] = ()
    # The column of each parameter.
    of_turn: ClassVar = {"turn": "turn_id"}
    filters: ClassVar = {"character": "assistant__db_obj", "since": "at__gte", "until": "at__lt"}

    def get_queryset(self) -> Any:
        """Return the table's rows as dictionaries."""
        return self.serializer_class.Meta.model.objects.values().annotate(
            owner=F("assistant__db_obj_id")
        )

    def list(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a page, and log who read private items."""
        response = super().list(request, *args, **kwargs)
        log_private_reading(request, self.reader)
        return response


class Turns(LogView):
    """Turns: what set an assistant to work, for whom, and how it ended."""

    serializer_class = rows.TurnSerializer
    filters: ClassVar = {**LogView.filters, "turn": "id", "outcome": "outcome"}
    outcomes = ("answered", "excused", "noted", "expired", "interrupted", "unheard", OPEN)


class Messages(LogView):
    """Messages: everything heard, said and done."""

    serializer_class = rows.MessageSerializer
    filters: ClassVar = {**LogView.filters, **LogView.of_turn}


class ModelCalls(LogView):
    """Model calls with their cost; the outcome is ok or the kind of the error."""

    serializer_class = rows.ModelCallSerializer
    filters: ClassVar = {**LogView.filters, **LogView.of_turn, "outcome": "error_kind"}
    outcomes = (OK, *sorted(kind.kind for kind in ProviderError.__subclasses__()))


class ToolCalls(LogView):
    """Tool calls with their outcome."""

    serializer_class = rows.ToolCallSerializer
    filters: ClassVar = {**LogView.filters, **LogView.of_turn, "outcome": "state"}
    outcomes = ("intended", "asked", "done", "failed", "refused", "unknown")

    def get_queryset(self) -> Any:
        """Return the calls, with what tells public ones."""
        result = models.Message.objects.filter(
            turn_id=OuterRef("turn_id"), tool_call_id=OuterRef("call_id"), role="tool"
        )
        told = Exists(result.filter(private=False))
        return super().get_queryset().annotate(is_public=told, in_private=F("turn__private"))


class Compactions(LogView):
    """Compactions with their summaries."""

    serializer_class = rows.CompactionSerializer


class SleepPasses(LogView):
    """Sleep passes with what each step did."""

    serializer_class = rows.SleepPassSerializer
    filters: ClassVar = {**LogView.filters, "outcome": "outcome"}
    outcomes = (*OUTCOMES, OPEN)


class Characters(LogView):
    """Characters with assistants, their state and their figures."""

    serializer_class = rows.CharacterSerializer
    filters: ClassVar = {"character": "db_obj"}

    def get_queryset(self) -> Any:
        """Return the scripts of all assistants."""
        scripts = ScriptDB.objects.filter(db_key=SCRIPT_KEY).exclude(db_obj=None)
        account = F("db_obj__db_account_id")
        return scripts.values("id", "db_obj_id", name=F("db_obj__db_key"), account=account)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page's scripts with their figures."""
        page = super().paginate_queryset(queryset)
        return figures_of(page, self.services.epoch, self.services.now().date())
