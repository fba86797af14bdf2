"""The notebooks in docs/notebooks run, twice in a row and anywhere, and hold no output."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import wordgeom

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

ROOT = Path(wordgeom.__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
_SECONDS = 60
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels import this package, and keep their files in the test's directory."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


def client(notebook: Any, folder: Path, **settings: Any) -> Any:
    resources = {"metadata": {"path": str(folder)}}
    return nbclient.NotebookClient(
        notebook, timeout=_SECONDS, kernel_name="python3", resources=resources, **settings
    )


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_output(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert cell.cell_type != "code" or (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_with_each_cell_twice(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    notebook.cells = [copy.deepcopy(cell) for cell in cells for _ in range(2)]
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    client(notebook, folder).execute()
    outputs = [out for cell in notebook.cells for out in cell.outputs]
    assert any(out.output_type == "execute_result" for out in outputs)
    assert not any(out.output_type == "stream" for out in outputs)  # neither warnings nor logs
    assert list(folder.iterdir()) == []


def test_an_interrupted_cell_can_be_repeated_and_progress_is_shown_if_wanted(tmp_path):
    cells = [
        "import itertools, os, signal, threading, wordgeom as wg\n"
        "counts = wg.count([['a', 'b']] * 9, out='cooc')",
        # What the button that interrupts a kernel does.
        "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "wg.count((['c', 'd'] for _ in itertools.count()), out='other')",
        "print(wg.count([['a', 'b']] * 9, out='cooc').summary, os.path.exists('other'))\n"
        "print(wg.count([['c', 'd']] * 9, out='other', force=True).words)",
        "wg.show_progress()\nwg.count([['a', 'b']] * 9).words",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    client(notebook, tmp_path, allow_errors=True).execute()
    (error,) = [out for out in notebook.cells[1].outputs if out.output_type == "error"]
    assert error.ename in ("KeyboardInterrupt", "StoppedError")
    assert "--" not in error.evalue
    again, shown = (
        "".join(out.text for out in cell.outputs if out.output_type == "stream")
        for cell in notebook.cells[2:]
    )
    assert "cooc: up to date False" in again
    assert "['c', 'd']" in again
    assert "reading" not in again
    assert "reading" in shown
