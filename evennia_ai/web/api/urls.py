"""The addresses of the REST API, to be included below ``/ai/``."""

from collections.abc import Mapping
from typing import Any

from django.urls import include, path
from rest_framework.renderers import JSONOpenAPIRenderer
from rest_framework.schemas import get_schema_view

from evennia_ai import __version__, errors
from evennia_ai.policy.schedule.sleep_report import OUTCOMES
from evennia_ai.store.page_rows import PRIVATE_CALL
from evennia_ai.web.api import rows
from evennia_ai.web.api.access import OK, OPEN, MayRead
from evennia_ai.web.api.views import OF_LOG, OWNER, Characters, LogView

ENDS = ("answered", "excused", "noted", "expired", "interrupted", "unheard", OPEN)
CLASSES = [one for one in vars(errors).values() if isinstance(one, type)]
KINDS = {one.kind for one in CLASSES if issubclass(one, errors.ProviderError)}
STATES = ("intended", "asked", "done", "failed", "refused", "unknown")


def log(
    name: str,
    serializer: type[rows.RowSerializer],
    filters: Mapping[str, str],
    outcomes: tuple[str, ...] = (),
    columns: Mapping[str, Any] = OWNER,
) -> Any:
    """Return the address of one table of the log; ``outcomes`` are those to ask for."""
    filters = {**OF_LOG, **filters}
    view = LogView.as_view(
        serializer_class=serializer, filters=filters, outcomes=outcomes, columns=columns
    )
    return path(f"{name}/", view, name=f"ai-api-{name}")


TURN = {"turn": "turn_id"}
resources = [
    path("characters/", Characters.as_view(), name="ai-api-characters"),
    log("turns", rows.TURNS, {"turn": "id", "outcome": "outcome"}, ENDS),
    log("messages", rows.MESSAGES, TURN),
    log("model-calls", rows.MODEL_CALLS, {**TURN, "outcome": "error_kind"}, (OK, *sorted(KINDS))),
    log(
        "tool-calls",
        rows.TOOL_CALLS,
        {**TURN, "outcome": "state"},
        STATES,
        {**OWNER, "private": PRIVATE_CALL},
    ),
    log("compactions", rows.COMPACTIONS, {}),
    log("sleep-passes", rows.SLEEP_PASSES, {"outcome": "outcome"}, (*OUTCOMES, OPEN)),
]
schema = get_schema_view(
    title="AI assistants",
    version=__version__,
    description="What the assistants of this game heard, said, did and cost.",
    url="/ai/api/",
    patterns=resources,
    public=True,
    renderer_classes=[JSONOpenAPIRenderer],
    permission_classes=[MayRead],
)
urlpatterns = [path("api/", include([*resources, path("schema/", schema, name="ai-api-schema")]))]
