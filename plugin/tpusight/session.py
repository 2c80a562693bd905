# SPDX-License-Identifier: MIT
"""A captured profile, and what the program says of it."""
import dis
import html
import os
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Literal, Optional, Sequence, overload

from . import _forms, _notebook, _program
from ._fields import Fields
from ._program import TpusightError
from .table import Findings, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._results import Results as Reported
else:
    Reported = Fields  # what a report has is declared to type checkers: _results.pyi is made by the program

_MORE = ("<p><code>.dashboard()</code> shows the page; <code>.ops</code>, <code>.steps</code>, <code>.findings</code> and "
         "<code>.tables()</code> have the figures.</p>")
_MORE_TEXT = "\nMore: print(report) has everything; .doctor, .time, .ops, .steps ... are its views and tables\n"
_FINDINGS = "doctor.findings"
_SUFFIXES = {".htm": "html", ".txt": "text"}
_FINDING = ("rule", "severity", "title", "evidence", "gain_ps", "gain_pct", "impact_ps", "impact_pct", "advice")  # of one in summary()


def _some(fields: Dict[str, Any], *names: str) -> Dict[str, Any]:
    return {name: fields.get(name) for name in names}


def _pre(text: Callable[[], str]) -> str:
    """HTML of what TEXT() gives. What a notebook displays never raises: it says what is lacking."""
    try:
        said = text()
    except TpusightError as e:
        said = str(e)
    return f"<pre>{html.escape(said)}</pre>"


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _as_table(name: str, value: Any, session: "Session") -> Any:
    """VALUE of a report's, a list of rows as the Table NAME, an object as Part of it; anything else as it is."""
    if type(value) is dict:
        return Part(session, name, value)
    kind = Findings if name == _FINDINGS else Table
    return kind(value, name, session) if _is_table(value) else value


class Summary(Fields):
    """What summary() gives: a dict whose keys are attributes. str() and repr() are text for people."""

    _session: "Session"

    def __init__(self, session: "Session", fields: Dict[str, Any]) -> None:
        super().__init__(fields)
        self.__dict__["_session"] = session

    def __str__(self) -> str:
        titles = [f"  {finding['severity']}: {finding['title']}" for finding in self.findings]
        return self._session.text("overview") + "\n".join(["Findings" if titles else "No findings", *titles])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _pre(self.__str__)


def _is_statement(frame: Any) -> bool:
    """Whether nobody takes what the call that runs in FRAME gives: the next that Python does is to drop it."""
    code, at = frame.f_code.co_code, frame.f_lasti + 2
    while at < len(code) and dis.opname[code[at]] == "CACHE":
        at += 2
    return at < len(code) and dis.opname[code[at]] == "POP_TOP"


def told(summary: Summary, caller: Any) -> Summary:
    """SUMMARY, printed when CALLER, a frame, called for it as a statement; a console or a notebook shows what an
    expression gives by itself."""
    if _is_statement(caller):
        print(summary)
    return summary


class Part(Fields):
    """An object inside a report: its keys are attributes too, and its lists of rows Tables."""

    _session: "Session"
    _name: str

    def __init__(self, session: "Session", name: str, fields: Dict[str, Any]) -> None:
        super().__init__(fields)
        self.__dict__.update(_session=session, _name=name)

    def _attribute(self, name: str, value: Any) -> Any:
        return _as_table(f"{self._name}.{name}", value, self._session)


class View(Part):
    """One view of a report: the object of that name in tpusight/1, whose keys are attributes too: view["arrays"] is the list of JSON,
    view.arrays the Table of it. str() and repr() are the text that `tpusight report --view=NAME` prints."""

    def __str__(self) -> str:
        return self._session.text(self._name)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _pre(self.__str__)

    def analyze(self) -> Dict[str, Any]:
        """The view's fields as a plain dict."""
        return dict(self)

    def plot(self, ax: "Optional[Axes]" = None) -> "Axes":
        """Draws the view with matplotlib, in AX or in a picture of its own: time, memory, memory_timeline."""
        from . import _plot
        return _plot.of_view(self._name, self._session, ax)

    def csv(self, table: Optional[str] = None) -> str:
        """A table of the view's as CSV text, as `tpusight report --format=csv --view=NAME.TABLE` prints it."""
        return self._session.csv(f"{self._name}.{table}" if table else self._name)


