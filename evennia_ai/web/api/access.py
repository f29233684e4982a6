"""Who may read over REST, and which parameters they may ask with."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Q
from evennia.utils import logger
from rest_framework import exceptions, fields, filters, pagination, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.schemas.openapi import AutoSchema

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.policy.disclosure import FIGURES, Reader
from evennia_ai.web.rights import reader_of

MOST_ROWS = 200
OPEN, OK = "open", "ok"
PAGING = frozenset({"page_size", "cursor"})


class MayRead(IsAuthenticated):
    """Lets whoever may read figures in, and gives the view its `Reader`."""

    def has_permission(self, request: Any, view: Any) -> bool:
        """Return False for a stranger; raises the error that tells others why they may not."""
        if not settings.REST_API_ENABLED:
            raise exceptions.NotFound("The REST API is off: see REST_API_ENABLED in the settings.")
        if not super().has_permission(request, view):
            return False
        services = AssistantScript.shared_services
        if services is None or services.schema_trouble:
            problem = exceptions.APIException("The assistants of this game do not run.")
            problem.status_code = 503
            raise problem
        reader = reader_of(request.user.pk, services)
        if not reader.may(FIGURES):
            raise exceptions.PermissionDenied(f"Only {reader.whose(FIGURES)} may read that.")
        view.reader, view.services = reader, services
        return True


def log_private_reading(request: Any, reader: Reader) -> None:
    """Write into the security log who read how many private items, without the words."""
    if reader.private_shown:
        who, what = request.user, request.get_full_path()
        logger.log_sec(f"GET {what}: {who} read {reader.private_shown} private items")


class Filters(serializers.Serializer):
    """The parameters of all resources; each resource takes some of them."""

    character = fields.CharField(help_text="Name or number, such as Mira or #12.")
    turn = fields.IntegerField(min_value=1, help_text="Number of a turn.")
    outcome = fields.ChoiceField([], help_text="How it ended.")
    since = fields.DateTimeField(help_text="Not before this time, such as 2026-05-01T12:00Z.")
    until = fields.DateTimeField(help_text="Before this time.")
    page_size = fields.IntegerField(min_value=1, max_value=MOST_ROWS)
    cursor = fields.CharField()

    def __init__(self, view: Any, **kwargs: Any) -> None:
        super().__init__(partial=True, **kwargs)
        for name in {"character", "turn", "outcome", "since", "until"} - view.filters.keys():
            del self.fields[name]
        if "outcome" in self.fields:
            self.fields["outcome"].choices = view.outcomes

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters; raises ValidationError for an unknown one."""
        for name in self.initial_data:
            if name not in self.fields:
                known = f"There is no such parameter. Use {', '.join(self.fields)}."
                raise serializers.ValidationError({name: [known]})
        return asked


class LogFilter(filters.BaseFilterBackend):
    """Filters rows by the parameters that a resource takes."""

    def filter_queryset(self, request: Any, queryset: Any, view: Any) -> Any:
        """Return the rows that were asked for; raises ValidationError."""
        wanted = Filters(view, data=request.query_params)
        wanted.is_valid(raise_exception=True)
        for name, value in wanted.validated_data.items():
            if name not in PAGING:
                queryset = queryset.filter(self.condition(view.filters[name], name, value))
        return queryset

    def condition(self, column: str, name: str, value: Any) -> Q:
        """Return the condition of one parameter on a column."""
        if name == "character":
            number = value.removeprefix("#")
            return Q(**{f"{column}_id": number} if number.isdecimal() else {
                f"{column}__db_key__iexact": value
            })  # fmt: skip
        if value == OPEN:
            return Q(ended_at=None)
        return Q(**{column: "" if value == OK else value})

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return the parameters for the schema."""
        return [
            {
                "name": name,
                "in": "query",
                "required": False,
                "description": field.help_text,
                "schema": AutoSchema().map_field(field),
            }
            for name, field in Filters(view).fields.items()
            if name not in PAGING
        ]


class NewestFirst(pagination.CursorPagination):
    """Pages by the rows' numbers, so that a page stays right while rows are added."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = MOST_ROWS

    def decode_cursor(self, request: Any) -> Any:
        """Return the position that was asked for; raises ValidationError for nonsense."""
        try:
            return super().decode_cursor(request)
        except exceptions.NotFound:
            wrong = "This is no cursor. Follow the address in next or previous."
            raise exceptions.ValidationError({"cursor": [wrong]}) from None
