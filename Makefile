# The README's two commands are quickstart and test; help lists the rest.

HEADWAY := .venv/bin/headway
PYTEST := .venv/bin/pytest -n auto --dist worksteal --durations=20 --durations-min=5
# Seeds of the night: other ones are as good.
SWARM := 1 2000
CARGO := .venv/bin/python tools/cargo.py

# Set-up compiles no Python: the first command that needs a module does, and keeps it for the others.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help quickstart test lint format census populations test-quick test-lab test-changed test-nightly test-twice from-nothing swarm wheels bench docs results-again docs-site lock clean

help:
	@echo "make quickstart   set up, build the lab image, run the quickstart study"
	@echo "make test         set up, then tests and linters: all but those of the night"
	@echo "make census       install what 'headway census' needs: ibis and DuckDB"
	@echo "make populations  install what tells sites of a population apart: scikit-learn"
	@echo "make lint         linters only: ruff, mypy, cargo fmt, clippy"
	@echo "make format       let ruff and cargo fmt format and fix the code"
	@echo "make test-quick   tests that boot no lab: pytest, cargo test"
	@echo "make test-lab     tests that boot labs"
	@echo "make test-changed tests without labs that what changed since main asks for (BASE=COMMIT)"
	@echo "make test-nightly all tests, and each fuzzing for a minute: for the night"
	@echo "make test-twice   the same, each lab booted again in other surroundings: for the night"
	@echo "make from-nothing the README's two commands on each bare Debian, as root and as a user: for the night"
	@echo "make swarm        2,000 drawn settings, each carried out twice and judged: for the night"
	@echo "make wheels       build dist/*.whl of the last commit: Headway, and its lab compiled"
	@echo "make bench        measure speed; prints the table of docs/performance.md"
	@echo "make docs         write the generated parts of docs/"
	@echo "make docs-site    build docs/ as a site with a search, and check its links"
	@echo "make lock         choose newer versions of the Python packages"
	@echo "make clean        remove .venv, build, results and native/target; the lab image stays cached"

.venv/complete: requirements.lock pyproject.toml tools/set-up
	@tools/set-up studies $(NEEDS)

# Their labs have programs of npm's registry, which the machine's npm fetches: named before the first test.
test test-lab test-nightly test-twice: NEEDS := scripts
.venv/scripts: .venv/complete
	@tools/set-up packages scripts
	@touch $@

# What only tests and linters need; 150 MB that the first study does without.
.venv/dev: .venv/complete requirements-dev.lock
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-compile \
		--require-hashes --requirement requirements-dev.lock
	@touch $@

# What only `headway census` needs; 105 MB that the first study does without.
.venv/census: .venv/complete requirements-census.lock
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
		--require-hashes --requirement requirements-census.lock
	@touch $@

# What tells sites of a population apart; 45 MB that other studies do without.
.venv/populations: .venv/complete requirements-populations.lock
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
		--require-hashes --requirement requirements-populations.lock
	@touch $@

census: .venv/census
populations: .venv/populations

quickstart: .venv/complete
	@$(HEADWAY) run quickstart --out results/quickstart --replace --allow-failures

# Linters last: whoever only wants to know whether Headway works has the answer by then.
test: .venv/scripts test-quick test-lab docs-site lint

lint: .venv/dev
	@.venv/bin/ruff format --check src tests bench tools examples
	@.venv/bin/ruff check src tests bench tools examples
	@.venv/bin/mypy
	@.venv/bin/mypy --explicit-package-bases bench
	@$(CARGO) fmt --all --check
	@$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

format: .venv/dev
	@.venv/bin/ruff format src tests bench tools examples
	@.venv/bin/ruff check --fix src tests bench tools examples
	@$(CARGO) fmt --all

test-quick: .venv/dev .venv/census .venv/populations
	@$(PYTEST) -m "not lab and not nightly"
	@$(CARGO) test --workspace --locked

test-lab: .venv/scripts .venv/dev .venv/census .venv/populations
	@$(HEADWAY) image build --all
	@$(PYTEST) -m "lab and not nightly"

# With other marks, such as MARKS="not nightly", those that boot labs, too.
MARKS := not lab and not nightly
test-changed: .venv/dev .venv/census .venv/populations
	@.venv/bin/python -m tests.changed --base "$(BASE)" -- $(PYTEST) -m "$(MARKS)"

test-nightly: .venv/scripts .venv/dev .venv/census .venv/populations
	@$(HEADWAY) image build --all
	@$(PYTEST)
	@HEADWAY_FUZZ_SECONDS=60 $(CARGO) test --workspace --locked
	@$(MAKE) --no-print-directory lint

test-twice: .venv/scripts .venv/dev .venv/census .venv/populations
	@$(HEADWAY) image build --all
	@$(PYTEST) -m lab --twice

from-nothing:
	@tools/from-nothing --suite all
	@tools/from-nothing --suite all --user

wheels: .venv/complete
	@.venv/bin/python tools/wheels/make_wheels.py

bench: .venv/dev .venv/census .venv/populations
	@.venv/bin/python -m bench.bench

swarm: .venv/dev
	@.venv/bin/python -m tests.swarm $(SWARM)

docs: .venv/dev
	@.venv/bin/python -m tools.generate_docs
	@.venv/bin/python -m tools.results_again write
	@.venv/bin/python -m tools.depends_on write
	@.venv/bin/python -m tools.referee write

results-again: .venv/dev
	@.venv/bin/python -m tools.results_again record

build/docs-venv/complete: requirements-docs.lock | .venv/complete
	@.venv/bin/python -m venv --clear build/docs-venv
	@build/docs-venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
		--require-hashes --requirement requirements-docs.lock
	@touch $@

docs-site: build/docs-venv/complete
	@NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/mkdocs build --quiet --strict
	@build/docs-venv/bin/python tools/docs-site/search.py build/docs-site
	@echo "build/docs-site/index.html"

lock: .venv/dev
	@.venv/bin/uv pip compile pyproject.toml --group build --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --quiet --upgrade --output-file requirements.lock
	@.venv/bin/uv pip compile --group dev --constraint requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --quiet --upgrade --output-file requirements-dev.lock
	@.venv/bin/uv pip compile --group docs --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --quiet --upgrade --output-file requirements-docs.lock
	@.venv/bin/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['census'], sep='\n')" \
		| .venv/bin/uv pip compile - --constraint requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --quiet --upgrade --output-file requirements-census.lock
	@.venv/bin/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['populations'], sep='\n')" \
		| .venv/bin/uv pip compile - --constraint requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --quiet --upgrade --output-file requirements-populations.lock

clean:
	@rm -rf .venv build results native/target
