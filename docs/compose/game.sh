#!/bin/sh
# Runs the game until its portal ends. Secrets come from files, and tables are brought up to date.
set -eu

secret() { cat "${SECRETS:-/run/secrets}/$1"; }

database="postgresql://game:$(secret database_password)@${DATABASE_HOST:-postgres}/game"
export EVENNIA_AI_DATABASE_URL="$database?tcp_user_timeout=5000"
export MEMORY_DB="$database?connect_timeout=3"
export DJANGO_KEY="$(secret django_key)"
if [ -f "${SECRETS:-/run/secrets}/proxy_key" ]; then # with servers.yml
    export OPENAI_API_KEY="$(secret proxy_key)"
fi
# Read at the very first start, when the superuser is made.
export EVENNIA_SUPERUSER_PASSWORD="$(secret admin_password)"
export EVENNIA_SUPERUSER_EMAIL=

trap 'evennia stop; exit 0' TERM INT
rm -f server/*.pid # of a container that was killed
evennia migrate
for _ in 1 2 3 4 5 6; do # on a busy machine the launcher gives up before the server is there
    evennia start
    sleep 5
    if [ -s server/portal.pid ] && [ -s server/server.pid ]; then break; fi
done
tail -n 0 -F server/logs/server.log &
while kill -0 "$(cat server/portal.pid)" 2>/dev/null; do
    sleep 5 &
    wait $!
done
echo "The portal has ended." >&2
exit 1
