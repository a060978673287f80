"""The page around what is shown: one file that asks the network for nothing, and runs nothing but its own script.

All that comes from data is text: sections escape it, and what scripts read is JSON without the characters that could
end it. The policy in the page's head lets the browser run the one script and the one style whose hashes it names.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
SCRIPTS = ("inference.js", "numbers.js", "why.js", "cards.js", "page.js")


@functools.cache
def asset(name: str) -> str:
    """Return the text of a file that comes with the report."""
    return (files("fishernet.reports") / "assets" / name).read_text(encoding="utf-8")


GENERATOR = '<meta name="generator" content="fishernet">'  # by which a page is known to be one


def data_block(fields: Mapping[str, Any]) -> str:
    """Return the JSON that the page's script reads; nothing in it can end the block or run."""
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escaped in UNSAFE.items():
        text = text.replace(character, escaped)
    return f'<script type="application/json" id="network">{text}</script>'


def whole_page(title: str, body: str, *, least_width: float = 0.0, small: bool = False) -> str:
    """Return the whole HTML page around a body; the drawing is never narrower than can be read, in pixels."""
    style = (
        f"{asset('page.css')}\n#drawing{{width:max(100%,{least_width * 0.62:.0f}px);max-width:{least_width:.0f}px}}\n"
    )
    script = "\n".join(asset(name) for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    html = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'{GENERATOR}\n<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body{' class=small' if small else ''}>\n{body}\n<script>{script}</script>\n</body>\n</html>\n"
    )
    return html.encode("utf-8", "backslashreplace").decode("utf-8")  # names may hold what is no Unicode


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
