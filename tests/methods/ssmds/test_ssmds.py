"""ssmds on stores: optimisers that agree, starts, bad input, resumed runs, one set of bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interruptions import interrupted_after, kill_after
from matrices import random_counts, store_documents, store_matrix

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.vectors.run_card import read_card

V, K = 60, 4
OPTIMISERS = [
    ("inner", "inner", "lbfgs"), ("inner", "inner", "majorise"), ("inner", "inner", "sgd"),
    ("correlation", "inner", "lbfgs"), ("correlation", "inner", "sgd"),
    ("euclidean", "distances", "lbfgs"), ("euclidean", "distances", "majorise"),
    ("euclidean", "distances", "sgd"), ("euclidean", "dissimilarities", "majorise"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Counts, a document-term matrix, dissimilarities and judged pairs."""
    made, rng = tmp_path_factory.mktemp("ssmds"), np.random.default_rng(30)
    store_matrix(made / "cooc", random_counts(rng, V))
    store_documents(made / "dtm", rng.poisson(0.5, (80, V)) * (1 + rng.poisson(1.0, (80, V))))
    points = rng.standard_normal((V, 5)).astype(np.float32)
    apart = np.linalg.norm(points[:, None] - points, axis=2).astype(np.float32)
    store_matrix(made / "apart", apart, kind="pmi")
    vectors = wg.train(made / "cooc", "pmi-eigs", dim=K).vectors
    cosines = [angle(vectors, k, k + 20) for k in range(18)]
    scores = np.round(5.0 + 4.0 * np.array(cosines) + rng.standard_normal(18), 1)
    judged(
        made,
        "pairs.tsv",
        ["# judged by people", *(f"w{k}\tw{k + 20}\t{score}" for k, score in enumerate(scores))],
    )
    against = [f"w{k} w{k + 20} {-cosine}" for k, cosine in enumerate(cosines)]
    judged(made, "against.tsv", against)
    return made


def store_of(data):
    return "apart" if data == "dissimilarities" else "cooc"


def train(folder, store="cooc", pairs="pairs.tsv", **options):
    given: Any = {"dim": K, "pairs": folder / pairs} | options
    return wg.train(folder / store, "ssmds", **given)


def angle(vectors, i, j):
    return vectors[i] @ vectors[j] / np.linalg.norm(vectors[i]) / np.linalg.norm(vectors[j])


def judged(folder, name, lines):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path.name


# ── Results ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("objective", "data", "store"),
    [
        ("inner", "inner", "cooc"), ("inner", "gram", "cooc"), ("inner", "inner", "dtm"),
        ("euclidean", "distances", "dtm"), ("euclidean", "dissimilarities", "apart"),
    ],
)  # fmt: skip
def test_optimisers_end_near_one_objective_and_lbfgs_lowest(folder, objective, data, store):
    ends = {
        name: train(folder, store, objective=objective, data=data, optimiser=name,
                    steps=400, tol=1e-7).statistics["loss"]
        for name in ("lbfgs", "majorise", "sgd")
    }  # fmt: skip
    assert min(ends, key=ends.__getitem__) == "lbfgs"
    assert max(ends.values()) < 1.1 * ends["lbfgs"], ends


def test_pairs_that_weigh_more_are_fitted_better_and_the_data_worse(folder):
    """Table 4.3: the correlation on the supervised pairs rises as λ falls."""
    runs = [train(folder, data_weight=p, tol=1e-8).statistics for p in (1.0, 0.99, 0.5, 0.01)]
    correlations = [run["correlation"] for run in runs]
    assert (np.diff(correlations) > 0.0).all()
    assert correlations[0] < 0.8 < 0.99 < correlations[-1]
    assert (np.diff([run["loss_of_data"] for run in runs]) > 0.0).all()
    assert runs[2]["moved_supervised"] > runs[2]["moved_others"]


def test_cosines_that_collapse_are_noted(folder):
    """Correlation ignores their scale: scores against the data turn them by shrinking them to 0."""
    made = train(folder, pairs="against.tsv", data_weight=0.5)
    assert made.statistics["cosine_spread"] < 1e-3 < made.statistics["cosine_spread_at_start"]
    assert any("cosines of the pairs have a deviation of only" in note for note in made.notes)
    assert not any("deviation" in note for note in train(folder).notes)


