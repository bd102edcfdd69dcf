"""Pages of the reference that are made by asking the programs themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import labcat

ROOT = Path(__file__).parents[2]


SECTIONS = {
    "Run an optimisation": ["minimize", "maximize", "least_squares", "aminimize", "amaximize", "scipy_method", "OptimizeResult", "LeastSquaresResult"],
    "Ask and tell": ["Optimizer", "Trial", "Outcome"],
    "Parameters": ["Space", "Real", "Integer", "Categorical", "Boolean", "Fixed"],
    "Evaluations and models": ["History", "Evaluation", "Recommendation", "Prediction", "TrustRegion", "Restart"],
    "Pictures": ["plots"],
    "Other packages": ["integrations.optuna.LabcatSampler", "integrations.optuna.recommended_trial", "integrations.sklearn.LabcatSearchCV"],
    "Options": ["Switch"],
}


def python() -> str:
    """Every public name, by its docstring; a name that no section has is an error's or stands at the end."""
    placed = {name.split(".")[0] for names in SECTIONS.values() for name in names}
    rest = [name for name in labcat.__all__ if name not in placed and not name.isupper() and not name.startswith("_")]
    lines = ["# Python", "", "The reference of the package `labcat`, made from its docstrings. The [guide](../guide.md) shows it in use."]
    for title, names in {**SECTIONS, "Errors": rest}.items():
        lines += ["", f"## {title}"]
        for name in names:
            lines += ["", f"::: labcat.{name}", *(["    options: {show_root_heading: false}"] if name == "plots" else [])]
    return "\n".join(lines) + "\n"


def short(value: str) -> str:
    """A value as people write it: 1e-10 for 0.0000000001."""
    try:
        return f"{float(value):g}" if len(value) > 7 else value
    except ValueError:
        return value


def options() -> str:
    """The table of options, by the part of the algorithm."""
    lines = [
        *("---", "hide: [toc]", "---", ""),
        "# Options",
        "",
        "These are all options of the algorithm. Most runs need none of them. In Python they are keywords of `minimize`, `maximize`, "
        "`least_squares` and `Optimizer`. In a study they are keys of `[optimizer]`. On the command line they are options of "
        "`labcat minimize`, with dashes for underscores. The page is made from `labcat.SWITCHES`.",
    ]
    lines += ["", '<div class="options" markdown>']
    groups: dict[str, list[str]] = {}
    for name, option in labcat.SWITCHES.items():
        allowed = option.allowed.replace("18446744073709551615", "2⁶⁴ − 1")
        cells = [f"`{name}`", option.help, allowed, f"`{short(option.default)}`", f"`{short(option.paper)}`"]
        groups.setdefault(option.group, []).append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    for group, rows in groups.items():
        title = group[:1].upper() + group[1:]
        lines += ["", f"## {title}", "", "| option | effect | values | `default` | `paper` |", "|---|---|---|---|---|", *rows]
    lines += ["", "</div>"]
    return "\n".join(lines) + "\n"


def command_line() -> str:
    """The help of the program and of each of its commands."""
    main = printed("--help")
    lines = ["# The command line", "", "The help of `labcat` and of each of its commands. [The manual](../cli.md) explains how everything works."]
    lines += ["", "```text", main.rstrip(), "```"]
    listed = main.split("Commands:")[1].split("\n\n")[0]
    for command in re.findall(r"^  ([a-z][a-z-]*)", listed, re.MULTILINE):
        if command != "help":
            lines += ["", f"## `labcat {command}`", "", "```text", printed(command, "--help").rstrip(), "```"]
    return "\n".join(lines) + "\n"


def printed(*arguments: str) -> str:
    narrow = {**os.environ, "COLUMNS": "80"}  # what a page shows without scrolling
    return subprocess.run([sys.executable, "-m", "labcat", *arguments], capture_output=True, text=True, check=True, env=narrow).stdout


def study_files() -> str:
    """The manual's tables of keys, on a page of their own."""
    manual = (ROOT / "docs" / "cli.md").read_text()
    section = re.search(r"^## The study file\n(.*?)(?=^## )", manual, re.MULTILINE | re.DOTALL)
    text = section[1].replace("\n### ", "\n## ").replace("](#", "](../cli.md#").replace("](../examples", "](../../examples")
    return f"# Study files\n{text}"


PAGES = {
    "reference/python.md": python,
    "reference/options.md": options,
    "reference/command-line.md": command_line,
    "reference/study-files.md": study_files,
}
