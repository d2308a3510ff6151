"""What `python -m engine.compile` compiles is all that analyses call."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import importlib, pathlib
from engine import compile
from engine.cli import main

def kernels():
    found = {}
    for path in sorted(pathlib.Path("engine").rglob("*.py")):
        if "from engine.kernels import" in path.read_text(encoding="utf-8"):
            module = importlib.import_module(".".join(path.with_suffix("").parts))
            for name, value in vars(module).items():
                if getattr(value, "__module__", "") == module.__name__ and hasattr(value, "signatures"):
                    if not value.targetoptions.get("no_cpython_wrapper"):
                        found[f"{module.__name__}.{name}"] = list(value.signatures)
    return found

compile.main()
before = kernels()
small = ["demo:mt", "--limit", "24", "--store", "none", "--out", "unused.csv"]
assert not main(["score", *small, *"--metric bleu --metric ter --metric rouge-2 --metric rouge-l".split()])
for coefficient in ("kendall", "spearman", "pearson"):
    assert not main(["boost", *small, *"--metric chrf --calibrate --resamples 9 --coefficient".split(), coefficient])
assert not main(["muler", *small, *"--metric bleu --metric bertscore --features punctuation".split()])
assert kernels() == before, [name for name, signatures in kernels().items() if signatures != before.get(name)]
print(sorted(name for name, signatures in before.items() if not signatures), len(before))
"""


def test_nothing_is_left_to_be_compiled(tmp_path: Path) -> None:
    code = CODE.replace("unused.csv", str(tmp_path / "unused.csv"))
    env = {**os.environ, "PLUMBLINE_HOME": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    missing, count = run.stdout.splitlines()[-1].rsplit(" ", 1)
    assert missing == "[]" and int(count) >= 15
