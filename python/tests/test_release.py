"""`scripts/check-release`: it must see what is wrong, not only pass what is right."""

from __future__ import annotations

import shutil
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ("Cargo.toml", "Cargo.lock", "CHANGELOG.md", "CITATION.cff", "bench/pyproject.toml", "crates/labcat/tests/core/fixtures.rs")


@pytest.fixture
def release(tmp_path):
    """The script, looking at a copy of the files that name the version."""
    loader = SourceFileLoader("check_release", str(ROOT / "scripts" / "check-release"))
    module = module_from_spec(spec_from_loader("check_release", loader))
    loader.exec_module(module)
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    module.ROOT = tmp_path
    return module


def test_the_versions_agree(release):
    assert release.disagreements(None) == []


@pytest.mark.parametrize("name", FILES)
def test_another_version_anywhere_is_found(release, tmp_path, name):
    version = release.toml("Cargo.toml")["workspace"]["package"]["version"]
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert version in text
    (tmp_path / name).write_text(text.replace(version, "9.9.9"), encoding="utf-8")
    assert release.disagreements(None) != []


def test_the_tag_is_the_version_and_the_date_that_of_the_changelog(release, tmp_path):
    assert release.disagreements("v0.0.1")[0].startswith("the tag: v0.0.1, not v")
    citation = tmp_path / "CITATION.cff"
    citation.write_text(citation.read_text(encoding="utf-8").replace("date-released: \"2", "date-released: \"1"), encoding="utf-8")
    assert any("date-released" in problem for problem in release.disagreements(None))


@pytest.mark.parametrize("expression, allowed", [
    ("MIT", True),
    ("GPL-3.0", False),
    ("GPL-3.0 OR MIT", True),
    ("GPL-3.0/MIT", True),
    ("GPL-3.0 AND MIT", False),
    ("(MIT OR Apache-2.0) AND Zlib", True),
    ("(GPL-3.0 OR LGPL-3.0) AND MIT", False),
    ("MIT OR GPL-3.0 AND Zlib", True),
    ("none", False),
])
def test_licences_are_read_as_expressions(release, expression, allowed):
    assert release.is_allowed(expression, {"MIT", "Apache-2.0", "Zlib"}) is allowed
