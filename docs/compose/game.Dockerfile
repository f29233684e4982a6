# The demo game of this repository. For a game of your own, copy its folder over /game and install
# evennia_ai from a package or a checkout.
FROM python:3.13-slim

RUN useradd --create-home --uid 1000 game
WORKDIR /game
COPY pyproject.toml README.md LICENSE ./
COPY evennia_ai evennia_ai
RUN pip install --no-cache-dir ".[memory,embeddings,telemetry]" psycopg2-binary \
    opentelemetry-sdk opentelemetry-exporter-prometheus \
    && rm -r evennia_ai
COPY server server
COPY world world
COPY docs/compose/game.sh game.sh
RUN mkdir -p server/logs && chown -R game:game /game
USER game

EXPOSE 4000 4001 4002
CMD ["sh", "game.sh"]
