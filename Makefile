# make demo    learn two real tables and print what was found
# make test    all tests, the core's own under sanitizers included
# make test-lowest   most tests, with the oldest versions that pyproject.toml declares, in an environment of their own
# make fuzz    hostile files and calls for 20 seconds; FUZZ="--seconds 3600 --seed 2" for others
# make lint    formatting, style and types; one definition of everything in the core
# make docs    the site, in build/docs/html: gallery, pages and links; make docs-quick: without the gallery's pictures
# make bench   side by side with other libraries, in an environment of their own; BENCH="--full streams" for more rows,
#              BENCH="--against REV TOPIC" for ours alone, in turns with an earlier revision
#
# Nothing is needed but Python 3.11 (or later), make and a C++20 compiler; everything else is put in .venv.

PYTHON ?= python3
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
CORE := CMakeLists.txt pyproject.toml $(filter-out core/test/%,$(wildcard core/*/*.?pp))
LOWEST := .lowest-venv
LOWEST_TESTS := tests/data tests/files tests/graphs tests/plot tests/sklearn tests/kernels tests/contracts tests/cli/test_terminal.py \
	tests/infer/test_marginal.py tests/test_exports.py tests/test_readme.py

.PHONY: demo test test-lowest core-test core-threads core-odr fuzz lint docs docs-quick bench clean

demo: $(VENV)/.installed
	@$(BIN)/python -m fishernet.cli.demo

test: core-test core-threads $(VENV)/.installed-tests
	PYTHONHASHSEED=0 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

# Libraries as old as these are warned of by newer ones that they use themselves: that is no failure of ours.
test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -q -m 'not slow' -W default::DeprecationWarning $(LOWEST_TESTS)

fuzz: $(VENV)/.installed-tests
	$(BIN)/python -m tests.fuzz $(FUZZ)

lint: core-odr $(VENV)/.installed-tests
	$(BIN)/python core/test/includes.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Warnings are errors. Every example of every page is run, those of the gallery while their pictures are made.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -b html -j 2 -W --keep-going -q docs build/docs/html
	$(BIN)/python docs/_ext/site_links.py build/docs/html
	$(BIN)/python -m pytest -q tests/test_readme.py tests/test_pages.py tests/test_coming_from.py

docs-quick: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -b html -j 2 -W --keep-going -q -D plot_gallery=0 docs build/docs/quick
	$(BIN)/python docs/_ext/site_links.py build/docs/quick

bench: $(VENV)/.installed
	$(if $(findstring --against,$(BENCH)),,$(BIN)/python -m benchmarks.environment)
	$(BIN)/python -m benchmarks.run $(BENCH)

clean:
	rm -rf build $(VENV) $(LOWEST) .bench-venv

# -- the environment ---------------------------------------------------------------------------------------------

# The build's own tools, so that a rebuild compiles only what changed.
$(VENV)/.tools:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fishernet needs Python 3.11 or later: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install 'scikit-build-core>=0.11' 'nanobind>=2.4' 'cmake>=3.18' ninja
	@touch $@

$(VENV)/.installed: $(VENV)/.tools $(CORE)
	$(PIP) install --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-tests: $(VENV)/.installed pyproject.toml
	$(PIP) install --no-build-isolation -e '.[test,lint]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-tests pyproject.toml
	$(PIP) install --no-build-isolation -e '.[docs]'
	@touch $@

# The versions are read from pyproject.toml. Not editable, so that neither environment builds into the other.
$(LOWEST)/.installed: tests/floors.py $(CORE) $(shell find src -name '*.py')
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tests/floors.py build >$(LOWEST)/build.txt
	$(LOWEST)/bin/python tests/floors.py >$(LOWEST)/floors.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check -q install -r $(LOWEST)/build.txt -r $(LOWEST)/floors.txt \
		'cmake>=3.18' ninja
	PATH="$(CURDIR)/$(LOWEST)/bin:$$PATH" $(LOWEST)/bin/python -m pip --disable-pip-version-check -q install \
		--no-build-isolation --no-deps --force-reinstall -C build-dir=build/lowest .
	@touch $@

# -- the core's own tests ---------------------------------------------------------------------------------------------

CORE_TEST := $(CORE) $(wildcard core/test/*)

# Under AddressSanitizer and UndefinedBehaviorSanitizer.
core-test: build/core-addresses/core_test
	build/core-addresses/core_test

# Under ThreadSanitizer, which fails where memory lies at random over too much of the address space.
core-threads: build/core-threads/core_test
	$$(setarch -R true 2>/dev/null && echo setarch -R) build/core-threads/core_test

# Types that bear one name are one type, and what is compiled for one instruction set stays with itself.
core-odr: build/core-odr/core_test
	$(BIN)/python core/test/symbols.py build/core-odr

build/core-%/core_test: $(VENV)/.tools $(CORE_TEST)
	$(BIN)/cmake -S . -B $(@D) -G Ninja -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" \
		-DFISHERNET_TEST=ON -DFISHERNET_STRICT=ON -DFISHERNET_CHECK=$* >/dev/null
	$(BIN)/cmake --build $(@D) --target core_test
	@touch $@
