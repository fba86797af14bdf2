"""Options, declared once: frozen dataclasses whose fields carry help, range and choices.

Command-line flags, TOML keys, keyword arguments, run cards and the tables in the documentation are
derived from these classes.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import listed

_KEY = "wordgeom"
_LISTED = 30
_LONGEST = 60  # characters of a wrong value in a message
_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "int": ("an integer", (int,)),
    "float": ("a number", (int, float)),
    "bool": ("true or false", (bool,)),
    "str": ("text", (str,)),
}
KIND_NAMES = {name: words for name, (words, _) in _KINDS.items()}


@dataclass(frozen=True)
class Spec:
    """The help and the accepted values of an option."""

    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    metavar: str = ""
    result: bool = True
    words: tuple[str, ...] = ()


def option(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    metavar: str = "",
    result: bool = True,
    words: tuple[str, ...] = (),
) -> Any:
    """Declare an option: its default, one line of help, an inclusive range, or its choices.

    result: False for an option that cannot change the content of the output (threads, memory);
    words: that a number may be replaced by (`int | str`).
    """
    spec = Spec(help, low, high, choices, metavar, result, words)
    return dataclasses.field(default=default, metadata={_KEY: spec})


@dataclass(frozen=True)
class Options:
    """Base of every option class; the constructor checks the values.

    given: names of the options that the user gave, as far as `asked` made the instance.
    """

    given: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        for field, spec in specs(type(self)):
            value = _scalar(getattr(self, field.name))
            if value not in spec.words:
                _check(field, spec, value)
            object.__setattr__(self, field.name, value)

    def result_options(self) -> dict[str, Any]:
        """Return the options that determine the content of the output, by name."""
        pairs = ((f.name, s) for f, s in specs(type(self)))
        return {name: getattr(self, name) for name, spec in pairs if spec.result}

    @classmethod
    def take(cls, values: Mapping[str, Any]) -> Self:
        """Return an instance made from the `values` that this class declares."""
        names = {f.name for f, _ in specs(cls)}
        return cls(**{k: v for k, v in values.items() if k in names})

    @classmethod
    def asked(cls, values: Mapping[str, Any], others: Mapping[str, Any] | None = None) -> Self:
        """Return what `take` returns, for `values` that a user gave, some at their defaults.

        others: values of options that the user did not give.
        """
        names = {f.name for f, _ in specs(cls)}
        made = cls.__new__(cls)
        object.__setattr__(made, "given", frozenset(names & values.keys()))
        every = {**(others or {}), **values}
        made.__init__(**{n: v for n, v in every.items() if n in names})  # type: ignore[misc]
        return made

    def but(self, **changes: Any) -> Self:
        """Return a copy with other values, in which the same options count as given."""
        made = dataclasses.replace(self, **changes)
        object.__setattr__(made, "given", self.given)
        return made

    def is_set(self, name: str) -> bool:
        """Return whether an option was given, or has another value than its default."""
        return name in self.given or getattr(self, name) != getattr(type(self), name)

    def exclude_others(self, published: Mapping[str, Any]) -> None:
        """Raise OptionError if an option that --as-published fixes was given another value."""
        for name, value in published.items():
            if self.is_set(name) and getattr(self, name) != value:
                given = f"{flag(name)} {getattr(self, name)}"
                raise OptionError(f"--as-published excludes {given}", do="pass one of the two")


def options_of(function: str, given: Mapping[str, Any], *classes: type[Options]) -> list[Any]:
    """Return option classes from the keywords of a public function; raises OptionError."""
    names = [field.name for cls in classes for field, _ in specs(cls)]
    check_known(given, names, f"wordgeom.{function}", "keyword")
    return [cls.asked(plain(given)) for cls in classes]


def plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return keywords as the command line gives them: paths as strings, and no NumPy scalars."""
    return {k: os.fspath(v) if isinstance(v, os.PathLike) else _scalar(v)
            for k, v in given.items()}  # fmt: skip


def specs(cls: type[Options]) -> list[tuple[dataclasses.Field[Any], Spec]]:
    """Return each declared field of `cls` with its specification, in order of declaration."""
    fields = dataclasses.fields(cls)
    return [(f, cast(Spec, f.metadata[_KEY])) for f in fields if _KEY in f.metadata]


def kind(field: dataclasses.Field[Any]) -> str:
    """Return the type of a field, apart from None and words: int, float, bool or str."""
    name = field.type.__name__ if isinstance(field.type, type) else str(field.type)
    return name.removesuffix(" | None").removesuffix(" | str")


def flag(name: str) -> str:
    """Return the flag of an option: `min_count` → `--min-count`."""
    return "--" + name.replace("_", "-")


def off_flag(name: str) -> str:
    """Return the flag that turns off an option that is on by default: `--no-weighted`."""
    return "--no-" + name.replace("_", "-")


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return advice for an unknown word: the most similar known word, or a list of the first."""
    names = sorted(known)
    swapped = [name for name in names if sorted(name) == sorted(word)]  # dmi for dim
    close = swapped or difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    more = ", …" if len(names) > _LISTED else ""
    listed = f"choose one of {', '.join(names[:_LISTED])}{more}"
    return f"did you mean {close[0]}?" if close else listed


def check_known(values: Iterable[str], known: Iterable[str], where: str, noun: str = "key") -> None:
    """Raise OptionError for the first of `values` that is not `known`, suggesting another."""
    names = list(known)
    for name in values:
        if name not in names:
            raise OptionError(f"unknown {noun} {name!r}", where=where, do=suggestion(name, names))


def _scalar(value: Any) -> Any:
    """Return a scalar of NumPy, such as an element of `np.arange(3)`, as one of Python."""
    return value.item() if getattr(value, "shape", None) == () else value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{type(value).__name__} {text[:_LONGEST]}…"


def _check(field: dataclasses.Field[Any], spec: Spec, value: Any) -> None:
    name = flag(field.name)
    if value is None and field.default is None:
        return
    if spec.choices and value not in spec.choices:
        choices = listed(spec.choices, "or")
        raise OptionError(f"{name} must be {choices}", found=_shown(value))
    wanted, types = _KINDS[kind(field)]
    wanted = listed([wanted, *spec.words], "or")
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        do = f'write it in quotes: "{value}"' if wanted == "text" and type(value) is int else ""
        if spec.metavar == "FILE" and not do:
            do = "pass the name of a file"
        raise OptionError(f"{name} must be {wanted}", found=_shown(value), do=do)
    if isinstance(value, str):
        if not value:
            raise OptionError(f"{name} must not be empty")
        if "\0" in value:  # which no file name contains
            raise OptionError(f"{name} must be text", found=_shown(value))
        return
    low = spec.low if spec.low is not None else float("-inf")
    high = spec.high if spec.high is not None else float("inf")
    if not low <= cast(float, value) <= high:  # also rejects nan
        raise OptionError(f"{name} must be {range_text(spec)}", found=value)


def range_text(spec: Spec) -> str:
    """Return the accepted range of an option, in words."""
    low = "" if spec.low is None else _number(spec.low)
    if spec.high is None:
        return f"at least {low}" if low else "a number"
    high = _number(spec.high)
    return f"between {low} and {high}" if low else f"at most {high}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"
