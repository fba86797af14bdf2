"""Signatures and docstrings show each option of the public functions."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import wordgeom as wg
from wordgeom import methods
from wordgeom.core.options import specs
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.methods.inputs import reading_options
from wordgeom.runtime.run_options import ResumeOptions, RunOptions

FUNCTIONS = [wg.count, wg.count_documents, wg.pmi, wg.train, wg.embed, wg.extend, wg.impute,
             wg.convert, wg.score, wg.measure_drift]  # fmt: skip


def test_a_signature_names_each_option_with_its_default():
    shown = inspect.signature(wg.count).parameters
    for cls in (CorpusOptions, WindowOptions, ResumeOptions, RunOptions):
        for field, _ in specs(cls):
            assert shown[field.name].default == field.default
            assert shown[field.name].kind is inspect.Parameter.KEYWORD_ONLY
    assert "options" not in shown
    assert list(shown)[:3] == ["corpus", "texts", "out"]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_help_describes_each_option_as_a_keyword(function):
    text = inspect.getdoc(function)
    assert text is not None
    own = set(inspect.unwrap(function).__kwdefaults__ or {})
    options = text.partition("Options")[2]
    shown = inspect.signature(function).parameters.values()
    named = [p.name for p in shown if p.kind is p.KEYWORD_ONLY and p.name not in own]
    assert len(named) >= 5
    assert all(f"    {name}=" in options for name in named)
    assert "--" not in options


def test_the_options_of_train_are_those_of_its_methods():
    shown = inspect.signature(wg.train).parameters
    text = inspect.getdoc(wg.train) or ""
    for name in methods.names():
        own = methods.load(name)
        part = text.partition(f"Options of {name}:")[2].partition("Options of ")[0]
        preferred = methods.preferred(own, own.Options())
        for cls in (own.Options, *reading_options(own)):
            for field, _ in specs(cls):
                default = shown[field.name].default
                assert default == field.default or repr(default) == "<depends on the method>"
                assert f"    {field.name}={preferred.get(field.name, field.default)!r}:" in part
    assert repr(shown["eig"].default) == "<depends on the method>"  # it varies


def test_the_options_of_train_model_are_those_of_methods_that_make_models():
    shown = inspect.signature(wg.train_model).parameters
    text = inspect.getdoc(wg.train_model) or ""
    for field, _ in specs(methods.load("dlsa").Options):
        assert f"    {field.name}=" in text
        assert field.name in shown
    assert "anchors" not in shown
    assert "Options of every method" not in text


def test_a_method_that_cannot_be_loaded_does_not_break_the_functions(tmp_path):
    (tmp_path / "broken.py").write_text("raise RuntimeError")
    code = f"import os; os.environ['WORDGEOM_METHODS'] = {str(tmp_path)!r}; import wordgeom; "
    code += "print('Options of gbu' in wordgeom.train.__doc__, 'broken' in wordgeom.train.__doc__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"


def test_errors_are_a_public_module():
    assert wg.errors.OptionError.__mro__[1] is wg.WordgeomError
    assert "errors" in dir(wg)
