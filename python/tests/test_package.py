"""The package as a whole: what it needs, exports, documents."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import labcat

MODULES = [
    f"labcat.{module.name}"
    for module in pkgutil.iter_modules(labcat.__path__)
    if not module.ispkg and module.name not in ("_labcat", "bench")
]


@pytest.mark.parametrize("name", ["labcat", *MODULES])
def test_the_examples_in_the_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(name), raise_on_error=False)
    assert result.failed == 0


def test_the_main_functions_have_examples():
    for item in (
        labcat.minimize,
        labcat.maximize,
        labcat.least_squares,
        labcat.Optimizer,
        labcat.Space,
        labcat.scipy_method,
    ):
        assert doctest.DocTestFinder().find(item)[0].examples, item


def test_everything_public_is_documented():
    for name in labcat.__all__:
        item = getattr(labcat, name)
        if not isinstance(item, str):
            assert item.__doc__, name
            members = vars(item) if isinstance(item, type) else {}
            for member, value in members.items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{member}"


def test_the_package_is_marked_as_typed():
    assert (Path(labcat.__file__).parent / "py.typed").exists()
    assert (Path(labcat.__file__).parent / "_labcat.pyi").exists()


WITHOUT_EXTRAS = """
import sys
for name in ("scipy", "pandas", "tqdm", "matplotlib"):
    sys.modules[name] = None
import pickle
import labcat

result = labcat.minimize(lambda x: x[0] ** 2, [(-1, 2)], budget=12, rng=1, progress=True)
assert result.fun == result["fun"] and result.nfev == 12 and not result.success
assert list(result)[:3] == ["message", "success", "status"] and "nfev" in dir(result)
assert "fun: " in repr(result)
result.note = 1
assert result["note"] == 1
del result.note
try:
    result.note
except AttributeError as error:
    assert str(error) == "note"
assert pickle.loads(pickle.dumps(result)).fun == result.fun
assert labcat.scipy_method(lambda x: x[0] ** 2, [1.0], bounds=[(-1, 2)], maxfev=5).nfev == 5
try:
    result.history.to_dataframe()
except labcat.LabcatError as error:
    assert "pip install pandas" in str(error) and "pip install '.[pandas]'" in str(error)
else:
    raise AssertionError("a data frame without pandas")
others = {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names
print(sorted(name for name in others if not name.startswith("_")))
"""


def test_only_numpy_is_needed():
    run = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n" + WITHOUT_EXTRAS],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    needed = {"labcat", "numpy"}
    loaded = {"scipy", "pandas", "tqdm", "matplotlib"}  # the names that were blocked
    assert set(eval(run.stdout.splitlines()[-1])) - loaded <= needed | {"cython_runtime"}


LAZY = """
import sys
import labcat

heavy = ("scipy", "pandas", "matplotlib", "tqdm", "optuna", "asyncio", "concurrent.futures.process")
print(sorted(name for name in heavy if name in sys.modules))
labcat.Optimizer([(0, 1)], rng=1).ask()
print(sorted(name for name in heavy if name in sys.modules))
import scipy.optimize
assert issubclass(labcat.OptimizeResult, scipy.optimize.OptimizeResult)
assert isinstance(labcat.minimize(lambda x: x[0], [(0, 1)], budget=2), scipy.optimize.OptimizeResult)
assert "plots" in dir(labcat) and labcat.plots.path.__doc__
try:
    labcat.nothing
except AttributeError as error:
    print(error)
"""


def test_importing_labcat_imports_nothing_large():
    """With scipy the import took five times as long as without."""
    run = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["[]", "[]", "module 'labcat' has no attribute 'nothing'"]


def test_a_package_that_is_missing_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.delitem(sys.modules, "labcat.integrations.optuna", raising=False)
    monkeypatch.delitem(vars(labcat.integrations), "optuna", raising=False)
    with pytest.raises(
        labcat.LabcatError, match=r"pip install optuna, or .*'\.\[optuna\]' in a clone"
    ):
        labcat.integrations.optuna
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        labcat.integrations.nothing


@pytest.mark.parametrize("use", ["import labcat.bench", "run_module('labcat.bench', run_name='__main__')"])
def test_without_the_benchmark_its_command_says_how_to_install_it(use):
    program = f"import sys; from runpy import run_module; sys.modules['labcat_bench'] = None; {use}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.strip().endswith("pip install labcat-bench (in a clone: pip install ./bench)")
    assert ("Traceback" in ended.stderr) == use.startswith("import")


def test_the_distribution_has_a_name_that_is_free():
    """`labcat` on the package index is another project; nothing may tell users to install it."""
    root = Path(__file__).parents[2]
    assert '\nname = "labcat-opt"' in (root / "pyproject.toml").read_text()
    files = [
        root / "README.md",
        root / "pyproject.toml",
        root / "docs" / "guide.md",
        *root.glob("examples/*"),
    ]
    files += [*root.glob("python/labcat/**/*.py"), *root.glob("bench/**/*.py"), root / "bench" / "pyproject.toml"]
    for file in files:
        if file.is_file() and file.suffix in (".md", ".py", ".toml"):
            assert not re.search(r"labcat\[|install [\"']?labcat\b(?!-)", file.read_text()), file
