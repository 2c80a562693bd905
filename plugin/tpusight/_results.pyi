# SPDX-License-Identifier: MIT
# The results of a report, as tpusight schema --format python prints them. None: unknown.
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, overload

from ._fields import Fields
from .table import Table

_Row = TypeVar("_Row", bound=Fields)

class Rows(Table, Generic[_Row]):
    def __iter__(self) -> Iterator[_Row]: ...
    @overload
    def __getitem__(self, key: int) -> _Row: ...
    @overload
    def __getitem__(self, key: slice) -> Rows[_Row]: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

class RunHostsItem(Fields):
    name: str | None
    file: str | None
    bytes: int | None
    start_unix_ns: str | None

class RunDevicesItem(Fields):
    id: int | None
    host: str | None
    name: str | None
    kind: str | None
    chip: str | None
    peak_flops_per_s: float | None
    hbm_bytes_per_s: float | None
    hbm_bytes: int | None
    mxu_dim: int | None
    mxu_count: int | None

class StepsRow(Fields):
    step: int | None
    start_ps: int | None
    duration_ps: int | None
    host_duration_ps: int | None
    cores: int | None
    source: str | None
    is_others: bool

class Run(Fields):
    logdir: str | None
    run: str | None
    session: str | None
    is_predicted: bool | None
    duration_ps: int | None
    duration_of: str | None
    capture_ps: int | None
    hosts: Rows[RunHostsItem] | None
    devices: Rows[RunDevicesItem] | None

class OverviewStepTimePs(Fields):
    mean: int | None
    median: int | None
    p90: int | None
    p99: int | None
    min: int | None
    max: int | None
    stddev: int | None

class OverviewHostStepTimePs(Fields):
    mean: int | None
    median: int | None
    p90: int | None
    p99: int | None
    min: int | None
    max: int | None
    stddev: int | None

class Overview(Fields):
    health_score: int | None
    duty_cycle_pct: float | None
    gpu_idle_pct: float | None
    mxu_utilization_pct: float | None
    matrix_units: str | None
    hbm_utilization_pct: float | None
    padding_waste_pct: float | None
    step_count: int | None
    step_source: str | None
    step_time_ps: OverviewStepTimePs | None
    host_step_time_ps: OverviewHostStepTimePs | None

class CaptureCausesRow(Fields):
    id: str | None
    severity: str | None
    verdict: str | None
    confidence: str | None
    what: str | None
    evidence: str | None
    fix: str | None
    code: str | None
    is_others: bool

class CaptureClocksRow(Fields):
    host: str | None
    clock_offset_ns: int | None
    clock_spread_ns: int | None
    clock_drift_ppm: int | None
    clock_matched: int | None
    clock_reference: str | None
    clock_source: str | None
    is_others: bool

class Capture(Fields):
    causes: Rows[CaptureCausesRow]
    clocks: Rows[CaptureClocksRow]
    is_predicted: bool | None
    verdict: str | None
    active_device_count: int | None
    host_event_count: int | None
    call_count: int | None
    execution_count: int | None

class OpsRow(Fields):
    program_id: str | None
    module: str | None
    name: str | None
    category: str | None
    occurrences: int | None
    total_time_ps: int | None
    self_time_ps: int | None
    flops: int | None
    bytes_accessed: int | None
    mxu_utilization_pct: float | None
    hbm_bytes_per_s: float | None
    bound_by: str | None
    padding_waste_pct: float | None
    source: str | None
    framework_op: str | None
    is_remat: bool | None
    bucket: str | None
    exclusive_ps: int | None
    compute_ps: int | None
    below_roofline_ps: int | None
    memory_wait_ps: int | None
    unexplained_ps: int | None
    op_index: int | None
    first_device: int | None
    first_start_ps: int | None
    first_end_ps: int | None
    is_others: bool

class ModulesRow(Fields):
    program_id: str | None
    name: str | None
    executions: int | None
    total_time_ps: int | None
    flops: int | None
    bytes_accessed: int | None
    parameter_bytes: int | None
    output_bytes: int | None
    parameter_logical_bytes: int | None
    output_logical_bytes: int | None
    is_others: bool

class OpCoresRow(Fields):
    program_id: str | None
    module: str | None
    op: str | None
    device: str | None
    host: str | None
    device_id: int | None
    since_step: int | None
    since_ps: int | None
    executions: int | None
    mean_ps: int | None
    others_ps: int | None
    excess_ps: int | None
    source: str | None
    op_index: int | None
    is_others: bool

class TimePerStepRow(Fields):
    step: int | None
    start_ps: int | None
    duration_ps: int | None
    cores: int | None
    total_ps: int | None
    compute_ps: int | None
    below_roofline_ps: int | None
    memory_wait_ps: int | None
    communication_ps: int | None
    host_transfer_ps: int | None
    rematerialization_ps: int | None
    unexplained_ps: int | None
    compilation_ps: int | None
    input_ps: int | None
    launch_ps: int | None
    idle_ps: int | None
    phase: str | None
    prefill_tokens: int | None
    decode_tokens: int | None
    is_others: bool

class TimePerCoreRow(Fields):
    device: str | None
    device_id: int | None
    total_ps: int | None
    duty_cycle_pct: float | None
    compute_ps: int | None
    below_roofline_ps: int | None
    memory_wait_ps: int | None
    communication_ps: int | None
    host_transfer_ps: int | None
    rematerialization_ps: int | None
    unexplained_ps: int | None
    compilation_ps: int | None
    input_ps: int | None
    launch_ps: int | None
    idle_ps: int | None
    host: str | None
    is_others: bool

class TimePerHostRow(Fields):
    host: str | None
    cores: int | None
    total_ps: int | None
    compute_ps: int | None
    below_roofline_ps: int | None
    memory_wait_ps: int | None
    communication_ps: int | None
    host_transfer_ps: int | None
    rematerialization_ps: int | None
    unexplained_ps: int | None
    compilation_ps: int | None
    input_ps: int | None
    launch_ps: int | None
    idle_ps: int | None
    is_others: bool

class TimeIdleGapsRow(Fields):
    device: str | None
    start_ps: int | None
    duration_ps: int | None
    cause: str | None
    device_id: int | None
    host_event: str | None
    host_thread: str | None
    ended_by: str | None
    is_others: bool

class TimeStepsOutliersRow(Fields):
    step: int | None
    start_ps: int | None
    duration_ps: int | None
    excess_ps: int | None
    excess_pct: float | None
    deviations: float | None
    period: int | None
    cause: str | None
    reason: str | None
    cause_excess_ps: int | None
    device: str | None
    device_id: int | None
    is_straggler: bool | None
    op: str | None
    module: str | None
    op_excess_ps: int | None
    op_index: int | None
    gap_ps: int | None
    gap_start_ps: int | None
    gap_device_id: int | None
    host_event: str | None
    host_thread: str | None
    ended_by: str | None
    compute_excess_ps: int | None
    below_roofline_excess_ps: int | None
    memory_wait_excess_ps: int | None
    communication_excess_ps: int | None
    host_transfer_excess_ps: int | None
    rematerialization_excess_ps: int | None
    unexplained_excess_ps: int | None
    compilation_excess_ps: int | None
    input_excess_ps: int | None
    launch_excess_ps: int | None
    idle_excess_ps: int | None
    is_others: bool

class TimeBuckets(Fields):
    compute_ps: int | None
    below_roofline_ps: int | None
    memory_wait_ps: int | None
    communication_ps: int | None
    host_transfer_ps: int | None
    rematerialization_ps: int | None
    unexplained_ps: int | None
    compilation_ps: int | None
    input_ps: int | None
    launch_ps: int | None
    idle_ps: int | None

class TimeExplained(Fields):
    matrix_ps: int | None
    hbm_ps: int | None
    estimate_ps: int | None
    kind_ps: int | None
    move_ps: int | None

