# SPDX-License-Identifier: MIT
"""Pictures of a report, drawn by matplotlib, which is imported when something is drawn."""
import importlib
import statistics
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from . import _show
from ._program import TpusightError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .session import Session
    from .table import Table

# Of the page: what the time of a core went to, from the useful to the lost.
_COLORS = {"compute": "#2f6fb3", "below_roofline": "#60546c", "memory_wait": "#7a5cc2", "communication": "#2a9d6f",
           "host_transfer": "#c77d1e", "rematerialization": "#b8508d", "compilation": "#b39b1e", "input": "#d0603a",
           "launch": "#5808d8", "unexplained": "#8a8f98", "idle": "#d3d6db"}
_MOST_BARS = 400  # of a chart of steps; of more the first and the last are told in its title
_MOST_OPS = 200


def _axes(ax: "Optional[Axes]") -> Any:
    if ax is not None:
        return ax
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError as e:
        raise TpusightError(f"a picture needs matplotlib, which is not installed here: {e} (pip install 'tpusight[notebook]', or it "
                            "alone)") from e
    return pyplot.subplots(layout="constrained")[1]


def _need(rows: Any, what: str, why: List[str]) -> None:
    if not rows:
        raise TpusightError(f"there is nothing to draw: {what}" + (f" ({'; '.join(why)})" if why else ""))


def _why(session: "Optional[Session]") -> List[str]:
    return session.why() if session else []


def _words(name: str) -> str:
    return name[:-3].replace("_", " ") if name.endswith("_ps") else name.replace("_", " ")


def _shown(rows: "Table") -> str:
    return f", the first {_MOST_BARS} of {len(rows)}" if len(rows) > _MOST_BARS else ""


def _labels(rows: Any) -> List[str]:
    return [str(row["step"]) if row.get("step") is not None else "" for row in rows]


