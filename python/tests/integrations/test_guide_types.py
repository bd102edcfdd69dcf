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


CACHE = Path(__file__).parents[3] / ".mypy_cache" / "guide"
"""What mypy knows of numpy and others stays from one go to the next: reading them takes most of its time. It is another with other options."""


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guide")
    for title, code in sections().items():
        (folder / f"guide_{re.sub('[^a-z]+', '_', title.lower())}.py").write_text(code)
    return folder


CHECKERS = {
    "mypy": ["-m", "mypy", "--config-file=", f"--cache-dir={CACHE}", "--check-untyped-defs", "--ignore-missing-imports", "."],
    "pyright": ["-m", "pyright", "--pythonpath", sys.executable, "."],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_guide_is_well_typed_and_a_wrong_use_is_seen(checker, guide):
    (guide / "wrong.py").write_text('import labcat\nlabcat.minimize(lambda x: 1.0, [(0, 1)], on_error="ignore")\n')
    done = subprocess.run([sys.executable, *CHECKERS[checker]], cwd=guide, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode != 0 and any("wrong.py:2" in line and "error" in line for line in lines), done.stdout + done.stderr
    errors = [line for line in lines if " error: " in line and "wrong.py" not in line and not UNDECLARED.search(line)]
    assert not errors, "\n".join(errors)
    assert re.search(r"checked \d\d source files|\d+ errors?, ", done.stdout), done.stdout + done.stderr