class Time(Fields):
    per_step: Rows[TimePerStepRow]
    per_core: Rows[TimePerCoreRow]
    per_host: Rows[TimePerHostRow]
    idle_gaps: Rows[TimeIdleGapsRow]
    steps_outliers: Rows[TimeStepsOutliersRow]
    total_ps: int | None
    wall_ps: int | None
    wall_start_ps: int | None
    cores: int | None
    buckets: TimeBuckets
    explained: TimeExplained
    duty_cycle_pct: float | None
    compilation_count: int | None
    compilation_host_ps: int | None
    steps_median_ps: int | None
    steps_mad_ps: int | None
    steps_slow_count: int | None
    steps_slow_period: int | None
    bottleneck: str | None
    bottleneck_bucket: str | None
    bottleneck_evidence: str | None

class GapsGapsByEventRow(Fields):
    host_event: str | None
    host_thread: str | None
    count: int | None
    total_ps: int | None
    longest_ps: int | None
    cause: str | None
    ended_by: str | None
    start_ps: int | None
    device_id: int | None
    is_others: bool

class Gaps(Fields):
    gaps_by_event: Rows[GapsGapsByEventRow]
    gap_ps: int | None
    listed_ps: int | None
    explained_ps: int | None

class ScopesNamedRow(Fields):
    name: str | None
    count: int | None
    total_ps: int | None
    mean_ps: int | None
    min_ps: int | None
    max_ps: int | None
    share_pct: float | None
    inside: str | None
    input_ps: int | None
    trace_ps: int | None
    compile_ps: int | None
    dispatch_ps: int | None
    other_ps: int | None
    is_others: bool

class ScopesEpochsRow(Fields):
    epoch: int | None
    name: str | None
    start_ps: int | None
    duration_ps: int | None
    steps: int | None
    is_others: bool

class ScopesStepLayersRow(Fields):
    layer: str | None
    name: str | None
    total_ps: int | None
    step_mean_ps: int | None
    share_pct: float | None
    is_others: bool

class Scopes(Fields):
    named: Rows[ScopesNamedRow]
    epochs: Rows[ScopesEpochsRow]
    step_layers: Rows[ScopesStepLayersRow]
    host_ps: int | None
    step_name: str | None
    step_count: int | None
    capture_verdict: str | None

class TimelineStepsRow(Fields):
    rank: int | None
    step: int | None
    start_ps: int | None
    duration_ps: int | None
    kernel_ps: int | None
    memcpy_ps: int | None
    memset_ps: int | None
    communication_ps: int | None
    runtime_ps: int | None
    dataloader_ps: int | None
    cpu_exec_ps: int | None
    other_ps: int | None
    kernels: int | None
    counted: bool | None
    is_others: bool

class TimelineClassesRow(Fields):
    total_ps: int | None
    step_mean_ps: int | None
    share_pct: float | None
    is_others: bool

class TimelineRanksRow(Fields):
    rank: int | None
    host: str | None
    total_time_ps: int | None
    cpu_active_ps: int | None
    cpu_active_pct: float | None
    gpu_active_ps: int | None
    gpu_active_pct: float | None
    overlap_ps: int | None
    overlap_pct: float | None
    cpu_time_ps: int | None
    cuda_time_ps: int | None
    is_others: bool

class TimelineStreamsRow(Fields):
    rank: int | None
    device: str | None
    stream: str | None
    events: int | None
    busy_ps: int | None
    is_others: bool

class Timeline(Fields):
    steps: Rows[TimelineStepsRow]
    classes: Rows[TimelineClassesRow]
    ranks: Rows[TimelineRanksRow]
    streams: Rows[TimelineStreamsRow]
    total_time_ms: float | None
    total_time_ps: int | None
    cpu_time_ms: float | None
    cpu_time_ps: int | None
    cuda_time_ms: float | None
    cuda_time_ps: int | None
    step_count: int | None
    step_source: str | None
    cpu_active_ms: float | None
    cpu_active_ps: int | None
    cpu_active_pct: float | None
    gpu_active_ms: float | None
    gpu_active_ps: int | None
    gpu_active_pct: float | None
    overlap_ms: float | None
    overlap_ps: int | None
    overlap_pct: float | None

class KernelsOpsItem(Fields):
    op: str | None
    count: int | None
    total_ps: int | None

class KernelsRow(Fields):
    name: str | None
    kernel_type: str | None
    category: str | None
    category_rule: str | None
    device_id: int | None
    device: str | None
    host: str | None
    count: int | None
    total_ps: int | None
    mean_ps: int | None
    min_ps: int | None
    max_ps: int | None
    stddev_ps: int | None
    share_pct: float | None
    tensor_core: bool | None
    occupancy_pct: float | None
    blocks_per_sm: float | None
    grid: str | None
    block: str | None
    registers_per_thread: int | None
    shared_memory_bytes: int | None
    bytes: int | None
    bytes_per_s: float | None
    op: str | None
    op_count: int | None
    ops: list[Any] | None
    is_others: bool

class Gpu(Fields):
    kernel_count: int | None
    tensor_core_pct: float | None
    occupancy_pct: float | None

class OperatorsByShapeRow(Fields):
    name: str | None
    input_shapes: str | None
    calls: int | None
    self_gpu_ps: int | None
    self_gpu_pct: float | None
    gpu_ps: int | None
    self_cpu_ps: int | None
    cpu_ps: int | None
    cpu_mean_ps: int | None
    kernels: int | None
    flops: int | None
    flops_dense: int | None
    flops_per_s: float | None
    category: str | None
    dtype: str | None
    bytes: int | None
    operational_intensity: float | None
    bound_by: str | None
    roofline_efficiency_pct: float | None
    kernel: str | None
    is_others: bool

class OperatorsByNameRow(Fields):
    name: str | None
    kind: str | None
    calls: int | None
    self_gpu_ps: int | None
    self_gpu_pct: float | None
    gpu_ps: int | None
    self_cpu_ps: int | None
    cpu_ps: int | None
    cpu_mean_ps: int | None
    kernels: int | None
    flops: int | None
    flops_dense: int | None
    flops_per_s: float | None
    category: str | None
    dtype: str | None
    bytes: int | None
    operational_intensity: float | None
    bound_by: str | None
    roofline_efficiency_pct: float | None
    kernel: str | None
    is_others: bool

class OperatorsCategoriesRow(Fields):
    category: str | None
    calls: int | None
    self_gpu_ps: int | None
    self_gpu_pct: float | None
    modelled_pct: float | None
    flops: int | None
    bytes: int | None
    flops_per_s: float | None
    bytes_per_s: float | None
    roofline_efficiency_pct: float | None
    is_others: bool

class Operators(Fields):
    by_shape: Rows[OperatorsByShapeRow]
    by_name: Rows[OperatorsByNameRow]
    categories: Rows[OperatorsCategoriesRow]
    calls: int | None
    self_cpu_ps: int | None
    gpu_ps: int | None
    outside_gpu_ps: int | None
    flops: int | None
    flops_utilization_pct: float | None

class RematOpsRow(Fields):
    module: str | None
    name: str | None
    kind: str | None
    region: str | None
    original: str | None
    occurrences: int | None
    time_ps: int | None
    flops: int | None
    bytes_accessed: int | None
    kept_bytes: int | None
    saved_bytes: int | None
    ms_per_kept_mb: float | None
    source: str | None
    op_index: int | None
    is_others: bool

class RematRegionsRow(Fields):
    module: str | None
    region: str | None
    ops: int | None
    executions: int | None
    time_ps: int | None
    flops: int | None
    bytes_accessed: int | None
    saved_bytes: int | None
    ms_per_saved_mb: float | None
    source: str | None
    is_others: bool

class Remat(Fields):
    ops: Rows[RematOpsRow]
    regions: Rows[RematRegionsRow]
    op_count: int | None
    time_ps: int | None
    flops: int | None
    bytes_accessed: int | None
    saved_bytes: int | None

