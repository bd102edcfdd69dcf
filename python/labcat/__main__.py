"""The command line, `labcat` or `python -m labcat`: the same as the binary of that name."""

from __future__ import annotations

import signal
import sys

from ._labcat import main as _main


def main() -> int:
    """Runs the command line with the arguments of this process; its exit status."""
    # Ctrl-C is for the command line as it is for the binary, not for Python, which would wait until it returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _main(["labcat", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
