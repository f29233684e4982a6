"""Time that passes, for the tests of the process, the clock and the settings."""


def pass_time(game, seconds, step=1.0):
    for _ in range(round(seconds / step)):
        game.run(step)
