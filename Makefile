# make app starts Plumbline; make test runs every test. Both set themselves up, and the second run installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501

.PHONY: app test check clean

app: $(VENV)/app.stamp
	$(BIN)/python -m streamlit run app.py --server.address localhost --server.port $(PORT)

test: $(VENV)/dev.stamp check
	sh tests/browser/find_chromium.sh
	$(BIN)/python -m pytest

check: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Plumbline needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/app.stamp: requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.txt
	$(BIN)/python -m engine.compile
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements-dev.txt
	$(BIN)/python -m engine.compile
	@touch $@ $(VENV)/app.stamp

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis
