"""The code of the user guide as type checkers see it: what the package declares fits how it is used."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_examples import sections

UNDECLARED = re.compile(r"labcat_result|could not be resolved|dashboard_address")
"""An attribute that any exception of a run gets; a package of an example that is not installed; an argument of Dask's that may be None."""


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guide")
    for title, code in sections().items():
        (folder / f"guide_{re.sub('[^a-z]+', '_', title.lower())}.py").write_text(code)
    return folder


CHECKERS = {
    "mypy": ["-m", "mypy", "--config-file=", "--check-untyped-defs", "--ignore-missing-imports", "."],
    "pyright": ["-m", "pyright", "--pythonpath", sys.executable, "."],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_guide_is_well_typed(checker, guide):
    done = subprocess.run([sys.executable, *CHECKERS[checker]], cwd=guide, capture_output=True, text=True, timeout=300)
    errors = [line for line in done.stdout.splitlines() if " error: " in line and not UNDECLARED.search(line)]
    assert not errors, "\n".join(errors)
    assert re.search(r"checked \d\d source files|\d+ errors?, ", done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_wrong_use_is_seen(checker, tmp_path):
    (tmp_path / "wrong.py").write_text('import labcat\nlabcat.minimize(lambda x: 1.0, [(0, 1)], on_error="ignore")\n')
    done = subprocess.run([sys.executable, *CHECKERS[checker]], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "on_error" in done.stdout + done.stderr
