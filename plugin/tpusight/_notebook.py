# SPDX-License-Identifier: MIT
"""Notebooks: whether we are in one, and a page of HTML inside of one."""
import html
import sys
from typing import Any


def in_notebook() -> bool:
    """Whether what is displayed is shown in a notebook's cell (Jupyter, Colab, VS Code); IPython in a terminal is
    none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


def frame(page: str, height: int) -> str:
    """HTML that shows PAGE (a str) in a frame HEIGHT pixels high. Its scripts run, but cannot reach the notebook. (In an attribute
    between ' the many " of its JSON stay one character.)"""
    inside = html.escape(page, quote=False).replace("'", "&#39;")
    return (f'<div><iframe sandbox="allow-scripts allow-downloads allow-popups" style="width:100%;border:0" '
            f'height="{int(height)}" srcdoc=\'{inside}\'></iframe></div>')


def show(markup: str) -> Any:
    """Displays HTML in the cell that runs, and gives the handle with which it can be updated."""
    from IPython.display import HTML, display
    return display(HTML(markup), display_id=True)
