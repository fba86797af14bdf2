"""What every test shares: hypothesis's profiles, a context, Torch or the reason for its absence."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType

import pytest
from asking import Answer, Ask
from hypothesis import settings

from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions

# The same examples on every run, so that a failure in CI is a failure here; no deadline, because
# the first example waits for the compiler. `--hypothesis-profile=thorough` looks further.
settings.register_profile("default", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("default")

_NO_TORCH = "Torch is not installed: pip install 'wordgeom[gpu]', or run scripts/test"


def pytest_configure() -> None:
    """Let Ctrl-C through: a shell starts what it puts in the background without it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `torch` where Torch is missing, before any fixture runs."""
    if find_spec("torch") is not None:
        return
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(pytest.mark.skip(reason=_NO_TORCH))


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """Torch itself; a test that asks for it is skipped where it is missing."""
    return pytest.importorskip("torch", reason=_NO_TORCH)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command line in this process."""
    from wordgeom.cli import main

    def run(*args: str) -> Answer:
        capsys.readouterr()
        status = main(args)
        return Answer(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def using() -> Iterator[Context]:
    """A context with two threads."""
    with open_context(RunOptions(threads=2)) as opened:
        yield opened