class SystolicOpsRow(Fields):
    op: str | None
    module: str | None
    m: int | None
    n: int | None
    k: int | None
    batch: int | None
    dtype: str | None
    flops: int | None
    occurrences: int | None
    time_ps: int | None
    mxu_utilization_pct: float | None
    fill_pct: float | None
    limiting_dim: str | None
    loss_shape_pct: float | None
    loss_memory_pct: float | None
    loss_other_pct: float | None
    estimated_cycles: int | None
    estimated_ps: int | None
    mean_ps: int | None
    bound_by: str | None
    source: str | None
    lost_ps: int | None
    is_others: bool

class SystolicModulesRow(Fields):
    module: str | None
    program_id: str | None
    executions: int | None
    flops: int | None
    time_ps: int | None
    mxu_utilization_pct: float | None
    is_others: bool

class SystolicStepsRow(Fields):
    step: int | None
    flops: int | None
    time_ps: int | None
    mxu_utilization_pct: float | None
    is_others: bool

class SystolicDevicesRow(Fields):
    device: str | None
    host: str | None
    flops: int | None
    mxu_utilization_pct: float | None
    mxu_measured_pct: float | None
    is_others: bool

class Systolic(Fields):
    ops: Rows[SystolicOpsRow]
    modules: Rows[SystolicModulesRow]
    steps: Rows[SystolicStepsRow]
    devices: Rows[SystolicDevicesRow]
    mxu_utilization_pct: float | None
    mxu_modelled_pct: float | None
    mxu_measured_pct: float | None
    matrix_time_pct: float | None
    matrix_op_utilization_pct: float | None
    fill_pct: float | None
    loss_shape_pct: float | None
    loss_memory_pct: float | None
    loss_other_pct: float | None
    matrix_ps: int | None
    unknown_kernel_count: int | None
    unknown_kernel_ps: int | None

class PaddingOpsRow(Fields):
    op: str | None
    module: str | None
    waste_bytes_pct: float | None
    waste_flops_pct: float | None
    waste_ps: int | None
    suggestion: str | None
    predicted_gain_ps: int | None
    self_time_ps: int | None
    is_others: bool

class PaddingArraysRow(Fields):
    module: str | None
    name: str | None
    shape: str | None
    logical_bytes: int | None
    allocated_bytes: int | None
    waste_pct: float | None
    uses: int | None
    time_ps: int | None
    role: str | None
    is_others: bool

class Padding(Fields):
    ops: Rows[PaddingOpsRow]
    arrays: Rows[PaddingArraysRow]
    waste_pct: float | None
    waste_ps: int | None
    logical_bytes: int | None
    allocated_bytes: int | None
    allocated_waste_pct: float | None

class FusionUnfusedRow(Fields):
    producer: str | None
    consumer: str | None
    module: str | None
    reason: str | None
    bytes: int | None
    impact_ps: int | None
    reason_code: str | None
    reason_name: str | None
    producer_source: str | None
    consumer_source: str | None
    advice: str | None
    confidence: str | None
    executions: int | None
    total_bytes: int | None
    is_others: bool

class FusionKindsRow(Fields):
    kind: str | None
    fusions: int | None
    ops: int | None
    executions: int | None
    saved_bytes: int | None
    time_ps: int | None
    is_others: bool

class FusionChainsRow(Fields):
    module: str | None
    first: str | None
    last: str | None
    ops: int | None
    executions: int | None
    time_ps: int | None
    mean_ps: int | None
    first_source: str | None
    last_source: str | None
    is_others: bool

class Fusion(Fields):
    unfused: Rows[FusionUnfusedRow]
    kinds: Rows[FusionKindsRow]
    chains: Rows[FusionChainsRow]
    fused_count: int | None
    unfused_count: int | None
    instructions_per_kernel: float | None
    saved_bytes: int | None
    unfused_bytes: int | None
    unfused_ps: int | None

class MemoryLayoutCopiesRow(Fields):
    op: str | None
    module: str | None
    producer: str | None
    consumer: str | None
    to: str | None
    reason_code: str | None
    executions: int | None
    bytes: int | None
    total_bytes: int | None
    time_ps: int | None
    source: str | None
    reason: str | None
    advice: str | None
    confidence: str | None
    opcode: str | None
    is_others: bool

class MemoryOpsRow(Fields):
    op: str | None
    module: str | None
    category: str | None
    executions: int | None
    hbm_read_bytes: int | None
    hbm_written_bytes: int | None
    vmem_read_bytes: int | None
    vmem_written_bytes: int | None
    cmem_read_bytes: int | None
    cmem_written_bytes: int | None
    host_bytes: int | None
    time_ps: int | None
    hbm_bytes_per_s: float | None
    hbm_pct: float | None
    bytes_from: str | None
    source: str | None
    op_index: int | None
    hbm_bytes: int | None
    is_others: bool

class MemoryHostLinkRow(Fields):
    op: str | None
    module: str | None
    category: str | None
    executions: int | None
    from_host_bytes: int | None
    to_host_bytes: int | None
    time_ps: int | None
    waited_ps: int | None
    bytes_per_s: float | None
    link_pct: float | None
    source: str | None
    is_others: bool

class MemoryCategoriesRow(Fields):
    category: str | None
    ops: int | None
    self_time_ps: int | None
    time_ps: int | None
    hbm_read_bytes: int | None
    hbm_written_bytes: int | None
    bytes_pct: float | None
    hbm_bytes_per_s: float | None
    hbm_pct: float | None
    host_bytes: int | None
    is_others: bool

class MemoryModulesRow(Fields):
    module: str | None
    ops: int | None
    self_time_ps: int | None
    time_ps: int | None
    hbm_read_bytes: int | None
    hbm_written_bytes: int | None
    bytes_pct: float | None
    hbm_bytes_per_s: float | None
    hbm_pct: float | None
    host_bytes: int | None
    is_others: bool

class MemorySpacesRow(Fields):
    memory: str | None
    read_bytes: int | None
    written_bytes: int | None
    unsplit_bytes: int | None
    bytes_per_s: float | None
    peak_bytes_per_s: float | None
    peak_pct: float | None
    is_others: bool

class MemoryUpcastsRow(Fields):
    op: str | None
    module: str | None
    consumer: str | None
    consumers: int | None
    stored: str | None
    widened_from: str | None
    enough: str | None
    executions: int | None
    total_bytes: int | None
    impact_ps: int | None
    confidence: str | None
    source: str | None
    reason: str | None
    is_others: bool

class Memory(Fields):
    layout_copies: Rows[MemoryLayoutCopiesRow]
    ops: Rows[MemoryOpsRow]
    host_link: Rows[MemoryHostLinkRow]
    categories: Rows[MemoryCategoriesRow]
    modules: Rows[MemoryModulesRow]
    spaces: Rows[MemorySpacesRow]
    upcasts: Rows[MemoryUpcastsRow]
    layout_copy_count: int | None
    layout_copy_bytes: int | None
    layout_copy_ps: int | None
    unknown_op_count: int | None
    unknown_ps: int | None
    hbm_read_bytes: int | None
    hbm_written_bytes: int | None
    hbm_unsplit_bytes: int | None
    hbm_bytes_per_s: float | None
    hbm_pct: float | None
    peak_bytes: int | None
    upcast_count: int | None
    upcast_bytes: int | None
    upcast_ps: int | None
    from_host_bytes: int | None
    to_host_bytes: int | None