def _name_steps(ax: Any, rows: Any) -> None:
    """At most a dozen names of steps below the bars."""
    every = max(1, -(-len(rows) // 12))
    ax.set_xticks(range(0, len(rows), every), _labels(rows)[::every])
    ax.set_xlabel("step")
    ax.set_ylim(bottom=0)


def _steps(rows: "Table", session: "Optional[Session]", ax: "Optional[Axes]") -> Any:
    _need(rows, "there are no steps", _why(session))
    ax, some, durations = _axes(ax), rows[:_MOST_BARS], [row["duration_ps"] for row in rows]
    (factor, unit), median = _show.unit_of_time(max(durations[:_MOST_BARS])), statistics.median(durations)
    ax.bar(range(len(some)), [duration / factor for duration in durations[:_MOST_BARS]], color=_COLORS["compute"])
    ax.axhline(median / factor, color="#444", linewidth=1, linestyle="--", label=f"median {_show.cell('_ps', median)}")
    ax.set(ylabel=f"duration of the step ({unit})", title="Steps" + _shown(rows))
    _name_steps(ax, some)
    ax.legend()
    return ax


def _step_classes(rows: "Table", session: "Optional[Session]", ax: "Optional[Axes]") -> Any:
    """Each step's core time, a colour a class; GPU's steps have classes of their own names."""
    _need(rows, "no step has its time split", _why(session))
    ax, some = _axes(ax), rows[:_MOST_BARS]
    taken = {"duration_ps", "total_ps", "start_ps", "host_duration_ps"}
    names = [name for name in rows.columns if name.endswith("_ps") and name not in taken]
    factor, unit = _show.unit_of_time(max(sum(row.get(name) or 0 for name in names) for row in some))
    below = [0.0] * len(some)
    for name in names:
        heights = [(row.get(name) or 0) / factor for row in some]
        if any(heights):
            ax.bar(range(len(some)), heights, bottom=below, label=_words(name), color=_COLORS.get(name[:-3]))
            below = [low + height for low, height in zip(below, heights)]
    ax.set(ylabel=f"core time, all cores together ({unit})", title="What the steps' time went to" + _shown(rows))
    _name_steps(ax, some)
    ax.legend()
    return ax


def _time(session: "Session", ax: "Optional[Axes]") -> Any:
    time = session.answer().get("time") or {}
    total, buckets = time.get("total_ps"), {name: value for name, value in (time.get("buckets") or {}).items() if value}
    _need(total and buckets, "no device time is in the profile", session.why())
    ax = _axes(ax)
    names = list(reversed(buckets))
    bars = ax.barh([_words(name) for name in names], [100 * buckets[name] / total for name in names],
                   color=[_COLORS.get(name[:-3], "#444") for name in names])
    ax.bar_label(bars, [_show.cell("_ps", buckets[name]) for name in names], padding=3)
    ax.set(xlabel="share of the cores' time (%)", xlim=(0, 115), title=f"Where the time went: {_show.cell('_ps', total)} of core time")
    return ax


def _ridge(ax: Any, ridges: Any, least: float, most: float) -> None:
    """The roof: of the device's memory (the first ridge), up to its peak."""
    if not ridges:
        return
    row = ridges[0]
    xs = sorted({least, most, min(max(row["ridge_flops_per_byte"], least), most)})
    ax.plot(xs, [min(row["peak_flops_per_s"], x * row["bytes_per_s"]) / 1e12 for x in xs], color="#444", linewidth=1,
            label=f"{row['device_kind']}, {row['memory']}")


def _roofline(rows: "Table", session: "Optional[Session]", ax: "Optional[Axes]") -> Any:
    wanted = rows.filter(lambda row: row.get("kind", "op") in ("op", None) and row.get("operational_intensity") and row.get("flops_per_s"))
    _need(wanted, "no op has both FLOPs and bytes", _why(session))
    ax, some = _axes(ax), wanted.sort_by("self_time_ps")[:_MOST_OPS]
    whole = sum(row["self_time_ps"] for row in some) or 1
    xs = some["operational_intensity"]
    ax.scatter(xs, [row["flops_per_s"] / 1e12 for row in some], s=[20 + 400 * row["self_time_ps"] / whole for row in some],
               alpha=0.6, color=_COLORS["compute"])
    for row in some[:5]:
        ax.annotate(_show.middle(row["name"] or "", 24), (row["operational_intensity"], row["flops_per_s"] / 1e12), fontsize=8)
    ridges = session.answer().get("roofline_ridges") if session else None
    at = [row["ridge_flops_per_byte"] for row in (ridges or [])[:1] if row["ridge_flops_per_byte"]]
    _ridge(ax, ridges, min([min(xs) / 2, *(x / 10 for x in at)]), max([max(xs) * 2, *(x * 2 for x in at)]))
    ax.set(xscale="log", yscale="log", xlabel="FLOP for a byte", ylabel="TFLOP/s",
           title=f"Roofline: {len(some)} ops, as large as their time")
    if ridges:
        ax.legend()
    return ax


def _memory_rows(session: "Session") -> "Table":
    return session.table_of("memory_timeline.timeline", must=False)


def _memory(rows: "Table", session: "Optional[Session]", ax: "Optional[Axes]") -> Any:
    """What was allocated, over the time of the run, a line a device."""
    notes = (session.answer().get("memory_timeline") or {}).get("notes") if session else None
    _need(rows, "memory over time is not in the profile", notes or _why(session))
    ax, (factor, unit) = _axes(ax), _show.unit_of_bytes(max(row.get("allocated_bytes") or 0 for row in rows))
    for device in dict.fromkeys(row.get("device") for row in rows):
        some = [row for row in rows if row.get("device") == device and row.get("allocated_bytes") is not None]
        ax.step([row["time_ps"] / 1e9 for row in some], [row["allocated_bytes"] / factor for row in some], where="post",
                label=str(device))
    ax.set(xlabel="time since the profile began (ms)", ylabel=f"allocated ({unit})", title="Memory over time")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


_OF_TABLES: Dict[str, Callable[..., Any]] = {"steps": _steps, "time.per_step": _step_classes, "roofline": _roofline,
                                             "memory_timeline.timeline": _memory}
_OF_SESSION: Dict[str, Callable[["Session", Any], Any]] = {
    "time": _time,
    "steps": lambda session, ax: _steps(session.steps, session, ax),
    "step_classes": lambda session, ax: _step_classes(session.table_of("time.per_step", must=False), session, ax),
    "roofline": lambda session, ax: _roofline(session.roofline, session, ax),
    "memory": lambda session, ax: _memory(_memory_rows(session), session, ax),
}
_OF_VIEWS = {"time": "time", "memory": "memory", "memory_timeline": "memory"}


def draw(name: str, rows: "Table", session: "Optional[Session]", ax: "Optional[Axes]") -> Any:
    """What Table.plot() does for the table NAME."""
    if name not in _OF_TABLES:
        raise TpusightError(f"there is no picture of {name or 'this table'} (there is one of {', '.join(_OF_TABLES)}; to_pandas() gives "
                            "a DataFrame, which draws any column)")
    return _OF_TABLES[name](rows, session, ax)


def of_session(what: str, session: "Session", ax: "Optional[Axes]") -> Any:
    """What plot(WHAT) does."""
    if what not in _OF_SESSION:
        raise ValueError(f"{what!r} is not a picture of a report: {', '.join(_OF_SESSION)}")
    return _OF_SESSION[what](session, ax)


def of_view(name: str, session: "Session", ax: "Optional[Axes]") -> Any:
    """What View.plot() does for the view NAME."""
    if name not in _OF_VIEWS:
        raise TpusightError(f"there is no picture of {name} (there is one of {', '.join(_OF_VIEWS)})")
    return of_session(_OF_VIEWS[name], session, ax)
