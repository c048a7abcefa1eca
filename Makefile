# Everything a newcomer needs: `make run`, `make test`, `make lint`, `make bench`. Each sets up what it stands on.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEPS   := requirements/dev.txt

.PHONY: run test lint bench fuzz soak audit clients lock setup

run: setup-run
	@$(BIN)/python manage.py serve

test: setup
	@$(BIN)/python -m tests.run

lint: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@$(BIN)/python -m tests.audit --if-reachable

bench: setup
	@$(BIN)/python -m tests.bench

# Ten minutes of load on each database while processes, servers and the disk fail.
soak: setup
	@$(BIN)/python -m tests.soak

# Requests out of the API description, on both databases: make fuzz FUZZ="--db sqlite --seed 1". No part of make test.
fuzz: setup
	@$(BIN)/python -m tests.fuzz $(FUZZ)

# Whether advisories are known for the pinned packages.
audit: setup
	@$(BIN)/python -m tests.audit

# What clients/ has of the API description: clients/typescript/src/schema.ts and clients/python/contacts_client/routes.
clients: setup
	@$(BIN)/python -m tests.clients

setup: $(VENV)/.dev
setup-run: $(VENV)/.run

# A folder of its own for the packages; nothing is installed outside it.
$(BIN)/python:
	@echo "Making the Python environment in $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements/run.txt | $(BIN)/python
	@if [ -e $(VENV)/.dev ]; then :; else echo "Installing the pinned packages (a minute or two, once) ..."; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt; fi
	@touch $@

$(VENV)/.dev: requirements/dev.txt | $(BIN)/python
	@echo "Installing the pinned packages and the test tools (a minute or two, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(DEPS)
	@touch $@

# For maintainers: pins anew, with uv, without naming a registry.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements/run.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra dev --extra tracing -c requirements/run.txt pyproject.toml -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra tracing -c requirements/dev.txt pyproject.toml -o requirements/tracing.txt
