"""A hook of MkDocs: pages that lie outside docs/, and links to what is no page of the site.

Pages are written to be read in the repository as well, so that their links are paths in it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
DOCS = "docs"
# Pages by their path in the repository, and what they are called on the site.
OUTSIDE = {
    "data/README.md": "data.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/."""
    for path, name in OUTSIDE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Point links at pages of the site; keep only the text of those to other files."""
    names = {name: path for path, name in OUTSIDE.items()}
    source = page.file.src_uri
    here = posixpath.dirname(names.get(source, f"{DOCS}/{source}"))

    def link(found: re.Match[str]) -> str:
        mark, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        if ":" in target:
            return found[0]
        path = posixpath.normpath(posixpath.join(here, target))
        name = OUTSIDE.get(path, path.removeprefix(f"{DOCS}/"))
        if files.get_file_from_path(name) is None:
            return found[0] if path.startswith(f"{DOCS}/") else text
        relative = posixpath.relpath(name, posixpath.dirname(source) or ".")
        return f"{mark}[{text}]({relative}{anchor})"

    return _LINK.sub(link, markdown)
