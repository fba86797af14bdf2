"""The stage that runs a method on its inputs and writes what it makes."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wordgeom import methods
from wordgeom.core.errors import OptionError, RankError
from wordgeom.core.options import Options, flag
from wordgeom.core.requests import request_of
from wordgeom.linalg.device import memory_limit
from wordgeom.linalg.options import DeviceOptions
from wordgeom.methods.contract import MODEL, Result
from wordgeom.methods.dimension import DimOptions
from wordgeom.methods.inputs import open_inputs
from wordgeom.methods.inputs.kind import OpenInput
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.artefacts import output_of
from wordgeom.stages.artefacts.output import MethodOutput, Target
from wordgeom.stages.artefacts.vectors import DOCUMENTS, VectorsOutput, outcome_of
from wordgeom.stages.stage import Job, Outcome, Stage
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.subwords.options import wants_subwords
from wordgeom.subwords.stored import model_path
from wordgeom.vectors.keyed import Vectors


@dataclass(frozen=True)
class Train(Stage):
    """Run a method.

    values: its options, the paths of its inputs and the settings of its output, by name; out: where
    to write, None for nowhere.
    """

    name: str
    values: Mapping[str, Any]
    out: Path | None
    run: RunOptions
    resume: ResumeOptions = field(default_factory=ResumeOptions)

    @cached_property
    def method(self) -> ModuleType:
        """The method. Raises OptionError for an unknown name."""
        return methods.load(self.name)

    @cached_property
    def options(self) -> Options:
        """Its options. Raises OptionError."""
        options: Options = self.method.Options.asked(self.values)
        return options

    @property
    def device(self) -> str:
        """Where its linear algebra runs."""
        return DeviceOptions.take(self.values).device

    @cached_property
    def inputs(self) -> dict[str, OpenInput]:
        """Its inputs, open. Raises MissingInputError, InputError, OptionError."""
        defaults = methods.preferred(self.method, self.options)
        return open_inputs(self.method, self.name, self.values, defaults)

    @property
    def first(self) -> OpenInput:
        """The input whose rows are those of the output."""
        return self.inputs[self.method.NEEDS[0]]

    @cached_property
    def made(self) -> MethodOutput | None:
        """What it writes, None for nothing. Raises OptionError, MissingInputError."""
        kind = output_of(self.method)
        if DOCUMENTS in self.values and DOCUMENTS not in kind.settings:
            raise OptionError(f"{self.name} makes no document vectors", do="omit --documents")
        if self.out is not None:
            target = Target(self.out, self.name, self.method, self.options, self.first, self.values)
            return kind(target)
        if self.method.MAKES == (MODEL,):
            do = f"name a directory: {flag('out')}"
            raise OptionError(f"{self.name} makes a model, which needs an output", do=do)
        if self.values.get(DOCUMENTS) is not None:
            do = "name a file for the words too"
            raise OptionError("document vectors are written beside those of words", do=do)
        return None

    @property
    def output(self) -> Path | None:
        """The vectors file or the directory of the model."""
        return None if self.made is None else self.made.path

    @property
    def output_paths(self) -> Sequence[Path]:
        """The output, and the vectors that a model exports."""
        return (*super().output_paths, *(self.made.exported if self.made else ()))

    @property
    def input_paths(self) -> list[Path]:
        """The files and stores of its inputs."""
        return [one.path for one in self.inputs.values() if one.path is not None]

    @property
    def beside(self) -> tuple[Path, ...]:
        """The file of the documents' vectors, and the subword model."""
        documents = self.values.get(DOCUMENTS)
        files = () if documents is None else (Path(documents),)
        if self.out is None or not wants_subwords(self.options):
            return files
        return (*files, model_path(self.out))

    @property
    def writes_store(self) -> bool:
        """Whether it makes a model."""
        return self.out is not None and output_of(self.method).is_store

    @cached_property
    def request(self) -> dict[str, Any]:
        """The method with its options, and the digests of its inputs."""
        options = {"method": self.name, **self.options.result_options()}
        options |= DeviceOptions.take(self.values).result_options()
        for one in self.inputs.values():
            options |= one.options
        options |= {"seed": self.run.seed, **({} if self.made is None else self.made.options)}
        digests = [one.digest for one in self.inputs.values() if one.digest is not None]
        return request_of("train", options, digests)

    @property
    def demand(self) -> Demand:
        """The output, and the temporary files of the method."""
        if self.made is None:
            return Demand()
        scratch, entries = getattr(self.method, "scratch_bytes", None), self.first.entries
        if scratch is None or not entries:
            return Demand(self.made.space, do="lower --dim")
        needed = scratch(len(self.first.rows), entries, self.options, memory_limit(self.run))
        return Demand(self.made.space, Space(0, needed), "lower --dim")

    def check(self) -> None:
        """Check the options, open the inputs, and check the names of the files to write."""
        if hasattr(self.method, "check"):
            self.method.check(self.options, self.values)
        _ = self.request

    def up_to_date(self) -> Outcome | None:
        """Return the output if it exists as requested."""
        return None if self.made is None else self.made.up_to_date(self.request, self.run)

    def work(self, job: Job) -> Outcome:
        """Run the method, and write what it makes."""
        with contextlib.nullcontext() if self.made is None else self.made.open() as opened:
            self._check_subwords(job.context)
            result = self._fit(job.context)
            notes = [note for one in self.inputs.values() for note in one.notes]
            result.notes = [*notes, *result.notes]
            result = self._with_subwords(result, job.context)
            if self.made is None:
                return outcome_of(result, self.first.rows, None, self.name, job)
            result.notes += self.made.notes
            return self.made.write(opened, result, job, self.request, self.run)

    def _check_subwords(self, context: Context) -> None:
        """Raise before training where --subwords asks for n-grams that cannot be fitted."""
        if wants_subwords(self.options):
            from wordgeom.subwords.improvement import check_ngrams

            columns = self.options.size if isinstance(self.options, DimOptions) else 0
            check_ngrams(self._written_words, columns, self.options, context)

    @property
    def _written_words(self) -> list[str]:
        """The words of the vectors."""
        return self.made.words if isinstance(self.made, VectorsOutput) else self.first.rows

    def _with_subwords(self, result: Result, context: Context) -> Result:
        """Return the vectors with those of their n-grams, if --subwords asks for them."""
        if not wants_subwords(self.options):
            return result
        from wordgeom.subwords.improvement import improve

        found = improve(Vectors(self._written_words, result.vectors), self.options, context)
        return replace(
            result, vectors=found.vectors.matrix, subwords=found.model,
            notes=[*result.notes, *found.notes],
            statistics={**result.statistics, "subwords": found.statistics},
        )  # fmt: skip

    def _fit(self, context: Context) -> Result:
        """Return the result; raises RankError where it is not finite."""
        inputs = {name: one.read(context) for name, one in self.inputs.items()}
        result: Result = self.method.fit(inputs, self.options, context)
        if not all(np.isfinite(made).all() for made in (result.vectors, *result.arrays.values())):
            raise RankError("the vectors are not finite", do="lower --dim, or report this")
        return result
