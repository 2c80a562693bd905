# SPDX-License-Identifier: Apache-2.0
# The names of the package, a line each, for editors, type checkers and __init__.py: that one reads these lines, and imports a
# module when a name of it is used.
from ._program import TpusightError as TpusightError
from ._program import program as program
from ._version import __version__ as __version__
from .benchmark import Benchmark as Benchmark
from .benchmark import benchmark_function as benchmark_function
from .dashboard import SimpleLiveDashboard as SimpleLiveDashboard
from .flame_graph import FlameGraph as FlameGraph
from .flame_graph import FlameGraphGenerator as FlameGraphGenerator
from .helpers import maybe_profile as maybe_profile
from .helpers import profile_function as profile_function
from .helpers import profile_scope as profile_scope
from .helpers import profile_trace as profile_trace
from .hta import HTAAnalyzer as HTAAnalyzer
from .hta import HTAReport as HTAReport
from .live import Alert as Alert
from .live import LiveProfiler as LiveProfiler
from .live import Metrics as Metrics
from .memory import MemoryProfiler as MemoryProfiler
from .memory import MemoryReport as MemoryReport
from .profiler import TPUsight as TPUsight
from .session import Session as Session
from .timeline import TimelineData as TimelineData
from .timeline import TimelineGenerator as TimelineGenerator
from .torch_compile import CompileBreak as CompileBreak
from .torch_compile import CompileReport as CompileReport
from .torch_compile import TorchCompileAnalyzer as TorchCompileAnalyzer
from .unified import KernelInfo as KernelInfo
from .unified import OperatorInfo as OperatorInfo
from .unified import ProfileSession as ProfileSession
from .unified import UnifiedProfiler as UnifiedProfiler
from .words import explain as explain
