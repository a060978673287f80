"""Formulas as MathML, which browsers draw themselves: the site needs no script and no network for them."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

FUNCTION = re.compile(r"<mo>&ApplyFunction;</mo>")  # `log p` needs a space
LOG = logging.getLogger(__name__)


def _written(node: Any, *, block: bool) -> str:
    try:
        return FUNCTION.sub(r"\g<0><mspace width='0.17em'/>", tex2mathml(node.astext(), as_block=block))
    except MathError as error:
        LOG.warning("this formula cannot be drawn (%s): %s", error, node.astext(), location=node)
        return f"<code>{node.astext()}</code>"


def _inline(self: Any, node: Any) -> None:
    self.body.append(_written(node, block=False))
    raise nodes.SkipNode


def _block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="math-block">{_written(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Add the way to draw formulas, and choose it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
