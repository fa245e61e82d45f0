# Two commands are enough: `make run` to use Teahouse, `make test` to trust it. `make` alone lists all.
#
# Needs Python 3.11+, make and git. Everything else is installed into .venv; downloads are cached
# outside of this folder (pip's and npm's caches, models in ~/.cache/teahouse/models).

.DEFAULT_GOAL := help
# npm trusts the certificates that this machine trusts, as pip does
export NODE_USE_SYSTEM_CA := 1
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:

PORT ?= 8788
N ?= 200
TURNS ?= 100000
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
STAMPS := $(VENV)/stamps
PIP := $(PY) -m pip --disable-pip-version-check --quiet
LOCK := requirements/constraints.txt
PAGE := src/teahouse/server/static/index.html
PAGE_SOURCES := $(shell find web src/teahouse/locales -type f \
	-not -path '*/node_modules/*' -not -name '*.test.*' -not -name '*.tsbuildinfo' \
	-not -name '*.py' -not -name '*.pyc' 2>/dev/null)
NPM := PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix web

.PHONY: help run test check fix bench web dist docs reference picture judges mcp lock crash powerloss \
	faults system clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

run: $(STAMPS)/run $(PAGE) ## Start Teahouse; the first time install it (PORT=8788 TEAHOUSE_HOME=~/.teahouse)
	@$(BIN)/teahouse models pull || echo "Teahouse starts without the local model; enter a provider in the page."
	@exec $(BIN)/teahouse serve --open --port $(PORT)

test: $(STAMPS)/dev ## Run every check and every test, as CI does
	@$(PY) scripts/verify.py all

check: $(STAMPS)/dev ## Run the quick checks: format, lint, types, layers, generated files
	@$(PY) scripts/verify.py quick

fix: $(STAMPS)/dev ## Format, and mend what the linters can mend
	@$(BIN)/ruff check --fix --quiet || true
	@$(BIN)/ruff format --quiet
	@$(NPM) run fix

bench: $(STAMPS)/dev ## Measure, and print each figure beside its target (bench.json)
	@$(PY) benchmarks/run.py

web: $(PAGE) ## Build the page

dist: $(STAMPS)/dev $(PAGE) ## Build a wheel that holds the page, into dist/
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

docs: reference ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

reference: $(STAMPS)/dev ## Write docs/reference and the page's types anew from the code
	@$(PY) scripts/reference.py
	@$(PY) -m teahouse.server.schema web/src/api/generated

picture: $(STAMPS)/dev $(PAGE) ## Take the picture of the page that README shows
	@TEAHOUSE_PICTURES=docs/images $(BIN)/pytest -q tests/browser/test_readme_picture.py

judges: $(STAMPS)/judges $(STAMPS)/judges-js ## Install the vendors' own clients, for tests/judges

mcp: $(STAMPS)/mcp $(STAMPS)/mcp-js ## Install others' MCP servers and the official suite, for tests/tools/mcp

crash: $(STAMPS)/dev ## Kill the server N=200 times while people talk, and look for what got lost
	@$(PY) -m teahouse.testing.crash --rounds $(N)

faults: $(STAMPS)/dev ## Lead TURNS=100000 turns past every fault of a model; none may be stuck
	@$(PY) -m teahouse.testing.faults --turns $(TURNS)

powerloss: $(STAMPS)/dev ## Cut the power in thousands of ways, and look for what got lost
	@$(PY) -m teahouse.testing.powerloss

lock: ## Take the newest versions of all dependencies into the lock
	@scripts/lock.sh $(LOCK)

system: ## Install the Debian packages that the tests need (as root)
	@scripts/system.sh

clean: ## Remove everything that was built or installed here
	rm -rf $(VENV) dist site web/node_modules $(dir $(PAGE)) .verify

# The environment: .venv first, then what `make run` needs, then what developers need.

$(PY):
	@scripts/venv.sh $(VENV)

$(STAMPS)/run: pyproject.toml $(LOCK) | $(PY)
	@echo "Installing Teahouse into $(VENV)"
	@$(PIP) install --constraint $(LOCK) pip
	@$(PIP) install --constraint $(LOCK) --editable '.[local]' --group web
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: $(STAMPS)/run
	@echo "Installing the developers' tools"
	@$(PIP) install --constraint $(LOCK) --group dev
	@touch $@

# The judges of the gateway: clients in environments of their own.

$(STAMPS)/judges: requirements/judges.txt | $(STAMPS)/run
	@echo "Installing clients that judge the gateway"
	@rm -rf $(VENV)/judges
	@$(PY) -m venv --without-pip $(VENV)/judges
	@$(PIP) --python $(VENV)/judges/bin/python install --no-compile --no-deps --requirement $<
	@touch $@

$(STAMPS)/judges-js: tests/judges/js/package.json tests/judges/js/package-lock.json | $(STAMPS)/run
	@mkdir -p $(VENV)/judges-js
	@cp $^ $(VENV)/judges-js
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix $(VENV)/judges-js ci --no-audit --no-fund --loglevel=error
	@touch $@

# MCP servers of others, and the official suite.

$(STAMPS)/mcp: requirements/mcp.txt | $(STAMPS)/run
	@echo "Installing MCP servers of others"
	@rm -rf $(VENV)/mcp
	@$(PY) -m venv --without-pip $(VENV)/mcp
	@$(PIP) --python $(VENV)/mcp/bin/python install --no-compile --no-deps --requirement $<
	@touch $@

$(STAMPS)/mcp-js: tests/tools/mcp/js/package.json tests/tools/mcp/js/package-lock.json | $(STAMPS)/run
	@mkdir -p $(VENV)/mcp-js
	@cp $^ $(VENV)/mcp-js
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix $(VENV)/mcp-js ci --no-audit --no-fund --loglevel=error
	@touch $@

# The page: built only when something it is made of has changed.

web/node_modules/.package-lock.json: web/package.json web/package-lock.json | $(STAMPS)/run
	@echo "Installing what builds the page"
	@$(NPM) ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE): $(PAGE_SOURCES) web/node_modules/.package-lock.json
	@echo "Building the page"
	@$(NPM) run --silent build -- --logLevel warn
	@touch $@
