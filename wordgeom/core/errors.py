"""The errors that reach a user: one line that names the place, the problem and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from typing import Self

from wordgeom.core.interruption import CONTINUE, REPEAT, TRY_AGAIN, stopped


class WordgeomError(Exception):
    """An error of one line, composed as `where: what, found …; do`."""

    exit_code = 1

    def __init__(
        self,
        what: str,
        *,
        where: str | PathLike[str] = "",
        found: object = "",
        do: str = "",
    ) -> None:
        self.what, self.where, self.found, self.do = what, fspath(where), str(found), do
        line = f"{self.where}: {what}" if self.where else what
        if self.found:
            line += f", found {self.found}"
        if do:
            line += f"; {do}"
        # A path or a word may contain a line break.
        super().__init__(" ".join(line.splitlines()))

    def reword(self, how: Callable[[str], str]) -> None:
        """Replace the text of each part but the place."""
        do = how(self.do)
        WordgeomError.__init__(self, how(self.what), where=self.where, found=how(self.found), do=do)

    def within(self, place: str) -> Self:
        """Return the same error at `place`, such as a table of a configuration file."""
        if self.where.startswith(place):
            return self
        where = f"{place}: {self.where}" if self.where else place
        return type(self)(self.what, where=where, found=self.found, do=self.do)


class OptionError(WordgeomError, ValueError):
    """An option is unknown, out of range, or contradicts another."""

    exit_code = 2


class MissingInputError(WordgeomError, FileNotFoundError):
    """An input does not exist or is of the wrong kind."""

    __str__ = Exception.__str__


class InputError(WordgeomError, ValueError):
    """An input was read but cannot be used."""


class FormatError(WordgeomError, ValueError):
    """A file violates its format: truncated, edited, inconsistent or of an unknown version."""


class StaleError(WordgeomError, ValueError):
    """An input has changed since a file was made from it."""


class OutputExistsError(WordgeomError, FileExistsError):
    """The output exists and has different content."""

    __str__ = Exception.__str__


class StaleOutputError(OutputExistsError):
    """The output exists, undamaged, and was made by another request: `what` says how it differs."""


class LockedError(WordgeomError, BlockingIOError):
    """Another process is writing the same output."""

    __str__ = Exception.__str__


class RankError(WordgeomError, ValueError):
    """The requested dimension exceeds the rank of the data."""


class UnavailableError(WordgeomError, ImportError):
    """An optional dependency or device (Torch, a GPU) is not available."""

    __str__ = Exception.__str__


class WriteError(WordgeomError, OSError):
    """An output could not be written; no partial output is left."""

    __str__ = Exception.__str__


class SchedulerError(WordgeomError, ConnectionError):
    """A scheduler cannot be reached, or its workers cannot compute blocks of this run."""

    __str__ = Exception.__str__


class LostSchedulerError(SchedulerError):
    """The connection to a scheduler was lost during a run, which can be resumed."""

    exit_code = TRY_AGAIN


class StoppedError(KeyboardInterrupt):
    """An interrupted run that can be resumed; saved: from a checkpoint; output: it writes some."""

    exit_code = TRY_AGAIN

    def __init__(self, saved: bool, output: bool = True) -> None:
        super().__init__(stopped(CONTINUE if saved else REPEAT, output))

    def reword(self, how: Callable[[str], str]) -> None:
        """Replace the text."""
        self.args = (how(str(self)),)
