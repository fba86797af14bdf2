"""Words' vectors at chosen times, written beside a model: `model-1950.bin` beside `model`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core import requests
from wordgeom.core.errors import OptionError
from wordgeom.matrices.times import FORMATS, parse_time
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime import provenance
from wordgeom.runtime.provenance import Clock
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, writable_words


@dataclass(frozen=True)
class AtTimes:
    """What is to be written: name → time and file.

    words (p) as they are written; settings: of the vectors alone; request: of the model.
    """

    times: dict[str, tuple[float, Path]]
    words: list[str]
    settings: dict[str, Any]
    request: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        model: Path,
        words: list[str],
        values: Mapping[str, Any],
        request: Mapping[str, Any],
        space: str | None,
    ) -> AtTimes:
        """Look at the times and the names; raises OptionError, InputError.

        model: the folder; values: `at`, times with commas between them, or None; and `eig`.
        """
        times = {
            text: (value, model.with_name(f"{model.name}-{text}.bin"))
            for text, value in _times(values.get("at"))
        }
        written = words
        for _, path in times.values():
            written = writable_words(path, words, space=space)
        settings = {"eig": values.get("eig", 1.0), "space": None if written == words else space}
        return cls(times, written, settings, request)

    def refuse_others(self, *, force: bool) -> None:
        """Raise OutputExistsError where vectors of another model are in the way, before a fit."""
        for _, path in self.times.values():
            if path.exists() and not force:
                raise requests.different_content(path, "vectors of another model")

    def write(self, model: DynamicModel, *, force: bool) -> tuple[list[str], list[str]]:
        """Write what is not there yet; return a line for each, and what to tell."""
        lines, notes = [], []
        first, last = model.times.min(), model.times.max()
        for text, (time, path) in self.times.items():
            with run_card.writer_lock(path):
                lines.append(self._write(model, text, force))
            if not first <= time <= last:
                beyond = f"outside of the documents' {first:g} to {last:g}: a guess"
                notes.append(f"{path}: {text} lies {beyond}")
        return lines, notes

    def _write(self, model: DynamicModel, text: str, force: bool) -> str:
        clock, (time, path) = Clock(), self.times[text]
        options = {**self.request["options"], "at": text, **self.settings}
        inputs = [{"digest": model.store.digest}]
        request = {"command": "train", "options": options, "inputs": inputs}
        if run_card.up_to_date(path, request, force, "model"):
            return f"{path}: up to date"
        vectors = Vectors(self.words, model.vectors_at(time, self.settings["eig"]))
        run_card.write(path, vectors, provenance.card(request, {"time": time}, clock.seconds()))
        shape = " × ".join(f"{n:,}" for n in vectors.matrix.shape)
        return f"{path}: {shape}; {clock.seconds():.1f} s"


def _times(asked: str | None) -> Iterator[tuple[str, float]]:
    """Yield the times that a list names; raises OptionError."""
    for text in [] if asked is None else asked.split(","):
        time = parse_time(text)
        if time is None:
            raise OptionError("--at must be times", found=repr(text.strip()), do=FORMATS)
        yield text.strip(), time.value