def test_without_weight_of_the_pairs_it_is_scaling_of_the_matrix_alone(folder):
    one = train(folder, data_weight=1.0, objective="inner", steps=2000, tol=1e-10)
    other = train(folder, data_weight=1.0, steps=2000, tol=1e-10)
    np.testing.assert_allclose(one.vectors @ one.vectors.T, other.vectors @ other.vectors.T,
                               atol=1e-3)  # fmt: skip


def test_points_are_recovered_from_their_distances(tmp_path):
    rng = np.random.default_rng(31)
    points = rng.standard_normal((30, 2)).astype(np.float32)
    apart = np.linalg.norm(points[:, None] - points, axis=2).astype(np.float32)
    store_matrix(tmp_path / "apart", apart, kind="pmi")
    scores = [f"w{k} w{k + 9} {-apart[k, k + 9]:.6f}" for k in range(20)]  # consistent with them
    judged(tmp_path, "pairs.tsv", scores)
    for optimiser in ("majorise", "lbfgs"):
        found = train(tmp_path, "apart", objective="euclidean", data="dissimilarities", dim=2,
                      optimiser=optimiser, steps=500, tol=0.0).vectors  # fmt: skip
        own = np.linalg.norm(found[:, None] - found, axis=2)
        np.testing.assert_allclose(own, apart, atol=1e-3)


def test_the_thesis_s_weight_is_reported_and_gives_the_same_vectors(folder):
    relative = train(folder, objective="inner", data_weight=0.5)
    weight = relative.statistics["data_weight_of_plain_sums"]
    plain = train(folder, objective="inner", data_weight=weight, plain_sums=True)
    assert plain.vectors.tobytes() == relative.vectors.tobytes()
    assert 0.0 < weight < 0.5


@pytest.mark.parametrize("start", ["build-up", "random"])
def test_every_start_ends_near_one_objective(folder, start):
    runs = [train(folder, objective="inner", start=how, steps=1000, tol=1e-9).statistics["loss"]
            for how in ("eigenpairs", start)]  # fmt: skip
    assert runs[1] == pytest.approx(runs[0], rel=0.1)


def test_vectors_of_a_file_are_refitted_in_their_own_axes(folder, tmp_path):
    matrix = np.random.default_rng(32).standard_normal((50, 7)).astype(np.float32)
    words = [f"w{k}" for k in range(48)] + ["unseen", "other"]
    write_vectors(tmp_path / "own.bin", words, matrix)
    made = train(folder, dim=7, init=tmp_path / "own.bin", steps=1, objective="inner")
    assert made.vectors.shape == (V, 7)
    cosine = np.sum(made.vectors[:48] * matrix[:48], 1) / (
        np.linalg.norm(made.vectors[:48], axis=1) * np.linalg.norm(matrix[:48], axis=1)
    )
    assert cosine.min() > 0.99
    assert any("12 words start at random, absent from init=" in note for note in made.notes)
    assert any("2 words of init= are not in the matrix" in note for note in made.notes)
    implied: Any = {"pairs": folder / "pairs.tsv", "init": tmp_path / "own.bin", "steps": 1}
    assert wg.train(folder / "cooc", "ssmds", **implied).vectors.shape == (V, 7)
    with pytest.raises(
        OptionError, match="dim=4 is not that of init=, 7; omit dim=, or pass dim=7"
    ):
        train(folder, init=tmp_path / "own.bin")
    write_vectors(tmp_path / "alien.bin", ["x", "y"], matrix[:2])
    with pytest.raises(InputError, match="init= has none of the 60 words of the matrix"):
        train(folder, dim=7, init=tmp_path / "alien.bin")
    with pytest.raises(OptionError, match="init= excludes start="):
        train(folder, dim=7, init=tmp_path / "own.bin", start="random")
    for value, say in ((0.0, "zero"), (np.nan, "not finite")):
        write_vectors(tmp_path / "odd.bin", words, np.full((50, 7), value, np.float32))
        with pytest.raises(InputError, match=f"the vectors of init= are {say}"):
            train(folder, dim=7, init=tmp_path / "odd.bin")


