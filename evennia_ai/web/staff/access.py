"""What all staff pages have in common: who may open them, and the log of private reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.mixins import UserPassesTestMixin
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_deny
from django.views.decorators.csrf import csrf_protect
from django.views.generic import View
from django.views.generic.base import ContextMixin
from evennia.utils import logger

from evennia_ai.errors import AssistantError
from evennia_ai.game.settings import game_setting
from evennia_ai.policy.disclosure import FIGURES, Reader
from evennia_ai.store.page_rows import Row, assistant_rows
from evennia_ai.web.disclosure import reader_of
from evennia_ai.web.staff.game_thread import Missing, game, services

STAFF = "Builder"


class Refused(AssistantError):
    """The reader may not do this."""


@method_decorator([never_cache, xframe_options_deny, csrf_protect], name="dispatch")
class StaffPage(UserPassesTestMixin, ContextMixin):
    """Makes a view a page for staff, about the assistant whose number its address has, if any.

    Strangers are sent to the login, players get 403. The reader's private reading is logged. Views
    find the ``reader`` and the row of the assistant, ``who`` (None for none).
    """

    request: Any
    kwargs: Any
    reader: Reader
    who: Any = None
    tab = ""  # the name of its tab

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Answer a request, and log what private words it showed."""
        try:
            response = super().dispatch(request, *args, **kwargs)
        except AssistantError as error:
            return problem(request, error)
        shown = self.reader.private_shown if hasattr(self, "reader") else 0
        if shown:
            whose = (
                f"{self.who['name']} ({self.who['dbref']})" if self.who else "several characters"
            )
            log_sec(request, f"{request.path} read {shown} private items of {whose}")
        return response

    def test_func(self) -> bool:
        """Return False for a stranger; raises Refused, GameBusy and Http404."""
        if not self.request.user.is_authenticated:
            return False
        self.reader = reader_of(self.request.user.pk, services())
        if not (self.reader.has(STAFF) and self.reader.may(FIGURES)):
            raise Refused(f"These pages are for staff: the permission {STAFF} opens them.")
        assistant = self.kwargs.get("assistant")
        if assistant is not None:
            self.who = next(iter(assistant_rows(assistant)), None)
            if self.who is None:
                raise Http404("There is no such assistant.")
        return True

    def get_context_data(self, **values: Any) -> Row:
        """Return what every template gets, and the values of a view."""
        common = {"who": self.who, "acts": may_act(), "tab": self.tab}
        found: Row = super().get_context_data(**{**common, **values})
        return found


def staff_page(template: str) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a view of the request, the reader and the row of an assistant.

    It returns the values of the template, or a response.
    """

    def decorate(view: Callable[..., Any]) -> Any:
        class Page(StaffPage, View):
            tab = view.__name__

            def get(self, request: Any, **numbers: int) -> HttpResponse:
                found = view(request, self.reader, self.who)
                if isinstance(found, HttpResponse):
                    return found
                return render(request, f"evennia_ai/{template}", self.get_context_data(**found))

            post = get

        return Page.as_view()

    return decorate


def may_act() -> bool:
    """Return True if the game lets staff change things on the pages."""
    return game_setting("WEB_ACTS", False) is True


def log_sec(request: Any, line: str) -> None:
    """Write a line with its causer into the server's security log."""
    user = request.user
    game.tell(logger.log_sec, f"web page, account {user.username} (#{user.pk}): {line}")


def problem(request: Any, error: AssistantError) -> HttpResponse:
    """Return the page of an error that the reader may know."""
    if isinstance(error, Missing):
        raise Http404(str(error))
    status = 403 if isinstance(error, Refused) else 503
    values = {"error": str(error), "status": status}
    return render(request, "evennia_ai/problem.html", values, status=status)
