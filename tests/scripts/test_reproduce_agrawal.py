"""scripts/reproduce/agrawal and scripts/bench mde: problems, optima, stored results, criteria."""

from __future__ import annotations

import argparse
import gzip
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wordgeom
from wordgeom.core.errors import FormatError, OptionError
from wordgeom.linalg.device import open_context
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.run_options import RunOptions

sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts"))
sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"))

import agrawal
import agrawal_images as images
import agrawal_synthetic as synthetic
import mde_problems as problems
import mnist_images
from mde_problems import Case, Rivals, Run


@pytest.fixture
def context():
    with open_context(RunOptions(threads=2, seed=1)) as made:
        yield made


def laplacian(pairs: Pairs, n: int):
    full = np.zeros((n, n))
    full[pairs.left, pairs.right] = full[pairs.right, pairs.left] = pairs.given
    return np.diag(full.sum(axis=1)) - full


def test_random_pairs_are_distinct_and_seeded():
    pairs = problems.random_pairs(50, 400, 3)
    assert len({*zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)}) == 400
    assert np.all(pairs.left < pairs.right)
    again, other = problems.random_pairs(50, 400, 3), problems.random_pairs(50, 400, 4)
    np.testing.assert_array_equal(pairs.right, again.right)
    assert list(pairs.right) != list(other.right)
    one, rest = problems.halves(pairs, 1)
    assert len(one) + len(rest) == 400
    assert 150 < len(one) < 250


@pytest.mark.parametrize("m", [2, 5])
def test_the_optimum_is_that_of_the_eigenvalues(context, m):
    case = problems.quadratic_case(60, 300, m, context)
    values = np.linalg.eigvalsh(laplacian(case.similar, 60))
    expected = values[1 : m + 1].sum() * 60 / 300
    assert problems.least(case, m, context) == pytest.approx(expected, rel=1e-5)
    run = problems.ours(case, context, 40)
    reached = problems.distortion(case, run.vectors, context.pool)
    assert expected * (1 - 1e-6) < reached < 1.05 * expected
    assert run.norms[-1] < run.norms[0]
    assert run.steps == len(run.norms) - 1


def test_the_distortion_is_the_mean_over_both_kinds_of_pairs(context):
    one, other = problems.halves(problems.random_pairs(30, 200, 1), 1)
    case = Case(one, problems.normal(30, 3, 1), other)
    d = [np.linalg.norm(case.start[p.left] - case.start[p.right], axis=1) for p in (one, other)]
    expected = (np.log1p(d[0] ** 1.5).sum() - np.log(-np.expm1(-d[1])).sum()) / 200
    found = problems.distortion(case, case.start, context.pool)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("constraint", ["centered", "anchored", "standardized"])
def test_a_start_meets_its_constraint(context, constraint):
    one, other = problems.halves(problems.random_pairs(40, 200, 1), 1)
    anchors, values = np.arange(4), np.ones((4, 2), np.float32)
    case = Case(one, problems.normal(40, 2, 1) + 1, other, constraint=constraint, anchors=anchors,
                values=values)  # fmt: skip
    start = problems.placed(case, context).start
    if constraint == "anchored":
        np.testing.assert_array_equal(start[anchors], values)
    else:
        np.testing.assert_allclose(start.mean(axis=0), 0, atol=1e-6)
    if constraint == "standardized":
        np.testing.assert_allclose(start.T @ start / 40, np.eye(2), atol=1e-5)


PROGRAM = """
import sys
import numpy as np
job = dict(np.load(sys.argv[3]))
open("called", "a").write("x")
np.savez(sys.argv[4], vectors=job["start"] + 1, seconds=2.5, processor=4.0, norms=job["weights"],
         version="1")
"""


def test_results_of_other_programs_are_stored_by_their_job(context, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} program.py "$@"\n')
    (tmp_path / "python").chmod(0o755)
    rivals = Rivals(str(tmp_path / "python"), tmp_path / "results", 2)
    one, other = problems.halves(problems.random_pairs(20, 60, 1), 1)
    case = Case(one, problems.normal(20, 2, 1), other)

    def run(case: Case, steps: int, rivals: Rivals = rivals) -> Run:
        made = rivals.pymde(case, steps)
        assert made is not None
        return made

    first, second = run(case, 5), run(case, 5)
    assert (first.stored, second.stored, first.seconds) == (False, True, 2.5)
    np.testing.assert_array_equal(second.vectors, case.start + 1)
    assert first.steps == 60  # PyMDE's norms are those before each step
    assert list(first.norms) == [1.0] * len(one) + [-1.0] * len(other)  # dissimilar: negative
    assert not run(case, 6).stored
    assert not run(replace(case, start=case.start + 1), 5).stored
    assert not run(replace(case, attractive="huber"), 5).stored
    assert not run(case, 5, replace(rivals, threads=1)).stored
    assert (tmp_path / "called").read_text() == "x" * 5
    assert Rivals(None, tmp_path, 2).pymde(case, 5) is None


def idx(array, magic):
    head = np.array([magic, *array.shape], ">i4").tobytes()
    return head + array.astype(np.uint8).tobytes()


