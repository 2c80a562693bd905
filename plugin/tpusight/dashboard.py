# SPDX-License-Identifier: MIT
"""SimpleLiveDashboard: what a LiveProfiler sees, in a notebook's cell or in a terminal."""
import html
import sys
import threading
import time
from typing import Optional

from . import _notebook
from .live import LiveProfiler

_LABELS = {"mxu_utilization_pct": "MXU utilization", "hbm_utilization_pct": "HBM bandwidth",
           "duty_cycle_pct": "duty cycle", "padding_waste_pct": "padding waste",
           "compilation_ms_per_min": "compilation per minute", "step_time_ps": "step time", "sampled_pct": "sampled",
           "health_score": "health"}
_COLORS = {"critical": "#c62828", "warning": "#b26a00"}
_PLAIN = "#1565c0"
_HISTORY = 60


def _text(name, value):
    """A figure with its unit; "-" where it is unknown."""
    if value is None:
        return "-"
    if name.endswith("_pct"):
        return f"{value:.1f} %"
    if name.endswith("_ps"):
        return f"{value / 1e9:.3f} ms"
    return f"{value:.0f} ms" if "_ms" in name else f"{value:.0f}"


class SimpleLiveDashboard:
    """Shows a LiveProfiler's figures and alerts while it runs: in a notebook's cell that updates itself, in a terminal
    as lines that are redrawn, elsewhere as a line for each sample. Figures that are unknown are a dash, or left out."""

    def __init__(self, live_profiler: LiveProfiler) -> None:
        self.profiler = live_profiler
        self._thread: Optional[threading.Thread] = None
        self._ending = threading.Event()
        self._nr_lines = 0
        self._last_sample = None

    def start(self, update_interval: float = 1.0) -> "SimpleLiveDashboard":
        """Begins to show, every UPDATE_INTERVAL seconds. Twice is once."""
        if self._thread:
            return self
        self._ending.clear()
        show = self._cell() if _notebook.in_notebook() else self._print
        self._thread = thread = threading.Thread(target=self._run, args=(show, update_interval), daemon=True)
        thread.start()
        return self

    def stop(self) -> None:
        """Shows what there is once more, and ends."""
        thread, self._thread = self._thread, None
        if thread:
            self._ending.set()
            thread.join()

    def __enter__(self) -> "SimpleLiveDashboard":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, show, interval):
        while not self._ending.wait(interval):
            show()
        show()

    def _cell(self):
        from IPython.display import HTML
        handle = _notebook.show(self._repr_html_())
        return lambda: handle.update(HTML(self._repr_html_()))

    def _print(self):
        if not sys.stdout.isatty():
            self._print_line()
            return
        text = self.text()
        up = f"\x1b[{self._nr_lines}A\x1b[J" if self._nr_lines else ""
        self._nr_lines = text.count("\n") + 1
        print(up + text, flush=True)

    def _print_line(self):
        metrics = self.profiler.metrics
        if metrics.sample == self._last_sample:
            return
        self._last_sample = metrics.sample
        known = "".join(f"  {label} {_text(name, metrics[name])}" for name, label in _LABELS.items()
                        if metrics.get(name) is not None)
        print(f"sample {metrics.sample}{known}  {metrics.active_alerts} active alerts", flush=True)

    def text(self) -> str:
        """The dashboard as lines of text."""
        metrics = self.profiler.metrics
        lines = [f"TPUsight live  sample {metrics.sample}, {metrics.active_alerts} active alerts"]
        lines += [f"  {label:<24}{_text(name, metrics.get(name)):>14}" for name, label in _LABELS.items()]
        if self.profiler.problem:
            lines.append(f"  {_one_line(self.profiler.problem)}")
        lines += [f"  {alert.severity}: {_one_line(alert.message)}" for alert in self.profiler.get_recent_alerts(5)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        metrics = self.profiler.metrics
        cells = "".join(f"<div><div style='font-size:20px'>{_text(name, metrics.get(name))}</div>"
                        f"<div style='opacity:.7'>{label}</div></div>" for name, label in _LABELS.items())
        alerts = "".join(map(_alert, reversed(self.profiler.get_recent_alerts(5)))) or "<div>no alerts</div>"
        problem = f"<div>{html.escape(self.profiler.problem)}</div>" if self.profiler.problem else ""
        return (f"<div style='font-family:sans-serif;font-size:13px'><b>TPUsight live</b> sample {metrics.sample}"
                f"<div style='display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin:12px 0'>{cells}</div>"
                f"{self._spark()}{problem}{alerts}</div>")

    def _spark(self):
        """The history of the matrix units, or of the steps where those are unknown, as a line."""
        history = self.profiler.history[-_HISTORY:]
        for name in ("mxu_utilization_pct", "step_time_ps"):
            values = [metrics.get(name) for metrics in history]
            known = [value for value in values if value is not None]
            if len(known) > 1:
                return (f"<svg width='100%' height='48' viewBox='0 0 {_HISTORY} 48' preserveAspectRatio='none'>"
                        f"{_lines(values, max(known) or 1)}</svg>"
                        f"<div>{_LABELS[name]}, to {_text(name, max(known))}</div>")
        return ""


def _lines(values, top):
    """A polyline for each stretch of known values: nothing is drawn where they are unknown."""
    drawn, stretch = [], []
    for x, value in enumerate([*values, None]):
        if value is not None:
            stretch.append(f"{x},{46 - 44 * value / top:.1f}")
        elif stretch:
            drawn.append(f"<polyline points='{' '.join(stretch)}' fill='none' stroke='{_PLAIN}' "
                         "vector-effect='non-scaling-stroke'/>")
            stretch = []
    return "".join(drawn)


def _alert(alert):
    at = time.strftime("%H:%M:%S", time.localtime(alert.timestamp))
    return (f"<div style='border-left:3px solid {_COLORS.get(alert.severity, _PLAIN)};padding:4px 8px;margin:4px 0'>"
            f"<b>{html.escape(alert.severity)}</b> {html.escape(alert.message)} "
            f"<span style='opacity:.7'>{at}</span></div>")


def _one_line(text):
    return "".join(c if c.isprintable() else " " for c in text)
