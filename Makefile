# `make demo` and `make test` are the only two commands a new user needs; `make` alone lists the others.
#
# Variables:
#   LABELS=file.json  IMAGES=folder  PORT=5151   for `make demo`: your own labels, their images, the App's port
#   CATEGORY_FIELD=name                          for `make demo`: the annotation field that holds the class as text
#   ALIASES='{"auto": "car"}' | file.json        for `make demo`: names the raters wrote -> classes, see `read_coco`
#   PYTHON=python3.12                            the Python (3.10 to 3.13) to build .venv with
#   INSTALL_BROWSER=1 | 0                        for `make test`: install Chromium with sudo | never install it
#   FIFTYONE_DATABASE_URI=mongodb://...          a MongoDB of your own, instead of FiftyOne's

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-oldest test-peers lint docs bench view test-view clean check site collect package plugin

VENV := .venv
RUN := $(VENV)/bin/python -m
SETUP := $(or $(PYTHON),python3) scripts/setup_environment.py

export LABELS IMAGES CATEGORY_FIELD ALIASES PORT PYTHON INSTALL_BROWSER

# FiftyOne nags about MongoDB 6, the one version that comes as a wheel; this is its documented switch.
export FIFTYONE_DATABASE_VALIDATION := false

# Else its server reads the manifests of all plugins for every click.
export FIFTYONE_PLUGINS_CACHE_ENABLED := true

# SciPy's searches of few parameters take a third of the time without threads that wait for one another.
export OPENBLAS_NUM_THREADS := 1

# In CI a browser test that did not run is a failure.
ifeq ($(CI),true)
export KALOS_REQUIRE_BROWSER := 1
endif

# A worker for each core, four at most: each imports FiftyOne. A file's tests stay together, as they share data sets; so
# do all of the browser's (tests/conftest.py). They take longest, and in the order of the folders they begin early.
WORKERS := -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## build .venv, with a working database, and nothing else
	@$(SETUP)

demo: setup ## open the App on a data set with four raters (or on yours: LABELS=file.json IMAGES=folder)
	@$(RUN) demo $${LABELS:+--labels "$$LABELS"} $${IMAGES:+--images "$$IMAGES"} $${PORT:+--port "$$PORT"} \
		$${CATEGORY_FIELD:+--category-field "$$CATEGORY_FIELD"} $${ALIASES:+--aliases "$$ALIASES"}

test: ## check style and types, build the documentation, then run the tests (ten minutes on two cores)
	@$(SETUP) --extras test,dev,docs --browser
	@$(MAKE) --no-print-directory --jobs=2 check site collect
	$(RUN) pytest $(WORKERS) $(TESTS)

# Also: every page of the App in both themes, all examples of the documentation, longer searches for counterexamples, every
# writing act killed at each of its steps and beside every other act, and the oldest dependencies.
test-all: TESTS := --all --pictures --hypothesis-profile=thorough
test-all: test ## run everything, which takes hours: before a release
	$(RUN) tests.kills
	$(RUN) tests.kills --trouble another
	$(RUN) tests.kills --trouble at-once
	$(RUN) tests.fuzz --minutes 10
	@$(MAKE) --no-print-directory test-view test-oldest test-peers

# The panels in React, which the App loads as one committed file: only changing them needs Node.
VIEW := panels/view
NPM := npm --prefix $(VIEW)

view: ## check, test and build the view of the panels into panels/view/dist (needs Node 20 or later)
	$(NPM) ci --no-audit --no-fund --ignore-scripts
	$(NPM) run --silent types
	$(NPM) run --silent lint
	$(NPM) run --silent test
	$(NPM) run --silent build

# The committed file is what its sources make.
test-view:
	@if command -v npm > /dev/null; then \
		$(MAKE) --no-print-directory view && git diff --exit-code --stat -- $(VIEW)/dist; \
	else echo "Skipped: there is no Node to build the view with"; fi

test-oldest: ## run the tests with the oldest dependencies that pyproject.toml allows, in .venv-oldest
	@$(SETUP) --extras dev
	@mkdir -p artifacts
	$(RUN) uv pip compile pyproject.toml --quiet --extra app --extra test --resolution lowest-direct \
		--python $(VENV)/bin/python --output-file artifacts/oldest.txt
	@PIP_CONSTRAINT=$(CURDIR)/artifacts/oldest.txt VENV=.venv-oldest $(SETUP) --extras test --browser
	.venv-oldest/bin/python -m pytest $(WORKERS)

check:
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy

# What pytest makes of the files of tests is kept for its workers, each of which would make it anew.
collect:
	$(RUN) pytest --collect-only --quiet --quiet > /dev/null

# Warnings are errors; nothing needs a network. The variable silences a notice about MkDocs itself.
site:
	NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict

# Beside the packages that ours is compared with: kalos 0.8.0, pylibmgm (GPL) and SimpleITK, in an environment of their own.
test-peers: ## run the tests that need packages of others, in .venv-peers
	@VENV=.venv-peers $(SETUP) --extras test,bench,mgm
	.venv-peers/bin/python -m pytest --peers

lint: ## check style and types
	@$(SETUP) --extras test,dev
	@$(MAKE) --no-print-directory check

docs: ## build the documentation into artifacts/site
	@$(SETUP) --extras docs
	@$(MAKE) --no-print-directory site

bench: ## measure speed beside the peers and write the results into the documentation
	@$(SETUP) --extras bench
	$(RUN) benchmarks --results benchmarks/results
	$(RUN) benchmarks.page

# What a release is made of: .github/workflows/release.yml runs both.
DIST := dist
REVISION := HEAD

VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' kalos_core/version.py)
PLUGIN := __init__.py fiftyone.yml requirements.txt LICENSE README.md CHANGELOG.md SECURITY.md assets operators panels kalos_core \
	':!panels/view/src' ':!panels/view/test' ':!panels/view/*.json' ':!panels/view/*.mjs'

package: ## build the source distribution and the wheel into dist
	@$(SETUP) --extras dev
	$(RUN) build --outdir $(DIST)
	$(RUN) twine check --strict $(DIST)/*.whl $(DIST)/*.tar.gz

plugin: ## pack the plugin as dist/kalos-variation-VERSION.zip, which `fiftyone plugins download` takes
	@mkdir -p $(DIST)
	git archive --format=zip --prefix=kalos-variation/ --output=$(DIST)/kalos-variation-$(VERSION).zip $(REVISION) $(PLUGIN)

clean: ## remove .venv and all that was built or cached
	rm -rf $(VENV) .venv-oldest .venv-peers artifacts build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf $(VIEW)/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