@pytest.fixture
def files(tmp_path):
    """Twelve images of 3 × 2 pixels, and their digits."""
    pixels = np.arange(72).reshape(12, 3, 2)
    (tmp_path / "images.gz").write_bytes(gzip.compress(idx(pixels, 0x803)))
    (tmp_path / "labels").write_bytes(idx(np.arange(12) % 10, 0x801))
    return tmp_path


def test_images_and_labels_are_read(files):
    read = mnist_images.read(files / "images.gz", files / "labels")
    assert read.pixels.shape == (12, 6)
    assert read.pixels.dtype == np.float32
    assert read.pixels[1, 5] == 11
    assert list(read.digits[9:]) == [9, 0, 1]


def test_files_that_are_not_mnist_are_errors(files):
    with pytest.raises(FormatError, match="labels: is not an idx file"):
        mnist_images.read(files / "labels", files / "labels")
    (files / "short").write_bytes((files / "labels").read_bytes()[:-1])
    with pytest.raises(FormatError, match="short: is not an idx file"):
        mnist_images.read(files / "images.gz", files / "short")
    (files / "few").write_bytes(idx(np.arange(5), 0x801))
    with pytest.raises(FormatError, match="5 labels for 12 images"):
        mnist_images.read(files / "images.gz", files / "few")


def test_neighbours_tell_the_digit_of_separate_groups(context):
    rng = np.random.default_rng(1)
    digits = np.repeat(np.arange(10), 30)
    points = np.column_stack([10.0 * digits, np.zeros(300)]) + rng.random((300, 2))
    assert images.knn(points, digits, context) == 1.0
    assert images.knn(points, rng.permutation(digits), context) < 0.3


def test_components_are_counted():
    pairs = Pairs(np.array([0, 1], np.int32), np.array([1, 2], np.int32), np.ones(2, np.float32))
    assert images.components(pairs, 5) == 3


def test_the_criteria_are_judged():
    told = {images.QUADRATIC_2: 0.5, images.QUADRATIC_3: 0.6, images.REPELLED: 0.7,
            images.CENTRED: 0.9, images.HUBER_ROW: 0.89}  # fmt: skip
    assert [claim.met for claim in images.criteria(told)] == [True, True, None]
    assert images.criteria({**told, images.UMAP: 0.92})[2].met
    assert not images.criteria({**told, images.UMAP: 0.95})[2].met
    assert not images.criteria({**told, images.HUBER_ROW: 0.8})[1].met
    ended = (("centered", 1.0, 1e-6), ("anchored", 1.0, 1e-5), ("standardized", 1.6, 1e-4))
    runs = {
        name: Run(np.empty(0), took, took, np.array([1.0, norm]), 1) for name, took, norm in ended
    }
    assert [claim.met for claim in synthetic.criteria_7_3(runs)] == [False, False]
    runs["standardized"] = Run(np.empty(0), 1.4, 1.4, np.array([1.0, 1e-6]), 1)
    assert [claim.met for claim in synthetic.criteria_7_3(runs)] == [True, True]


def test_examples_that_lack_their_data_are_errors():
    args = argparse.Namespace(examples=None, images=None)
    assert agrawal.wanted(args) == ["7.1", "7.3", "7.4"]
    args.examples = "7.1,8"
    with pytest.raises(OptionError, match="chapter 8 needs --images"):
        agrawal.wanted(args)
    args.examples = "7.2"
    with pytest.raises(OptionError, match="--examples are"):
        agrawal.wanted(args)


def test_the_tables_are_printed(context, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(synthetic, "SIZES", ((60, 300), (60, 301), (70, 400)))
    monkeypatch.setattr(synthetic, "MEDIUM", (60, 300))
    monkeypatch.setattr(synthetic, "SMALL", (60, 300, 3))
    monkeypatch.setattr(synthetic, "MOST", 10)
    monkeypatch.setattr(synthetic, "ROUNDS", 12)
    figures = {(n, m): (1.0, 1.0, 1.0) for n in (60, 70) for m in (2, 10, 100)}
    monkeypatch.setattr(synthetic, "PUBLISHED", figures)
    monkeypatch.setattr(synthetic, "DIMS", (2, 10))
    none = Rivals(None, tmp_path, 2)
    synthetic.table_7_1(True, none, context)
    synthetic.figure_7_3(none, tmp_path, context)
    synthetic.figure_7_4(2, tmp_path, context)
    printed = capsys.readouterr().out
    for part in ("Table 7.1, gap", "| standardized | wordgeom | 10 |", "Figure 7.4, mean"):
        assert part in printed
    assert (tmp_path / "figure-7.3.png").exists()
    assert (tmp_path / "figure-7.4.png").exists()


def test_chapter_8_is_printed(context, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(1)
    digits = np.repeat(np.arange(10), 12)
    pixels = (20 * digits[:, None] + rng.integers(0, 9, (120, 6))).astype(np.float32)
    images.run(mnist_images.Images(pixels, digits), Rivals(None, tmp_path, 2), tmp_path, context)
    printed = capsys.readouterr().out
    assert "120 digits of MNIST" in printed
    assert "| centred, Huber | wordgeom |" in printed
    assert "Chapter 8, UMAP: not tested" in printed
    assert (tmp_path / "chapter-8.png").exists()
