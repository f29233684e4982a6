"""The addresses of the REST API, to be included below ``/ai/``."""

from django.urls import include, path
from rest_framework.renderers import JSONOpenAPIRenderer
from rest_framework.schemas import get_schema_view

from evennia_ai import __version__
from evennia_ai.web.api import views
from evennia_ai.web.api.access import MayRead

resources = [
    path("characters/", views.Characters.as_view(), name="ai-api-characters"),
    path("turns/", views.Turns.as_view(), name="ai-api-turns"),
    path("messages/", views.Messages.as_view(), name="ai-api-messages"),
    path("model-calls/", views.ModelCalls.as_view(), name="ai-api-model-calls"),
    path("tool-calls/", views.ToolCalls.as_view(), name="ai-api-tool-calls"),
    path("compactions/", views.Compactions.as_view(), name="ai-api-compactions"),
    path("sleep-passes/", views.SleepPasses.as_view(), name="ai-api-sleep-passes"),
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
urlpatterns = [
    path("api/", include([*resources, path("schema/", schema, name="ai-api-schema")])),
]
