"""The setting of the stand-in in a game."""

import pytest

from evennia_ai.services.assistant_service import AssistantService

pytestmark = [pytest.mark.game, pytest.mark.django_db]


def test_a_wrong_file_of_a_language_is_told_of_and_the_stand_in_answers(settings):
    settings.AI_ASSISTANT = {"OFFLINE_LANGUAGES": ["nowhere/la.toml"]}
    service = AssistantService(environ={})
    (complaint,) = service.complaints
    assert complaint.startswith("AI_ASSISTANT['OFFLINE_LANGUAGES']: ")
    assert "offline" in service.gateway._clients


def test_left_out_nothing_answers_without_a_model(settings):
    settings.AI_ASSISTANT = {"EXTENSIONS": ["-stand_in"]}
    service = AssistantService(environ={})
    assert service.complaints == [] and "offline" not in service.gateway._clients
