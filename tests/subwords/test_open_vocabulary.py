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
    if form == "NFC":
        for other in (unicodedata.normalize("NFD", unseen), "pré\u00adfète"):
            np.testing.assert_array_equal(model[other], expected)


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
