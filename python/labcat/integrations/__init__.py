"""labcat inside other packages; each module needs the package it is named after.

>>> import labcat
>>> sampler = labcat.integrations.optuna.LabcatSampler(seed=1)
"""

from typing import TYPE_CHECKING

from .._errors import missing

if TYPE_CHECKING:
    from . import optuna, sklearn

__all__ = ["optuna", "sklearn"]

_PACKAGES = {"sklearn": "scikit-learn"}
"""What is installed under another name than it is imported."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'labcat.integrations' has no attribute {name!r}")
    import importlib

    try:
        return importlib.import_module(f"labcat.integrations.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != name:
            raise
        raise missing(f"labcat.integrations.{name}", _PACKAGES.get(name, name), name) from error
