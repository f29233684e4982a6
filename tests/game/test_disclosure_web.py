"""Evennia's admin pages and its REST API show no word of what characters know."""

import pytest
from django.apps import apps
from django.contrib import admin as admin_site
from django.test import Client

CANARY = "zanzibar"


@pytest.fixture
def confided(game, mira, ann):
    audience = [ann.dbref]
    mira.journal.add(f"Ann's word is {CANARY}.", audience=audience, speakers=audience)
    mira.ai_goals.add(f"Find {CANARY}.", audience=audience)
    return mira


@pytest.fixture
def staff(game, tavern):
    """Return a web client of a Django staff member with all of Django's rights."""
    player = game.player("Wil", tavern, permissions=["Builder"], superuser=True)
    client = Client()
    client.force_login(player.account)
    return client


def test_our_tables_have_no_admin_pages():
    ours = set(apps.get_app_config("evennia_ai").get_models())
    assert not ours & set(admin_site.site._registry)


@pytest.mark.parametrize(
    "page", ["objects/objectdb/{mira}/change/", "scripts/scriptdb/{script}/change/"]
)
def test_the_admin_pages_show_only_labels(confided, staff, page, settings):
    settings.ALLOWED_HOSTS = ["*"]
    path = page.format(mira=confided.id, script=confided.assistant.id)
    reply = staff.get(f"/admin/{path}", follow=True)
    assert reply.status_code == 200
    text = reply.content.decode()
    assert CANARY not in text
    if "objectdb" in page:
        assert "records of an assistant; aimemory" in text


def test_the_rest_api_shows_only_labels(confided):
    from evennia.web.api.serializers import AttributeSerializer, ObjectDBSerializer

    every = AttributeSerializer(confided.db_attributes.all(), many=True).data
    assert len(every) >= 2
    assert CANARY not in str(every) + str(ObjectDBSerializer(confided).data)
