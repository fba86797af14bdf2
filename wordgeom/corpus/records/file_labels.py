"""The id and the time of each file: from its name, or from a table of metadata."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import plural
from wordgeom.corpus.inputs.document_index import Documents
from wordgeom.corpus.inputs.readers import STDIN, Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records.metadata import match_notes, match_rows, read_metadata


@dataclass
class FileLabels:
    """The ids and times of files, "" where there is none.

    names: of the files that are read; skipped: those without a time in their name; notes: on what
    was found.
    """

    names: list[str]
    ids: list[str]
    times: list[str]
    skipped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def file_labels(names: Sequence[str], options: CorpusOptions) -> FileLabels:
    """Return the labels that the options ask for. Raises OptionError, InputError."""
    found = FileLabels(list(names), [""] * len(names), [""] * len(names))
    if options.time_from_name is not None:
        _take_times(found, options.time_from_name, skip=options.bad_records == "skip")
    if options.metadata is not None:
        rows = read_metadata(options.metadata, options.id_field, options.time_field)
        matched = match_rows(rows, found.names, options.metadata)
        found.ids = ["" if row is None else row.id for row in matched]
        if options.time_field is not None:
            found.times = ["" if row is None else row.time for row in matched]
        found.notes += match_notes(rows, matched, found.names, options.metadata)
    if options.document == "file":
        short = _short_names(found.names)
        found.ids = [key or name for key, name in zip(found.ids, short, strict=True)]
    return found


def label_sources(sources: Sequence[Source], options: CorpusOptions) -> None:
    """Give the documents of each source the id and the time of its file."""
    found = file_labels([source.name for source in sources], options)
    for source, key, time in zip(sources, found.ids, found.times, strict=True):
        source.documents = Documents(id=key, time=time)


def _take_times(found: FileLabels, pattern: str, *, skip: bool) -> None:
    """Set the times, and drop or reject files whose name has none."""
    try:
        search = re.compile(pattern).search
        groups = re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError) as error:
        what = f"--time-from-name is not a regular expression: {pattern}"
        raise OptionError(what, do=f"correct it: {error}") from None
    if groups != 1:
        do = r"put the time into parentheses, as in '(\d{4})'"
        raise OptionError("--time-from-name needs one group", found=f"{groups} groups", do=do)
    times = {}
    for name in found.names:
        match = search(os.path.basename(name))
        if match is not None and match[1]:
            times[name] = match[1]
        elif skip:
            found.skipped.append(name)
        else:
            do = "correct --time-from-name, or pass --bad-records skip to leave such files out"
            what = f"its name does not match --time-from-name {pattern}"
            raise InputError(what, where=name, do=do)
    if not times:
        what = f"no file has a name that matches --time-from-name {pattern}"
        raise InputError(what, do=f"correct it; the first file is {found.names[0]}")
    found.names, found.times = list(times), list(times.values())
    found.ids = [""] * len(times)
    first, time = next(iter(times.items()))
    distinct = plural(len(set(found.times)), "different time")
    found.notes.append(f"{distinct} in {plural(len(times), 'file name')}; {first} is of {time}")
    if found.skipped:
        number = plural(len(found.skipped), "file")
        found.notes.append(f"skipped {number} without a time; the first: {found.skipped[0]}")


def _short_names(names: Sequence[str]) -> list[str]:
    """Return the names of files below the directory that they share."""
    full = [name if name == STDIN else os.path.abspath(name) for name in names]
    files = [os.path.dirname(name) for name in full if name != STDIN]
    shared = os.path.commonpath(files) if files else ""
    return [name if name == STDIN else os.path.relpath(name, shared) for name in full]
