# `make run`, `make test`, `make lint`, `make bench`: each first sets up what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEPS   := requirements/dev.txt

# Write bytecode even if the environment forbids it: an instance and the tests start many processes, each of which would
# otherwise compile thousands of modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test lint bench fuzz soak audit clients web pictures lock setup

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

# Ten minutes of load on each database while processes, servers and the disk fail; then the long histories of shares.
soak: setup
	@$(BIN)/python -m tests.soak

# Requests generated from the API description, on both databases: make fuzz FUZZ="--db sqlite --seed 1". Not part of make test.
fuzz: setup
	@$(BIN)/python -m tests.fuzz $(FUZZ)

# Security advisories for the pinned packages.
audit: setup
	@$(BIN)/python -m tests.audit

# Generate the clients' code from the API description: clients/typescript/src/schema.ts, clients/python/contacts_client/routes.
clients: setup
	@$(BIN)/python -m tests.clients

# Build the client in the browser (clients/web) into contacts_project/static/app, which is committed.
web: setup
	@$(BIN)/python -m tests.web.bundle

setup: $(VENV)/.dev
setup-run: $(VENV)/.run

# A virtual environment in $(VENV); nothing is installed outside it.
$(BIN)/python:
	@echo "Making the Python environment in $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements/run.txt | $(BIN)/python
	@if [ -e $(VENV)/.dev ]; then :; else echo "Installing the pinned packages (a minute or two, once) ..."; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt; fi
	@touch $@

# --no-compile: most modules of the tools are never imported, and the first import compiles the others.
$(VENV)/.dev: requirements/dev.txt | $(BIN)/python
	@echo "Installing the pinned packages and the test tools (a minute or two, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r $(DEPS)
	@touch $@

# Pictures of the pages of the client in the browser, to be looked at: build/pictures.
pictures: setup
	@$(BIN)/pytest tests/web/take_pictures.py

# For maintainers: renew the pins, with uv, without writing a registry address.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements/run.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra dev --extra tracing -c requirements/run.txt pyproject.toml -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra tracing -c requirements/dev.txt pyproject.toml -o requirements/tracing.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/caldav-tester.in -o requirements/caldav-tester.txt