class TimeView(View):
    """Where the time of the devices' cores went: buckets that sum to total_ps."""

    def print_breakdown(self) -> None:
        """Prints the breakdown, 60 columns wide, or why there is no breakdown. str() has the whole view."""
        rule, thin = "=" * 60, "-" * 60
        rows = re.match(r"Time breakdown\n(  Total Time: .*\n)((?:  \D+ +\d+\.\d\d \w+ +\d+\.\d%\n)*)"
                        r"((?:  Bottleneck: .*\n(?:    .*\n)*)?)", str(self))
        if rows:
            total, buckets, bottleneck = rows.groups()
            print(f"{rule}\n  TPUsight Time Breakdown\n{rule}\n{total}{thin}\n{buckets}{thin}\n"
                  f"{re.sub(chr(10) + '    ', ' ', bottleneck)}{rule}")
        else:
            print("Time breakdown\n  no device time: " + ("; ".join(self._session.why()) or "no device ran anything"))


class DoctorView(View):
    """Findings, the dearest first: rule, severity, title, evidence, gain_ps, advice, code."""

    def get_recommendations(self) -> Findings:
        """The findings, a list of dicts."""
        return Findings(self["findings"], _FINDINGS, self._session)

    diagnose = View.analyze


class Report(Reported):
    """A whole report, schema tpusight/1: report["ops"] is the list of JSON, report.ops the Table of it. str(), and so print(), is the
    whole text, of every view; repr(), which a console shows, is the first screen."""

    _session: "Session"

    def __init__(self, session: "Session", fields: Dict[str, Any]) -> None:
        super().__init__(fields)
        self.__dict__["_session"] = session

    def _attribute(self, name: str, value: Any) -> Any:
        return _as_table(name, value, self._session)

    def __str__(self) -> str:
        return self._session.whole_text()

    def __repr__(self) -> str:
        screen, _, _ = self._session.text().rpartition("\nMore: ")
        return screen + _MORE_TEXT

    def _repr_html_(self) -> str:
        return _pre(self.__repr__)


class Comparison(Part):
    """What `a - b` gives of two profiles: how A differs from B, an object as `tpusight compare --format json B A` has it under
    "compare": runs (the second is A: verdict, speed_up, p_value ...), ops, notes. str() and repr() are its text."""

    def __init__(self, other: "Session", base: "Session") -> None:
        self.__dict__["_paths"] = (base.path, other.path)
        super().__init__(other, "compare", _program.ask("compare", "--format=json", "--", *self._paths)["compare"])

    def __str__(self) -> str:
        return _program.run("compare", "--color=never", "--", *self._paths)[0].decode("utf-8", "replace")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _pre(self.__str__)


