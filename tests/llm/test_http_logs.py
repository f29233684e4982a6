"""What the HTTP libraries log: no password, whoever makes the request."""

import logging

import pytest

from evennia_ai.llm.sdk_clients import LOGGERS, clean_http_logs


class Address:
    """Any library's own kind of address."""

    def __str__(self):
        return "http://me:open-sesame@store:6333/minds?api_key=k#f"


@pytest.mark.parametrize("name", LOGGERS)
def test_an_address_is_logged_without_user_password_query_and_fragment(caplog, name):
    clean_http_logs()
    clean_http_logs()
    logger = logging.getLogger(name)
    with caplog.at_level(logging.INFO):
        logger.info('HTTP Request: %s %s "%d"', "PUT", Address(), 200)
        logger.info("no arguments")
        logger.info("%(one)s", {"one": 1})
    assert [record.getMessage() for record in caplog.records] == [
        'HTTP Request: PUT http://store:6333/minds "200"',
        "no arguments",
        "1",
    ]
