"""What Evennia's own protocols make of a text, for a telnet client and for the web client."""

import html
import json
import re
from html.parser import HTMLParser

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
COLOURED = {"TTYPE": True, "ANSI": True, "XTERM256": True}


def telnet(text, **flags):
    """Return what the telnet protocol sends for a text, as one string."""
    from evennia.server.portal.telnet import TelnetProtocol

    protocol, lines = TelnetProtocol(), []
    protocol.protocol_flags = {**COLOURED, **flags}
    protocol.sendLine = lines.append
    protocol.send_text(text, options={})
    return "".join(lines)


def on_telnet(text, **flags):
    """Return what a player reads in a telnet client."""
    from evennia.server.portal.mxp import mxp_parse

    sent = telnet(text, **flags)
    if flags.get("MXP") and mxp_parse("<") == "&lt;":  # Evennia 5 escapes all for MXP
        sent = html.unescape(sent)
    return COLOURS.sub("", sent)


def web_page(text):
    """Return the HTML that the web client gets for a text."""
    from evennia.server.portal import webclient

    client, frames = webclient.WebSocketClient(), []
    client.protocol_flags = {}
    try:
        from evennia.server.portal.wire_formats.evennia_v1 import EvenniaV1Format
    except ImportError:  # Evennia 5
        client.sendLine = frames.append
        client.send_text(text, options={})
    else:
        frames.append(EvenniaV1Format().encode_text(text, protocol_flags={}, options={})[0])
    return json.loads(frames[0])[1][0]


class Reader(HTMLParser):
    """Collects the text and the tags of a page."""

    def __init__(self):
        super().__init__()
        self.text, self.tags = "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def on_web(text):
    """Return what a player reads in the web client, and the tags but colours and line breaks."""
    reader = Reader()
    reader.feed(web_page(text))
    reader.close()
    return reader.text, [tag for tag in reader.tags if tag[0] not in ("span", "br")]


def after_functions(text):
    """Return a text as Evennia sends it if it parses ``$func()`` in all that it sends."""
    from django.conf import settings
    from evennia.utils.funcparser import FuncParser

    parser = FuncParser(settings.FUNCPARSER_OUTGOING_MESSAGES_MODULES, raise_errors=True)
    return parser.parse(text, strip=False, session=None)
