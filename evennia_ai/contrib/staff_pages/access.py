"""What all staff pages have in common: who may open them, and how they ask the game.

A web thread reads tables only; the reactor's thread alone may use typeclasses and Attributes.
"""

from typing import Any

from django.contrib.auth.mixins import UserPassesTestMixin
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_deny
from django.views.decorators.csrf import csrf_protect
from django.views.generic.base import ContextMixin
from evennia.accounts.models import AccountDB
from evennia.utils import logger
from twisted.internet import reactor

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.staff_pages.disclosure import page_text, reader_of
from evennia_ai.contrib.staff_pages.page_rows import assistant_rows
from evennia_ai.errors import AssistantError
from evennia_ai.game.perception import listed_by
from evennia_ai.game.settings import game_setting
from evennia_ai.policy.read_permissions import FIGURES, Reader
from evennia_ai.scheduling import GameBusy, GameThread
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.names import own_name
from evennia_ai.store.reports import Row
from evennia_ai.web import staff_tabs
from evennia_ai.web.middleware import page_middleware

STAFF = "Builder"
MENU_MARK = b'id="menu-content"'
# The tabs of one assistant: name, title and page. Those of all are `StaffPagesExtension.pages`.
OF_ONE = (
    ("turns", "Turns", "timeline"),
    ("live", "Live", "live"),
    ("setup", "Setup", "setup"),
    ("trial", "Try", "trial"),
    ("memory", "Memory", "memory"),
    ("relations", "Relations", "relations"),
    ("lore", "Lore", "lore"),
    ("compactions", "Compactions", "compactions"),
    ("sleep", "Sleep", "sleep"),
)


class AccessDenied(AssistantError):
    """The reader may not do this."""


class NotFound(AssistantError):
    """There is no such assistant, entry or object."""


# Tests put a stand-in here.
game: Any = GameThread(reactor)


def services() -> Any:
    """Return what all assistants share; raises GameBusy if they were not started."""
    shared: Any | None = AssistantScript.shared_services
    if shared is None or shared.store_trouble:
        raise GameBusy(
            "The assistants of this game were not started. The server log says what to do."
        )
    return shared


def extension(name: str) -> Any:
    """Return an extension by its name, None if the game is without it."""
    return next((item for item in services().extensions if item.name == name), None)


def find_script(assistant: int) -> AssistantScript:
    """Return an assistant, on the reactor's thread; raises Missing and StoreUnavailable."""
    script = AssistantScript.get_cached_instance(assistant)
    script = script or AssistantScript.objects.filter(id=assistant, db_key=SCRIPT_KEY).first()
    if not isinstance(script, AssistantScript) or script.obj is None:
        raise NotFound("There is no such assistant.")
    add_assistant_mixin(script.obj)  # perhaps a game's code attached it by hand
    script_found: AssistantScript = script
    return script_found


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
        try:
            response = super().dispatch(request, *args, **kwargs)
        except AssistantError as error:
            may_go_on = hasattr(self, "reader") and may_open(self.reader)
            return problem(request, error, self.navigation() if may_go_on else {})
        except (TypeError, ValueError):  # perhaps of a damaged value
            game.tell(services().look_for_damage)
            raise
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
        if not may_open(self.reader):
            raise AccessDenied(f"These pages are for staff: the permission {STAFF} opens them.")
        assistant = self.kwargs.get("assistant")
        if assistant is not None:
            self.who = next(iter(assistant_rows(assistant)), None)
            if self.who is None:
                raise Http404("There is no such assistant.")
        return True

    def navigation(self) -> Row:
        if self.who is None:
            known = staff_tabs(services().extensions)
            tabs = [(name.removeprefix("evennia_ai:"), title, at) for name, title, at in known]
        else:
            tabs = [
                (name, title, reverse(f"evennia_ai:{page}", args=[self.who["id"]]))
                for name, title, page in OF_ONE
            ]
        title = next((title for name, title, _ in tabs if name == self.tab), "")
        common = {"who": self.who, "acts": may_act(), "tab": self.tab, "title": title}
        return {**common, "tabs": tabs}

    def rights(self) -> Row:
        """Return whether the page may change the character, and why its reader may not."""
        refused = game.ask(why_not_edit, self.who["id"], self.request.user.pk)
        return {"refused": refused, "acts": may_act() and not refused}

    def get_context_data(self, **values: Any) -> Row:
        context: Row = super().get_context_data(**{**self.navigation(), **values})
        # Under the usual name, Evennia's base page would add a second pager, without the filters.
        context["shown_page"] = context.pop("page_obj", None)
        return context


def may_open(reader: Reader) -> bool:
    return reader.has(STAFF) and reader.may(FIGURES)


@page_middleware
def staff_link(page: bytes, request: Any) -> bytes:
    """Add the pages to the menu of Evennia's site, at the end of its first list."""
    if not game_setting("STAFF_PAGES", True):
        return page
    menu, end, rest = page.partition(b"</ul>")
    shared, user = AssistantScript.shared_services, getattr(request, "user", None)
    if MENU_MARK not in menu or shared is None or user is None or not user.is_authenticated:
        return page
    if not may_open(reader_of(user.pk, shared)):
        return page
    try:
        where = reverse("evennia_ai:overview")
    except NoReverseMatch:  # the game's addresses are without them
        return page
    link = f'<li><a class="nav-link" href="{where}">NPCs</a></li>'
    return menu + link.encode() + end + rest


def may_act() -> bool:
    return game_setting("WEB_ACTS", True) is True


def editor_of(character: Any, account: int) -> str:
    """Return who of an account may edit a character, "" for one without; raises Refused."""
    user: Any = AccountDB.objects.get(id=account)
    own = characters_of(user)
    for candidate in (*own, user):
        if any(character.access(candidate, right) for right in ("edit", "control")):
            return str(candidate.dbref) if candidate is not user else own[0].dbref if own else ""
    raise AccessDenied(
        f"None of your characters may edit {page_text(own_name(character), 60)}. "
        "Its edit and control locks decide that. Ask an admin."
    )


def why_not_edit(assistant: int, account: int) -> str:
    try:
        editor_of(find_script(assistant).character, account)
    except AccessDenied as error:
        return str(error)
    return ""


def characters_of(user: Any) -> list[Any]:
    """Return the characters of an account, those that it plays now first."""
    return list(dict.fromkeys((*user.get_all_puppets(), *listed_by(user))))


def log_sec(request: Any, line: str) -> None:
    user = request.user
    game.tell(logger.log_sec, f"web page, account {user.username} (#{user.pk}): {line}")


def problem(request: Any, error: AssistantError, navigation: Row) -> HttpResponse:
    status = {AccessDenied: 403, NotFound: 404}.get(type(error), 503)
    values = {**navigation, "error": str(error), "status": status}
    return render(request, "evennia_ai/problem.html", values, status=status)
