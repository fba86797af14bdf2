"""Comparison of skip-gram and fastText with gbu: p of single sets, and programs' options."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import bench_search
from bench_skip_gram import Corpus, FastText, Program, Setting

from wordgeom.vectors.keyed import read_vectors


def test_holm_multiplies_the_smallest_by_their_number_and_keeps_the_order():
    assert bench_search.holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert bench_search.holm([0.5, 0.9]) == [1.0, 1.0]


def test_p_is_small_where_no_resample_has_the_other_sign():
    assert bench_search.two_sided(np.full(999, 0.1)) == pytest.approx(2 / 1000)
    assert bench_search.two_sided(np.array([-1.0, 1.0] * 500)) == 1.0
    assert bench_search.two_sided(np.zeros(10)) == 1.0


def test_a_program_gets_word2vecs_options_and_trains_each_model_once(tmp_path):
    program = tmp_path / "word2vec"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import sys\n"
        "given = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
        "assert given['-window'] == '5' and given['-sample'] == '0.0001'\n"
        "words = open(given['-train']).read().split()\n"
        "with open(given['-output'], 'wb') as out:\n"
        "    out.write(f'{len(set(words))} 2\\n'.encode())\n"
        "    for word in sorted(set(words)):\n"
        "        out.write(word.encode() + b' ' + bytes(8) + b'\\n')\n"
    )
    program.chmod(0o755)
    text = tmp_path / "text"
    text.write_text("one two two\n")
    corpus = Corpus(str(text), tmp_path / "results", tmp_path, Program(program))
    setting = Setting(5, 5, 10, 1e-4)
    path = corpus.vectors(setting, 2, 1)
    assert path is not None
    assert read_vectors(path).words == ["one", "two"]
    assert corpus.seconds(setting, 2, 1) > 0.0
    program.unlink()
    assert corpus.vectors(setting, 2, 1) == path


@pytest.mark.parametrize(("name", "lr"), [("2-4-3-1e-2", None), ("2-4-3-1e-2@0.025", "0.025")])
def test_fasttext_gets_its_own_options_and_leaves_a_model_alone(tmp_path, name, lr):
    program = tmp_path / "fasttext"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import sys\n"
        "assert sys.argv[1] == 'skipgram'\n"
        "given = dict(zip(sys.argv[2::2], sys.argv[3::2]))\n"
        "assert [given[k] for k in ('-ws', '-neg', '-t', '-epoch')] == ['4', '3', '0.01', '2']\n"
        f"assert given.get('-lr') == {lr!r}\n"
        "for suffix in ('.bin', '.vec'):\n"
        "    open(given['-output'] + suffix, 'w').write('made')\n"
    )
    program.chmod(0o755)
    (tmp_path / "text").write_text("a b a\n")
    corpus = Corpus(str(tmp_path / "text"), tmp_path / "models", tmp_path, FastText(program))
    setting = Setting.parse(name)
    assert str(setting) == name.replace("1e-2", "0.01")
    path = corpus.vectors(setting, 2, 1)
    assert path is not None
    assert path.read_text() == "made"
    assert corpus.facts(setting, 2, 1).keys() == {"cpu_seconds", "machine", "peak_gb"}
    assert sorted(one.suffix for one in path.parent.iterdir()) == [".bin", ".json"]