def test_a_table_of_dissimilarities_is_imported_and_scaled(ask, tmp_path):
    import scipy.sparse

    rng = np.random.default_rng(35)
    points = rng.standard_normal((12, 2))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    apart[0, 1] = apart[1, 0] = 0.0  # not judged
    scipy.sparse.save_npz(tmp_path / "table.npz", scipy.sparse.csr_array(apart))
    judged(tmp_path, "table.words", [f"w{k}" for k in range(12)])
    answer = ask("convert", str(tmp_path / "table.npz"), str(tmp_path / "apart"), "--kind", "pmi",
                 "--words", str(tmp_path / "table.words"))  # fmt: skip
    assert answer.status == 0, answer.err
    judged(tmp_path, "pairs.tsv", [f"w{k} w{k + 3} {-apart[k, k + 3]:.6f}" for k in range(8)])
    found = train(tmp_path, "apart", objective="euclidean", data="dissimilarities", dim=2,
                  steps=500, tol=0.0).vectors  # fmt: skip
    own = np.linalg.norm(found[:, None] - found, axis=2)
    known = apart > 0.0
    np.testing.assert_allclose(own[known], apart[known], atol=1e-3)
    true = np.linalg.norm(points[0] - points[1])
    assert own[0, 1] == pytest.approx(true, abs=1e-3)


# ── Pairs ────────────────────────────────────────────────────────────────────────────────────


def test_pairs_are_counted_averaged_and_left_out_with_a_note_each(folder):
    """As downloaded: header, CRLF, byte order mark, other case, both orders, a cut last line."""
    lines = ["Word 1,Word 2,Human (mean)", *(f"W{k},w{k + 9},{k}.5" for k in range(8)),
             "w9,W0,3.5", "w1,w10,1.5", "w3,w3,10", "zebra,w2,4",
             "quagga,zebu,1", "w4,"]  # fmt: skip
    path = folder / "downloaded.csv"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    made = train(folder, pairs=path.name)
    facts = made.statistics
    names = ["pairs", "pairs_outside", "pairs_of_one_word", "pairs_repeated", "pairs_contradictory"]
    assert [facts[name] for name in names] == [8, 2, 1, 2, 1]
    for note in (
        "2 pairs with a word that is not in the matrix",
        "1 pair of a word with itself", "1 pair with several scores: averaged",
        "1 incomplete last line left out",
    ):  # fmt: skip
        assert any(note in said for said in made.notes), (note, made.notes)
    clean = ["w0 w9 2.0", *(f"w{k} w{k + 9} {k}.5" for k in range(1, 8))]
    same = train(folder, pairs=judged(folder, "clean.txt", clean))
    assert same.vectors.tobytes() == made.vectors.tobytes()


def test_the_order_of_lines_and_of_words_does_not_matter(folder):
    text = (folder / "pairs.tsv").read_text()
    lines = [line.split("\t") for line in text.splitlines()[1:]]
    turned = [f"{b} {a} {score}" for a, b, score in reversed(lines)]
    one, other = (
        train(folder, steps=3),
        train(folder, pairs=judged(folder, "t.txt", turned), steps=3),
    )
    np.testing.assert_allclose(one.vectors, other.vectors, atol=1e-5)


def test_words_in_another_unicode_form_are_found(tmp_path, ask):
    text = " ".join(f"café{k % 7} naïve{k % 5} жизнь{k % 3}" for k in range(400))
    (tmp_path / "corpus.txt").write_text(text, encoding="utf-8")
    assert ask("build-cooc", str(tmp_path / "corpus.txt"), "-o", str(tmp_path / "cooc"),
               "--min-count", "1").status == 0  # fmt: skip
    lines = ["cafe\u03011 nai\u0308ve2 1", "café2 " + "жизнь1".upper() + " 2",
             "naïve1 жизнь2 5"]  # fmt: skip
    made = train(tmp_path, pairs=judged(tmp_path, "p.txt", lines), dim=3)
    assert made.statistics["pairs"] == 3


