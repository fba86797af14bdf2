"""Text classification: a label for each text, learned from the averages of other texts.

Logistic regression (l2, C = 1, L-BFGS) on standardised averages, in stratified folds. Khalife,
Gonçalves and Liberti (2022), Table 6, print the F1 score of a convolutional network: compare
their order, not their height.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.cross_validation import Fit, assign_folds, predict, standardised
from wordgeom.evaluation.duplicates import (
    add_counts,
    count_reasons,
    exclusion_reasons,
    with_exclusions,
)
from wordgeom.evaluation.lines import read_lines, set_name
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.text_vectors import UNKNOWN, averages
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

REPEATED = "repeated texts"
CONTRADICTORY = "texts with more than one label"
ALONE = "texts alone in their class"
_ROUNDS = 1000  # of L-BFGS
_NAMED = 5
_HEADERS = (("label", "class", "category"), ("text", "sentence", "document"))
_DO = "check the order (label, tab, text), language and --case"


def macro_f1(predicted: Array, labels: Array) -> float:
    """Return the mean over classes of F1 = 2 TP / (2 TP + FP + FN), nan without a text.

    Over the classes that are a label or a prediction of one of the texts, as in scikit-learn.
    """
    if not len(labels):
        return np.nan
    size = int(max(predicted.max(), labels.max())) + 1
    right = np.bincount(labels[predicted == labels], minlength=size)
    either = np.bincount(labels, minlength=size) + np.bincount(predicted, minlength=size)
    return float(np.mean(2 * right[either > 0] / either[either > 0]))


def accuracy(predicted: Array, labels: Array) -> float:
    """Return the share of texts (n) whose label was predicted, nan without a text."""
    return float(np.mean(predicted == labels)) if len(labels) else np.nan


MEASURES = (Measure("macro F1", macro_f1), Measure("accuracy", accuracy))


@dataclass(frozen=True)
class LabelledTexts:
    """Texts, each once, and the number of each one's label in `labels`."""

    name: str
    path: str
    texts: tuple[str, ...]
    gold: Int64
    labels: tuple[str, ...]
    excluded: Mapping[str, int]
    options: EvalOptions

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return the number of each text's predicted label (n) int64, and of its own as `gold`.

        Raises InputError where fewer than two labels have two texts with a known word.
        """
        lookup = Lookup(vectors, self.options, restrict=False)
        found = averages(self.texts, lookup, self.options.kmer, context, self.path)
        sizes = np.bincount(self.gold[found.items], minlength=len(self.labels))
        kept = sizes[self.gold[found.items]] > 1
        items, means = found.items[kept], found.means[kept]
        left = {UNKNOWN: len(self.texts) - len(kept), ALONE: len(kept) - len(items)}
        excluded = add_counts(self.excluded, left)
        if np.sum(sizes > 1) < 2:
            what = "needs two labels of at least two texts with a known word"
            seen = with_exclusions(f"{np.sum(sizes > 1)} of {len(self.labels)}", excluded)
            raise InputError(what, where=self.path, found=seen, do=_DO)
        given, notes = self._predict(means, self.gold[items], sizes, context)
        return Answers("classification", self.name, MEASURES, items, given, self.gold[items],
                       len(items) + sum(excluded.values()), excluded, notes=notes)  # fmt: skip

    def _predict(
        self, means: Float64, gold: Int64, sizes: Int64, context: Context
    ) -> tuple[Int64, tuple[str, ...]]:
        """Return each text's predicted label (n) and what must be said about it."""
        notes = _alone([self.labels[k] for k in np.flatnonzero(sizes == 1)])
        folds = min(self.options.folds, int(sizes[sizes > 1].min()))
        if folds < self.options.folds:
            notes.append(f"{folds} folds, not {self.options.folds}: the smallest class has no more")
        fold = assign_folds(gold, folds, np.random.default_rng(context.seed))
        given, remarks = predict(_classifier(means, gold), fold, context)
        if remarks:
            notes.append(f"{len(remarks)} of {folds} folds {remarks[0]}")
        return given, tuple(notes)


def read_texts(path: str | Path, options: EvalOptions) -> LabelledTexts:
    """Read `label TAB … TAB text` lines: the first column the label, the last the text.

    A first line of a header's two words, such as `label TAB text`, is no text. Of the same text
    with the same label the first is kept; with several labels, none. Raises InputError naming a
    line without a tab or without a label.
    """
    lines = read_lines(path)
    pairs = [_pair(line, f"{path} line {number}") for number, line in lines]
    if _is_header(lines[0][1]):
        del pairs[0]
    names, texts = [name for name, _ in pairs], [text for _, text in pairs]
    reasons = exclusion_reasons(texts, names, REPEATED, CONTRADICTORY)
    kept = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
    labels = sorted({name for name, _ in kept})
    number = {name: k for k, name in enumerate(labels)}
    gold = np.array([number[name] for name, _ in kept], np.int64)
    return LabelledTexts(set_name(path), str(path), tuple(text for _, text in kept), gold,
                         tuple(labels), count_reasons(reasons), options)  # fmt: skip


def _is_header(line: str) -> bool:
    fields = [field.strip().lower() for field in line.split("\t")]
    return len(fields) == 2 and all(f in known for f, known in zip(fields, _HEADERS, strict=True))


def _pair(line: str, where: str) -> tuple[str, str]:
    label, tab, rest = line.partition("\t")
    if not tab or not label.strip():
        what = "has no tab" if not tab else "has no label before its tab"
        do = "give a label, a tab and a text a line"
        raise InputError(what, where=where, found=repr(line[:60]), do=do)
    return label.strip(), rest.rpartition("\t")[2].strip()


def _alone(names: list[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"classes of one text, which cannot be learned: {', '.join(names[:_NAMED])}{more}"]


def _classifier(means: Float64, gold: Int64) -> Fit:
    """Return how to fit a fold."""
    from sklearn.linear_model import LogisticRegression

    def fit(learned: Int64, asked: Int64) -> tuple[Array, str]:
        x, y = standardised(means[learned], means[asked])
        model = LogisticRegression(C=1.0, solver="lbfgs", max_iter=_ROUNDS)
        model.fit(x, gold[learned])
        remark = f"did not converge in {_ROUNDS} rounds" if max(model.n_iter_) >= _ROUNDS else ""
        return model.predict(y), remark

    return fit