class RooflineRow(Fields):
    kind: str | None
    step: int | None
    program_id: str | None
    module: str | None
    name: str | None
    category: str | None
    occurrences: int | None
    total_time_ps: int | None
    self_time_ps: int | None
    time_pct: float | None
    self_time_pct: float | None
    flops_per_s: float | None
    model_flops_per_s: float | None
    bytes_per_s: float | None
    hbm_bytes_per_s: float | None
    onchip_bytes_per_s: float | None
    cmem_read_bytes_per_s: float | None
    cmem_write_bytes_per_s: float | None
    vmem_read_bytes_per_s: float | None
    vmem_write_bytes_per_s: float | None
    operational_intensity: float | None
    hbm_operational_intensity: float | None
    bottleneck_operational_intensity: float | None
    bound_by: str | None
    optimal_flops_per_s: float | None
    roofline_efficiency_pct: float | None
    flops_utilization_pct: float | None
    hbm_utilization_pct: float | None
    memory_utilization_pct: float | None
    source: str | None
    op_index: int | None
    is_others: bool

class RooflineRidgesRow(Fields):
    device_kind: str | None
    memory: str | None
    peak_flops_per_s: float | None
    bytes_per_s: float | None
    ridge_flops_per_byte: float | None
    is_others: bool

class CustomCallsCallsRow(Fields):
    program_id: str | None
    module: str | None
    name: str | None
    target: str | None
    kernel: str | None
    occurrences: int | None
    self_time_ps: int | None
    time_pct: float | None
    flops: int | None
    transcendentals: int | None
    bytes_accessed: int | None
    cost_source: str | None
    flops_per_s: float | None
    bytes_per_s: float | None
    roofline_pct: float | None
    vmem_bytes: int | None
    source: str | None
    op_index: int | None
    is_others: bool

class CustomCalls(Fields):
    calls: Rows[CustomCallsCallsRow]
    call_count: int | None
    unknown_count: int | None
    self_time_ps: int | None
    unknown_ps: int | None

class CollectivesRow(Fields):
    program_id: str | None
    module: str | None
    name: str | None
    kind: str | None
    group_size: int | None
    groups: str | None
    operand_bytes: int | None
    output_bytes: int | None
    bytes: int | None
    occurrences: int | None
    total_time_ps: int | None
    exposed_ps: int | None
    hidden_ps: int | None
    hidden_pct: float | None
    algorithm_bytes_per_s: float | None
    bus_bytes_per_s: float | None
    link_bytes_per_s: float | None
    link_pct: float | None
    matched_count: int | None
    mean_skew_ps: int | None
    max_skew_ps: int | None
    wait_ps: int | None
    straggler: str | None
    straggler_host: str | None
    straggler_device_id: int | None
    straggler_last_pct: float | None
    straggler_cost_ps: int | None
    straggler_excess_ps: int | None
    source: str | None
    op_index: int | None
    is_others: bool

class CollectiveCoresRow(Fields):
    device: str | None
    host: str | None
    device_id: int | None
    matched_count: int | None
    last_count: int | None
    last_pct: float | None
    since_step: int | None
    cost_ps: int | None
    excess_ps: int | None
    waited_ps: int | None
    is_others: bool

class ReshardingRow(Fields):
    module: str | None
    op: str | None
    kind: str | None
    shape: str | None
    bytes: int | None
    axes: str | None
    op_name: str | None
    source: str | None
    spmd_generated: bool | None
    to: str | None
    cause: str | None
    cause_source: str | None
    cause_op_name: str | None
    suspicious: bool | None
    reason: str | None
    mend: str | None
    time_ps: int | None
    hidden_ps: int | None
    op_index: int | None
    is_others: bool

class AsyncOpsRow(Fields):
    module: str | None
    name: str | None
    done: str | None
    kind: str | None
    is_async: bool | None
    is_host: bool | None
    occurrences: int | None
    interval_ps: int | None
    exposed_ps: int | None
    hidden_ps: int | None
    hidden_pct: float | None
    bytes: int | None
    bytes_per_s: float | None
    between_ps: int | None
    hidden_by: str | None
    independent_ps: int | None
    independent_ops: int | None
    could_hide: str | None
    could_hide_source: str | None
    coverable_ps: int | None
    source: str | None
    op_index: int | None
    is_others: bool

class Async(Fields):
    ops: Rows[AsyncOpsRow]
    interval_ps: int | None
    exposed_ps: int | None
    hidden_ps: int | None
    coverable_ps: int | None
    async_line_ps: int | None
    async_line_interval_ps: int | None

class DcnRow(Fields):
    host: int | None
    device: int | None
    name: str | None
    occurrences: int | None
    stall_ps: int | None
    observed_ps: int | None
    bytes: int | None
    network_latency_us: float | None
    network_latency_max_us: float | None
    is_others: bool

class SparsecoreCoresRow(Fields):
    name: str | None
    host: str | None
    device_id: int | None
    busy_ps: int | None
    busy_pct: float | None
    module_count: int | None
    is_others: bool

class SparsecoreOffloadsRow(Fields):
    op: str | None
    done: str | None
    module: str | None
    executions: int | None
    sparsecore_ps: int | None
    exposed_wait_ps: int | None
    hidden_ps: int | None
    tensorcore_estimate_ps: int | None
    loss_ps: int | None
    linked_by: str | None
    source: str | None
    op_index: int | None
    is_others: bool

class SparsecoreWaitsRow(Fields):
    device_id: int | None
    device: str | None
    executions: int | None
    exposed_wait_ps: int | None
    hidden_ps: int | None
    exposed_wait_pct: float | None
    is_others: bool

class SparsecoreOpsRow(Fields):
    name: str | None
    category: str | None
    occurrences: int | None
    self_time_ps: int | None
    busy_pct: float | None
    bytes_accessed: int | None
    op_index: int | None
    is_others: bool

class Sparsecore(Fields):
    cores: Rows[SparsecoreCoresRow]
    offloads: Rows[SparsecoreOffloadsRow]
    waits: Rows[SparsecoreWaitsRow]
    ops: Rows[SparsecoreOpsRow]
    core_count: int | None
    busy_ps: int | None
    offload_count: int | None
    exposed_wait_ps: int | None
    hidden_ps: int | None
    loss_ps: int | None
    unlinked_ps: int | None

class Streams(Fields):
    kernels: int | None
    kernels_launched: int | None
    kernels_ordered: int | None
    calls: int | None
    calls_waited: int | None
    waits_inferred: int | None
    until_ps: int | None

class CriticalPathStepsSpansItem(Fields):
    row: str | None
    device_id: int | None
    start_ps: int | None
    dur_ps: int | None
    kind: str | None
    op: str | None

class CriticalPathPartsRow(Fields):
    kind: str | None
    name: str | None
    device: str | None
    host: str | None
    device_id: int | None
    path_ps: int | None
    path_pct: float | None
    count: int | None
    is_others: bool

class CriticalPathStepsRow(Fields):
    step: int | None
    start_ps: int | None
    duration_ps: int | None
    ops_ps: int | None
    collectives_ps: int | None
    transfers_ps: int | None
    host_ps: int | None
    input_ps: int | None
    compile_ps: int | None
    launch_ps: int | None
    idle_ps: int | None
    spans: list[Any] | None
    is_others: bool

class CriticalPathRun(Fields):
    total_ps: int | None
    until_ps: int | None
    ops_ps: int | None
    collectives_ps: int | None
    transfers_ps: int | None
    host_ps: int | None
    input_ps: int | None
    compile_ps: int | None
    launch_ps: int | None
    idle_ps: int | None

class CriticalPath(Fields):
    parts: Rows[CriticalPathPartsRow]
    steps: Rows[CriticalPathStepsRow]
    run: CriticalPathRun

class CacheFamiliesProgramsItem(Fields):
    program_id: str | None
    first_ps: int | None
    executions: int | None
    time_ps: int | None
    compilations: int | None
    compile_ps: int | None

class CacheFamiliesAxesItem(Fields):
    places: str | None
    buckets: list[Any] | None
    padded_pct: float | None

class CacheCompilationsRow(Fields):
    module: str | None
    start_ps: int | None
    duration_ps: int | None
    trace_ps: int | None
    lower_ps: int | None
    passes_ps: int | None
    codegen_ps: int | None
    wait_ps: int | None
    outcome: str | None
    inferred: bool | None
    cause: str | None
    function: str | None
    source: str | None
    program_id: str | None
    thread: str | None
    host: str | None
    is_others: bool