@pytest.mark.parametrize(
    ("lines", "say"),
    [
        (
            ["w11 w12 3", "w13 w14 5"],
            "pairs= needs 3 pairs of different words of the matrix, found 2 of 2;",
        ),
        (
            ["w11 w12 3", "w12 w11 4", "w13 w14 5", "w5 w5 5"],
            "found 2 of 4 (left out: pairs of a word with itself: 1);",
        ),
        (
            ["cat dog 3", "cat cow 4", "cat ant 5"],
            "found 0 of 3 (left out: pairs with a word that is not in the matrix: 3);",
        ),
        (["w11 w12 3", "w13 w14 3", "w5 w6 3.0"], "all 3 usable pairs of pairs= have the score 3"),
    ],
)
@pytest.mark.parametrize("objective", ["inner", "correlation"])
def test_pairs_that_teach_nothing_are_explained_in_a_line(folder, lines, say, objective):
    with pytest.raises(InputError) as caught:
        train(folder, pairs=judged(folder, "few.txt", lines), objective=objective)
    assert say in str(caught.value)
    assert "\n" not in str(caught.value)


# ── Options ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("flags", "say"),
    [
        ("--data-weight 1.5", "--data-weight must be between 0 and 1, found 1.5"),
        ("--data-weight -0.1", "--data-weight must be between 0 and 1, found -0.1"),
        ("--objective euclidean", "--objective euclidean needs distances, not inner products, "
         "found --data inner; pass --data distances"),
        ("--objective euclidean --data gram", "needs distances, not inner products"),
        ("--objective euclidean --data dissimilarities", "the matrix holds counts, which are "
         "weighted, not dissimilarities; import those with wordgeom convert --kind pmi"),
        ("--data distances", "--objective correlation needs inner products, found --data dist"),
        ("--optimiser majorise", "--optimiser majorise has no step for --objective correlation"),
        ("--start build-up --data gram", "--start build-up needs --data inner, found --data gram"),
        ("--rate 0.1", "--rate has no effect with --optimiser lbfgs"),
        ("--weight raw", "is a co-occurrence matrix, on which --weight has no effect"),
        ("--dim 61", "--dim 61 exceeds the number of words, 60"),
        ("--pairs nowhere.txt", "nowhere.txt"),
        ("--optimiser sgd --rate 50", "--rate 50 diverges: at step "),
    ],
)  # fmt: skip
def test_bad_options_are_explained_in_a_line(folder, ask, tmp_path, flags, say):
    given = ["--pairs", str(folder / "pairs.tsv")] if "--pairs" not in flags else []
    given += ["--dim", "4"] if "--dim" not in flags else []
    answer = ask("train", str(folder / "cooc"), "--method", "ssmds", "-o", str(tmp_path / "o.bin"),
                 *given, *flags.split())  # fmt: skip
    assert answer.status != 0
    assert say in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not (tmp_path / "o.bin").exists()


def test_weights_of_a_matrix_that_is_not_read_are_rejected(folder, ask, tmp_path):
    """With --init, the matrix only names the words where λ is 0 and cosines are compared."""
    own = np.random.default_rng(36).standard_normal((V, 7)).astype(np.float32)
    write_vectors(tmp_path / "own.bin", [f"w{k}" for k in range(V)], own)
    line = ["train", str(folder / "cooc"), "--method", "ssmds", "--pairs",
            str(folder / "pairs.tsv"), "--init", str(tmp_path / "own.bin"), "--steps", "5", "-o",
            str(tmp_path / "o.bin")]  # fmt: skip
    alone = ["--data-weight", "0"]
    for words in (["--neg", "2"], ["--cds", "0.5"], ["--weighting", "pmi"], ["--data", "gram"]):
        answer = ask(*line, *alone, *words)
        say = f"{words[0]} has no effect with --init and --data-weight 0; omit {words[0]}\n"
        assert (answer.status, answer.err) == (2, f"wordgeom: error: {say}")
    made = set()
    for words in (alone, ["--neg", "2"], ["--neg", "9"], [*alone, "--objective", "inner"],
                  [*alone, "--objective", "inner", "--neg", "9"]):  # fmt: skip
        answer = ask(*line, *words, "--force")
        assert answer.status == 0, answer.err
        made.add((tmp_path / "o.bin").read_bytes())
    assert len(made) == 5  # the matrix counts in each: λ is not 0, or it has the scale of pairs


