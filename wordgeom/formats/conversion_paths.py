"""The paths and formats of a conversion of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wordgeom.formats import detection
from wordgeom.formats.projector import FILES
from wordgeom.formats.word_files import companion_path


@dataclass(frozen=True)
class Paths:
    """Paths and formats of a conversion; given: the source's, where its name does not tell it."""

    source: Path
    given: str | None
    target: Path
    form: str
    words: Path | None

    @classmethod
    def of(
        cls, source: Path, given_format: str | None, target: Path, form: str, words: str | None
    ) -> Paths:
        """Return the paths, given the values of --from and --words."""
        return cls(source, given_format, target, form, None if words is None else Path(words))

    @property
    def array(self) -> bool:
        """Whether the source is a NumPy array."""
        return (self.given or detection.format_of(self.source)) in detection.ARRAYS

    @property
    def target_words(self) -> Path:
        """The words file of an array to write; --words names the source's where both are arrays."""
        return self.words if self.words and not self.array else companion_path(self.target)

    def written(self) -> list[Path]:
        """Return the output files, except the words file, which several arrays may share."""
        if self.form == detection.PROJECTOR:
            return [self.target / name for name in FILES]
        return [self.target]
