"""Steps of `transform`: those of dense algebra, on vectors of more than one block."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.vectors.postprocess import all_but_the_top

N, K = 9000, 6  # three blocks
ZEROS = [3, 5000]


def space(n=N, columns=K, seed=1):
    """Vectors with a mean, falling singular values and two zero rows."""
    draw = np.random.default_rng(seed)
    made = draw.standard_normal((n, columns)) @ np.diag(np.linspace(3, 0.3, columns)) + 0.5
    made = made @ np.linalg.qr(draw.standard_normal((columns, columns)))[0]
    made[[row for row in ZEROS if row < n]] = 0
    return made.astype(np.float32)


def words(n=N):
    """Names of rows."""
    return [f"w{k}" for k in range(n)]


@pytest.fixture
def transformed(tmp_path, monkeypatch, ask):
    """Return the matrix that `transform` with some options makes of a matrix."""
    monkeypatch.chdir(tmp_path)

    def run(matrix, *options, status=0):
        write_vectors("in.bin", words(len(matrix)), matrix)
        done = ask("transform", "in.bin", "-o", "out.bin", "--force", *options)
        assert done.status == status, done.err
        return done.err if status else read_vectors("out.bin").matrix.astype(np.float64)

    return run


def card():
    """The statistics in the run card of the output."""
    return json.loads(Path("out.bin.json").read_text(encoding="utf-8"))["statistics"]


def nonzero(matrix):
    """The rows that are not zero vectors in the input, as float64."""
    return np.delete(matrix, [row for row in ZEROS if row < len(matrix)], 0).astype(np.float64)


def test_normalised_vectors_have_length_1_and_their_direction(transformed):
    x = space()
    made = transformed(x, "--normalise")
    lengths = np.linalg.norm(nonzero(x), axis=1)[:, None]
    np.testing.assert_allclose(nonzero(made), nonzero(x) / lengths, atol=1e-7)


def test_centring_subtracts_the_mean_of_nonzero_vectors_and_leaves_zeros(transformed):
    x = space()
    made = transformed(x, "--center")
    np.testing.assert_allclose(nonzero(made), nonzero(x) - nonzero(x).mean(axis=0), atol=1e-6)
    assert not made[ZEROS].any()


def test_remove_top_is_all_but_the_top(transformed):
    x = np.delete(space(), ZEROS, 0)
    np.testing.assert_allclose(
        transformed(x, "--remove-top", "2"), all_but_the_top(x, 2), atol=2e-6
    )


def test_steps_have_one_order_whatever_the_order_of_options(transformed):
    x = space()
    made = transformed(x, "--center", "--normalise")
    unit = nonzero(x) / np.linalg.norm(nonzero(x), axis=1)[:, None]
    np.testing.assert_allclose(nonzero(made), unit - unit.mean(axis=0), atol=1e-6)


def test_the_canonical_form_is_that_of_a_dense_svd_and_of_any_rotation(transformed):
    x = space().astype(np.float64)
    U, s, _ = np.linalg.svd(x, full_matrices=False)
    made = transformed(x.astype(np.float32), "--canonical")
    np.testing.assert_allclose(np.abs(made), np.abs(U * s), atol=1e-4)
    np.testing.assert_allclose(card()["spectrum"], s, rtol=1e-6)
    peaks = np.abs(made).argmax(axis=0)
    assert (made[peaks, range(K)] > 0).all()
    Q, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((K, K)))
    np.testing.assert_allclose(transformed((x @ Q).astype(np.float32), "--canonical"), made,
                               atol=1e-4)  # fmt: skip


def test_dim_keeps_the_leading_singular_directions(transformed):
    x = space()
    whole = transformed(x, "--canonical")
    np.testing.assert_allclose(transformed(x, "--dim", "3"), whole[:, :3], atol=1e-6)
    s = np.linalg.svd(x.astype(np.float64), compute_uv=False)
    assert card()["steps"]["canonical"]["captured"] == pytest.approx(
        (s[:3] ** 2).sum() / (s**2).sum()
    )


@pytest.mark.parametrize("power", [0.0, 0.5, 2.0])
def test_power_raises_the_singular_values(transformed, power):
    x = space()
    U, s, _ = np.linalg.svd(x.astype(np.float64), full_matrices=False)
    made = transformed(x, "--power", str(power))
    np.testing.assert_allclose(
        np.abs(made), np.abs(U * s**power), rtol=1e-3, atol=1e-4 * s[0] ** power
    )


def test_orthonormal_is_q_of_qr_to_float32(transformed):
    x = space()
    Q, R = np.linalg.qr(x.astype(np.float64))
    made = transformed(x, "--orthonormal")
    np.testing.assert_allclose(made, Q * np.sign(np.diag(R)), atol=1e-8)
    np.testing.assert_allclose(made.T @ made, np.eye(K), atol=1e-6)


def test_ill_conditioned_columns_are_orthonormal_too(transformed):
    x = np.delete(space(), ZEROS, 0)
    x[:, 1] = x[:, 0] * (1 + 1e-4 * np.sin(np.arange(len(x))))
    x[:, 2] *= 1e-6
    made = transformed(x, "--orthonormal")
    np.testing.assert_allclose(made.T @ made, np.eye(K), atol=1e-5)


@pytest.mark.parametrize("step", [("--orthonormal",), ("--canonical",), ("--power", "-1")])
def test_columns_beyond_the_rank_are_zero_and_said(transformed, step, ask):
    x = space()
    x[:, 4] = x[:, 1] - x[:, 0]
    x[:, 2] = 0
    made = transformed(x, *step)
    assert np.flatnonzero(made.any(axis=0)).tolist() == [0, 1, 2, 3]
    assert np.isfinite(made).all()
    assert card()["effective_rank"] == 4 if step != ("--orthonormal",) else True
    again = ask("transform", "in.bin", "-o", "o.bin", *step)
    assert "rank 4, less than 6: 2 columns are zero" in again.err


def test_canonical_orthonormal_is_u(transformed):
    x = space()
    U, _, _ = np.linalg.svd(x.astype(np.float64), full_matrices=False)
    made = transformed(x, "--canonical", "--orthonormal")
    np.testing.assert_allclose(np.abs(made), np.abs(U), atol=1e-6)


def test_bytes_do_not_depend_on_threads(transformed):
    x = space()
    for steps in ("--normalise", "--remove-top", "1", "--power", "0.5"), ("--orthonormal",):
        made = []
        for threads in "1", "3":
            transformed(x, *steps, "--threads", threads)
            made.append(Path("out.bin").read_bytes())
        assert made[0] == made[1]


@pytest.mark.parametrize(
    ("matrix", "options", "say"),
    [
        (np.zeros((5, 3)), ("--canonical",), "all vectors are zero"),
        (np.ones((1, 3)), ("--center",), "all vectors are equal"),
        (np.ones((4, 3)), ("--remove-top", "1"), "--remove-top 1 leaves nothing of the 0 dimen"),
        (space(50), ("--remove-top", "6"), "--remove-top 6 leaves nothing of the 6 dimen"),
        (space(50, 1), ("--remove-top", "1"), "leaves nothing of the 1 dimension of the centred"),
        (1e9 * space(50), ("--power", "9"), "exceed the range of float32"),
        (np.array([[1.0, np.nan], [1, 2]]), ("--center",), "contains NaN or infinity"),
    ],
)  # fmt: skip
def test_spaces_that_leave_nothing_are_errors(transformed, matrix, options, say):
    line = transformed(matrix.astype(np.float32), *options, status=1)
    assert line.count("\n") == 1
    assert say in line
    assert not Path("out.bin").exists()


@pytest.mark.parametrize(
    ("options", "say"),
    [
        ((), "transform needs a step"),
        (("--power", "best"), "--power best needs word pairs"),
        (("--power", "much"), "--power must be best or a number between -10 and 10"),
        (("--power", "nan"), "--power must be"),
        (("--power", "2", "--orthonormal"), "--power has no effect with --orthonormal"),
        (("--center", "--penalty", "1"), "--penalty has no effect without --fit"),
        (("--center", "--power-pairs", "p.txt"), "--power-pairs needs --power best"),
        (("--dim", "7"), "--dim 7 exceeds the number of columns, 6"),
        (("--dim", "0"), "--dim must be at least 1"),
    ],
)
def test_options_that_contradict_are_errors(transformed, options, say):
    Path("p.txt").write_text("w1 w2 3\n", encoding="utf-8")
    line = transformed(space(50), *options, status=2)
    assert line.count("\n") == 1
    assert say in line


def test_a_single_word_has_a_canonical_form(transformed):
    x = np.array([[3.0, -4.0]], np.float32)
    np.testing.assert_allclose(transformed(x, "--canonical"), [[5, 0]], atol=1e-6)


def test_output_is_up_to_date_never_its_input_and_kept_by_other_requests(
    tmp_path, monkeypatch, ask
):
    monkeypatch.chdir(tmp_path)
    write_vectors("in.txt", words(20), space(20))
    assert ask("transform", "in.txt", "-o", "out.vec", "--center").status == 0
    assert ask("transform", "in.txt", "-o", "out.vec", "--center").out == "out.vec: up to date\n"
    other = ask("transform", "in.txt", "-o", "out.vec", "--normalise")
    assert (other.status, "--force" in other.err) == (1, True)
    own = ask("transform", "in.txt", "-o", "in.txt", "--center", "--force")
    assert (own.status, "is an input" in own.err) == (2, True)


def test_advice_names_only_options_that_exist(tmp_path, monkeypatch, ask):
    monkeypatch.chdir(tmp_path)
    Path("spaced.txt").write_text("2 2\nnew\u3000york 1 2\nthe 2 1\n", encoding="utf-8")
    done = ask("transform", "spaced.txt", "-o", "out.bin", "--canonical")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "contains white space; replace it with --space _ of wordgeom train or conv" in done.err
    assert not Path("out.bin").exists()


def test_a_header_with_another_dimension_is_named(tmp_path, monkeypatch, ask):
    monkeypatch.chdir(tmp_path)
    write_vectors("in.bin", words(20), space(20))
    content = Path("in.bin").read_bytes()
    Path("in.bin").write_bytes(content.replace(b"20 6\n", b"16 7\n", 1))
    done = ask("transform", "in.bin", "-o", "out.bin", "--canonical")
    assert done.status == 1
    assert "first line" in done.err


def test_repeated_words_and_other_formats_are_read(tmp_path, monkeypatch, ask):
    monkeypatch.chdir(tmp_path)
    x = space(20)
    write_vectors("in.txt", words(20), x)
    lines = Path("in.txt").read_text(encoding="utf-8").splitlines()
    lines = ["21 6", *lines[1:4], "w1 9 9 9 9 9 9", *lines[4:]]
    Path("in.txt").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    done = ask("transform", "in.txt", "-o", "out.bin", "--canonical")
    assert done.status == 0, done.err
    assert "1 repeated word ignored" in done.err
    assert ask("convert", "out.bin", "out.npy").status == 0
    write_vectors("clean.bin", words(20), x)
    assert ask("transform", "clean.bin", "-o", "clean.out.bin", "--canonical").status == 0
    np.testing.assert_array_equal(
        read_vectors("out.bin").matrix, read_vectors("clean.out.bin").matrix
    )
    assert ask("transform", "out.npy", "-o", "again.bin", "--canonical").status == 0
    np.testing.assert_allclose(
        read_vectors("again.bin").matrix, read_vectors("out.bin").matrix, atol=1e-5
    )
