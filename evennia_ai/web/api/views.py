"""The resources of the REST API. They run in web threads, and only read tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import F
from rest_framework.generics import ListAPIView
from rest_framework.renderers import JSONRenderer

from evennia_ai.store.reports import figures_of, having
from evennia_ai.web.api.access import LogFilter, MayRead, NewestFirst, log_private_reading
from evennia_ai.web.api.rows import CharacterSerializer

OWNER = {"owner": F("assistant__db_obj_id")}
OF_LOG = {"character": "assistant__db_obj", "since": "at__gte", "until": "at__lt"}


class LogView(ListAPIView):
    """A page of rows, newest first. The parameters narrow them down."""

    permission_classes = [MayRead]
    renderer_classes = [JSONRenderer]
    filter_backends = [LogFilter]
    pagination_class = NewestFirst
    filters: Mapping[str, str] = OF_LOG  # the column of each parameter
    outcomes: tuple[str, ...] = ()
    columns: Mapping[str, Any] = OWNER  # what a row has beside its table's columns

    def get_queryset(self) -> Any:
        """Return the table's rows as dictionaries."""
        model = self.serializer_class.Meta.model
        return model.objects.annotate(**self.columns).values()

    def list(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a page, and log who read private items."""
        response = super().list(request, *args, **kwargs)
        log_private_reading(request, self.reader)
        return response


class Characters(LogView):
    """A page of characters with assistants, with their state and their figures."""

    serializer_class = CharacterSerializer
    filters = {"character": "db_obj"}

    def get_queryset(self) -> Any:
        """Return the scripts of all assistants."""
        account = F("db_obj__db_account_id")
        return having().values("id", "db_obj_id", name=F("db_obj__db_key"), account=account)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page's scripts with their figures."""
        page = super().paginate_queryset(queryset)
        shared = self.services
        return figures_of(page, shared.epoch, shared.now().date(), bool(shared.switched_off))