class CacheFunctionsRow(Fields):
    function: str | None
    calls: int | None
    hits: int | None
    compiled: int | None
    restored: int | None
    hit_pct: float | None
    compile_ps: int | None
    is_others: bool

class CacheFamiliesRow(Fields):
    name: str | None
    variants: int | None
    differs: str | None
    compilations: int | None
    recompilations: int | None
    compile_ps: int | None
    wait_ps: int | None
    restored: int | None
    executions: int | None
    time_ps: int | None
    source: str | None
    parameter_shapes: list[Any] | None
    bucket_advice: str | None
    programs: list[Any] | None
    axes: list[Any] | None
    is_others: bool

class Cache(Fields):
    compilations: Rows[CacheCompilationsRow]
    functions: Rows[CacheFunctionsRow]
    families: Rows[CacheFamiliesRow]
    compilation_count: int | None
    compilation_ps: int | None
    wait_ps: int | None
    wait_attributed_ps: int | None
    cache_hits: int | None
    cache_misses: int | None
    cache_hit_pct: float | None
    persistent_cache: str | None
    persistent_cache_hits: int | None
    persistent_cache_misses: int | None
    persistent_cache_hit_pct: float | None

class CompileRecompilesRow(Fields):
    compile_id: str | None
    function: str | None
    source: str | None
    calls: int | None
    compile_ps: int | None
    reason: str | None
    is_others: bool

class CompileGraphBreakPlacesRow(Fields):
    source: str | None
    function: str | None
    reason: str | None
    compilations: int | None
    compile_id: str | None
    continued_as: str | None
    count: int | None
    continued_ps: int | None
    explanation: str | None
    hint: str | None
    stack: str | None
    known_from: str | None
    is_others: bool

class CompileFusedKernelsRow(Fields):
    name: str | None
    kind: str | None
    ops_before_fusion: int | None
    ops: list[Any] | None
    count: int | None
    time_ps: int | None
    is_others: bool

class CompileCompilationsRow(Fields):
    compile_id: str | None
    function: str | None
    source: str | None
    is_backward: bool | None
    time_ps: int | None
    backend_ps: int | None
    inductor_ps: int | None
    codegen_ps: int | None
    graph_ops: int | None
    guards: int | None
    failure: str | None
    rank: int | None
    is_others: bool

class CompileRegionsRow(Fields):
    compile_id: str | None
    function: str | None
    source: str | None
    calls: int | None
    time_ps: int | None
    self_time_ps: int | None
    mean_self_ps: int | None
    device_time_ps: int | None
    backward_device_time_ps: int | None
    kernels: int | None
    compilations: int | None
    compile_ps: int | None
    restarts: int | None
    first_ps: int | None
    is_others: bool

class CompilePhasesRow(Fields):
    phase: str | None
    count: int | None
    time_ps: int | None
    self_time_ps: int | None
    is_others: bool

class Compile(Fields):
    recompiles: Rows[CompileRecompilesRow]
    graph_break_places: Rows[CompileGraphBreakPlacesRow]
    fused_kernels: Rows[CompileFusedKernelsRow]
    compilations: Rows[CompileCompilationsRow]
    regions: Rows[CompileRegionsRow]
    phases: Rows[CompilePhasesRow]
    compile_time_ms: float | None
    compile_time_ps: int | None
    compile_time_from: str | None
    ops_before_fusion: int | None
    ops_after_fusion: int | None
    fusion_ratio: float | None
    fused_kernel_runs: int | None
    fused_kernel_count: int | None
    compiled_device_time_ps: int | None
    compiled_device_time_pct: float | None
    compile_in_profile_ps: int | None
    compiler: str | None
    graph_breaks: int | None
    recompilations: int | None
    compiled_graphs: int | None
    region_calls: int | None
    forward_calls: int | None
    backward_calls: int | None
    backward_ps: int | None
    graph_calls: int | None
    guard_checks: int | None
    guard_ps: int | None
    runtime_overhead_ps: int | None
    cuda_graph_launches: int | None
    kernel_launches: int | None

class CompileDevicesRegionsRow(Fields):
    compile_id: str | None
    launches: int | None
    kernels: int | None
    device_time_ps: int | None
    backward_device_time_ps: int | None
    is_others: bool

class CompileDevices(Fields):
    regions: Rows[CompileDevicesRegionsRow]
    outside_device_time_ps: int | None

class CapacityLinesRow(Fields):
    source: str | None
    module: str | None
    bytes: int | None
    buffers: int | None
    largest: str | None
    is_others: bool

class CapacityModulesRow(Fields):
    module: str | None
    program_id: str | None
    peak_bytes: int | None
    peak_pct: float | None
    argument_bytes: int | None
    output_bytes: int | None
    alias_bytes: int | None
    temp_bytes: int | None
    constant_bytes: int | None
    reserved_bytes: int | None
    older_peak_bytes: int | None
    host_argument_bytes: int | None
    host_temp_bytes: int | None
    onchip_peak_bytes: int | None
    peak_op: str | None
    peak_source: str | None
    peak_position: int | None
    positions: int | None
    buffers: str | None
    is_others: bool

class CapacityBuffersRow(Fields):
    module: str | None
    op: str | None
    kind: str | None
    shape: str | None
    logical_bytes: int | None
    bytes: int | None
    padding_pct: float | None
    source: str | None
    framework_op: str | None
    from_op: str | None
    to_op: str | None
    from_position: int | None
    to_position: int | None
    is_others: bool

class CapacityDonationsRow(Fields):
    module: str | None
    parameter: int | None
    op: str | None
    framework_op: str | None
    output: int | None
    shape: str | None
    bytes: int | None
    is_others: bool

class CapacitySitesRow(Fields):
    bytes: int | None
    count: int | None
    share_pct: float | None
    kind: str | None
    device: str | None
    function: str | None
    source: str | None
    callee: str | None
    file: str | None
    stack: str | None
    is_others: bool

class CapacitySiteLinesRow(Fields):
    source: str | None
    function: str | None
    bytes: int | None
    count: int | None
    share_pct: float | None
    file: str | None
    is_others: bool

class Capacity(Fields):
    lines: Rows[CapacityLinesRow]
    modules: Rows[CapacityModulesRow]
    buffers: Rows[CapacityBuffersRow]
    donations: Rows[CapacityDonationsRow]
    sites: Rows[CapacitySitesRow]
    site_lines: Rows[CapacitySiteLinesRow]
    donation_bytes: int | None
    peak_bytes: int | None
    hbm_bytes: int | None
    peak_pct: float | None
    headroom_bytes: int | None
    peak_module: str | None
    peak_op: str | None
    argument_bytes: int | None
    output_bytes: int | None
    alias_bytes: int | None
    temp_bytes: int | None
    reserved_bytes: int | None
    held_bytes: int | None
    held_objects: int | None
    held_device: str | None
    held_device_bytes: int | None
    held_pct: float | None

class AllocatorsAllocatorsRow(Fields):
    allocator: str | None
    host: str | None
    peak_bytes: int | None
    peak_time_ps: int | None
    capacity_bytes: int | None
    fragmentation_pct: float | None
    heap_bytes: int | None
    reserved_bytes: int | None
    lifetime_peak_bytes: int | None
    events: int | None
    unfreed_bytes: int | None
    growth_bytes: int | None
    device: str | None
    steps: int | None
    rising_steps: int | None
    first_step_heap_bytes: int | None
    last_step_heap_bytes: int | None
    is_others: bool

class AllocatorsAllocationsRow(Fields):
    allocator: str | None
    framework_op: str | None
    bytes: int | None
    requested_bytes: int | None
    count: int | None
    total_bytes: int | None
    region: str | None
    shape: str | None
    is_others: bool

