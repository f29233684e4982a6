# Needs any Python 3.11 or newer; everything else is installed into folders of this checkout.
PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$p" && break; done)

.PHONY: help demo stop test test-more bench soak real screenshots lock clean python

help: ## Show this list
	@echo "make demo         play: set everything up (once), start the demo, print how to connect"
	@echo "make stop         stop the demo"
	@echo "make test         lint, types, all small tests and a short game over telnet, on one Python"
	@echo "make test-more    all other tests: each Python of 3.11 to 3.14, kills, simulations, browser"
	@echo "make bench        measure speed, idle cost and recall"
	@echo "make soak         each game test on each Python, long campaigns and measurements: hours"
	@echo "make real         play the demo with the model of the environment; see docs/models.md"
	@echo "make screenshots  take the pictures in docs/images/ from a real game, in a minute"
	@echo "make lock         renew server/constraints.txt: newer versions for the demo and the tests"
	@echo "make clean        remove the test environments and caches; the demo's database stays"

python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none was found."; exit 1; }

demo: python
	@$(PYTHON) -m server.demo start

stop: python
	@$(PYTHON) -m server.demo stop

test: python
	@$(PYTHON) -m tests.run test

test-more: python
	@$(PYTHON) -m tests.run more

bench: python
	@$(PYTHON) -m tests.run bench

soak: python
	@$(PYTHON) -m tests.run lines
	@$(PYTHON) -m tests.run soak

real: python
	@$(PYTHON) -m tests.run real

screenshots: python
	@$(PYTHON) -m tests.run screenshots

lock: python
	@$(PYTHON) -m tests.run lock

clean:
	rm -rf .venv-test .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
