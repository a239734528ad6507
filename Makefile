# Two commands: `make app` and `make test`. Each sets up what it needs in .venv the first time.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: app test clean

app: .venv/app
	$(BIN)/python app.py $(ARGS)

test: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(ARGS)  # the models of the tests are tiny

.venv/uv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "GleanVID needs Python 3.11 or newer: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip uv
	touch $@

.venv/app: .venv/uv requirements.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements.txt -e '.[app]'
	touch $@

.venv/dev: .venv/app
	$(BIN)/uv pip install --quiet --python $(BIN)/python -e '.[dev]'
	touch $@

clean:
	rm -rf .venv build *.egg-info
