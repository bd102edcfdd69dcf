"""A PostgreSQL server of the tests' own, reached through a socket in a temporary directory."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _binary(name: str) -> str:
    """A program of the server; Debian keeps them out of the path."""
    found = shutil.which(name) or max(
        map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), default=None
    )
    if found is None:
        raise FileNotFoundError(
            f"{name} of PostgreSQL is not installed: apt-get install postgresql"
        )
    return found


@contextmanager
def server() -> Iterator[str]:
    """Runs a server and gives the URL of an empty database."""
    directory = Path(tempfile.mkdtemp(prefix="labcat-postgres-"))
    identity: dict[str, object] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        nobody = pwd.getpwnam("nobody")
        os.chown(directory, nobody.pw_uid, nobody.pw_gid)
        identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def run(*command: str) -> None:
        done = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, timeout=600, **identity
        )
        if done.returncode != 0:
            log = directory / "log"
            raise RuntimeError(
                f"{command[0]} failed: {done.stderr}{log.read_text() if log.exists() else ''}"
            )

    data = str(directory / "data")
    options = f"-c listen_addresses='' -c unix_socket_directories='{directory}' -c fsync=off"
    try:
        run(
            _binary("initdb"), "-D", data, "-U", "labcat", "--auth=trust", "--no-sync", "-E", "UTF8"
        )
        run(_binary("pg_ctl"), "-D", data, "-l", "log", "-w", "-o", options, "start")
        try:
            yield f"postgresql+pg8000://labcat@/postgres?unix_sock={directory}/.s.PGSQL.5432"
        finally:
            run(_binary("pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(directory)