class Allocators(Fields):
    allocators: Rows[AllocatorsAllocatorsRow]
    allocations: Rows[AllocatorsAllocationsRow]

class MemoryTimelineAllocatorCallsRow(Fields):
    call: str | None
    host: str | None
    count: int | None
    total_time_ps: int | None
    max_time_ps: int | None
    in_steps_count: int | None
    in_steps_time_ps: int | None
    in_steps_start_ps: int | None
    in_steps_end_ps: int | None
    is_others: bool

class MemoryTimelineTimelineRow(Fields):
    time_ps: int | None
    allocated_bytes: int | None
    reserved_bytes: int | None
    device: str | None
    host: str | None
    is_others: bool

class MemoryTimelineDevicesRow(Fields):
    device: str | None
    host: str | None
    peak_bytes: int | None
    peak_time_ps: int | None
    peak_step: int | None
    peak_reserved_bytes: int | None
    fragmentation_pct: float | None
    mean_fragmentation_pct: float | None
    max_reserved_bytes: int | None
    capacity_bytes: int | None
    first_bytes: int | None
    allocated_bytes: int | None
    reserved_bytes: int | None
    unknown_bytes: int | None
    allocations: int | None
    frees: int | None
    taken_bytes: int | None
    steps: int | None
    rising_steps: int | None
    first_step_heap_bytes: int | None
    last_step_heap_bytes: int | None
    out_of_memory: int | None
    out_of_memory_bytes: int | None
    out_of_memory_op: str | None
    out_of_memory_module: str | None
    out_of_memory_time_ps: int | None
    is_others: bool

class MemoryTimelineHoldersRow(Fields):
    device: str | None
    host: str | None
    bytes: int | None
    peak_pct: float | None
    count: int | None
    op: str | None
    outer_op: str | None
    module: str | None
    annotation: str | None
    source: str | None
    phase: str | None
    is_others: bool

class MemoryTimelineModulesRow(Fields):
    device: str | None
    host: str | None
    bytes: int | None
    peak_pct: float | None
    count: int | None
    module: str | None
    phase: str | None
    is_others: bool

class MemoryTimelineBlocksRow(Fields):
    device: str | None
    host: str | None
    bytes: int | None
    count: int | None
    op: str | None
    outer_op: str | None
    module: str | None
    annotation: str | None
    source: str | None
    phase: str | None
    is_others: bool

class MemoryTimelineAllocationsRow(Fields):
    device: str | None
    host: str | None
    bytes: int | None
    allocations: int | None
    total_bytes: int | None
    mean_lifetime_ps: int | None
    op: str | None
    outer_op: str | None
    module: str | None
    annotation: str | None
    source: str | None
    phase: str | None
    is_others: bool

class MemoryTimelineUnfreedRow(Fields):
    device: str | None
    host: str | None
    bytes: int | None
    count: int | None
    steps: int | None
    op: str | None
    outer_op: str | None
    module: str | None
    annotation: str | None
    source: str | None
    phase: str | None
    is_others: bool

class MemoryTimelineStepsRow(Fields):
    device: str | None
    host: str | None
    step: int | None
    peak_bytes: int | None
    end_bytes: int | None
    reserved_bytes: int | None
    taken_bytes: int | None
    allocations: int | None
    is_others: bool

class MemoryTimeline(Fields):
    allocator_calls: Rows[MemoryTimelineAllocatorCallsRow]
    timeline: Rows[MemoryTimelineTimelineRow]
    devices: Rows[MemoryTimelineDevicesRow]
    holders: Rows[MemoryTimelineHoldersRow]
    modules: Rows[MemoryTimelineModulesRow]
    blocks: Rows[MemoryTimelineBlocksRow]
    allocations: Rows[MemoryTimelineAllocationsRow]
    unfreed: Rows[MemoryTimelineUnfreedRow]
    steps: Rows[MemoryTimelineStepsRow]
    source: str | None
    device: str | None
    peak_memory_mb: float | None
    peak_bytes: int | None
    allocated_memory_mb: float | None
    allocated_bytes: int | None
    reserved_memory_mb: float | None
    reserved_bytes: int | None
    peak_time_ps: int | None
    peak_step: int | None
    fragmentation_pct: float | None

class HtaCollectivesRow(Fields):
    rank: int | None
    collective: str | None
    dtype: str | None
    group: str | None
    group_size: int | None
    message_bytes: int | None
    in_bytes: int | None
    out_bytes: int | None
    count: int | None
    sum_ps: int | None
    mean_ps: float | None
    min_ps: int | None
    max_ps: int | None
    algorithm_bytes_per_s: float | None
    bus_bytes_per_s: float | None
    best_bus_bytes_per_s: float | None
    is_others: bool

class HtaStragglersRow(Fields):
    rank: int | None
    host: str | None
    collectives: int | None
    last_count: int | None
    last_pct: float | None
    caused_ps: int | None
    excess_ps: int | None
    waited_ps: int | None
    is_others: bool

class HtaKernelCategoriesRow(Fields):
    category: str | None
    count: int | None
    sum_ps: int | None
    share_pct: float | None
    is_others: bool

class HtaTopKernelsRow(Fields):
    name: str | None
    kernel_type: str | None
    category: str | None
    category_rule: str | None
    count: int | None
    sum_ps: int | None
    share_pct: float | None
    mean_ps: float | None
    min_ps: int | None
    max_ps: int | None
    stddev_ps: float | None
    sum_us: int | None
    rank: int | None
    is_others: bool

class HtaRankKernelsRow(Fields):
    name: str | None
    kernel_type: str | None
    category: str | None
    category_rule: str | None
    count: int | None
    sum_ps: int | None
    share_pct: float | None
    mean_ps: float | None
    min_ps: int | None
    max_ps: int | None
    stddev_ps: float | None
    sum_us: int | None
    rank: int | None
    is_others: bool

class HtaKernelSequencesRow(Fields):
    operator: str | None
    kernel_count: int | None
    count: int | None
    missed: int | None
    gpu_ps: int | None
    cpu_ps: int | None
    kernels: list[Any] | None
    is_others: bool

class HtaIdleRow(Fields):
    rank: int | None
    stream: str | None
    idle_ps: int | None
    host_wait_ps: int | None
    host_wait_pct: float | None
    kernel_wait_ps: int | None
    kernel_wait_pct: float | None
    other_wait_ps: int | None
    other_wait_pct: float | None
    host_wait_count: int | None
    kernel_wait_count: int | None
    other_wait_count: int | None
    is_others: bool

class HtaQueuesRow(Fields):
    rank: int | None
    stream: str | None
    changes: int | None
    mean: float | None
    stddev: float | None
    median: float | None
    p75: float | None
    max: int | None
    time_mean: float | None
    queued_ps: int | None
    full_ps: int | None
    full_pct: float | None
    is_others: bool

class HtaLaunchesRow(Fields):
    rank: int | None
    call: str | None
    count: int | None
    cpu_sum_ps: int | None
    cpu_mean_ps: float | None
    cpu_median_ps: int | None
    cpu_p90_ps: int | None
    cpu_p99_ps: int | None
    cpu_max_ps: int | None
    gpu_sum_ps: int | None
    gpu_mean_ps: float | None
    gpu_median_ps: int | None
    gpu_p90_ps: int | None
    gpu_p99_ps: int | None
    gpu_max_ps: int | None
    delay_sum_ps: int | None
    delay_mean_ps: float | None
    delay_median_ps: int | None
    delay_p90_ps: int | None
    delay_p99_ps: int | None
    delay_max_ps: int | None
    short_kernels: int | None
    runtime_outliers: int | None
    delay_outliers: int | None
    is_others: bool

