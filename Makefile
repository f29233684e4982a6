# Everything a newcomer needs. Any Python 3.11 or newer will do to begin with.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$p" && break; done)

.PHONY: help demo stop test bench soak clean python

help: ## Show this list
	@echo "make demo    play: set everything up (once), start the demo, say how to connect"
	@echo "make stop    stop the demo"
	@echo "make test    lint, types and the whole suite on every Python of 3.11 to 3.13 found here"
	@echo "make bench   measure: idle cost, reload, inserts"
	@echo "make soak    the long campaigns and measurements: kills, simulations"
	@echo "make clean   remove the test environments and caches; the demo's database stays"

python:
	@test -n "$(PYTHON)" || { echo "This needs Python 3.11 or newer, and none was found."; exit 1; }

demo: python
	@$(PYTHON) -m server.demo start

stop: python
	@$(PYTHON) -m server.demo stop

test: python
	@$(PYTHON) -m tests.run

bench: python
	@$(PYTHON) -m tests.run bench

soak: python
	@$(PYTHON) -m tests.run soak

clean:
	rm -rf .venv-test .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
