"""The page ``/ai/knows/``: what ``aiknows`` tells, for staff with a browser."""

from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.urls import path
from evennia.accounts.models import AccountDB
from evennia.utils.ansi import strip_ansi
from twisted.internet import reactor
from twisted.internet.defer import inlineCallbacks

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import UsageError, log_private_reading
from evennia_ai.contrib.who_knows.commands import MORE, CmdAIKnows
from evennia_ai.policy.read_permissions import PUBLIC_MEMORIES, Reader
from evennia_ai.scheduling import Coroutine, GameBusy, GameThread
from evennia_ai.web import staff_page

WAIT_S, MOST_CHARS, PAGE = 30.0, 200, "evennia_ai_knows"
game: Any = GameThread(reactor)  # tests put a stand-in here


def knows(request: Any) -> HttpResponse:
    """Show who knows the words of the address, as far as the reader may see it."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    words = request.GET.get("words", "")[:MOST_CHARS]
    try:
        lines = game.ask(search, request.user.pk, words, wait_s=WAIT_S)
    except UsageError as error:
        lines = [(str(error), "")]
    except GameBusy as error:
        return HttpResponse(str(error), status=503)
    services, values = AssistantScript.shared_services, {"words": words, "lines": lines}
    return staff_page(request, services, PAGE, "evennia_ai/knows.html", values)


@inlineCallbacks
def search(account: int, words: str) -> Coroutine[list[tuple[str, str]]]:
    """Search as `aiknows` does; fires with lines and what shows more. May be refused."""
    user, services = AccountDB.objects.get(id=account), AssistantScript.shared_services
    command = CmdAIKnows(caller=next(iter(user.get_all_puppets()), user))
    if services is None or services.store_trouble or not command.has_permission("Builder"):
        raise PermissionDenied
    command.reader = Reader(services.who_may_read, command.has_permission)
    if not command.reader.may(PUBLIC_MEMORIES):
        raise PermissionDenied
    lines = (yield command.answer(words)) if words.strip() else []
    log_private_reading(command.reader, command.read_of, f"web page, account #{account}: aiknows")
    parts = [strip_ansi(line).partition(MORE) for line in lines]
    return [(f"{line} more" if more else line, more) for line, _, more in parts]


urlpatterns = [path("knows/", knows, name=PAGE)]
