# SPDX-License-Identifier: MIT
"""What is known of a program before it runs."""
import os
from typing import Any, Dict, List, Optional

from .. import _program
from ..session import Report, Session
from ..table import Findings, Table
from . import job
from .shapes import mesh_text
from .summary import Summary
from .whatif import Tried

_FACTS = ("chip", "topology", "device_kind", "device_count", "topology_device_count", "mesh", "unsplit_axes", "lower_seconds",
          "compile_seconds", "versions", "memory", "cost")


class _Module(Session):
    """A compiled module without a prediction: it did not fit, or has no schedule."""

    def __init__(self, path: Any, options: List[str], folder: Any, thresholds: Optional[Dict[str, float]] = None) -> None:
        super().__init__(path, thresholds, folder=folder)
        self._command = "hlo"
        self._options[:0] = options


class Before:
    """A program that was compiled for a chip, and what that says of it.

    `report` is the whole of it (schema tpusight/1, as Report of a measured run), `session` asks the program any view; `facts` is what
    the compiler itself said (memory_analysis, cost_analysis, seconds). A program that does not fit has `fits` False and `error` the
    compiler's words; what else is known of it is in `report`."""

    def __init__(self, outcome: job.Outcome, name: str, owner: Any, thresholds: Optional[Dict[str, float]] = None) -> None:
        self.name = name
        self.topology: str = outcome.facts.get("topology") or outcome.asked.topology
        self.facts: Dict[str, Any] = {key: outcome.facts[key] for key in _FACTS if key in outcome.facts}
        self.error: Optional[str] = outcome.trouble["text"] if outcome.trouble else None
        self.path: str = os.path.join(outcome.asked.folder, job.PROTO)
        self.chip: str = outcome.facts.get("chip", "")
        self._owner = owner
        self.session: Session = self._opened(outcome, thresholds)
        #: What was tried (before(..., what_if=True), `tpusight before --try`): the winners have `wins`.
        self.tried: List[Tried] = []

    def _opened(self, outcome: job.Outcome, thresholds: Optional[Dict[str, float]]) -> Session:
        version = (self.facts.get("versions") or {}).get("libtpu")
        options = [f"--libtpu={version}"] if version else []
        split = self._partitioned(outcome.asked.folder)
        if outcome.trouble:
            return _Module(self.path, [f"--chip={self.chip}", *options, *split], self._owner, thresholds)
        folder = os.path.join(outcome.asked.folder, "predicted")
        slice_ = self.topology.replace("tpu7x", "v7x")
        _program.run("hlo", f"--topology={slice_}", f"--predict={folder}", *options, self.path)
        session = Session(folder, thresholds, folder=self._owner)
        session._options[:0] = split
        return session

    def _partitioned(self, folder: str) -> List[str]:
        """Options that say why collectives are in the module."""
        dump, mesh = os.path.join(folder, job.PARTITIONER), self.facts.get("mesh")
        if not os.path.isdir(dump):
            return []
        return [f"--xla-dump={dump}", *([f"--mesh={mesh_text(mesh)}"] if mesh else [])]

    @property
    def report(self) -> Report:
        """The whole report."""
        return self.session.answer()

    @property
    def fits(self) -> Optional[bool]:
        """Whether the program fits in a device's memory; None: that is not known."""
        if self.error:
            return False
        peak, whole = self.peak_bytes, self._capacity().get("hbm_bytes")
        return None if peak is None or not whole else peak <= whole

    def _capacity(self) -> Dict[str, Any]:
        return self.report.get("capacity") or {}

    @property
    def peak_bytes(self) -> Optional[int]:
        """What the program holds of a device's memory: arguments, results and temporaries, as the compiler says (memory_analysis); of one
        that it refused the walk of the schedule."""
        memory = self.facts.get("memory") or {}
        if "temp_size_in_bytes" in memory:
            return int(memory["argument_size_in_bytes"] + memory["output_size_in_bytes"] - memory["alias_size_in_bytes"] +
                       memory["temp_size_in_bytes"])
        return self._capacity().get("peak_bytes")

    @property
    def walk(self) -> Optional[Dict[str, float]]:
        """How far the walk of the schedule, from which the report's buffers and lines are, is from what the compiler says: `peak_bytes` of
        both is what libtpu calls the peak (docs/analyses/capacity/capacity.md), `off_pct` the part by which the walk's is above. None: the
        compiler says nothing of memory."""
        libtpu = (self.facts.get("memory") or {}).get("peak_memory_in_bytes")
        modules = self._capacity().get("modules") or []
        if not libtpu or not modules:
            return None
        module = modules[0]
        always = (module["argument_bytes"] + module["output_bytes"] - module["alias_bytes"] + module["constant_bytes"] +
                  module["host_argument_bytes"])
        walked = always + max(module["temp_bytes"], module["onchip_peak_bytes"], module["host_temp_bytes"])
        return {"peak_bytes": walked, "libtpu_peak_bytes": libtpu, "off_pct": 100 * (walked / libtpu - 1)}

    @property
    def findings(self) -> Findings:
        """The doctor's findings, the dearest first."""
        return self.session.findings

    def view(self, name: str) -> Any:
        """An object of the report by its name: padding, capacity, systolic ..."""
        return self.session.view(name)

    def table(self, name: str) -> Table:
        """A table of the report by its name: capacity.buffers, ops ..."""
        return self.session.table(name)

    def page(self) -> str:
        """The page as HTML."""
        return self.session.page()

    def export(self, path: Any, format: Optional[str] = None, view: Optional[str] = None) -> Any:
        """Writes the report to PATH, as Session.export does."""
        return self.session.export(path, format, view)

    def summary(self) -> "Summary":
        """What matters of it, in sentences; its fields are a dict."""
        return Summary(self)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
