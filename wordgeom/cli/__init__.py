"""The command line: each command parses its options, runs one stage and prints the outcome."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import click

from wordgeom.cli.lazy import LazyGroup
from wordgeom.cli.usage import usage
from wordgeom.core.errors import StoppedError, WordgeomError
from wordgeom.core.interruption import interrupted
from wordgeom.core.version import __version__
from wordgeom.runtime.pool import THREAD_NAME
from wordgeom.runtime.signals import handled_by, stop_handlers

_COMPLETION = "_WORDGEOM_COMPLETE"  # set by a shell that completes a command line
_SAME_STOP = 1.0  # seconds within which a second signal is taken for the first one
COMMANDS = {
    "build-cooc": "Count the co-occurrences of words in a text.",
    "build-dtm": "Count the words of each document of a text.",
    "build-pmi": "Weight counts by pointwise mutual information.",
    "train": "Train word vectors on counts.",
    "extend": "Infer vectors for out-of-vocabulary words.",
    "impute": "Infer vectors for entities in a table from those of known ones.",
    "embed": "Give each text a vector, from those of its words.",
    "transform": "Centre, rotate, align or fit vectors, and keep their words.",
    "subwords": "Add the vectors of n-grams to those of words.",
    "compress": "Reduce and quantise vectors, and measure the loss.",
    "similar": "List the nearest neighbours of words.",
    "analogy": "Answer an analogy: A is to B as C is to what?",
    "eval": "Evaluate vectors on test sets.",
    "compare": "Compare methods, gensim's models and vectors files on the same sets.",
    "drift": "Rank words by how much they changed over time, and test the change.",
    "plot": "Plot maps of words, spectra, imputed entities and change over time.",
    "convert": "Convert vectors and matrices to and from other formats.",
    "merge": "Add up, subtract or unite counts; append documents.",
    "info": "Describe a matrix, a model or a vectors file.",
    "run": "Run the stages of a configuration file.",
    "plan": "Predict the memory, disk and time of a run.",
    "jobs": "Print or submit the jobs that run a configuration file on a cluster.",
    "rerun": "Repeat a run from its run card, and compare the outputs.",
}
_HELP = """Word vectors by geometry: count the words of a text, then factorise the counts.

\b
  wordgeom build-cooc corpus.txt       count co-occurrences into cooc/
  wordgeom train --method gbu          train vectors.bin on cooc/
  wordgeom similar vectors.bin king    list the nearest neighbours of "king"
"""


@click.group(
    cls=LazyGroup,
    members=COMMANDS,
    prefix="wordgeom.cli.",
    noun="command",
    heading="Commands (details: wordgeom COMMAND --help)",
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="wordgeom")
def group() -> None:
    """Hold the commands."""


def main(args: Sequence[str] | None = None, *, program: bool = False) -> int:
    """Run a command line; returns the exit status, after one line on standard error if it failed.

    program: ignore signals afterwards, as Python ends: they come too late to stop anything.

    0: success; 1: error in the input or the environment; 2: usage error; 75: interrupted, and
    `--resume` continues; 130: interrupted, and the command has no `--resume`.
    """
    arguments = list(sys.argv[1:] if args is None else args) or ["--help"]
    with _log(), _stoppable(program) as stop:
        try:
            with stop:
                return _status(arguments, stop)
        except KeyboardInterrupt:
            return _interrupted(arguments)
        except Exception:
            # An interrupted compiler can fail in its own way.
            if not stop.asked:
                raise
            return _interrupted(arguments)


def _status(arguments: list[str], stop: _Stop) -> int:
    try:
        return _answer(arguments, stop)
    except click.UsageError as error:
        return _fail(usage(error, arguments, list(COMMANDS)), 2)
    except WordgeomError as error:
        return _fail(str(error), error.exit_code)
    except StoppedError as stopped:
        return _fail(str(stopped), stopped.exit_code, kind="")
    except MemoryError:
        return _fail("out of memory; lower --memory, --max-vocab or --dim", 1)
    except BrokenPipeError:
        _leave_output()
        return 1
    except OSError as error:  # of which no layer below knows more
        return _fail(_explained(error), 1)


def _explained(error: OSError) -> str:
    if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        _leave_output()
        do = "free space, or redirect it elsewhere"
        return f"standard output cannot be written: {error.strerror}; {do}"
    return f"{error.filename or 'the system'}: {error.strerror or error}"


def _interrupted(arguments: Sequence[str]) -> int:
    """Report an interruption before or after the part of a run that can be resumed."""
    return _fail(*interrupted(arguments[0]), kind="")


def run() -> None:
    """Be the program `wordgeom`."""
    status = main(program=True)
    if any(thread.name.startswith(THREAD_NAME) for thread in threading.enumerate()):
        # A thread inside LAPACK cannot be stopped, and Python would wait for it.
        sys.stdout.flush()
        os._exit(status)
    # CPython remembers an interrupted exec(), such as the making of a dataclass, until the next
    # one, and would exit as if killed by SIGINT.
    exec("")
    sys.exit(status)


def _answer(arguments: list[str], stop: _Stop) -> int:
    # Not click's own main(): on Ctrl-C it prints an empty line first.
    if instruction := os.environ.get(_COMPLETION):
        from wordgeom.cli.completion import complete

        return complete(group, _COMPLETION, instruction)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may lack a character
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with group.make_context("wordgeom", [*arguments], obj=stop) as context:
            group.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    return 0


def _fail(message: str, status: int, kind: str = "error: ") -> int:
    click.echo(f"wordgeom: {kind}{' '.join(message.split())}", err=True)
    return status


def _leave_output() -> None:
    """Drop output whose reader has exited, as in `| head`; Python would flush it at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def _log() -> Iterator[None]:
    """Log messages of the package to standard error while the block runs."""
    log, handler = logging.getLogger("wordgeom"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("wordgeom: %(message)s"))
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


@contextlib.contextmanager
def _stoppable(program: bool) -> Iterator[_Stop]:
    """Let SIGINT, SIGTERM and SIGHUP stop the block; program: and be ignored after it."""
    stop = _Stop()
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        # Ignored signals stay ignored: nohup, or a background job.
        before = {n: h for n, h in stop_handlers().items() if h not in (None, signal.SIG_IGN)}
    before = dict.fromkeys(before, signal.SIG_IGN) if program else before
    with handled_by(stop, before):
        yield stop


class _Stop:
    """Raises KeyboardInterrupt in its block, but not twice within a second, for cleaning up.

    A terminal, a shell and `timeout` may each send the signal, a moment apart. A signal before the
    block is raised in it. One after it comes too late to stop anything.
    """

    def __init__(self) -> None:
        self._last, self._active = float("-inf"), False

    def __enter__(self) -> None:
        self._active = True
        if self.asked:
            raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        self._active = False

    @property
    def asked(self) -> bool:
        """Whether a signal arrived."""
        return self._last > float("-inf")

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last > _SAME_STOP:
            self._last = now
            if self._active:
                raise KeyboardInterrupt