class Results:
    """What can be asked of a captured profile. The eight views are those of the page."""

    def _results(self) -> "Session":
        """The Session that answers."""
        raise NotImplementedError

    def __sub__(self, base: "Results") -> Comparison:
        """How this profile, the newest capture, differs from BASE: after - before."""
        if not isinstance(base, Results):
            return NotImplemented
        return Comparison(self._results(), base._results())

    @overload
    def report(self, format: Literal["json"] = "json") -> Report: ...
    @overload
    def report(self, format: str) -> Any: ...

    def report(self, format: str = "json") -> Any:
        """The whole report: a dict (schema tpusight/1) that prints as text; with format="text" that text."""
        if format == "text":
            return self._results().whole_text()
        if format != "json":
            raise ValueError(f"{format!r} is not a format of report(): json or text (export() writes files)")
        return self._results().answer()

    def summary(self) -> Summary:
        """The figures that matter, by their names in tpusight/1: times in ps, shares in percent, None where unknown;
        `why` says why they are, and `findings` are the doctor's, the dearest first. As a statement of its own it
        prints them for people, and so does print() of what it gives."""
        return told(self._results().brief(), sys._getframe(1))

    get_summary = summary

    @property
    def overview(self) -> View:
        """The run in a few figures."""
        return self._results().view("overview")

    @property
    def systolic(self) -> View:
        """The matrix units: utilization, and the products that lose most of them."""
        return self._results().view("systolic")

    @property
    def padding(self) -> View:
        """Padding of arrays and products to tiles, and sizes that waste less."""
        return self._results().view("padding")

    @property
    def fusion(self) -> View:
        """What the compiler fused, and what it did not, and why."""
        return self._results().view("fusion")

    @property
    def cache(self) -> View:
        """Compilations, hits of the caches, functions that are compiled again and again."""
        return self._results().view("cache")

    @property
    def memory(self) -> View:
        """Traffic of the device's memory, its peak, copies that only change a layout."""
        return self._results().view("memory")

    @property
    def time(self) -> TimeView:
        """Where the time of the devices' cores went."""
        return self._results().view("time")

    time_breakdown = time

    @property
    def scopes(self) -> View:
        """What the program named on the host: evaluation, data loading, ... with their times, and its epochs."""
        return self._results().view("scopes")

    @property
    def doctor(self) -> DoctorView:
        """Findings with their impact, advice and a snippet."""
        return self._results().view("doctor")

    def view(self, name: str) -> Any:
        """Any object of the report by its name: capacity, compile, hta, ..."""
        return self._results().view(name)

    def tables(self) -> List[str]:
        """The names of the report's tables that have rows: ops, time.idle_gaps, ..."""
        return self._results().names_of_tables()

    def table(self, name: str) -> Table:
        """A table of the report by its name, as `tpusight report --view NAME` takes it: table("time.idle_gaps")."""
        return self._results().table_of(name)

    @property
    def ops(self) -> Table:
        """The operations of the compiled modules, or the kernels' operators, by their own time."""
        return self._results().table_of("ops", must=False)

    @property
    def steps(self) -> Table:
        """The steps, in their order."""
        return self._results().table_of("steps", must=False)

    @property
    def modules(self) -> Table:
        """The compiled modules."""
        return self._results().table_of("modules", must=False)

    @property
    def kernels(self) -> Table:
        """The kernels of GPUs; no rows where there is no GPU."""
        return self._results().table_of("kernels", must=False)

    @property
    def collectives(self) -> Table:
        """What devices sent to each other."""
        return self._results().table_of("collectives", must=False)

    @property
    def roofline(self) -> Table:
        """Ops, modules and steps against the device's peaks."""
        return self._results().table_of("roofline", must=False)

    @property
    def devices(self) -> Table:
        """The devices of the run, with their peaks."""
        return self._results().table_of("run.devices", must=False)

    @property
    def findings(self) -> Findings:
        """The doctor's findings, the dearest first."""
        return self._results().table_of(_FINDINGS, must=False)

    def plot(self, what: str = "time", ax: "Optional[Axes]" = None) -> "Axes":
        """Draws with matplotlib, in AX or in a picture of its own: "time" (where the cores' time went), "steps", "step_classes" (the
        same, step by step), "roofline" or "memory". Gives the Axes."""
        from . import _plot
        return _plot.of_session(what, self._results(), ax)

    def export(self, path: Any, format: Optional[str] = None, view: Optional[str] = None) -> Any:
        """Writes the report to PATH: html (the page, one file), json, csv (one table: VIEW, or the ops), text or xlsx
        (a spreadsheet with a sheet for each table, of VIEW or of all).
        Without FORMAT the name's end decides."""
        return self._results().write(path, format, view)

    def dashboard(self, height: int = 800, open_browser: bool = False) -> Optional[str]:
        """Shows the page: in a notebook in the cell, HEIGHT pixels high; elsewhere it is written to a file whose path
        is printed and given back, and opened in the browser if OPEN_BROWSER."""
        return self._results().show(height, open_browser)

    def _repr_html_(self) -> str:
        try:
            return self._results().answer()._repr_html_() + _MORE
        except TpusightError as e:
            return f"<p>{html.escape(str(e))}</p>"