class HtaRanksRow(Fields):
    rank: int | None
    host: str | None
    device: str | None
    gpu_idle_time_pct: float | None
    compute_time_pct: float | None
    non_compute_time_pct: float | None
    communication_time_pct: float | None
    memory_time_pct: float | None
    comm_comp_overlap_pct: float | None
    kernel_count: int | None
    short_kernel_count: int | None
    unlaunched_kernel_count: int | None
    last_step_kernel_count: int | None
    kernel_ps: int | None
    idle_ps: int | None
    compute_ps: int | None
    communication_ps: int | None
    memory_ps: int | None
    exposed_communication_ps: int | None
    overlap_ps: int | None
    short_ps: int | None
    kernel_time_us: int | None
    idle_time_us: int | None
    compute_time_us: int | None
    non_compute_time_us: int | None
    is_others: bool

class HtaKernelTypesRow(Fields):
    kernel_type: str | None
    sum_ps: int | None
    share_pct: float | None
    is_others: bool

class HtaExact(Fields):
    kernel_ps: int | None
    idle_ps: int | None
    compute_ps: int | None
    communication_ps: int | None
    memory_ps: int | None
    exposed_communication_ps: int | None
    overlap_ps: int | None
    short_ps: int | None

class HtaHta05(Fields):
    kernel_time_us: int | None
    idle_time_us: int | None
    compute_time_us: int | None
    non_compute_time_us: int | None
    gpu_idle_time_pct: float | None
    compute_time_pct: float | None
    non_compute_time_pct: float | None
    comm_comp_overlap_pct: float | None

class Hta(Fields):
    collectives: Rows[HtaCollectivesRow]
    stragglers: Rows[HtaStragglersRow]
    kernel_categories: Rows[HtaKernelCategoriesRow]
    top_kernels: Rows[HtaTopKernelsRow]
    rank_kernels: Rows[HtaRankKernelsRow]
    kernel_sequences: Rows[HtaKernelSequencesRow]
    idle: Rows[HtaIdleRow]
    queues: Rows[HtaQueuesRow]
    launches: Rows[HtaLaunchesRow]
    ranks: Rows[HtaRanksRow]
    kernel_types: Rows[HtaKernelTypesRow]
    gpu_idle_pct: float | None
    rank_count: int | None
    gpu_idle_time_pct: float | None
    compute_time_pct: float | None
    non_compute_time_pct: float | None
    communication_time_pct: float | None
    memory_time_pct: float | None
    comm_comp_overlap_pct: float | None
    kernel_count: int | None
    short_kernel_count: int | None
    unlaunched_kernel_count: int | None
    last_step_kernel_count: int | None
    exact: HtaExact
    hta_0_5: HtaHta05

class HtaCriticalPathKindsRow(Fields):
    kind: str | None
    path_ps: int | None
    path_pct: float | None
    parts: int | None
    slowest_path_ps: int | None
    slowest_path_pct: float | None
    slowest_parts: int | None
    is_others: bool

class HtaCriticalPathStepsRow(Fields):
    which: str | None
    rank: int | None
    step: int | None
    start_ps: int | None
    duration_ps: int | None
    path_ps: int | None
    path_pct: float | None
    waits: int | None
    events: int | None
    is_others: bool

class HtaCriticalPathEachStepRow(Fields):
    rank: int | None
    step: int | None
    start_ps: int | None
    duration_ps: int | None
    path_ps: int | None
    path_pct: float | None
    host_operator_ps: int | None
    runtime_call_ps: int | None
    launch_delay_ps: int | None
    kernel_ps: int | None
    copy_ps: int | None
    communication_ps: int | None
    queue_delay_ps: int | None
    waits: int | None
    is_others: bool

class HtaCriticalPathRowsRow(Fields):
    name: str | None
    kind: str | None
    path_ps: int | None
    path_pct: float | None
    parts: int | None
    is_others: bool

class HtaCriticalPathSlowestRowsRow(Fields):
    name: str | None
    kind: str | None
    path_ps: int | None
    path_pct: float | None
    parts: int | None
    is_others: bool

class HtaCriticalPath(Fields):
    kinds: Rows[HtaCriticalPathKindsRow]
    steps: Rows[HtaCriticalPathStepsRow]
    each_step: Rows[HtaCriticalPathEachStepRow]
    rows: Rows[HtaCriticalPathRowsRow]
    slowest_rows: Rows[HtaCriticalPathSlowestRowsRow]

class FlameHottestRow(Fields):
    weight: str | None
    self_ps: int | None
    share_pct: float | None
    count: int | None
    name: str | None
    caller: str | None
    is_others: bool

class FlameStacksRow(Fields):
    name: str | None
    parent: int | None
    category: str | None
    count: int | None
    cpu_self_ps: int | None
    cpu_total_ps: int | None
    device_self_ps: int | None
    device_total_ps: int | None
    is_others: bool

class FlameModulesRow(Fields):
    name: str | None
    parent: int | None
    category: str | None
    count: int | None
    cpu_self_ps: int | None
    cpu_total_ps: int | None
    device_self_ps: int | None
    device_total_ps: int | None
    is_others: bool

class FlameScopesRow(Fields):
    name: str | None
    parent: int | None
    category: str | None
    count: int | None
    cpu_self_ps: int | None
    cpu_total_ps: int | None
    device_self_ps: int | None
    device_total_ps: int | None
    is_others: bool

class Flame(Fields):
    hottest: Rows[FlameHottestRow]
    stacks: Rows[FlameStacksRow]
    modules: Rows[FlameModulesRow]
    scopes: Rows[FlameScopesRow]
    cpu_time_ps: int | None
    cpu_time_ms: float | None
    device_time_ps: int | None
    cuda_time_ms: float | None
    thread_count: int | None

class CountersUtilizationRow(Fields):
    host: int | None
    device: int | None
    sample: int | None
    node: int | None
    name: str | None
    achieved: float | None
    peak: float | None
    unit: str | None
    percent: float | None
    modelled: float | None
    is_others: bool

class CountersSeriesRow(Fields):
    host: int | None
    device: int | None
    name: str | None
    unit: str | None
    samples: int | None
    min: float | None
    max: float | None
    mean: float | None
    first: float | None
    last: float | None
    total: float | None
    is_others: bool

class CountersByOpRow(Fields):
    op: str | None
    module: str | None
    name: str | None
    unit: str | None
    mean: float | None
    modelled: float | None
    total: float | None
    cycles_pct: float | None
    sampled_ps: int | None
    op_index: int | None
    is_others: bool

class CountersRawRow(Fields):
    host: int | None
    device: int | None
    sample: int | None
    name: str | None
    id: str | None
    value: float | None
    description: str | None
    sets: str | None
    is_others: bool

class CountersUnreadRow(Fields):
    host: int | None
    device: int | None
    chip: str | None
    count: int | None
    is_others: bool

class Counters(Fields):
    utilization: Rows[CountersUtilizationRow]
    series: Rows[CountersSeriesRow]
    by_op: Rows[CountersByOpRow]
    raw: Rows[CountersRawRow]
    unread: Rows[CountersUnreadRow]
    counter_count: int | None
    mxu_measured_pct: float | None
    mxu_modelled_pct: float | None
    hbm_measured_bytes: int | None
    hbm_modelled_bytes: int | None
    hbm_measured_pct: float | None
    throttled_ps: int | None
    throttle_lost_ps: int | None

class RatesAsyncRow(Fields):
    op: str | None
    module: str | None
    executions: int | None
    span_ps: int | None
    op_index: int | None
    is_others: bool

class PredictionByKindRow(Fields):
    kind: str | None
    count: int | None
    runs: int | None
    time_ps: int | None
    of_core_ps: int | None
    basis: str | None
    error_pct: float | None
    error_count: int | None
    is_others: bool

class PredictionUnknownRow(Fields):
    op: str | None
    module: str | None
    reason: str | None
    low_ps: int | None
    high_ps: int | None
    is_others: bool

