"""A whole game for the tests of extensions: that of the game's own tests."""

from tests.game import conftest as scene

service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern
mira, ann, bob, admin = scene.mira, scene.ann, scene.bob, scene.admin
offline_game = scene.offline_game
builder = scene.builder
