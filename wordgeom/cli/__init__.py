"""The command line: every command parses, calls one function of the package and prints."""

from __future__ import annotations

import contextlib
import difflib
import io
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from types import FrameType

import click

from wordgeom.cli.lazy import LazyGroup
from wordgeom.core.errors import StoppedError, WordgeomError
from wordgeom.core.version import __version__
from wordgeom.runtime.pool import THREAD_NAME

_INTERRUPTED = "interrupted; what was there is as it was"
_COMPLETION = "_WORDGEOM_COMPLETE"  # a shell sets it to ask what a word may become
_SAME_STOP = 1.0  # seconds in which a second signal is the first one once more
COMMANDS = {
    "build-cooc": "Count which words occur together in a text.",
    "build-dtm": "Count the words of each document of a text.",
    "build-pmi": "Weight counts by pointwise mutual information.",
    "train": "Make word vectors from counts, by a method.",
    "extend": "Give new words vectors, from their counts with known ones.",
    "impute": "Give entities of a table vectors, from those that have one.",
    "similar": "List the words most like a word.",
    "analogy": "Answer “A is to B as C is to …?”.",
    "eval": "Judge vectors: similarity, analogies, features, classes, regression.",
    "compare": "Judge methods, gensim's models and vectors files side by side.",
    "drift": "List words by how much they changed over time, and test it.",
    "plot": "Draw pictures of what was made.",
    "convert": "Rewrite vectors or a matrix as another program's file, and back.",
    "merge": "Add up counts: the shards of one text, or several texts.",
    "info": "Tell what a matrix or vectors file holds and how it was made.",
    "run": "Run the steps that a configuration file lists.",
}
_HELP = """Word vectors by geometry: text to counts to vectors, each step a file.

\b
  wordgeom build-cooc corpus.txt       counts words that occur together, into cooc/
  wordgeom train --method gbu          makes vectors.bin of cooc/
  wordgeom similar vectors.bin king    lists the words most like king
"""


@click.group(
    cls=LazyGroup,
    members=COMMANDS,
    prefix="wordgeom.cli.",
    noun="command",
    heading="Commands (wordgeom COMMAND --help tells more)",
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="wordgeom")
def group() -> None:
    """Hold the commands."""


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit status, after one line on standard error if it failed.

    0: done; 1: the input or the machine stopped it; 2: the command line was wrong; 75: interrupted,
    and --resume goes on.
    """
    arguments = list(sys.argv[1:] if args is None else args) or ["--help"]
    with _log(), _stoppable() as stop:
        try:
            return _answer(arguments)
        except click.UsageError as error:
            return _fail(_usage(error, arguments), 2)
        except WordgeomError as error:
            return _fail(str(error), error.exit_code)
        except StoppedError as stopped:
            return _fail(str(stopped), stopped.exit_code)
        except KeyboardInterrupt:
            return _interrupted(arguments)
        except MemoryError:
            return _fail("out of memory; pass a smaller --memory, --max-vocab or --dim", 1)
        except BrokenPipeError:
            _leave_output()
            return 1
        except OSError as error:  # that no layer below could say more of
            return _fail(f"{error.filename or 'the system'}: {error.strerror or error}", 1)
        except Exception:
            # A compiler that is interrupted may fail in its own way.
            if stop is None or not stop.asked:
                raise
            return _interrupted(arguments)


def _interrupted(arguments: Sequence[str]) -> int:
    """Tell of an interruption that came before or after all that can be gone on with."""
    from wordgeom.cli.stages import RESUMABLE

    if arguments[0] not in RESUMABLE:
        return _fail(_INTERRUPTED, 1)
    stopped = StoppedError(saved=False)
    return _fail(str(stopped), stopped.exit_code)


def run() -> None:
    """Be the program `wordgeom`."""
    status = main()
    if any(thread.name.startswith(THREAD_NAME) for thread in threading.enumerate()):
        # A thread inside LAPACK cannot be stopped, and Python would wait for it.
        sys.stdout.flush()
        os._exit(status)
    # CPython remembers an exec() that was interrupted, such as a dataclass being made, until the
    # next one, and would end as if SIGINT had killed it.
    exec("")
    sys.exit(status)


def _answer(arguments: list[str]) -> int:
    # Not click's own main(): on Ctrl-C it prints an empty line before it lets us speak.
    if instruction := os.environ.get(_COMPLETION):
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, "wordgeom", _COMPLETION, instruction)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a word may be one that the terminal lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with group.make_context("wordgeom", [*arguments]) as context:
            group.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    return 0


def _usage(error: click.UsageError, arguments: list[str]) -> str:
    command = arguments[0] if arguments[0] in COMMANDS else ""
    see = f"see {f'wordgeom {command}'.strip()} --help"
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        params = error.ctx.command.get_params(error.ctx)
        known = [name for param in params for name in param.opts if name.startswith("-")]
        close = difflib.get_close_matches(error.option_name, known, n=1, cutoff=0.7)
        advice = f"did you mean {close[0]}?" if close else see
        return f"{command or 'wordgeom'} has no option {error.option_name}; {advice}"
    return f"{error.format_message().rstrip('.')}; {see}"


def _fail(message: str, status: int) -> int:
    click.echo(f"wordgeom: {' '.join(message.split())}", err=True)
    return status


def _leave_output() -> None:
    """Let go of an output whose reader has gone, as in `| head`: Python flushes it at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def _log() -> Iterator[None]:
    """Send the package's messages to standard error while the block runs."""
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
def _stoppable() -> Iterator[_Stop | None]:
    """Make the signals that ask a program to end raise KeyboardInterrupt while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        yield None
        return
    stop = _Stop()
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # One that is ignored stays so: nohup, or a job in the background.
    found = {n: signal.getsignal(n) for n in numbers}
    before = {n: handler for n, handler in found.items() if handler not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, stop)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Stop:
    """Raises KeyboardInterrupt; not again at once, so that what was begun can be removed.

    A terminal, a shell and `timeout` may each send the signal, a moment apart.
    """

    def __init__(self) -> None:
        self._last = float("-inf")

    @property
    def asked(self) -> bool:
        """Whether anybody asked."""
        return self._last > float("-inf")

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last > _SAME_STOP:
            self._last = now
            raise KeyboardInterrupt
