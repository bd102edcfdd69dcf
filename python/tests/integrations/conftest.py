"""Fixtures of the integrations' tests."""

from __future__ import annotations

import pytest
from postgres import server


@pytest.fixture(scope="session")
def postgresql():
    """The URL of a PostgreSQL database."""
    with server() as url:
        yield url