class PredictionModulesRow(Fields):
    name: str | None
    step_ps: int | None
    low_ps: int | None
    high_ps: int | None
    unknown_count: int | None
    measured_ps: int | None
    bias_pct: float | None
    is_others: bool

class PredictionMeasuredRow(Fields):
    kind: str | None
    count: int | None
    occurrences: int | None
    predicted_ps: int | None
    measured_ps: int | None
    bias_pct: float | None
    error_pct: float | None
    is_others: bool

class PredictionOpsRow(Fields):
    op: str | None
    module: str | None
    kind: str | None
    occurrences: int | None
    measured_ps: int | None
    predicted_ps: int | None
    estimate_ps: int | None
    roofline_ps: int | None
    bias_pct: float | None
    is_others: bool

class PredictionKnownErrorsRow(Fields):
    kind: str | None
    error_pct: float | None
    count: int | None
    occurrences: int | None
    is_others: bool

class Prediction(Fields):
    by_kind: Rows[PredictionByKindRow]
    unknown: Rows[PredictionUnknownRow]
    modules: Rows[PredictionModulesRow]
    measured: Rows[PredictionMeasuredRow]
    ops: Rows[PredictionOpsRow]
    known_errors: Rows[PredictionKnownErrorsRow]
    chip: str | None
    topology: str | None
    core_count: int | None
    module: str | None
    step_ps: int | None
    step_low_ps: int | None
    step_high_ps: int | None
    compute_ps: int | None
    dma_ps: int | None
    exposed_dma_ps: int | None
    host_ps: int | None
    exposed_host_ps: int | None
    collective_ps: int | None
    exposed_collective_ps: int | None
    unknown_count: int | None
    left_out_trips: int | None
    left_out_ps: int | None

class DoctorRangesRow(Fields):
    finding: str | None
    device: int | None
    start_ps: int | None
    end_ps: int | None
    is_others: bool

class DoctorKpisRow(Fields):
    name: str | None
    value: float | None
    unit: str | None
    band: str | None
    band_reason: str | None
    better: str | None
    good: float | None
    fair: float | None
    origin: str | None
    window: str | None
    meaning: str | None
    is_others: bool

class Doctor(Fields):
    ranges: Rows[DoctorRangesRow]
    kpis: Rows[DoctorKpisRow]
    health_score: int | None
    ideal_ps: int | None
    what_if: str | None

class HeatmapOpsRow(Fields):
    op: str | None
    module: str | None
    time_ps: int | None
    mxu_utilization_pct: float | None
    is_others: bool

class Heatmap(Fields):
    ops: Rows[HeatmapOpsRow]
    steps_per_column: int | None
    steps: list[Any] | None

class CompareRunsRow(Fields):
    run: str | None
    path: str | None
    chip: str | None
    devices: int | None
    hosts: int | None
    steps: int | None
    step_source: str | None
    time_ps: int | None
    median_ps: int | None
    speed_up: float | None
    speed_up_low: float | None
    speed_up_high: float | None
    p_value: float | None
    effect: float | None
    u: float | None
    p_is_exact: bool | None
    independent_steps: int | None
    verdict: str | None
    is_others: bool

class CompareFiguresRow(Fields):
    figure: str | None
    title: str | None
    better: str | None
    is_others: bool

class CompareBucketsRow(Fields):
    bucket: str | None
    title: str | None
    is_others: bool

class CompareHistogramRow(Fields):
    from_ps: int | None
    to_ps: int | None
    is_others: bool

class CompareModulesRow(Fields):
    module: str | None
    is_others: bool

class CompareFindingsRow(Fields):
    rule: str | None
    title: str | None
    is_others: bool

class CompareOpsRow(Fields):
    op: str | None
    category: str | None
    shape: str | None
    other_shape: str | None
    module: str | None
    framework_op: str | None
    source: str | None
    name: str | None
    is_others: bool

class CompareDifferenceRow(Fields):
    part: str | None
    title: str | None
    is_others: bool

class CompareOperatorsRow(Fields):
    name: str | None
    input_shapes: str | None
    category: str | None
    is_others: bool

class CompareOperatorShapesRow(Fields):
    name: str | None
    input_shapes: str | None
    category: str | None
    is_others: bool

class CompareDifferencesRow(Fields):
    run: str | None
    what: str | None
    baseline: str | None
    other: str | None
    comparable: str | None
    meaning: str | None
    is_others: bool

class CompareGatesRow(Fields):
    gate: str | None
    run: str | None
    value: float | None
    limit: float | None
    state: str | None
    is_others: bool

class Compare(Fields):
    runs: Rows[CompareRunsRow]
    figures: Rows[CompareFiguresRow]
    buckets: Rows[CompareBucketsRow]
    histogram: Rows[CompareHistogramRow]
    modules: Rows[CompareModulesRow]
    findings: Rows[CompareFindingsRow]
    ops: Rows[CompareOpsRow]
    difference: Rows[CompareDifferenceRow]
    operators: Rows[CompareOperatorsRow]
    operator_shapes: Rows[CompareOperatorShapesRow]
    differences: Rows[CompareDifferencesRow]
    gates: Rows[CompareGatesRow]
    comparable: str | None
    basis: str | None
    run_count: int | None
    baseline: str | None
    verdicts: Fields | None

class CompileModesModesRow(Fields):
    mode: str | None
    run: str | None
    steps: int | None
    step_time_ms: float | None
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    turns: int | None
    p_value: float | None
    may_be_chance: bool | None
    compile_time_ms: float | None
    pays_after_steps: int | None
    graph_breaks: int | None
    recompilations: int | None
    fusion_ratio: float | None
    ops_before_fusion: int | None
    ops_after_fusion: int | None
    kernels_a_step: float | None
    kernel_launches_a_step: float | None
    cuda_graph_launches: int | None
    uses_cuda_graphs: bool | None
    is_others: bool

class CompileModes(Fields):
    modes: Rows[CompileModesModesRow]
    baseline: str | None
    fastest_mode: str | None
    speedup: float | None
    may_be_chance: bool | None

class ThresholdsThresholdsRow(Fields):
    name: str | None
    value: float | None
    default: float | None
    unit: str | None
    meaning: str | None
    is_others: bool

class Thresholds(Fields):
    thresholds: Rows[ThresholdsThresholdsRow]

class ExplainWordsRow(Fields):
    word: str | None
    kind: str | None
    view: str | None
    page: str | None
    text: str | None
    is_others: bool

class Explain(Fields):
    words: Rows[ExplainWordsRow]

class Results(Fields):
    steps: Rows[StepsRow]
    run: Run | None
    overview: Overview
    capture: Capture
    ops: Rows[OpsRow]
    modules: Rows[ModulesRow]
    op_cores: Rows[OpCoresRow]
    time: Time
    gaps: Gaps
    scopes: Scopes
    timeline: Timeline
    kernels: Rows[KernelsRow]
    total_time_ms: float | None
    cuda_time_ms: float | None
    cpu_time_ms: float | None
    gpu: Gpu
    operators: Operators
    remat: Remat
    systolic: Systolic
    padding: Padding
    fusion: Fusion
    memory: Memory
    roofline: Rows[RooflineRow]
    roofline_ridges: Rows[RooflineRidgesRow]
    custom_calls: CustomCalls
    collectives: Rows[CollectivesRow]
    collective_cores: Rows[CollectiveCoresRow]
    resharding: Rows[ReshardingRow]
    dcn: Rows[DcnRow]
    sparsecore: Sparsecore
    streams: Streams
    critical_path: CriticalPath
    cache: Cache
    compile: Compile
    compile_devices: CompileDevices
    capacity: Capacity
    allocators: Allocators
    memory_timeline: MemoryTimeline
    hta: Hta
    hta_critical_path: HtaCriticalPath
    flame: Flame
    counters: Counters
    prediction: Prediction
    doctor: Doctor
    heatmap: Heatmap
    compare: Compare
    compile_modes: CompileModes
    thresholds: Thresholds
    explain: Explain
