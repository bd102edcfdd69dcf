"""The benchmark harness, which is a distribution of its own: ``pip install labcat-bench``.

``python -m labcat.bench`` is ``python -m labcat_bench``, and what that package exports is here too.
"""

from __future__ import annotations

import sys

try:
    from labcat_bench import Comparison, compare
except ModuleNotFoundError as error:
    if error.name != "labcat_bench":
        raise
    MISSING = "labcat.bench needs a package of its own: pip install labcat-bench (in a clone: pip install ./bench)"
    if __name__ == "__main__":
        sys.exit(MISSING)
    raise ModuleNotFoundError(MISSING, name="labcat_bench") from None

__all__ = ["Comparison", "compare"]

if __name__ == "__main__":
    from labcat_bench.cli import main

    sys.exit(main())
