"""Who may open a staff page: one decorator for all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_deny
from django.views.decorators.csrf import csrf_protect
from evennia.utils import logger

from evennia_ai.errors import AssistantError
from evennia_ai.game.settings import game_setting
from evennia_ai.policy.disclosure import FIGURES, Reader
from evennia_ai.store.page_rows import assistant_rows
from evennia_ai.web.rights import reader_of
from evennia_ai.web.staff.game_thread import Missing, game, services

STAFF = "Builder"
View = Callable[..., Any]


class Refused(AssistantError):
    """The reader may not do this."""


def staff_page(template: str) -> Callable[[View], View]:
    """Decorate a view, which gets the reader and returns a template's values or a response.

    Strangers are sent to the login, players get 403. The reader's private reading is logged.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def page(request: Any, assistant: int | None = None, **numbers: int) -> Any:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            try:
                reader = make_reader(request.user.pk)
                who = find_assistant(assistant)
                found = view(request, reader, *([who] if who else []), **numbers)
                log_reading(request, reader, who)
            except AssistantError as error:
                return problem(request, error)
            if isinstance(found, HttpResponse):
                return found
            values = {"who": who, "acts": may_act(), "tab": view.__name__, **found}
            return render(request, f"evennia_ai/{template}", values)

        safe: View = never_cache(xframe_options_deny(csrf_protect(page)))
        return safe

    return decorate


def make_reader(account: int) -> Reader:
    """Return an account as a reader of stored words; raises Refused unless it is staff."""
    reader = reader_of(account, services())
    if not (reader.has(STAFF) and reader.may(FIGURES)):
        raise Refused(f"These pages are for staff: the permission {STAFF} opens them.")
    return reader


def may_act() -> bool:
    """Return True if the game lets staff change things on the pages."""
    return game_setting("WEB_ACTS", False) is True


def find_assistant(assistant: int | None) -> dict[str, Any] | None:
    """Return an assistant as a row, None if the page is about none; raises Http404."""
    rows = [None] if assistant is None else assistant_rows(assistant)
    if not rows:
        raise Http404("There is no such assistant.")
    return rows[0]


def log_reading(request: Any, reader: Reader, who: Any) -> None:
    """Write into the security log how many private items somebody was shown, without the words."""
    if reader.private_shown:
        whose = f"{who['name']} ({who['dbref']})" if who else "several characters"
        number, path = reader.private_shown, request.path
        log_sec(request, f"{path} read {number} private items of {whose}")


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
