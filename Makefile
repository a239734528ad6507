# `make app`, `make quick`, `make test`; each sets up what it needs in .venv. `make lock` and `make audit`: packages.
# `make release`: the files of a release, in dist/. `make docs`: the documentation site.
PYTHON ?= python3
BIN := .venv/bin
# uv of this environment, which takes PyTorch from the index that .venv/backend names
UV = $(if $(shell cat .venv/backend 2> /dev/null),UV_TORCH_BACKEND=$(shell cat .venv/backend) )$(BIN)/uv

CORE := $(addprefix tests/,test_types.py test_run.py metrics compressors parity models)
# The models of the tests are tiny: one thread each. tests/conftest.py: which process runs what.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest
SHARED := -n 2 --dist loadfile

VLLM := $(addprefix tests/serving/vllm/test_,engine.py families.py server.py)

# Some images forbid kept bytecode; then every process compiles torch and transformers anew.
export PYTHONDONTWRITEBYTECODE =

.PHONY: app quick test test-all test-vllm test-lmms-eval test-ray static tables docs pages demo lock audit release test-python clean

app: .venv/app
	@$(BIN)/python app.py $(ARGS)

quick: static
	$(PYTEST) $(SHARED) -m "not slow" --families qwen3_vl,llava_onevision $(CORE)

test: .venv/dev
	@$(MAKE) --no-print-directory -j2 static .venv/kept
	$(PYTEST) $(SHARED) -m "not slow" $(ARGS)

# Every test on every model family, in random order (pytest-randomly), then those that need an
# environment of their own.
test-all: static
	$(PYTEST) $(SHARED) --families all -o addopts=--strict-markers $(ARGS)
	@for part in test-ray test-lmms-eval test-vllm; do $(MAKE) --no-print-directory $$part || exit 1; done

# vLLM pins a torch of its own, so it has an environment of its own (3.2 GB); and an engine has a
# process of its own.
test-vllm: .venv-vllm/installed
	.venv-vllm/bin/python -c "import vllm"
	@for file in $(or $(ARGS),$(VLLM)); do \
		PYTHONPATH=. OMP_NUM_THREADS=1 .venv-vllm/bin/python -m pytest -W ignore $$file || exit 1; \
	done

.venv-vllm/installed: pyproject.toml tools/vllm_environment.py
	nice $(PYTHON) tools/vllm_environment.py .venv-vllm
	touch $@

# LMMs-Eval and Ray: environments of their own, from the extras as a user installs them. The import
# comes first, as tests of a missing package are skipped.
test-lmms-eval: .venv-lmms-eval/made
	.venv-lmms-eval/bin/python -c "import lmms_eval.evaluator"
	OMP_NUM_THREADS=1 .venv-lmms-eval/bin/python -m pytest \
		$(or $(ARGS),tests/evaluation/lmms_eval tests/cli/test_lmms_eval.py)

test-ray: .venv-ray/made
	.venv-ray/bin/python -c "import ray.serve"
	OMP_NUM_THREADS=1 .venv-ray/bin/python -m pytest \
		$(or $(ARGS),tests/evaluation/run tests/cli/test_workers.py tests/components/server/test_replicas.py)

.venv-lmms-eval/made: EXTRAS = eval
.venv-ray/made: EXTRAS = app,ray
.venv-lmms-eval/made .venv-ray/made: .venv/backend pyproject.toml
	$(BIN)/uv venv --quiet --clear $(@D)
	$(UV) pip install --quiet --python $(@D)/bin/python -e '.[$(EXTRAS)]' pytest hypothesis
	touch $@

# The core tests on another Python, with the newest packages or with OLDEST=1 the oldest: results/versions.md.
test-python: .venv/uv
	$(BIN)/uv venv --quiet --clear --no-python-downloads --python $(PYTHON) .venv-python
	$(BIN)/uv pip install --quiet --resolution $(if $(OLDEST),lowest-direct,highest) \
		--python .venv-python -e '.[dev]'
	OMP_NUM_THREADS=1 nice .venv-python/bin/python -m pytest -m "not slow" \
		--families qwen3_vl,llava_onevision $(or $(ARGS),$(CORE) tests/video)

