"""The addresses of the staff pages."""

from __future__ import annotations

from django.urls import path

from evennia_ai.web.staff.compactions import compaction, compactions, passes
from evennia_ai.web.staff.knowledge import lore, memory, relations
from evennia_ai.web.staff.overview import overview
from evennia_ai.web.staff.turns import live, newest, timeline, turn

app_name = "evennia_ai"
urlpatterns = [
    path("", overview, name="overview"),
    path("<int:assistant>/", timeline, name="timeline"),
    path("<int:assistant>/turn/<int:number>/", turn, name="turn"),
    path("<int:assistant>/live/", live, name="live"),
    path("<int:assistant>/live/newest/", newest, name="newest"),
    path("<int:assistant>/memory/", memory, name="memory"),
    path("<int:assistant>/relations/", relations, name="relations"),
    path("<int:assistant>/lore/", lore, name="lore"),
    path("<int:assistant>/compactions/", compactions, name="compactions"),
    path("<int:assistant>/compaction/<int:number>/", compaction, name="compaction"),
    path("<int:assistant>/sleep/", passes, name="sleep"),
]
