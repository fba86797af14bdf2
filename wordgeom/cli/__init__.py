"""The command line: every command parses, calls one function of the package and prints."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any

import click

from wordgeom import __version__
from wordgeom.errors import InterruptedRunError, WordgeomError

_INTERRUPTED = "interrupted; nothing new was kept, the old output is as it was"
_COMMANDS = {
    "build-cooc": "Count which words occur together in a corpus.",
    "build-pmi": "Weight counts by pointwise mutual information.",
    "train": "Make word vectors from a matrix by a method.",
    "similar": "List the words nearest to a word.",
    "analogy": "Answer a : b = c : ? by vectors.",
    "convert": "Rewrite a vectors file in another format.",
    "merge": "Add up count matrices: shards of one count, or several texts.",
    "info": "Tell what a matrix or vectors file is and how it was made.",
    "run": "Run the stages of a configuration file that are not up to date.",
}


class _Commands(click.Group):
    """A group that imports a command when it is used, so that --help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"wordgeom.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="wordgeom")
def group() -> None:
    """Word vectors by geometry: text to counts to vectors, each step a file.

    \b
    wordgeom build-cooc corpus.txt       counts words that occur together, into cooc/
    wordgeom train --method gbu          makes vectors.bin of cooc/
    wordgeom similar vectors.bin king    lists the words nearest to king
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit status, after one line on standard error if it failed.

    0: done; 1: the input or the machine stopped it; 2: the command line was wrong.
    """
    logging.basicConfig(format="wordgeom: %(message)s", level=logging.INFO, stream=sys.stderr)
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        group.main(
            args=None if args is None else list(args), prog_name="wordgeom", standalone_mode=False
        )
    except click.UsageError as error:
        return _fail(_usage(error), 2)
    except WordgeomError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _fail(_INTERRUPTED, 1)
    except BrokenPipeError:  # the reader of our output has gone, as in `| head`
        sys.stderr.close()
        return 1
    except MemoryError:
        return _fail("out of memory; pass a smaller --memory, --max-vocab or --dim", 1)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _usage(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "wordgeom"
    message = error.format_message().rstrip(".")
    return f"{message}; see {path} --help"


def _fail(message: str, status: int) -> int:
    text = " ".join(message.split())
    click.echo(f"wordgeom: {text}", err=True)
    return status


def _stop(_signal: int, _frame: FrameType | None) -> Any:
    raise InterruptedRunError(_INTERRUPTED)


def run() -> None:
    """Be the program `wordgeom`."""
    sys.exit(main())
