"""The addresses of the staff pages."""

from django.urls import path

from evennia_ai.contrib.staff_pages import logs
from evennia_ai.contrib.staff_pages.editing import LorePage, Setup
from evennia_ai.contrib.staff_pages.knowledge import MemoryPage, Relations
from evennia_ai.contrib.staff_pages.overview import Overview
from evennia_ai.contrib.staff_pages.trial import Trial

app_name = "evennia_ai"
OF_ONE = {
    "timeline": ("", logs.Timeline.as_view()),
    "turn": ("turn/<int:number>/", logs.TurnPage.as_view()),
    "scenes": ("scenes/", logs.Scenes.as_view()),
    "live": ("live/", logs.Live.as_view()),
    "newest": ("live/newest/", logs.NewestLines.as_view()),
    "memory": ("memory/", MemoryPage.as_view()),
    "relations": ("relations/", Relations.as_view()),
    "lore": ("lore/", LorePage.as_view()),
    "setup": ("setup/", Setup.as_view()),
    "trial": ("trial/", Trial.as_view()),
    "compactions": ("compactions/", logs.CompactionsPage.as_view()),
    "compaction": ("compaction/<int:number>/", logs.CompactionPage.as_view()),
    "sleep": ("sleep/", logs.SleepPassesPage.as_view()),
}
urlpatterns = [
    path("", Overview.as_view(), name="overview"),
    path("turns/", logs.Timeline.as_view(), name="turns"),
    *(path(f"<int:assistant>/{where}", page, name=name) for name, (where, page) in OF_ONE.items()),
]
