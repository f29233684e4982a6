"""The game of the game tier, for the dialogues."""

from tests.game import conftest as game_tier

service = game_tier.service
model = game_tier.model
game = game_tier.game
offline_game = game_tier.offline_game
