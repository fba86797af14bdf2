"""Text classification from mean word vectors, by cross-validated logistic regression.

L2 penalty with C = 1, L-BFGS, standardised inputs, stratified folds. Khalife, Gonçalves and Liberti
(2022), Table 6, report F1 scores of a convolutional network: compare the order of methods, not the
scores themselves.
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
from wordgeom.evaluation.exclusions import add_counts, count_reasons, exclusions, with_exclusions
from wordgeom.evaluation.lines import SetFile, read_lines
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.text_vectors import UNKNOWN, averages
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

REPEATED = "repeated texts"
CONTRADICTORY = "texts with more than one label"
ALONE = "texts alone in their class"
_MAX_ITERATIONS = 1000  # of L-BFGS
_NAMED = 5  # classes in a note
_HEADERS = (("label", "class", "category"), ("text", "sentence", "document"))
_DO = "check the column order (label, tab, text), the language and --case"


def macro_f1(predicted: Array, labels: Array) -> float:
    """Return the mean over classes of F1 = 2 TP / (2 TP + FP + FN); nan without texts.

    The mean is over classes that occur as a label or a prediction, as in scikit-learn.
    """
    if not len(labels):
        return np.nan
    size = int(max(predicted.max(), labels.max())) + 1
    right = np.bincount(labels[predicted == labels], minlength=size)
    either = np.bincount(labels, minlength=size) + np.bincount(predicted, minlength=size)
    return float(np.mean(2 * right[either > 0] / either[either > 0]))


def accuracy(predicted: Array, labels: Array) -> float:
    """Return the share of correct predictions (n); nan without texts."""
    return float(np.mean(predicted == labels)) if len(labels) else np.nan


MEASURES = (Measure("macro F1", macro_f1), Measure("accuracy", accuracy))


@dataclass(frozen=True)
class LabelledTexts(SetFile):
    """Distinct texts; gold (n): the index of each text's label in `labels`."""

    texts: tuple[str, ...]
    gold: Int64
    labels: tuple[str, ...]
    excluded: Mapping[str, int]

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return each text's predicted label index (n) int64 as `given` and its own as `gold`.

        Raises InputError if fewer than two labels have two texts with in-vocabulary words.
        """
        lookup = Lookup(vectors, self.options, restrict=False)
        known = averages(self.texts, lookup, self.options.kmer, context, self.path)
        sizes = np.bincount(self.gold[known.items], minlength=len(self.labels))
        used = sizes[self.gold[known.items]] > 1
        items, means = known.items[used], known.means[used]
        more = {UNKNOWN: len(self.texts) - len(used), ALONE: len(used) - len(items)}
        excluded = add_counts(self.excluded, more)
        if np.sum(sizes > 1) < 2:
            what = "needs at least two labels with two texts each that have in-vocabulary words"
            found = with_exclusions(f"{np.sum(sizes > 1)} of {len(self.labels)}", excluded)
            raise InputError(what, where=self.path, found=found, do=_DO)
        given, notes = self._predict(means, self.gold[items], sizes, context)
        return Answers("classification", self.name, MEASURES, items, given, self.gold[items],
                       excluded, notes=notes)  # fmt: skip

    def _predict(
        self, means: Float64, gold: Int64, sizes: Int64, context: Context
    ) -> tuple[Int64, tuple[str, ...]]:
        """Return each text's predicted label index (n) and notes."""
        notes = _alone([self.labels[k] for k in np.flatnonzero(sizes == 1)])
        folds = min(self.options.folds, int(sizes[sizes > 1].min()))
        if folds < self.options.folds:
            few = f"the smallest class has {folds} texts"
            notes.append(f"{folds} folds instead of {self.options.folds}: {few}")
        fold = assign_folds(gold, folds, np.random.default_rng(context.seed))
        given, problems = predict(_classifier(means, gold), fold, context)
        if problems:
            notes.append(f"{len(problems)} of {folds} folds {problems[0]}")
        return given, tuple(notes)


def read_texts(path: str | Path, options: EvalOptions) -> LabelledTexts:
    """Read `label TAB … TAB text` lines: the first column is the label, the last the text.

    A header such as `label TAB text` is skipped. Repeats of a text with the same label are left
    out, and so are all lines of a text with several labels. Raises InputError for a line without a
    tab or a label, naming the line.
    """
    lines = read_lines(path)
    pairs = [_pair(line, f"{path} line {number}") for number, line in lines]
    if _is_header(lines[0][1]):
        del pairs[0]
    names, texts = [name for name, _ in pairs], [text for _, text in pairs]
    reasons = exclusions(texts, names, REPEATED, CONTRADICTORY)
    used = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
    labels = sorted({name for name, _ in used})
    number = {name: k for k, name in enumerate(labels)}
    gold = np.array([number[name] for name, _ in used], np.int64)
    return LabelledTexts(str(path), options, tuple(text for _, text in used), gold, tuple(labels),
                         count_reasons(reasons))  # fmt: skip


def _is_header(line: str) -> bool:
    fields = [field.strip().lower() for field in line.split("\t")]
    return len(fields) == 2 and all(f in known for f, known in zip(fields, _HEADERS, strict=True))


def _pair(line: str, where: str) -> tuple[str, str]:
    label, tab, rest = line.partition("\t")
    if not tab or not label.strip():
        what = "no tab in the line" if not tab else "no label before the tab"
        do = "write a label, a tab and a text on each line"
        raise InputError(what, where=where, found=repr(line[:60]), do=do)
    return label.strip(), rest.rpartition("\t")[2].strip()


def _alone(names: list[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"classes with a single text cannot be learned: {', '.join(names[:_NAMED])}{more}"]


def _classifier(means: Float64, gold: Int64) -> Fit:
    """Return the function that fits one fold and predicts its texts."""
    from sklearn.linear_model import LogisticRegression

    def fit(train: Int64, test: Int64) -> tuple[Array, str]:
        x, y = standardised(means[train], means[test])
        model = LogisticRegression(C=1.0, solver="lbfgs", max_iter=_MAX_ITERATIONS)
        model.fit(x, gold[train])
        converged = max(model.n_iter_) < _MAX_ITERATIONS
        problem = "" if converged else f"did not converge in {_MAX_ITERATIONS:,} iterations"
        return model.predict(y), problem

    return fit
