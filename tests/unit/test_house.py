"""The rules of the house: which part may import which, how long files may grow, what is loaded when."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

LEAVES = {"errors", "progress", "options", "threads", "kernels"}
LAYERS = {  # a part of the engine → the parts that it may import, besides itself and the leaves
    "corpus": set(),
    "stats": set(),
    "metrics": {"corpus"},
    "scoring": {"metrics", "corpus", "stats"},
    "report": {"corpus", "explain"},
    "explain": {"scoring", "metrics", "corpus", "stats"},
    "boost": {"explain", "scoring", "metrics", "corpus", "stats"},
    "checklist": {"scoring", "metrics", "corpus", "stats"},
    "robustness": {"scoring", "metrics", "corpus", "stats"},
    "muler": {"scoring", "metrics", "corpus", "stats"},
    "compare": {"scoring", "metrics", "corpus", "stats"},
    "training": {"scoring", "metrics", "corpus", "stats"},
}
SCREEN = {"streamlit", "plotly", "altair", "components", "pages", "app"}


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def imports(path: Path) -> set[str]:
    """Every module that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports from the root"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", python_files("engine"), ids=lambda path: str(path.relative_to(ROOT)))
def test_engine_imports_point_down(path: Path) -> None:
    parts = path.relative_to(ROOT / "engine").with_suffix("").parts
    part = parts[0]
    used = imports(path)
    assert not {name.split(".")[0] for name in used} & SCREEN, "the engine must not know the screen"
    below = {name.split(".")[1] for name in used if name.startswith("engine.")}
    if part in LEAVES:
        assert below <= LEAVES
    elif part in LAYERS:
        assert below <= LAYERS[part] | LEAVES | {part}
    else:
        assert part in {"__init__", "__main__", "cli", "commands", "compile"}, f"engine/{part} has no place in LAYERS yet"


@pytest.mark.parametrize("folder", ["engine", "components", "pages", "benchmarks"])
def test_every_name_that_is_imported_exists(folder: str) -> None:
    for path in python_files(folder):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("engine", "components", "benchmarks"):
                exec(compile(ast.Module([node], []), str(path), "exec"), {})


@pytest.mark.parametrize("path", python_files("components"), ids=lambda path: str(path.relative_to(ROOT)))
def test_components_do_not_know_pages(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path)} & {"pages", "app"}


@pytest.mark.parametrize("path", python_files("components", "pages"), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_workspace_touches_session_state(path: Path) -> None:
    if path.name != "workspace.py":
        assert "session_state" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", python_files("engine", "components", "pages"), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short(path: Path) -> None:
    limit = 150 if path.parts[len(ROOT.parts)] == "pages" else 400
    assert len(path.read_text(encoding="utf-8").splitlines()) <= limit


def test_test_files_have_names_of_their_own() -> None:
    names = sorted(path.name for path in python_files("tests") if path.name != "conftest.py")
    assert len(set(names)) == len(names), "pytest imports test files by their name alone"


def test_heavy_libraries_are_loaded_only_when_needed() -> None:
    code = (
        "import sys, engine.cli, engine.scoring.scorer, engine.explain.explain, engine.metrics.registry as r\n"
        "[r.make_metric(name) for name in r.METRICS]\n"
        "print(sorted({'torch', 'transformers', 'spacy', 'shap', 'lime', 'sklearn'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
