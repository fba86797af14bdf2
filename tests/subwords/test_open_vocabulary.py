"""Words without a vector in other Unicode forms: their letters in parts, invisible characters."""

from __future__ import annotations

import shutil
import unicodedata

import numpy as np
import pytest
from matrices import random_counts, store_matrix

import wordgeom as wg
from wordgeom.vectors.keyed import write_vectors

WORDS = ["étage", "étages", "élève", "élèves", "pré", "prés", "préfet"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("how", [{}, {"unit": "grapheme"}, {"buckets": 997}])
def test_an_unseen_word_has_one_vector_in_every_form_of_its_letters(tmp_path, form, how):
    words = [unicodedata.normalize(form, word) for word in WORDS]
    draw = np.random.default_rng(1).standard_normal((len(words), 5)).astype(np.float32)
    write_vectors(tmp_path / "v.bin", words, draw)
    model = wg.add_subwords(tmp_path / "v.bin", min_words=1, **how)
    assert model.subwords is not None
    unseen = unicodedata.normalize(form, "préfète")
    expected = model.subwords.vectors_of([unseen])[0]
    assert expected.any()
    np.testing.assert_array_equal(model[unseen], expected)
    forms = [unicodedata.normalize(name, unseen) for name in ("NFC", "NFD")]
    for other in (*forms, "pré\u00adfète"):
        np.testing.assert_array_equal(model[other], expected)
    for word, own in zip(WORDS, model.vectors, strict=True):  # typed in the other form
        np.testing.assert_array_equal(model[word], own)


@pytest.mark.parametrize("how", [{}, {"buckets": 997}])
@pytest.mark.parametrize("capital", [False, True])
def test_a_word_in_capitals_is_cut_in_lower_case_where_no_word_has_one(tmp_path, how, capital):
    words = [*WORDS[:-1], "Préfet" if capital else "préfet"]
    write_vectors(tmp_path / "v.bin", words, np.eye(len(words), dtype=np.float32))
    model = wg.add_subwords(tmp_path / "v.bin", min_words=1, **how)
    assert model.subwords is not None
    cut = "PRÉSAGE" if capital or how else "présage"  # fastText cuts words as they are spelt
    expected = model.subwords.vectors_of([cut])[0]
    if expected.any():
        np.testing.assert_array_equal(model["PRÉSAGE"], expected)
    else:
        with pytest.raises(KeyError):
            model["PRÉSAGE"]


@pytest.mark.parametrize("by", ["subwords", "train"])
def test_ngrams_that_are_missing_are_named(tmp_path, ask, by):
    out = tmp_path / "better.bin"
    if by == "train":
        store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(1), 60))
        wg.train(tmp_path / "cooc", "gbu", dim=5, subwords="3-4", min_words=2, out=out)
    else:
        write_vectors(tmp_path / "v.bin", WORDS, np.eye(len(WORDS), dtype=np.float32))
        wg.add_subwords(tmp_path / "v.bin", min_words=1, out=out)
    (tmp_path / "w.bin").write_bytes(out.read_bytes())  # other vectors know nothing of n-grams
    shutil.rmtree(tmp_path / "better.subwords")
    said = ask("similar", str(out), "nobody").err
    assert f"restore {tmp_path / 'better.subwords'}, the n-grams that these vectors" in said
    assert "restore" not in ask("similar", str(tmp_path / "w.bin"), "nobody").err