def test_a_document_term_matrix_takes_its_own_weights_alone(folder, ask, tmp_path):
    line = ["train", str(folder / "dtm"), "--method", "ssmds", "--pairs",
            str(folder / "pairs.tsv"), "-o", str(tmp_path / "o.bin"), "--steps", "2",
            "--dim", "3"]  # fmt: skip
    assert "on which --neg has no effect; omit --neg" in ask(*line, "--neg", "2").err
    answer = ask(*line, "--objective", "euclidean", "--data", "dissimilarities")
    assert "a document-term matrix has no dissimilarities of words" in answer.err
    answer = ask(*line, "--start", "build-up")
    assert "--start build-up needs a words × words matrix" in answer.err
    assert ask(*line, "--weight", "tf-idf").status == 0
    card = read_card(tmp_path / "o.bin")
    assert card is not None
    assert card["request"]["options"]["weight"] == "tf-idf"
    assert "neg" not in card["request"]["options"]


def test_a_matrix_that_cannot_be_scaled_is_explained(folder, tmp_path):
    one_sided = random_counts(np.random.default_rng(33), V, symmetric=False)
    store_matrix(tmp_path / "left", one_sided, symmetric=False)
    pairs: Any = {"pairs": folder / "pairs.tsv", "dim": 3}
    with pytest.raises(InputError, match="needs a symmetric matrix, not one-sided counts"):
        wg.train(tmp_path / "left", "ssmds", **pairs)
    assert wg.train(tmp_path / "left", "ssmds", data="gram", steps=2, **pairs).vectors.any()
    negative = np.random.default_rng(34).standard_normal((V, V)).astype(np.float32)
    store_matrix(tmp_path / "pmi", np.triu(negative) + np.triu(negative, 1).T, kind="pmi")
    with pytest.raises(InputError, match="negative entries, which are no dissimilarities"):
        wg.train(tmp_path / "pmi", "ssmds", objective="euclidean", data="dissimilarities", **pairs)
    diagonal = np.diag(np.arange(1.0, V + 1)).astype(np.float32)
    store_matrix(tmp_path / "diagonal", diagonal, kind="pmi")
    with pytest.raises(InputError, match="nothing but zeros between words"):
        wg.train(tmp_path / "diagonal", "ssmds", **pairs)
    with pytest.raises(RankError, match="dim=61 exceeds the number of words, 60"):
        train(folder, dim=61)


@pytest.mark.parametrize(("objective", "data", "optimiser"), OPTIMISERS)
def test_what_does_not_fit_in_memory_is_rejected(folder, monkeypatch, objective, data, optimiser):
    from wordgeom.methods.ssmds import problem

    monkeypatch.setattr(problem, "_ROW", 10**8)
    asked: Any = {"objective": objective, "data": data, "optimiser": optimiser}
    with pytest.raises(InputError, match="more than the memory limit"):
        train(folder, store_of(data), memory=0.5, **asked)


@pytest.mark.parametrize(("objective", "data"), [("inner", "inner"), ("euclidean", "distances")])
def test_a_computed_rate_is_safe_and_one_that_is_far_too_high_names_its_step(
    folder, objective, data
):
    asked: Any = {"objective": objective, "data": data, "optimiser": "sgd", "steps": 30}
    for batch in (5, 50, 60):
        made = train(folder, batch_words=batch, **asked).statistics
        assert made["loss"] < made["losses"][0]
    with pytest.raises(OptionError, match=r"rate=1e\+03 diverges: at step \d+ \(epoch \d+\)"):
        train(folder, rate=1e3, **asked)


@pytest.mark.parametrize("optimiser", ["lbfgs", "majorise", "sgd"])
def test_the_loss_curve_begins_at_the_start_and_ends_at_the_result(folder, optimiser):
    made = train(folder, objective="inner", optimiser=optimiser, steps=9, tol=0.0).statistics
    assert made["loss_steps"] == list(range(10))
    assert made["losses"][-1] == pytest.approx(made["loss"])
    assert made["losses"][0] > made["losses"][-1]


