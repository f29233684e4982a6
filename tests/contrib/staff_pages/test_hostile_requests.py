"""Whatever a request holds, no address of the package answers with an error of the server."""

import re
from urllib.parse import quote

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import URLResolver, resolve
from django.utils.datastructures import MultiValueDict

from evennia_ai.contrib.staff_pages.rest import urlpatterns as rest_addresses
from evennia_ai.contrib.staff_pages.urls import urlpatterns as staff_addresses
from evennia_ai.models import Compaction, Turn

pytestmark = pytest.mark.game


@pytest.fixture(autouse=True)
def addresses(settings):
    settings.ROOT_URLCONF = "tests.api_addresses"
    settings.REST_API_ENABLED = True


NUMBERS = (
    "0", "-1", "00", "1.5", "1e9", "9" * 19, str(2**31), str(2**63), str(2**64), "9" * 400,
    "9" * 5_000, "nan", "inf", "\u0661", "\u00b2", "\uff11", "#", "#0", f"#{2**63}", "#\u00b2",
    "#" + "9" * 5_000, " 1 ", "+1", "1_000",
)  # fmt: skip
TIMES = (
    "0001-01-01", "9999-12-31T23:59:59", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "0000-01-01", "2026-02-30", "2026-13-01", "10000-01-01", "2026-01-01T25:00", "today",
    "2026-01-01T00:00:00+99:99", "2026-03-29T02:30:00", "\uff12026-01-01", "2026-W01-1",
)  # fmt: skip
TEXTS = (
    "", " ", "\0", "a\0b", "%00", "\ud800", "\U0010ffff", "\u202e", "'", '"', "%", "_", "\\",
    "' OR 1=1 --", "<script>", "x" * 10_000, "a,b,,c", "[", "{}", "None", "true", "../..",
    "\r\nX: y",
    "\u00df" * 400,
)  # fmt: skip
CURSORS = (
    "x", "bz0x", "cD0x", "cD0=", "cj0xJnA9eA==", "cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5",
    "bz05OTk5OTk5OQ==", "cD0A", "cD0yMDI2", "bz0tMQ==", "////", "\u00e9", "cD0lMDA=",
    "cD3/", "bz1uYW4=", "AAAA",
)  # fmt: skip
FORM_VALUES = (*NUMBERS[-8:], *TIMES[:3], *TEXTS)
BODIES = (
    ("", "application/json"), ("{", "application/json"), ("\ufeff[]", "application/json"),
    ("a=%ff", "application/x-www-form-urlencoded"), ("a=1;b", "text/plain; charset=nonsense"),
    ("--x", "multipart/form-data; boundary=x"), ("x", "multipart/form-data"), ("x", "odd"),
    ("act=%00&act=1", "application/x-www-form-urlencoded; charset=utf-16"),
)  # fmt: skip
VALUES = (*NUMBERS, *TIMES, *TEXTS, *CURSORS)
HEADERS = (
    {"accept": "text/html"}, {"accept": "*/*;q=x"}, {"accept": "nonsense"}, {"accept": "a/b;;;"},
    {"accept": "application/json; indent=x"}, {"accept": "application/json; indent=-1"},
    {"accept": f"application/json; indent={'9' * 30}"}, {"accept": "\u00e9"}, {"accept": ""},
    {"accept-language": "\0"}, {"accept-language": "x" * 5_000}, {"range": "bytes=-1"},
    {"authorization": "Basic \u00e9"}, {"authorization": "Token"}, {"content-type": "x/y"},
    {"cookie": "sessionid=\0"}, {"x-http-method-override": "DELETE"}, {"content-length": "x"},
)  # fmt: skip


WHOLE = ("ai/api/turns/", "ai/turns/", "ai/api/turns/{}/", "ai/{}/turn/{}/")


def values_for(template):
    """Return all values for some addresses, and a sample for those that share their code."""
    return VALUES if template in WHOLE else VALUES[sum(map(ord, template)) % 7 :: 7]


NUMBER_PART = re.compile(r"<[^>]+>|\(\?P<pk>[^)]+\)")


def templates(found, prefix=""):
    """Yield the addresses of a table, with ``{}`` for each of their parts that differ."""
    for one in found:
        route = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from templates(one.url_patterns, route)
        else:
            yield NUMBER_PART.sub("{}", route).replace("^", "").replace("$", "")


REST = sorted(f"ai/{one}" for one in templates(rest_addresses))
PAGES = sorted(f"ai/{one}" for one in templates(staff_addresses))