static: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache > .venv/imports || { cat .venv/imports; exit 1; }

# Writes the tables of the documentation, from the code and the files in results/.
tables: .venv/dev
	$(BIN)/python -m tools.write_tables

# The documentation as a site that needs no network: docs/_build/html/index.html, with a demo of the viewer. The app serves the
# copy in assets/docs, and a wheel that is built after it contains that copy.
docs: .venv/docs
	@mkdir -p docs/_build/html
	@OMP_NUM_THREADS=1 $(MAKE) --no-print-directory -j2 pages demo
	@rm -rf assets/docs && cp -r docs/_build/html assets/docs
	@echo "docs/_build/html/index.html"

pages:
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

demo:
	$(BIN)/python -m tools.demo docs/_build/html/demo.html

.venv/uv:
	@echo "Setting up .venv: once, and some minutes (PyTorch with CUDA is about 5 GB) ..."
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "GleanVID needs Python 3.11 or newer: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip uv
	touch $@

# PyTorch's CPU build where there is no NVIDIA GPU and that build's index answers.
.venv/backend: .venv/uv
	@if [ -n "$$UV_TORCH_BACKEND" ]; then chosen=$$UV_TORCH_BACKEND; why="UV_TORCH_BACKEND says so"; \
	elif nvidia-smi -L > /dev/null 2>&1; then chosen=; why="there is an NVIDIA GPU"; \
	elif UV_TORCH_BACKEND=cpu UV_HTTP_TIMEOUT=10 UV_HTTP_RETRIES=0 $(BIN)/uv pip install --dry-run \
		--quiet --no-deps --reinstall --python $(BIN)/python torch 2> /dev/null; \
	then chosen=cpu; why="there is no NVIDIA GPU"; \
	else chosen=; why="no NVIDIA GPU, but the index of the CPU build does not answer"; fi; \
	echo "PyTorch: $${chosen:-the package index's build} ($$why)"; echo "$$chosen" > $@

.venv/app: .venv/backend requirements.txt pyproject.toml setup.py
	@echo "Installing what the app needs ..."
ifdef LOCKED  # the very files that requirements.lock names, by their hashes
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps -e .
else
	$(UV) pip install --quiet --python $(BIN)/python -r requirements.txt -e '.[app]'
endif
	touch $@

lock: .venv/uv
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 \
		--custom-compile-command 'make lock' --no-emit-index-url requirements.txt -o requirements.lock

# Known flaws of the installed packages; skipped with a line where the advisory service is out of reach,
# or knows not even numpy.
audit: .venv/app
	@report=$$(PIPAPI_PYTHON_LOCATION=$(BIN)/python $(BIN)/uvx --quiet pip-audit --local 2>&1); code=$$?; \
	case "$$report" in *ServiceError*|*ConnectionError*|*"be audited: numpy ("*) \
	echo "audit skipped: the advisory service cannot be reached";; \
	*) echo "$$report" | tail -n 40; exit $$code;; esac

# What Python keeps of the packages: else each process compiles them, 30 s long.
.venv/kept: .venv/dev
	@$(BIN)/python -m pytest --collect-only --quiet > /dev/null
	@touch $@

.venv/docs: .venv/app
	$(UV) pip install --quiet --python $(BIN)/python -e '.[docs]'
	touch $@

.venv/dev: .venv/app
	$(UV) pip install --quiet --python $(BIN)/python -e '.[dev]'
	touch $@

release: .venv/dev docs
	rm -rf dist build
	$(UV) pip install --quiet --python $(BIN)/python -e '.[release]'
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(PYTEST) tests/test_release.py

clean:
	rm -rf .venv .venv-vllm .venv-lmms-eval .venv-ray .venv-python build dist docs/_build assets/docs docs/reference/generated *.egg-info
