"""The page ``/ai/knows/``: what ``aiknows`` tells, for staff with a browser."""

from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from evennia.accounts.models import AccountDB
from evennia.utils.ansi import strip_ansi
from twisted.internet import reactor
from twisted.internet.defer import inlineCallbacks

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import log_private_reading
from evennia_ai.contrib.who_knows.commands import holder_lines
from evennia_ai.contrib.who_knows.holders import find_holders
from evennia_ai.policy.read_permissions import PUBLIC_MEMORIES, Reader
from evennia_ai.scheduling import Coroutine, GameBusy, GameThread

WAIT_S, MOST_CHARS = 30.0, 200
game: Any = GameThread(reactor)  # tests put a stand-in here


def knows(request: Any) -> HttpResponse:
    """Show who knows the words of the address, as far as the reader may see it."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    words = request.GET.get("words", "").strip()[:MOST_CHARS]
    try:
        lines = game.ask(search, request.user.pk, words, wait_s=WAIT_S)
    except GameBusy as error:
        return HttpResponse(str(error), status=503)
    page = render(request, "evennia_ai/knows.html", {"words": words, "lines": lines})
    page["Cache-Control"] = "no-store"
    return page


@inlineCallbacks
def search(account: int, words: str) -> Coroutine[list[str]]:
    """Search on the reactor's thread; fires with lines, fails with PermissionDenied."""
    user, services = AccountDB.objects.get(id=account), AssistantScript.shared_services

    def has(permission: str) -> bool:
        return bool(user.locks.check_lockstring(user, f"may:perm({permission})"))

    def may_edit(character: Any) -> bool:
        people = (user, *user.get_all_puppets())
        return any(character.access(who, right) for who in people for right in ("edit", "control"))

    if services is None or services.store_trouble or not has("Builder"):
        raise PermissionDenied
    reader = Reader(services.who_may_read, has)
    if not reader.may(PUBLIC_MEMORIES):
        raise PermissionDenied
    if not words:
        return []
    holders = yield find_holders(services, words, reader, may_edit)
    log_private_reading(reader, None, f"web page, account #{account}: aiknows")
    return [strip_ansi(line) for line in holder_lines(reader, words, holders)]


urlpatterns = [path("knows/", knows, name="evennia_ai_knows")]