SHORT = ("ai/api/turns/{}/", "ai/{}/live/newest/")


def cases(templates):
    """Return addresses as parameters: a few in each run, an eighth as campaigns, all in a soak."""
    marks = dict.fromkeys(templates, pytest.mark.soak)
    marks |= dict.fromkeys([*templates[::8], *WHOLE], pytest.mark.campaign)
    marks |= dict.fromkeys(SHORT, ())
    return [pytest.param(one, marks=marks[one]) for one in templates]


@pytest.fixture
def client(lived, admin):
    client = Client(raise_request_exception=False)
    client.force_login(admin.account)
    return client


@pytest.fixture
def numbers(lived):
    """Return the addresses of a table with numbers that exist."""
    known = {"assistant": lived.assistant.id}

    def fill(template):
        model = Compaction if "compaction" in template else Turn
        row = model.objects.order_by("-id").values_list("id", flat=True)[0]
        first = row if template.startswith("ai/api") else known["assistant"]
        return "/" + template.format(first, row)

    return fill


@pytest.fixture
def faults(client):
    """Return a function that asks for something, and the list of what the server failed at."""
    found = []

    def ask(method, address, **kwargs):
        reply = client.generic(method, address, **kwargs)
        if reply.status_code >= 500:
            error = getattr(reply, "exc_info", None)
            found.append((method, address[:120], reply.status_code, repr(error and error[1])[:200]))
        elif reply.status_code >= 400 and address.startswith("/ai/api") and method != "HEAD":
            told = reply.content.decode()
            assert " " in told and "Traceback" not in told, (address, told)
        return reply

    ask.found = found
    return ask


def query(name, value):
    """Return a parameter as a browser or an attacker writes it; half a pair of surrogates, too."""
    return f"{name}={quote(value, errors='surrogatepass')}"


def names_read(monkeypatch, ask, method, address, **kwargs):
    """Return the names of the parameters that a view reads."""
    read, plain = set(), MultiValueDict.__getitem__

    def recorded(self, name):
        if isinstance(self, QueryDict):
            read.add(name)
        return plain(self, name)

    with monkeypatch.context() as patched:
        patched.setattr(MultiValueDict, "__getitem__", recorded)
        ask(method, address, **kwargs)
    return sorted(read - {"csrfmiddlewaretoken"})


@pytest.mark.parametrize("template", cases([*REST, *PAGES]))
def test_no_parameter_makes_the_server_fail(faults, numbers, monkeypatch, template):
    address = numbers(template)
    names = names_read(monkeypatch, faults, "GET", address)
    assert names or template not in ("ai/api/turns/", "ai/turns/")
    for name in names:
        for value in values_for(template):
            faults("GET", f"{address}?{query(name, value)}")
        faults("GET", f"{address}?{query(name, '1')}&{query(name, 'x')}")
        faults("GET", f"{address}?{name}[]=1&{name}")
    assert faults.found == []


@pytest.mark.parametrize("template", cases([one for one in (*REST, *PAGES) if "{}" in one]))
def test_no_part_of_an_address_makes_the_server_fail(faults, template):
    for value in values_for(template):
        part = quote(value, safe="", errors="surrogatepass")
        faults("GET", "/" + template.format(part, "1"))
        if template.count("{}") > 1:
            faults("GET", "/" + template.format("1", part))
    assert faults.found == []


@pytest.mark.parametrize("template", cases([*REST, *PAGES]))
def test_no_header_and_no_method_makes_the_server_fail(faults, numbers, template):
    address = numbers(template)
    for headers in HEADERS:
        faults("GET", address, headers=headers)
    for method in ("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "ODD"):
        faults(method, address)
    for body, kind in BODIES:
        faults("POST", address, data=body, content_type=kind)
    assert faults.found == []


@pytest.mark.parametrize("template", cases(PAGES))
def test_no_field_of_a_form_makes_the_server_fail(
    faults, numbers, monkeypatch, template, one_thread
):
    address, kind = numbers(template), "application/x-www-form-urlencoded"
    acts = [*getattr(resolve(address).func.view_class, "by_act", {}), "", "odd"]
    for act in acts:
        body = query("act", act)
        send = {"content_type": kind, "data": body}
        names = names_read(monkeypatch, faults, "POST", address, **send)
        for name in names:
            for value in FORM_VALUES:
                faults("POST", address, content_type=kind, data=f"{body}&{query(name, value)}")
    assert faults.found == []
