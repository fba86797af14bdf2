"""Every failure that a user can cause or meet, as one line: where, what, found, what to do."""

from __future__ import annotations

from os import PathLike, fspath


class WordgeomError(Exception):
    """A failure explained in one line: `where: what, found …; do`."""

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
        # A path or a word may hold a line end; the promise is one line.
        super().__init__(" ".join(line.splitlines()))


class OptionError(WordgeomError, ValueError):
    """An option is unknown, out of range, or contradicts another."""

    exit_code = 2


class MissingInputError(WordgeomError, FileNotFoundError):
    """An input is not there, or is not of the kind that can be read."""

    __str__ = Exception.__str__


class InputError(WordgeomError, ValueError):
    """An input was read and cannot be used."""


class FormatError(WordgeomError, ValueError):
    """A file breaks its own format: short, edited, lying or of another version."""


class StaleError(WordgeomError, ValueError):
    """A file was made from something that has changed since."""


class OutputExistsError(WordgeomError, FileExistsError):
    """The output is there and holds something else."""

    __str__ = Exception.__str__


class LockedError(WordgeomError, BlockingIOError):
    """Another process is writing the same output."""

    __str__ = Exception.__str__


class RankError(WordgeomError, ValueError):
    """The dimension asked for is more than the data can carry."""


class UnavailableError(WordgeomError, ImportError):
    """An optional part (Torch, a GPU) is asked for and not there."""

    __str__ = Exception.__str__


class WriteError(WordgeomError, OSError):
    """The output could not be written; nothing of it was kept."""

    __str__ = Exception.__str__


class StoppedError(KeyboardInterrupt):
    """An interrupted run that can be resumed."""

    exit_code = 75  # EX_TEMPFAIL of sysexits.h: queues take it for "try again later"

    def __init__(self, saved: bool) -> None:
        what = "continue with --resume" if saved else "no checkpoint was saved yet"
        super().__init__(f"interrupted; {what}; existing output is unchanged")