def test_a_long_loss_curve_is_sampled_and_drawn(folder, ask, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    line = ["train", str(folder / "cooc"), "--method", "ssmds", "--dim", "4",
            "--pairs", str(folder / "pairs.tsv")]  # fmt: skip
    many = [
        "--tol",
        "0",
        "--optimiser",
        "sgd",
        "--objective",
        "inner",
        "--steps",
        "300",
        "-o",
        "long.bin",
    ]
    assert ask(*line, *many).status == 0
    assert ask(*line, "--tol", "0", "--steps", "9", "-o", "short.bin").status == 0
    card = read_card(tmp_path / "long.bin")
    assert card is not None
    at = card["statistics"]["loss_steps"]
    assert (at[0], at[-1], at) == (0, 300, sorted(set(at)))
    assert len(at) == len(card["statistics"]["losses"]) <= 200
    drawn = ask("plot", "loss", "long.bin", "short.bin")
    assert drawn.out == "loss.png: long.bin (300 steps), short.bin (9 steps)\n", drawn.err
    assert ask(*line, "--propagate", "-o", "p.bin").status == 0
    assert "p.bin: no loss curve in its run card" in ask("plot", "loss", "p.bin").err


def test_a_missed_tolerance_and_slow_majorisation_are_noted(folder):
    made = train(folder, objective="inner", optimiser="majorise", steps=3)
    assert made.status == "reached_budget"
    assert any("in 3 steps, and missed tol=1e-05; raise steps=" in note for note in made.notes)
    assert any("which makes majorisation slow" in note for note in made.notes)
    assert (np.diff(made.statistics["losses"]) <= 0.0).all()


# ── Determinism ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("objective", "data", "optimiser"), OPTIMISERS)
def test_bytes_do_not_depend_on_threads(folder, monkeypatch, objective, data, optimiser):
    from wordgeom.linalg import numpy_ops
    from wordgeom.methods.ssmds import sources

    monkeypatch.setattr(numpy_ops, "_ROWS", 16)  # several blocks
    monkeypatch.setattr(sources, "_MOST_ROWS", 16)
    asked: Any = {"objective": objective, "data": data, "optimiser": optimiser, "steps": 12}
    made = {train(folder, store_of(data), threads=threads, **asked).vectors.tobytes()
            for threads in (1, 2, 4)}  # fmt: skip
    assert len(made) == 1


@pytest.mark.parametrize(("objective", "data", "optimiser"), OPTIMISERS)
def test_a_resumed_run_writes_the_bytes_of_an_uninterrupted_one(
    folder, ask, tmp_path, objective, data, optimiser
):
    line = ["train", str(folder / store_of(data)), "--method", "ssmds", "--dim", "4", "--steps",
            "9", "--tol", "0", "--pairs", str(folder / "pairs.tsv"), "--objective", objective,
            "--data", data, "--optimiser", optimiser, "--checkpoint", "0", "-o"]  # fmt: skip
    assert ask(*line, str(tmp_path / "whole.bin")).status == 0
    part = str(tmp_path / "part.bin")
    with interrupted_after(4):
        assert ask(*line, part).status == 75
    with interrupted_after(3):
        assert ask(*line, part, "--resume").status == 75
    assert ask(*line, part, "--resume").status == 0
    assert Path(part).read_bytes() == (tmp_path / "whole.bin").read_bytes()
    cards = [read_card(tmp_path / name) for name in ("whole.bin", "part.bin")]
    losses = [card["statistics"]["losses"] for card in cards if card]
    assert losses[0] == losses[1]


def test_a_killed_run_resumes_to_the_same_bytes(folder, ask, tmp_path):
    line = ["train", str(folder / "cooc"), "--method", "ssmds", "--dim", "4", "--steps", "6",
            "--tol", "0", "--pairs", str(folder / "pairs.tsv"), "--checkpoint", "0",
            "-o"]  # fmt: skip
    assert ask(*line, str(tmp_path / "whole.bin")).status == 0
    part = str(tmp_path / "part.bin")
    kill_after(3, [*line, part])
    assert ask(*line, part, "--resume").status == 0
    assert Path(part).read_bytes() == (tmp_path / "whole.bin").read_bytes()
    assert read_vectors(part).matrix.shape == (V, 4)