class Session(Results):
    """A profile on disk: a session's folder, a log directory with one session, a profile, an archive or a trace: what
    `tpusight report` makes one report of. Each question is asked of the program once."""

    def __init__(self, path: Any, thresholds: Optional[Dict[str, float]] = None, without: Sequence[str] = (),
                 folder: Any = None) -> None:
        self.path = os.path.abspath(os.fspath(path))
        if not os.path.exists(self.path):
            raise TpusightError(f"{self.path}: no such file or folder")
        self._options = [f"--threshold={name}={value}" for name, value in (thresholds or {}).items()]
        self._without = tuple(without)
        self._folder = folder  # a temporary one lives as long as what is in it is in use
        self._command = "report"
        self._answers: Dict[Any, Any] = {}

    def _results(self) -> "Session":
        return self

    def __repr__(self) -> str:
        return f"Session({self.path!r})"

    def _ask(self, *options: str) -> str:
        if options not in self._answers:
            said, _ = _program.run(self._command, "--color=never", *options, *self._options, self.path)
            self._answers[options] = said.decode("utf-8", "replace")
        return self._answers[options]

    def answer(self) -> Report:
        """The whole report, as Report."""
        if "report" not in self._answers:
            found = _program.ask(self._command, "--format=json", *self._options, self.path)
            kept = {key: value for key, value in found.items() if key not in self._without}
            self._answers["report"] = Report(self, kept)
        return self._answers["report"]

    def text(self, view: Optional[str] = None) -> str:
        """The report, or one view of it, as text."""
        return self._ask(*([f"--view={view}"] if view else []))

    def whole_text(self) -> str:
        """The report with all of its views as text, as export("report.txt") writes it."""
        return self._ask("--all")

    def csv(self, view: str = "ops") -> str:
        """One table of the report as CSV."""
        return self._ask("--format=csv", f"--view={view}")

    def page(self) -> str:
        """The page as HTML."""
        return self._ask("--format=html")

    def _lists(self) -> Dict[str, Any]:
        """{name: rows} of the report's tables."""
        found: Dict[str, Any] = {}
        for name, value in self.answer().items():
            parts = {f"{name}.{key}": part for key, part in value.items()} if isinstance(value, dict) else {name: value}
            found.update((part, rows) for part, rows in parts.items() if _is_table(rows))
        return found

    def names_of_tables(self) -> List[str]:
        """What tables() gives."""
        return [name for name, rows in self._lists().items() if rows]

    def table_of(self, name: str, must: bool = True) -> Any:
        """What table() gives; unless it MUST be there, one without rows where the report has not got it."""
        found = self._lists()
        if must and name not in found:
            raise TpusightError(f"the report of {self.path} has no table {name} (it has: {', '.join(self.names_of_tables())})")
        return _as_table(name, found.get(name, []), self)

    def columns_of(self, name: str) -> List[str]:
        """The columns that the program has in the table NAME, also where it has no rows; [] of a table that it does not know."""
        try:
            head = self.csv(name).partition("\n")[0]
        except TpusightError:
            return []
        return [re.sub(r" \(.*\)$", "", column) for column in head.split(",")] if head else []

    def view(self, name: str) -> Any:
        """The object NAME of the report, as View."""
        if name in self._without:
            raise TpusightError(f"{name} was left out of this profiler's results (cache_analysis=False)")
        found = self.answer().get(name)
        if not isinstance(found, dict):
            raise TpusightError(f"the report of {self.path} has no {name}")
        return {"time": TimeView, "doctor": DoctorView}.get(name, View)(self, name, found)

    def why(self) -> List[str]:
        """Sentences that say what the profile lacks and why; an empty list when it lacks nothing."""
        return [cause["what"] for cause in self._part("capture").get("causes") or []]

    def _part(self, name: str) -> Dict[str, Any]:
        return self.answer().get(name) or {}

    def brief(self) -> Summary:
        """What summary() gives."""
        run, time, cache = self._part("run"), self._part("time"), self._part("cache")
        found = {"session": self.path,
                 "devices": [device["kind"] or device["name"] for device in run.get("devices") or []],
                 **_some(run, "duration_ps", "capture_ps"), **_some(self._part("capture"), "verdict"),
                 "why": self.why(), **self._part("overview"), **_some(time, "bottleneck", "buckets"),
                 **_some(self._part("memory"), "peak_bytes"),
                 **_some(self._part("capacity"), "held_bytes")}
        if "cache" not in self._without:
            found.update(_some(cache, "compilation_count", "compilation_ps", "cache_hits", "cache_misses"))
        found["findings"] = [_some(finding, *_FINDING) for finding in self._part("doctor").get("findings") or []]
        return Summary(self, found)

    def write(self, path: Any, format: Optional[str] = None, view: Optional[str] = None) -> Any:
        """What export() does."""
        end = os.path.splitext(os.fspath(path))[1].lower()
        form = format or _SUFFIXES.get(end, end[1:])
        if form not in _forms.REPORT:
            raise ValueError(f"{form or path!r} is not a format of a report: {', '.join(_forms.REPORT)}")
        if form == "csv":
            view = view or "ops"
        table = [f"--view={view}"] if view else []
        _program.run(self._command, f"--format={form}", "-o", path, *table, *self._options, self.path, ok=(0,))
        return path

    def show(self, height: int = 800, open_browser: bool = False) -> Optional[str]:
        """What dashboard() does."""
        if _notebook.in_notebook():
            _notebook.show(_notebook.frame(self.page(), height))
            return None
        handle, path = tempfile.mkstemp(prefix="tpusight-", suffix=".html")
        os.close(handle)
        self.write(path, "html")
        print(f"TPUsight: {path}")
        if open_browser:
            import webbrowser
            webbrowser.open("file://" + path)
        return path
