"""What the HTTP libraries log: no address, which may hold a password."""

import logging

import pytest

from evennia_ai.llm.sdk_clients import LOGGERS, quiet_http_logs


@pytest.mark.parametrize("name", LOGGERS)
def test_no_address_of_a_request_is_logged(caplog, name):
    quiet_http_logs()
    logging.getLogger(name).info("HTTP Request: %s %s", "PUT", "http://me:open-sesame@store:6333")
    assert not caplog.records
