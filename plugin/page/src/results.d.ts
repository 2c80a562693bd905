// SPDX-License-Identifier: MIT
// The results of a report, as tpusight schema --format typescript prints them. null: unknown; what a report does not have is undefined.

export interface RunHostsItem {
	name: string | null;
	file: string | null;
	bytes: number | null;
	start_unix_ns: string | null;
}

export interface RunDevicesItem {
	id: number | null;
	host: string | null;
	name: string | null;
	kind: string | null;
	chip: string | null;
	peak_flops_per_s: number | null;
	hbm_bytes_per_s: number | null;
	hbm_bytes: number | null;
	mxu_dim: number | null;
	mxu_count: number | null;
}

export interface StepsRow {
	step: number | null;
	start_ps: number | null;
	duration_ps: number | null;
	host_duration_ps: number | null;
	cores: number | null;
	source: string | null;
	is_others?: true;
}

export interface Run {
	logdir?: string | null;
	run?: string | null;
	session?: string | null;
	is_predicted?: boolean | null;
	duration_ps?: number | null;
	duration_of?: string | null;
	capture_ps?: number | null;
	hosts?: RunHostsItem[] | null;
	devices?: RunDevicesItem[] | null;
}

export interface OverviewStepTimePs {
	mean?: number | null;
	median?: number | null;
	p90?: number | null;
	p99?: number | null;
	min?: number | null;
	max?: number | null;
	stddev?: number | null;
}

export interface OverviewHostStepTimePs {
	mean?: number | null;
	median?: number | null;
	p90?: number | null;
	p99?: number | null;
	min?: number | null;
	max?: number | null;
	stddev?: number | null;
}

export interface Overview {
	health_score?: number | null;
	duty_cycle_pct?: number | null;
	gpu_idle_pct?: number | null;
	mxu_utilization_pct?: number | null;
	matrix_units?: string | null;
	hbm_utilization_pct?: number | null;
	padding_waste_pct?: number | null;
	step_count?: number | null;
	step_source?: string | null;
	step_time_ps?: OverviewStepTimePs | null;
	host_step_time_ps?: OverviewHostStepTimePs | null;
}

export interface CaptureCausesRow {
	id: string | null;
	severity: string | null;
	verdict: string | null;
	confidence: string | null;
	what: string | null;
	evidence: string | null;
	fix: string | null;
	code: string | null;
	is_others?: true;
}

export interface CaptureClocksRow {
	host: string | null;
	clock_offset_ns: number | null;
	clock_spread_ns: number | null;
	clock_drift_ppm: number | null;
	clock_matched: number | null;
	clock_reference: string | null;
	clock_source: string | null;
	is_others?: true;
}

export interface Capture {
	causes?: CaptureCausesRow[];
	clocks?: CaptureClocksRow[];
	is_predicted?: boolean | null;
	verdict?: string | null;
	active_device_count?: number | null;
	host_event_count?: number | null;
	call_count?: number | null;
	execution_count?: number | null;
}

export interface OpsRow {
	program_id: string | null;
	module: string | null;
	name: string | null;
	category: string | null;
	occurrences: number | null;
	total_time_ps: number | null;
	self_time_ps: number | null;
	flops: number | null;
	bytes_accessed: number | null;
	mxu_utilization_pct: number | null;
	hbm_bytes_per_s: number | null;
	bound_by: string | null;
	padding_waste_pct: number | null;
	source: string | null;
	framework_op: string | null;
	is_remat: boolean | null;
	bucket: string | null;
	exclusive_ps: number | null;
	compute_ps: number | null;
	below_roofline_ps: number | null;
	memory_wait_ps: number | null;
	unexplained_ps: number | null;
	op_index: number | null;
	first_device: number | null;
	first_start_ps: number | null;
	first_end_ps: number | null;
	is_others?: true;
}

export interface ModulesRow {
	program_id: string | null;
	name: string | null;
	executions: number | null;
	total_time_ps: number | null;
	flops: number | null;
	bytes_accessed: number | null;
	parameter_bytes: number | null;
	output_bytes: number | null;
	parameter_logical_bytes: number | null;
	output_logical_bytes: number | null;
	is_others?: true;
}

export interface OpCoresRow {
	program_id: string | null;
	module: string | null;
	op: string | null;
	device: string | null;
	host: string | null;
	device_id: number | null;
	since_step: number | null;
	since_ps: number | null;
	executions: number | null;
	mean_ps: number | null;
	others_ps: number | null;
	excess_ps: number | null;
	source: string | null;
	op_index: number | null;
	is_others?: true;
}

export interface TimePerStepRow {
	step: number | null;
	start_ps: number | null;
	duration_ps: number | null;
	cores: number | null;
	total_ps: number | null;
	compute_ps: number | null;
	below_roofline_ps: number | null;
	memory_wait_ps: number | null;
	communication_ps: number | null;
	host_transfer_ps: number | null;
	rematerialization_ps: number | null;
	unexplained_ps: number | null;
	compilation_ps: number | null;
	input_ps: number | null;
	launch_ps: number | null;
	idle_ps: number | null;
	phase: string | null;
	prefill_tokens: number | null;
	decode_tokens: number | null;
	is_others?: true;
}

export interface TimePerCoreRow {
	device: string | null;
	device_id: number | null;
	total_ps: number | null;
	duty_cycle_pct: number | null;
	compute_ps: number | null;
	below_roofline_ps: number | null;
	memory_wait_ps: number | null;
	communication_ps: number | null;
	host_transfer_ps: number | null;
	rematerialization_ps: number | null;
	unexplained_ps: number | null;
	compilation_ps: number | null;
	input_ps: number | null;
	launch_ps: number | null;
	idle_ps: number | null;
	host: string | null;
	is_others?: true;
}

export interface TimePerHostRow {
	host: string | null;
	cores: number | null;
	total_ps: number | null;
	compute_ps: number | null;
	below_roofline_ps: number | null;
	memory_wait_ps: number | null;
	communication_ps: number | null;
	host_transfer_ps: number | null;
	rematerialization_ps: number | null;
	unexplained_ps: number | null;
	compilation_ps: number | null;
	input_ps: number | null;
	launch_ps: number | null;
	idle_ps: number | null;
	is_others?: true;
}

export interface TimeIdleGapsRow {
	device: string | null;
	start_ps: number | null;
	duration_ps: number | null;
	cause: string | null;
	device_id: number | null;
	host_event: string | null;
	host_thread: string | null;
	ended_by: string | null;
	is_others?: true;
}

export interface TimeStepsOutliersRow {
	step: number | null;
	start_ps: number | null;
	duration_ps: number | null;
	excess_ps: number | null;
	excess_pct: number | null;
	deviations: number | null;
	period: number | null;
	cause: string | null;
	reason: string | null;
	cause_excess_ps: number | null;
	device: string | null;
	device_id: number | null;
	is_straggler: boolean | null;
	op: string | null;
	module: string | null;
	op_excess_ps: number | null;
	op_index: number | null;
	gap_ps: number | null;
	gap_start_ps: number | null;
	gap_device_id: number | null;
	host_event: string | null;
	host_thread: string | null;
	ended_by: string | null;
	compute_excess_ps: number | null;
	below_roofline_excess_ps: number | null;
	memory_wait_excess_ps: number | null;
	communication_excess_ps: number | null;
	host_transfer_excess_ps: number | null;
	rematerialization_excess_ps: number | null;
	unexplained_excess_ps: number | null;
	compilation_excess_ps: number | null;
	input_excess_ps: number | null;
	launch_excess_ps: number | null;
	idle_excess_ps: number | null;
	is_others?: true;
}

export interface TimeBuckets {
	compute_ps?: number | null;
	below_roofline_ps?: number | null;
	memory_wait_ps?: number | null;
	communication_ps?: number | null;
	host_transfer_ps?: number | null;
	rematerialization_ps?: number | null;
	unexplained_ps?: number | null;
	compilation_ps?: number | null;
	input_ps?: number | null;
	launch_ps?: number | null;
	idle_ps?: number | null;
}

export interface TimeExplained {
	matrix_ps?: number | null;
	hbm_ps?: number | null;
	estimate_ps?: number | null;
	kind_ps?: number | null;
	move_ps?: number | null;
}

export interface Time {
	per_step?: TimePerStepRow[];
	per_core?: TimePerCoreRow[];
	per_host?: TimePerHostRow[];
	idle_gaps?: TimeIdleGapsRow[];
	steps_outliers?: TimeStepsOutliersRow[];
	total_ps?: number | null;
	wall_ps?: number | null;
	wall_start_ps?: number | null;
	cores?: number | null;
	buckets?: TimeBuckets;
	explained?: TimeExplained;
	duty_cycle_pct?: number | null;
	compilation_count?: number | null;
	compilation_host_ps?: number | null;
	steps_median_ps?: number | null;
	steps_mad_ps?: number | null;
	steps_slow_count?: number | null;
	steps_slow_period?: number | null;
	bottleneck?: string | null;
	bottleneck_bucket?: string | null;
	bottleneck_evidence?: string | null;
}

export interface GapsGapsByEventRow {
	host_event: string | null;
	host_thread: string | null;
	count: number | null;
	total_ps: number | null;
	longest_ps: number | null;
	cause: string | null;
	ended_by: string | null;
	start_ps: number | null;
	device_id: number | null;
	is_others?: true;
}

export interface Gaps {
	gaps_by_event?: GapsGapsByEventRow[];
	gap_ps?: number | null;
	listed_ps?: number | null;
	explained_ps?: number | null;
}

export interface ScopesNamedRow {
	name: string | null;
	count: number | null;
	total_ps: number | null;
	mean_ps: number | null;
	min_ps: number | null;
	max_ps: number | null;
	share_pct: number | null;
	inside: string | null;
	input_ps: number | null;
	trace_ps: number | null;
	compile_ps: number | null;
	dispatch_ps: number | null;
	other_ps: number | null;
	is_others?: true;
}

export interface ScopesEpochsRow {
	epoch: number | null;
	name: string | null;
	start_ps: number | null;
	duration_ps: number | null;
	steps: number | null;
	is_others?: true;
}

export interface ScopesStepLayersRow {
	layer: string | null;
	name: string | null;
	total_ps: number | null;
	step_mean_ps: number | null;
	share_pct: number | null;
	is_others?: true;
}

export interface Scopes {
	named?: ScopesNamedRow[];
	epochs?: ScopesEpochsRow[];
	step_layers?: ScopesStepLayersRow[];
	host_ps?: number | null;
	step_name?: string | null;
	step_count?: number | null;
	capture_verdict?: string | null;
}

export interface TimelineStepsRow {
	rank: number | null;
	step: number | null;
	start_ps: number | null;
	duration_ps: number | null;
	kernel_ps: number | null;
	memcpy_ps: number | null;
	memset_ps: number | null;
	communication_ps: number | null;
	runtime_ps: number | null;
	dataloader_ps: number | null;
	cpu_exec_ps: number | null;
	other_ps: number | null;
	kernels: number | null;
	counted: boolean | null;
	is_others?: true;
}

export interface TimelineClassesRow {
	class: string | null;
	total_ps: number | null;
	step_mean_ps: number | null;
	share_pct: number | null;
	is_others?: true;
}

export interface TimelineRanksRow {
	rank: number | null;
	host: string | null;
	total_time_ps: number | null;
	cpu_active_ps: number | null;
	cpu_active_pct: number | null;
	gpu_active_ps: number | null;
	gpu_active_pct: number | null;
	overlap_ps: number | null;
	overlap_pct: number | null;
	cpu_time_ps: number | null;
	cuda_time_ps: number | null;
	is_others?: true;
}

export interface TimelineStreamsRow {
	rank: number | null;
	device: string | null;
	stream: string | null;
	events: number | null;
	busy_ps: number | null;
	is_others?: true;
}

export interface Timeline {
	steps?: TimelineStepsRow[];
	classes?: TimelineClassesRow[];
	ranks?: TimelineRanksRow[];
	streams?: TimelineStreamsRow[];
	total_time_ms?: number | null;
	total_time_ps?: number | null;
	cpu_time_ms?: number | null;
	cpu_time_ps?: number | null;
	cuda_time_ms?: number | null;
	cuda_time_ps?: number | null;
	step_count?: number | null;
	step_source?: string | null;
	cpu_active_ms?: number | null;
	cpu_active_ps?: number | null;
	cpu_active_pct?: number | null;
	gpu_active_ms?: number | null;
	gpu_active_ps?: number | null;
	gpu_active_pct?: number | null;
	overlap_ms?: number | null;
	overlap_ps?: number | null;
	overlap_pct?: number | null;
}

export interface KernelsOpsItem {
	op: string | null;
	count: number | null;
	total_ps: number | null;
}

export interface KernelsRow {
	name: string | null;
	kernel_type: string | null;
	category: string | null;
	category_rule: string | null;
	class: string | null;
	device_id: number | null;
	device: string | null;
	host: string | null;
	count: number | null;
	total_ps: number | null;
	mean_ps: number | null;
	min_ps: number | null;
	max_ps: number | null;
	stddev_ps: number | null;
	share_pct: number | null;
	tensor_core: boolean | null;
	occupancy_pct: number | null;
	blocks_per_sm: number | null;
	grid: string | null;
	block: string | null;
	registers_per_thread: number | null;
	shared_memory_bytes: number | null;
	bytes: number | null;
	bytes_per_s: number | null;
	op: string | null;
	op_count: number | null;
	ops: KernelsOpsItem[] | null;
	is_others?: true;
}

export interface Gpu {
	kernel_count?: number | null;
	tensor_core_pct?: number | null;
	occupancy_pct?: number | null;
}

export interface OperatorsByShapeRow {
	name: string | null;
	input_shapes: string | null;
	calls: number | null;
	self_gpu_ps: number | null;
	self_gpu_pct: number | null;
	gpu_ps: number | null;
	self_cpu_ps: number | null;
	cpu_ps: number | null;
	cpu_mean_ps: number | null;
	kernels: number | null;
	flops: number | null;
	flops_dense: number | null;
	flops_per_s: number | null;
	category: string | null;
	dtype: string | null;
	bytes: number | null;
	operational_intensity: number | null;
	bound_by: string | null;
	roofline_efficiency_pct: number | null;
	kernel: string | null;
	is_others?: true;
}

export interface OperatorsByNameRow {
	name: string | null;
	kind: string | null;
	calls: number | null;
	self_gpu_ps: number | null;
	self_gpu_pct: number | null;
	gpu_ps: number | null;
	self_cpu_ps: number | null;
	cpu_ps: number | null;
	cpu_mean_ps: number | null;
	kernels: number | null;
	flops: number | null;
	flops_dense: number | null;
	flops_per_s: number | null;
	category: string | null;
	dtype: string | null;
	bytes: number | null;
	operational_intensity: number | null;
	bound_by: string | null;
	roofline_efficiency_pct: number | null;
	kernel: string | null;
	is_others?: true;
}

export interface OperatorsCategoriesRow {
	category: string | null;
	calls: number | null;
	self_gpu_ps: number | null;
	self_gpu_pct: number | null;
	modelled_pct: number | null;
	flops: number | null;
	bytes: number | null;
	flops_per_s: number | null;
	bytes_per_s: number | null;
	roofline_efficiency_pct: number | null;
	is_others?: true;
}

export interface Operators {
	by_shape?: OperatorsByShapeRow[];
	by_name?: OperatorsByNameRow[];
	categories?: OperatorsCategoriesRow[];
	calls?: number | null;
	self_cpu_ps?: number | null;
	gpu_ps?: number | null;
	outside_gpu_ps?: number | null;
	flops?: number | null;
	flops_utilization_pct?: number | null;
}

export interface RematOpsRow {
	module: string | null;
	name: string | null;
	kind: string | null;
	region: string | null;
	original: string | null;
	occurrences: number | null;
	time_ps: number | null;
	flops: number | null;
	bytes_accessed: number | null;
	kept_bytes: number | null;
	saved_bytes: number | null;
	ms_per_kept_mb: number | null;
	source: string | null;
	op_index: number | null;
	is_others?: true;
}

export interface RematRegionsRow {
	module: string | null;
	region: string | null;
	ops: number | null;
	executions: number | null;
	time_ps: number | null;
	flops: number | null;
	bytes_accessed: number | null;
	saved_bytes: number | null;
	ms_per_saved_mb: number | null;
	source: string | null;
	is_others?: true;
}

export interface Remat {
	ops?: RematOpsRow[];
	regions?: RematRegionsRow[];
	op_count?: number | null;
	time_ps?: number | null;
	flops?: number | null;
	bytes_accessed?: number | null;
	saved_bytes?: number | null;
}

export interface SystolicOpsRow {
	op: string | null;
	module: string | null;
	m: number | null;
	n: number | null;
	k: number | null;
	batch: number | null;
	dtype: string | null;
	flops: number | null;
	occurrences: number | null;
	time_ps: number | null;
	mxu_utilization_pct: number | null;
	fill_pct: number | null;
	limiting_dim: string | null;
	loss_shape_pct: number | null;
	loss_memory_pct: number | null;
	loss_other_pct: number | null;
	estimated_cycles: number | null;
	estimated_ps: number | null;
	mean_ps: number | null;
	bound_by: string | null;
	source: string | null;
	lost_ps: number | null;
	is_others?: true;
}

export interface SystolicModulesRow {
	module: string | null;
	program_id: string | null;
	executions: number | null;
	flops: number | null;
	time_ps: number | null;
	mxu_utilization_pct: number | null;
	is_others?: true;
}

export interface SystolicStepsRow {
	step: number | null;
	flops: number | null;
	time_ps: number | null;
	mxu_utilization_pct: number | null;
	is_others?: true;
}

export interface SystolicDevicesRow {
	device: string | null;
	host: string | null;
	flops: number | null;
	mxu_utilization_pct: number | null;
	mxu_measured_pct: number | null;
	is_others?: true;
}

export interface Systolic {
	ops?: SystolicOpsRow[];
	modules?: SystolicModulesRow[];
	steps?: SystolicStepsRow[];
	devices?: SystolicDevicesRow[];
	mxu_utilization_pct?: number | null;
	mxu_modelled_pct?: number | null;
	mxu_measured_pct?: number | null;
	matrix_time_pct?: number | null;
	matrix_op_utilization_pct?: number | null;
	fill_pct?: number | null;
	loss_shape_pct?: number | null;
	loss_memory_pct?: number | null;
	loss_other_pct?: number | null;
	matrix_ps?: number | null;
	unknown_kernel_count?: number | null;
	unknown_kernel_ps?: number | null;
}

export interface PaddingOpsRow {
	op: string | null;
	module: string | null;
	waste_bytes_pct: number | null;
	waste_flops_pct: number | null;
	waste_ps: number | null;
	suggestion: string | null;
	predicted_gain_ps: number | null;
	self_time_ps: number | null;
	is_others?: true;
}

export interface PaddingArraysRow {
	module: string | null;
	name: string | null;
	shape: string | null;
	logical_bytes: number | null;
	allocated_bytes: number | null;
	waste_pct: number | null;
	uses: number | null;
	time_ps: number | null;
	role: string | null;
	is_others?: true;
}

export interface Padding {
	ops?: PaddingOpsRow[];
	arrays?: PaddingArraysRow[];
	waste_pct?: number | null;
	waste_ps?: number | null;
	logical_bytes?: number | null;
	allocated_bytes?: number | null;
	allocated_waste_pct?: number | null;
}

export interface FusionUnfusedRow {
	producer: string | null;
	consumer: string | null;
	module: string | null;
	reason: string | null;
	bytes: number | null;
	impact_ps: number | null;
	reason_code: string | null;
	reason_name: string | null;
	producer_source: string | null;
	consumer_source: string | null;
	advice: string | null;
	confidence: string | null;
	executions: number | null;
	total_bytes: number | null;
	is_others?: true;
}

export interface FusionKindsRow {
	kind: string | null;
	fusions: number | null;
	ops: number | null;
	executions: number | null;
	saved_bytes: number | null;
	time_ps: number | null;
	is_others?: true;
}

export interface FusionChainsRow {
	module: string | null;
	first: string | null;
	last: string | null;
	ops: number | null;
	executions: number | null;
	time_ps: number | null;
	mean_ps: number | null;
	first_source: string | null;
	last_source: string | null;
	is_others?: true;
}

export interface Fusion {
	unfused?: FusionUnfusedRow[];
	kinds?: FusionKindsRow[];
	chains?: FusionChainsRow[];
	fused_count?: number | null;
	unfused_count?: number | null;
	instructions_per_kernel?: number | null;
	saved_bytes?: number | null;
	unfused_bytes?: number | null;
	unfused_ps?: number | null;
}

export interface MemoryLayoutCopiesRow {
	op: string | null;
	module: string | null;
	producer: string | null;
	consumer: string | null;
	from: string | null;
	to: string | null;
	reason_code: string | null;
	executions: number | null;
	bytes: number | null;
	total_bytes: number | null;
	time_ps: number | null;
	source: string | null;
	reason: string | null;
	advice: string | null;
	confidence: string | null;
	opcode: string | null;
	is_others?: true;
}

export interface MemoryOpsRow {
	op: string | null;
	module: string | null;
	category: string | null;
	executions: number | null;
	hbm_read_bytes: number | null;
	hbm_written_bytes: number | null;
	vmem_read_bytes: number | null;
	vmem_written_bytes: number | null;
	cmem_read_bytes: number | null;
	cmem_written_bytes: number | null;
	host_bytes: number | null;
	time_ps: number | null;
	hbm_bytes_per_s: number | null;
	hbm_pct: number | null;
	bytes_from: string | null;
	source: string | null;
	op_index: number | null;
	hbm_bytes: number | null;
	is_others?: true;
}

export interface MemoryHostLinkRow {
	op: string | null;
	module: string | null;
	category: string | null;
	executions: number | null;
	from_host_bytes: number | null;
	to_host_bytes: number | null;
	time_ps: number | null;
	waited_ps: number | null;
	bytes_per_s: number | null;
	link_pct: number | null;
	source: string | null;
	is_others?: true;
}

export interface MemoryCategoriesRow {
	category: string | null;
	ops: number | null;
	self_time_ps: number | null;
	time_ps: number | null;
	hbm_read_bytes: number | null;
	hbm_written_bytes: number | null;
	bytes_pct: number | null;
	hbm_bytes_per_s: number | null;
	hbm_pct: number | null;
	host_bytes: number | null;
	is_others?: true;
}

export interface MemoryModulesRow {
	module: string | null;
	ops: number | null;
	self_time_ps: number | null;
	time_ps: number | null;
	hbm_read_bytes: number | null;
	hbm_written_bytes: number | null;
	bytes_pct: number | null;
	hbm_bytes_per_s: number | null;
	hbm_pct: number | null;
	host_bytes: number | null;
	is_others?: true;
}

export interface MemorySpacesRow {
	memory: string | null;
	read_bytes: number | null;
	written_bytes: number | null;
	unsplit_bytes: number | null;
	bytes_per_s: number | null;
	peak_bytes_per_s: number | null;
	peak_pct: number | null;
	is_others?: true;
}

export interface MemoryUpcastsRow {
	op: string | null;
	module: string | null;
	consumer: string | null;
	consumers: number | null;
	stored: string | null;
	widened_from: string | null;
	enough: string | null;
	executions: number | null;
	total_bytes: number | null;
	impact_ps: number | null;
	confidence: string | null;
	source: string | null;
	reason: string | null;
	is_others?: true;
}

export interface Memory {
	layout_copies?: MemoryLayoutCopiesRow[];
	ops?: MemoryOpsRow[];
	host_link?: MemoryHostLinkRow[];
	categories?: MemoryCategoriesRow[];
	modules?: MemoryModulesRow[];
	spaces?: MemorySpacesRow[];
	upcasts?: MemoryUpcastsRow[];
	layout_copy_count?: number | null;
	layout_copy_bytes?: number | null;
	layout_copy_ps?: number | null;
	unknown_op_count?: number | null;
	unknown_ps?: number | null;
	hbm_read_bytes?: number | null;
	hbm_written_bytes?: number | null;
	hbm_unsplit_bytes?: number | null;
	hbm_bytes_per_s?: number | null;
	hbm_pct?: number | null;
	peak_bytes?: number | null;
	upcast_count?: number | null;
	upcast_bytes?: number | null;
	upcast_ps?: number | null;
	from_host_bytes?: number | null;
	to_host_bytes?: number | null;
}

export interface RooflineRow {
	kind: string | null;
	step: number | null;
	program_id: string | null;
	module: string | null;
	name: string | null;
	category: string | null;
	occurrences: number | null;
	total_time_ps: number | null;
	self_time_ps: number | null;
	time_pct: number | null;
	self_time_pct: number | null;
	flops_per_s: number | null;
	model_flops_per_s: number | null;
	bytes_per_s: number | null;
	hbm_bytes_per_s: number | null;
	onchip_bytes_per_s: number | null;
	cmem_read_bytes_per_s: number | null;
	cmem_write_bytes_per_s: number | null;
	vmem_read_bytes_per_s: number | null;
	vmem_write_bytes_per_s: number | null;
	operational_intensity: number | null;
	hbm_operational_intensity: number | null;
	bottleneck_operational_intensity: number | null;
	bound_by: string | null;
	optimal_flops_per_s: number | null;
	roofline_efficiency_pct: number | null;
	flops_utilization_pct: number | null;
	hbm_utilization_pct: number | null;
	memory_utilization_pct: number | null;
	source: string | null;
	op_index: number | null;
	is_others?: true;
}

export interface RooflineRidgesRow {
	device_kind: string | null;
	memory: string | null;
	peak_flops_per_s: number | null;
	bytes_per_s: number | null;
	ridge_flops_per_byte: number | null;
	is_others?: true;
}

export interface CustomCallsCallsRow {
	program_id: string | null;
	module: string | null;
	name: string | null;
	target: string | null;
	kernel: string | null;
	occurrences: number | null;
	self_time_ps: number | null;
	time_pct: number | null;
	flops: number | null;
	transcendentals: number | null;
	bytes_accessed: number | null;
	cost_source: string | null;
	flops_per_s: number | null;
	bytes_per_s: number | null;
	roofline_pct: number | null;
	vmem_bytes: number | null;
	source: string | null;
	op_index: number | null;
	is_others?: true;
}

export interface CustomCalls {
	calls?: CustomCallsCallsRow[];
	call_count?: number | null;
	unknown_count?: number | null;
	self_time_ps?: number | null;
	unknown_ps?: number | null;
}

export interface CollectivesRow {
	program_id: string | null;
	module: string | null;
	name: string | null;
	kind: string | null;
	group_size: number | null;
	groups: string | null;
	operand_bytes: number | null;
	output_bytes: number | null;
	bytes: number | null;
	occurrences: number | null;
	total_time_ps: number | null;
	exposed_ps: number | null;
	hidden_ps: number | null;
	hidden_pct: number | null;
	algorithm_bytes_per_s: number | null;
	bus_bytes_per_s: number | null;
	link_bytes_per_s: number | null;
	link_pct: number | null;
	matched_count: number | null;
	mean_skew_ps: number | null;
	max_skew_ps: number | null;
	wait_ps: number | null;
	straggler: string | null;
	straggler_host: string | null;
	straggler_device_id: number | null;
	straggler_last_pct: number | null;
	straggler_cost_ps: number | null;
	straggler_excess_ps: number | null;
	source: string | null;
	op_index: number | null;
	is_others?: true;
}

export interface CollectiveCoresRow {
	device: string | null;
	host: string | null;
	device_id: number | null;
	matched_count: number | null;
	last_count: number | null;
	last_pct: number | null;
	since_step: number | null;
	cost_ps: number | null;
	excess_ps: number | null;
	waited_ps: number | null;
	is_others?: true;
}

export interface ReshardingRow {
	module: string | null;
	op: string | null;
	kind: string | null;
	shape: string | null;
	bytes: number | null;
	axes: string | null;
	op_name: string | null;
	source: string | null;
	spmd_generated: boolean | null;
	from: string | null;
	to: string | null;
	cause: string | null;
	cause_source: string | null;
	cause_op_name: string | null;
	suspicious: boolean | null;
	reason: string | null;
	mend: string | null;
	time_ps: number | null;
	hidden_ps: number | null;
	op_index: number | null;
	is_others?: true;
}

export interface AsyncOpsRow {
	module: string | null;
	name: string | null;
	done: string | null;
	kind: string | null;
	is_async: boolean | null;
	is_host: boolean | null;
	occurrences: number | null;
	interval_ps: number | null;
	exposed_ps: number | null;
	hidden_ps: number | null;
	hidden_pct: number | null;
	bytes: number | null;
	bytes_per_s: number | null;
	between_ps: number | null;
	hidden_by: string | null;
	independent_ps: number | null;
	independent_ops: number | null;
	could_hide: string | null;
	could_hide_source: string | null;
	coverable_ps: number | null;
	source: string | null;
	op_index: number | null;
	is_others?: true;
}

export interface Async {
	ops?: AsyncOpsRow[];
	interval_ps?: number | null;
	exposed_ps?: number | null;
	hidden_ps?: number | null;
	coverable_ps?: number | null;
	async_line_ps?: number | null;
	async_line_interval_ps?: number | null;
}

export interface DcnRow {
	host: number | null;
	device: number | null;
	name: string | null;
	occurrences: number | null;
	stall_ps: number | null;
	observed_ps: number | null;
	bytes: number | null;
	network_latency_us: number | null;
	network_latency_max_us: number | null;
	is_others?: true;
}

export interface SparsecoreCoresRow {
	name: string | null;
	host: string | null;
	device_id: number | null;
	busy_ps: number | null;
	busy_pct: number | null;
	module_count: number | null;
	is_others?: true;
}

export interface SparsecoreOffloadsRow {
	op: string | null;
	done: string | null;
	module: string | null;
	executions: number | null;
	sparsecore_ps: number | null;
	exposed_wait_ps: number | null;
	hidden_ps: number | null;
	tensorcore_estimate_ps: number | null;
	loss_ps: number | null;
	linked_by: string | null;
	source: string | null;
	op_index: number | null;
	is_others?: true;
}

export interface SparsecoreWaitsRow {
	device_id: number | null;
	device: string | null;
	executions: number | null;
	exposed_wait_ps: number | null;
	hidden_ps: number | null;
	exposed_wait_pct: number | null;
	is_others?: true;
}

export interface SparsecoreOpsRow {
	name: string | null;
	category: string | null;
	occurrences: number | null;
	self_time_ps: number | null;
	busy_pct: number | null;
	bytes_accessed: number | null;
	op_index: number | null;
	is_others?: true;
}

export interface Sparsecore {
	cores?: SparsecoreCoresRow[];
	offloads?: SparsecoreOffloadsRow[];
	waits?: SparsecoreWaitsRow[];
	ops?: SparsecoreOpsRow[];
	core_count?: number | null;
	busy_ps?: number | null;
	offload_count?: number | null;
	exposed_wait_ps?: number | null;
	hidden_ps?: number | null;
	loss_ps?: number | null;
	unlinked_ps?: number | null;
}

export interface Streams {
	kernels?: number | null;
	kernels_launched?: number | null;
	kernels_ordered?: number | null;
	calls?: number | null;
	calls_waited?: number | null;
	waits_inferred?: number | null;
	until_ps?: number | null;
}

export interface CriticalPathStepsSpansItem {
	row: string | null;
	device_id: number | null;
	start_ps: number | null;
	dur_ps: number | null;
	kind: string | null;
	op: string | null;
}

export interface CriticalPathPartsRow {
	kind: string | null;
	name: string | null;
	device: string | null;
	host: string | null;
	device_id: number | null;
	path_ps: number | null;
	path_pct: number | null;
	count: number | null;
	is_others?: true;
}

export interface CriticalPathStepsRow {
	step: number | null;
	start_ps: number | null;
	duration_ps: number | null;
	ops_ps: number | null;
	collectives_ps: number | null;
	transfers_ps: number | null;
	host_ps: number | null;
	input_ps: number | null;
	compile_ps: number | null;
	launch_ps: number | null;
	idle_ps: number | null;
	spans: CriticalPathStepsSpansItem[] | null;
	is_others?: true;
}

export interface CriticalPathRun {
	total_ps?: number | null;
	until_ps?: number | null;
	ops_ps?: number | null;
	collectives_ps?: number | null;
	transfers_ps?: number | null;
	host_ps?: number | null;
	input_ps?: number | null;
	compile_ps?: number | null;
	launch_ps?: number | null;
	idle_ps?: number | null;
}

export interface CriticalPath {
	parts?: CriticalPathPartsRow[];
	steps?: CriticalPathStepsRow[];
	run?: CriticalPathRun;
}

export interface CacheFamiliesProgramsItem {
	program_id: string | null;
	first_ps: number | null;
	executions: number | null;
	time_ps: number | null;
	compilations: number | null;
	compile_ps: number | null;
}

export interface CacheFamiliesAxesItem {
	places: string | null;
	values: unknown[] | null;
	buckets: unknown[] | null;
	padded_pct: number | null;
}

export interface CacheCompilationsRow {
	module: string | null;
	start_ps: number | null;
	duration_ps: number | null;
	trace_ps: number | null;
	lower_ps: number | null;
	passes_ps: number | null;
	codegen_ps: number | null;
	wait_ps: number | null;
	outcome: string | null;
	inferred: boolean | null;
	cause: string | null;
	function: string | null;
	source: string | null;
	program_id: string | null;
	thread: string | null;
	host: string | null;
	is_others?: true;
}

export interface CacheFunctionsRow {
	function: string | null;
	calls: number | null;
	hits: number | null;
	compiled: number | null;
	restored: number | null;
	hit_pct: number | null;
	compile_ps: number | null;
	is_others?: true;
}

export interface CacheFamiliesRow {
	name: string | null;
	variants: number | null;
	differs: string | null;
	compilations: number | null;
	recompilations: number | null;
	compile_ps: number | null;
	wait_ps: number | null;
	restored: number | null;
	executions: number | null;
	time_ps: number | null;
	source: string | null;
	parameter_shapes: unknown[] | null;
	bucket_advice: string | null;
	programs: CacheFamiliesProgramsItem[] | null;
	axes: CacheFamiliesAxesItem[] | null;
	is_others?: true;
}

export interface Cache {
	compilations?: CacheCompilationsRow[];
	functions?: CacheFunctionsRow[];
	families?: CacheFamiliesRow[];
	compilation_count?: number | null;
	compilation_ps?: number | null;
	wait_ps?: number | null;
	wait_attributed_ps?: number | null;
	cache_hits?: number | null;
	cache_misses?: number | null;
	cache_hit_pct?: number | null;
	persistent_cache?: string | null;
	persistent_cache_hits?: number | null;
	persistent_cache_misses?: number | null;
	persistent_cache_hit_pct?: number | null;
}

export interface CompileRecompilesRow {
	compile_id: string | null;
	function: string | null;
	source: string | null;
	calls: number | null;
	compile_ps: number | null;
	reason: string | null;
	is_others?: true;
}

export interface CompileGraphBreakPlacesRow {
	source: string | null;
	function: string | null;
	reason: string | null;
	compilations: number | null;
	compile_id: string | null;
	continued_as: string | null;
	count: number | null;
	continued_ps: number | null;
	explanation: string | null;
	hint: string | null;
	stack: string | null;
	known_from: string | null;
	is_others?: true;
}

export interface CompileFusedKernelsRow {
	name: string | null;
	kind: string | null;
	ops_before_fusion: number | null;
	ops: unknown[] | null;
	count: number | null;
	time_ps: number | null;
	is_others?: true;
}

export interface CompileCompilationsRow {
	compile_id: string | null;
	function: string | null;
	source: string | null;
	is_backward: boolean | null;
	time_ps: number | null;
	backend_ps: number | null;
	inductor_ps: number | null;
	codegen_ps: number | null;
	graph_ops: number | null;
	guards: number | null;
	failure: string | null;
	rank: number | null;
	is_others?: true;
}

export interface CompileRegionsRow {
	compile_id: string | null;
	function: string | null;
	source: string | null;
	calls: number | null;
	time_ps: number | null;
	self_time_ps: number | null;
	mean_self_ps: number | null;
	device_time_ps: number | null;
	backward_device_time_ps: number | null;
	kernels: number | null;
	compilations: number | null;
	compile_ps: number | null;
	restarts: number | null;
	first_ps: number | null;
	is_others?: true;
}

export interface CompilePhasesRow {
	phase: string | null;
	count: number | null;
	time_ps: number | null;
	self_time_ps: number | null;
	is_others?: true;
}

export interface Compile {
	recompiles?: CompileRecompilesRow[];
	graph_break_places?: CompileGraphBreakPlacesRow[];
	fused_kernels?: CompileFusedKernelsRow[];
	compilations?: CompileCompilationsRow[];
	regions?: CompileRegionsRow[];
	phases?: CompilePhasesRow[];
	compile_time_ms?: number | null;
	compile_time_ps?: number | null;
	compile_time_from?: string | null;
	ops_before_fusion?: number | null;
	ops_after_fusion?: number | null;
	fusion_ratio?: number | null;
	fused_kernel_runs?: number | null;
	fused_kernel_count?: number | null;
	compiled_device_time_ps?: number | null;
	compiled_device_time_pct?: number | null;
	compile_in_profile_ps?: number | null;
	compiler?: string | null;
	graph_breaks?: number | null;
	recompilations?: number | null;
	compiled_graphs?: number | null;
	region_calls?: number | null;
	forward_calls?: number | null;
	backward_calls?: number | null;
	backward_ps?: number | null;
	graph_calls?: number | null;
	guard_checks?: number | null;
	guard_ps?: number | null;
	runtime_overhead_ps?: number | null;
	cuda_graph_launches?: number | null;
	kernel_launches?: number | null;
}

export interface CompileDevicesRegionsRow {
	compile_id: string | null;
	launches: number | null;
	kernels: number | null;
	device_time_ps: number | null;
	backward_device_time_ps: number | null;
	is_others?: true;
}

export interface CompileDevices {
	regions?: CompileDevicesRegionsRow[];
	outside_device_time_ps?: number | null;
}

export interface CapacityLinesRow {
	source: string | null;
	module: string | null;
	bytes: number | null;
	buffers: number | null;
	largest: string | null;
	is_others?: true;
}

export interface CapacityModulesRow {
	module: string | null;
	program_id: string | null;
	peak_bytes: number | null;
	peak_pct: number | null;
	argument_bytes: number | null;
	output_bytes: number | null;
	alias_bytes: number | null;
	temp_bytes: number | null;
	constant_bytes: number | null;
	reserved_bytes: number | null;
	older_peak_bytes: number | null;
	host_argument_bytes: number | null;
	host_temp_bytes: number | null;
	onchip_peak_bytes: number | null;
	peak_op: string | null;
	peak_source: string | null;
	peak_position: number | null;
	positions: number | null;
	buffers: string | null;
	is_others?: true;
}

export interface CapacityBuffersRow {
	module: string | null;
	op: string | null;
	kind: string | null;
	shape: string | null;
	logical_bytes: number | null;
	bytes: number | null;
	padding_pct: number | null;
	source: string | null;
	framework_op: string | null;
	from_op: string | null;
	to_op: string | null;
	from_position: number | null;
	to_position: number | null;
	is_others?: true;
}

export interface CapacityDonationsRow {
	module: string | null;
	parameter: number | null;
	op: string | null;
	framework_op: string | null;
	output: number | null;
	shape: string | null;
	bytes: number | null;
	is_others?: true;
}

export interface CapacitySitesRow {
	bytes: number | null;
	count: number | null;
	share_pct: number | null;
	kind: string | null;
	device: string | null;
	function: string | null;
	source: string | null;
	callee: string | null;
	file: string | null;
	stack: string | null;
	is_others?: true;
}

export interface CapacitySiteLinesRow {
	source: string | null;
	function: string | null;
	bytes: number | null;
	count: number | null;
	share_pct: number | null;
	file: string | null;
	is_others?: true;
}

export interface Capacity {
	lines?: CapacityLinesRow[];
	modules?: CapacityModulesRow[];
	buffers?: CapacityBuffersRow[];
	donations?: CapacityDonationsRow[];
	sites?: CapacitySitesRow[];
	site_lines?: CapacitySiteLinesRow[];
	donation_bytes?: number | null;
	peak_bytes?: number | null;
	hbm_bytes?: number | null;
	peak_pct?: number | null;
	headroom_bytes?: number | null;
	peak_module?: string | null;
	peak_op?: string | null;
	argument_bytes?: number | null;
	output_bytes?: number | null;
	alias_bytes?: number | null;
	temp_bytes?: number | null;
	reserved_bytes?: number | null;
	held_bytes?: number | null;
	held_objects?: number | null;
	held_device?: string | null;
	held_device_bytes?: number | null;
	held_pct?: number | null;
}

export interface AllocatorsAllocatorsRow {
	allocator: string | null;
	host: string | null;
	peak_bytes: number | null;
	peak_time_ps: number | null;
	capacity_bytes: number | null;
	fragmentation_pct: number | null;
	heap_bytes: number | null;
	reserved_bytes: number | null;
	lifetime_peak_bytes: number | null;
	events: number | null;
	unfreed_bytes: number | null;
	growth_bytes: number | null;
	device: string | null;
	steps: number | null;
	rising_steps: number | null;
	first_step_heap_bytes: number | null;
	last_step_heap_bytes: number | null;
	is_others?: true;
}

export interface AllocatorsAllocationsRow {
	allocator: string | null;
	framework_op: string | null;
	bytes: number | null;
	requested_bytes: number | null;
	count: number | null;
	total_bytes: number | null;
	region: string | null;
	shape: string | null;
	is_others?: true;
}

export interface Allocators {
	allocators?: AllocatorsAllocatorsRow[];
	allocations?: AllocatorsAllocationsRow[];
}

export interface MemoryTimelineAllocatorCallsRow {
	call: string | null;
	host: string | null;
	count: number | null;
	total_time_ps: number | null;
	max_time_ps: number | null;
	in_steps_count: number | null;
	in_steps_time_ps: number | null;
	in_steps_start_ps: number | null;
	in_steps_end_ps: number | null;
	is_others?: true;
}

export interface MemoryTimelineTimelineRow {
	time_ps: number | null;
	allocated_bytes: number | null;
	reserved_bytes: number | null;
	device: string | null;
	host: string | null;
	is_others?: true;
}

export interface MemoryTimelineDevicesRow {
	device: string | null;
	host: string | null;
	peak_bytes: number | null;
	peak_time_ps: number | null;
	peak_step: number | null;
	peak_reserved_bytes: number | null;
	fragmentation_pct: number | null;
	mean_fragmentation_pct: number | null;
	max_reserved_bytes: number | null;
	capacity_bytes: number | null;
	first_bytes: number | null;
	allocated_bytes: number | null;
	reserved_bytes: number | null;
	unknown_bytes: number | null;
	allocations: number | null;
	frees: number | null;
	taken_bytes: number | null;
	steps: number | null;
	rising_steps: number | null;
	first_step_heap_bytes: number | null;
	last_step_heap_bytes: number | null;
	out_of_memory: number | null;
	out_of_memory_bytes: number | null;
	out_of_memory_op: string | null;
	out_of_memory_module: string | null;
	out_of_memory_time_ps: number | null;
	is_others?: true;
}

export interface MemoryTimelineHoldersRow {
	device: string | null;
	host: string | null;
	bytes: number | null;
	peak_pct: number | null;
	count: number | null;
	op: string | null;
	outer_op: string | null;
	module: string | null;
	annotation: string | null;
	source: string | null;
	phase: string | null;
	is_others?: true;
}

export interface MemoryTimelineModulesRow {
	device: string | null;
	host: string | null;
	bytes: number | null;
	peak_pct: number | null;
	count: number | null;
	module: string | null;
	phase: string | null;
	is_others?: true;
}

export interface MemoryTimelineBlocksRow {
	device: string | null;
	host: string | null;
	bytes: number | null;
	count: number | null;
	op: string | null;
	outer_op: string | null;
	module: string | null;
	annotation: string | null;
	source: string | null;
	phase: string | null;
	is_others?: true;
}

export interface MemoryTimelineAllocationsRow {
	device: string | null;
	host: string | null;
	bytes: number | null;
	allocations: number | null;
	total_bytes: number | null;
	mean_lifetime_ps: number | null;
	op: string | null;
	outer_op: string | null;
	module: string | null;
	annotation: string | null;
	source: string | null;
	phase: string | null;
	is_others?: true;
}

export interface MemoryTimelineUnfreedRow {
	device: string | null;
	host: string | null;
	bytes: number | null;
	count: number | null;
	steps: number | null;
	op: string | null;
	outer_op: string | null;
	module: string | null;
	annotation: string | null;
	source: string | null;
	phase: string | null;
	is_others?: true;
}

export interface MemoryTimelineStepsRow {
	device: string | null;
	host: string | null;
	step: number | null;
	peak_bytes: number | null;
	end_bytes: number | null;
	reserved_bytes: number | null;
	taken_bytes: number | null;
	allocations: number | null;
	is_others?: true;
}

export interface MemoryTimeline {
	allocator_calls?: MemoryTimelineAllocatorCallsRow[];
	timeline?: MemoryTimelineTimelineRow[];
	devices?: MemoryTimelineDevicesRow[];
	holders?: MemoryTimelineHoldersRow[];
	modules?: MemoryTimelineModulesRow[];
	blocks?: MemoryTimelineBlocksRow[];
	allocations?: MemoryTimelineAllocationsRow[];
	unfreed?: MemoryTimelineUnfreedRow[];
	steps?: MemoryTimelineStepsRow[];
	source?: string | null;
	device?: string | null;
	peak_memory_mb?: number | null;
	peak_bytes?: number | null;
	allocated_memory_mb?: number | null;
	allocated_bytes?: number | null;
	reserved_memory_mb?: number | null;
	reserved_bytes?: number | null;
	peak_time_ps?: number | null;
	peak_step?: number | null;
	fragmentation_pct?: number | null;
}

export interface HtaCollectivesRow {
	rank: number | null;
	collective: string | null;
	dtype: string | null;
	group: string | null;
	group_size: number | null;
	message_bytes: number | null;
	in_bytes: number | null;
	out_bytes: number | null;
	count: number | null;
	sum_ps: number | null;
	mean_ps: number | null;
	min_ps: number | null;
	max_ps: number | null;
	algorithm_bytes_per_s: number | null;
	bus_bytes_per_s: number | null;
	best_bus_bytes_per_s: number | null;
	is_others?: true;
}

export interface HtaStragglersRow {
	rank: number | null;
	host: string | null;
	collectives: number | null;
	last_count: number | null;
	last_pct: number | null;
	caused_ps: number | null;
	excess_ps: number | null;
	waited_ps: number | null;
	is_others?: true;
}

export interface HtaKernelCategoriesRow {
	category: string | null;
	count: number | null;
	sum_ps: number | null;
	share_pct: number | null;
	is_others?: true;
}

export interface HtaTopKernelsRow {
	name: string | null;
	kernel_type: string | null;
	category: string | null;
	category_rule: string | null;
	count: number | null;
	sum_ps: number | null;
	share_pct: number | null;
	mean_ps: number | null;
	min_ps: number | null;
	max_ps: number | null;
	stddev_ps: number | null;
	sum_us: number | null;
	rank: number | null;
	is_others?: true;
}

export interface HtaRankKernelsRow {
	name: string | null;
	kernel_type: string | null;
	category: string | null;
	category_rule: string | null;
	count: number | null;
	sum_ps: number | null;
	share_pct: number | null;
	mean_ps: number | null;
	min_ps: number | null;
	max_ps: number | null;
	stddev_ps: number | null;
	sum_us: number | null;
	rank: number | null;
	is_others?: true;
}

export interface HtaKernelSequencesRow {
	operator: string | null;
	kernel_count: number | null;
	count: number | null;
	missed: number | null;
	gpu_ps: number | null;
	cpu_ps: number | null;
	kernels: unknown[] | null;
	is_others?: true;
}

export interface HtaIdleRow {
	rank: number | null;
	stream: string | null;
	idle_ps: number | null;
	host_wait_ps: number | null;
	host_wait_pct: number | null;
	kernel_wait_ps: number | null;
	kernel_wait_pct: number | null;
	other_wait_ps: number | null;
	other_wait_pct: number | null;
	host_wait_count: number | null;
	kernel_wait_count: number | null;
	other_wait_count: number | null;
	is_others?: true;
}

export interface HtaQueuesRow {
	rank: number | null;
	stream: string | null;
	changes: number | null;
	mean: number | null;
	stddev: number | null;
	median: number | null;
	p75: number | null;
	max: number | null;
	time_mean: number | null;
	queued_ps: number | null;
	full_ps: number | null;
	full_pct: number | null;
	is_others?: true;
}

export interface HtaLaunchesRow {
	rank: number | null;
	call: string | null;
	count: number | null;
	cpu_sum_ps: number | null;
	cpu_mean_ps: number | null;
	cpu_median_ps: number | null;
	cpu_p90_ps: number | null;
	cpu_p99_ps: number | null;
	cpu_max_ps: number | null;
	gpu_sum_ps: number | null;
	gpu_mean_ps: number | null;
	gpu_median_ps: number | null;
	gpu_p90_ps: number | null;
	gpu_p99_ps: number | null;
	gpu_max_ps: number | null;
	delay_sum_ps: number | null;
	delay_mean_ps: number | null;
	delay_median_ps: number | null;
	delay_p90_ps: number | null;
	delay_p99_ps: number | null;
	delay_max_ps: number | null;
	short_kernels: number | null;
	runtime_outliers: number | null;
	delay_outliers: number | null;
	is_others?: true;
}

export interface HtaRanksRow {
	rank: number | null;
	host: string | null;
	device: string | null;
	gpu_idle_time_pct: number | null;
	compute_time_pct: number | null;
	non_compute_time_pct: number | null;
	communication_time_pct: number | null;
	memory_time_pct: number | null;
	comm_comp_overlap_pct: number | null;
	kernel_count: number | null;
	short_kernel_count: number | null;
	unlaunched_kernel_count: number | null;
	last_step_kernel_count: number | null;
	kernel_ps: number | null;
	idle_ps: number | null;
	compute_ps: number | null;
	communication_ps: number | null;
	memory_ps: number | null;
	exposed_communication_ps: number | null;
	overlap_ps: number | null;
	short_ps: number | null;
	kernel_time_us: number | null;
	idle_time_us: number | null;
	compute_time_us: number | null;
	non_compute_time_us: number | null;
	is_others?: true;
}

export interface HtaKernelTypesRow {
	kernel_type: string | null;
	sum_ps: number | null;
	share_pct: number | null;
	is_others?: true;
}

export interface HtaExact {
	kernel_ps?: number | null;
	idle_ps?: number | null;
	compute_ps?: number | null;
	communication_ps?: number | null;
	memory_ps?: number | null;
	exposed_communication_ps?: number | null;
	overlap_ps?: number | null;
	short_ps?: number | null;
}

export interface HtaHta05 {
	kernel_time_us?: number | null;
	idle_time_us?: number | null;
	compute_time_us?: number | null;
	non_compute_time_us?: number | null;
	gpu_idle_time_pct?: number | null;
	compute_time_pct?: number | null;
	non_compute_time_pct?: number | null;
	comm_comp_overlap_pct?: number | null;
}

export interface Hta {
	collectives?: HtaCollectivesRow[];
	stragglers?: HtaStragglersRow[];
	kernel_categories?: HtaKernelCategoriesRow[];
	top_kernels?: HtaTopKernelsRow[];
	rank_kernels?: HtaRankKernelsRow[];
	kernel_sequences?: HtaKernelSequencesRow[];
	idle?: HtaIdleRow[];
	queues?: HtaQueuesRow[];
	launches?: HtaLaunchesRow[];
	ranks?: HtaRanksRow[];
	kernel_types?: HtaKernelTypesRow[];
	gpu_idle_pct?: number | null;
	rank_count?: number | null;
	gpu_idle_time_pct?: number | null;
	compute_time_pct?: number | null;
	non_compute_time_pct?: number | null;
	communication_time_pct?: number | null;
	memory_time_pct?: number | null;
	comm_comp_overlap_pct?: number | null;
	kernel_count?: number | null;
	short_kernel_count?: number | null;
	unlaunched_kernel_count?: number | null;
	last_step_kernel_count?: number | null;
	exact?: HtaExact;
	hta_0_5?: HtaHta05;
}

export interface HtaCriticalPathKindsRow {
	kind: string | null;
	path_ps: number | null;
	path_pct: number | null;
	parts: number | null;
	slowest_path_ps: number | null;
	slowest_path_pct: number | null;
	slowest_parts: number | null;
	is_others?: true;
}

export interface HtaCriticalPathStepsRow {
	which: string | null;
	rank: number | null;
	step: number | null;
	start_ps: number | null;
	duration_ps: number | null;
	path_ps: number | null;
	path_pct: number | null;
	waits: number | null;
	events: number | null;
	is_others?: true;
}

export interface HtaCriticalPathEachStepRow {
	rank: number | null;
	step: number | null;
	start_ps: number | null;
	duration_ps: number | null;
	path_ps: number | null;
	path_pct: number | null;
	host_operator_ps: number | null;
	runtime_call_ps: number | null;
	launch_delay_ps: number | null;
	kernel_ps: number | null;
	copy_ps: number | null;
	communication_ps: number | null;
	queue_delay_ps: number | null;
	waits: number | null;
	is_others?: true;
}

export interface HtaCriticalPathRowsRow {
	name: string | null;
	kind: string | null;
	path_ps: number | null;
	path_pct: number | null;
	parts: number | null;
	is_others?: true;
}

export interface HtaCriticalPathSlowestRowsRow {
	name: string | null;
	kind: string | null;
	path_ps: number | null;
	path_pct: number | null;
	parts: number | null;
	is_others?: true;
}

export interface HtaCriticalPath {
	kinds?: HtaCriticalPathKindsRow[];
	steps?: HtaCriticalPathStepsRow[];
	each_step?: HtaCriticalPathEachStepRow[];
	rows?: HtaCriticalPathRowsRow[];
	slowest_rows?: HtaCriticalPathSlowestRowsRow[];
}

export interface FlameHottestRow {
	weight: string | null;
	self_ps: number | null;
	share_pct: number | null;
	count: number | null;
	name: string | null;
	caller: string | null;
	is_others?: true;
}

export interface FlameStacksRow {
	name: string | null;
	parent: number | null;
	category: string | null;
	count: number | null;
	cpu_self_ps: number | null;
	cpu_total_ps: number | null;
	device_self_ps: number | null;
	device_total_ps: number | null;
	is_others?: true;
}

export interface FlameModulesRow {
	name: string | null;
	parent: number | null;
	category: string | null;
	count: number | null;
	cpu_self_ps: number | null;
	cpu_total_ps: number | null;
	device_self_ps: number | null;
	device_total_ps: number | null;
	is_others?: true;
}

export interface FlameScopesRow {
	name: string | null;
	parent: number | null;
	category: string | null;
	count: number | null;
	cpu_self_ps: number | null;
	cpu_total_ps: number | null;
	device_self_ps: number | null;
	device_total_ps: number | null;
	is_others?: true;
}

export interface Flame {
	hottest?: FlameHottestRow[];
	stacks?: FlameStacksRow[];
	modules?: FlameModulesRow[];
	scopes?: FlameScopesRow[];
	cpu_time_ps?: number | null;
	cpu_time_ms?: number | null;
	device_time_ps?: number | null;
	cuda_time_ms?: number | null;
	thread_count?: number | null;
}

export interface CountersUtilizationRow {
	host: number | null;
	device: number | null;
	sample: number | null;
	node: number | null;
	name: string | null;
	achieved: number | null;
	peak: number | null;
	unit: string | null;
	percent: number | null;
	modelled: number | null;
	is_others?: true;
}

export interface CountersSeriesRow {
	host: number | null;
	device: number | null;
	name: string | null;
	unit: string | null;
	samples: number | null;
	min: number | null;
	max: number | null;
	mean: number | null;
	first: number | null;
	last: number | null;
	total: number | null;
	is_others?: true;
}

export interface CountersByOpRow {
	op: string | null;
	module: string | null;
	name: string | null;
	unit: string | null;
	mean: number | null;
	modelled: number | null;
	total: number | null;
	cycles_pct: number | null;
	sampled_ps: number | null;
	op_index: number | null;
	is_others?: true;
}

export interface CountersRawRow {
	host: number | null;
	device: number | null;
	sample: number | null;
	name: string | null;
	id: string | null;
	value: number | null;
	description: string | null;
	sets: string | null;
	is_others?: true;
}

export interface CountersUnreadRow {
	host: number | null;
	device: number | null;
	chip: string | null;
	count: number | null;
	is_others?: true;
}

export interface Counters {
	utilization?: CountersUtilizationRow[];
	series?: CountersSeriesRow[];
	by_op?: CountersByOpRow[];
	raw?: CountersRawRow[];
	unread?: CountersUnreadRow[];
	counter_count?: number | null;
	mxu_measured_pct?: number | null;
	mxu_modelled_pct?: number | null;
	hbm_measured_bytes?: number | null;
	hbm_modelled_bytes?: number | null;
	hbm_measured_pct?: number | null;
	throttled_ps?: number | null;
	throttle_lost_ps?: number | null;
}

export interface RatesAsyncRow {
	op: string | null;
	module: string | null;
	executions: number | null;
	span_ps: number | null;
	op_index: number | null;
	is_others?: true;
}

export interface Rates {
	async?: RatesAsyncRow[];
}

export interface PredictionByKindRow {
	kind: string | null;
	count: number | null;
	runs: number | null;
	time_ps: number | null;
	of_core_ps: number | null;
	basis: string | null;
	error_pct: number | null;
	error_count: number | null;
	is_others?: true;
}

export interface PredictionUnknownRow {
	op: string | null;
	module: string | null;
	reason: string | null;
	low_ps: number | null;
	high_ps: number | null;
	is_others?: true;
}

export interface PredictionModulesRow {
	name: string | null;
	step_ps: number | null;
	low_ps: number | null;
	high_ps: number | null;
	unknown_count: number | null;
	measured_ps: number | null;
	bias_pct: number | null;
	is_others?: true;
}

export interface PredictionMeasuredRow {
	kind: string | null;
	count: number | null;
	occurrences: number | null;
	predicted_ps: number | null;
	measured_ps: number | null;
	bias_pct: number | null;
	error_pct: number | null;
	is_others?: true;
}

export interface PredictionOpsRow {
	op: string | null;
	module: string | null;
	kind: string | null;
	occurrences: number | null;
	measured_ps: number | null;
	predicted_ps: number | null;
	estimate_ps: number | null;
	roofline_ps: number | null;
	bias_pct: number | null;
	is_others?: true;
}

export interface PredictionKnownErrorsRow {
	kind: string | null;
	error_pct: number | null;
	count: number | null;
	occurrences: number | null;
	is_others?: true;
}

export interface Prediction {
	by_kind?: PredictionByKindRow[];
	unknown?: PredictionUnknownRow[];
	modules?: PredictionModulesRow[];
	measured?: PredictionMeasuredRow[];
	ops?: PredictionOpsRow[];
	known_errors?: PredictionKnownErrorsRow[];
	chip?: string | null;
	topology?: string | null;
	core_count?: number | null;
	module?: string | null;
	step_ps?: number | null;
	step_low_ps?: number | null;
	step_high_ps?: number | null;
	compute_ps?: number | null;
	dma_ps?: number | null;
	exposed_dma_ps?: number | null;
	host_ps?: number | null;
	exposed_host_ps?: number | null;
	collective_ps?: number | null;
	exposed_collective_ps?: number | null;
	unknown_count?: number | null;
	left_out_trips?: number | null;
	left_out_ps?: number | null;
}

export interface DoctorRangesRow {
	finding: string | null;
	device: number | null;
	start_ps: number | null;
	end_ps: number | null;
	is_others?: true;
}

export interface DoctorKpisRow {
	name: string | null;
	value: number | null;
	unit: string | null;
	band: string | null;
	band_reason: string | null;
	better: string | null;
	good: number | null;
	fair: number | null;
	origin: string | null;
	window: string | null;
	meaning: string | null;
	is_others?: true;
}

export interface Doctor {
	ranges?: DoctorRangesRow[];
	kpis?: DoctorKpisRow[];
	health_score?: number | null;
	ideal_ps?: number | null;
	what_if?: string | null;
}

export interface HeatmapOpsRow {
	op: string | null;
	module: string | null;
	time_ps: number | null;
	mxu_utilization_pct: number | null;
	is_others?: true;
}

export interface Heatmap {
	ops?: HeatmapOpsRow[];
	steps_per_column?: number | null;
	steps?: unknown[] | null;
}

export interface CompareRunsRow {
	run: string | null;
	path: string | null;
	chip: string | null;
	devices: number | null;
	hosts: number | null;
	steps: number | null;
	step_source: string | null;
	time_ps: number | null;
	median_ps: number | null;
	speed_up: number | null;
	speed_up_low: number | null;
	speed_up_high: number | null;
	p_value: number | null;
	effect: number | null;
	u: number | null;
	p_is_exact: boolean | null;
	independent_steps: number | null;
	verdict: string | null;
	is_others?: true;
}

export interface CompareFiguresRow {
	figure: string | null;
	title: string | null;
	better: string | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareBucketsRow {
	bucket: string | null;
	title: string | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareHistogramRow {
	from_ps: number | null;
	to_ps: number | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareModulesRow {
	module: string | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareFindingsRow {
	rule: string | null;
	title: string | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareOpsRow {
	op: string | null;
	category: string | null;
	shape: string | null;
	other_shape: string | null;
	module: string | null;
	framework_op: string | null;
	source: string | null;
	name: string | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareDifferenceRow {
	part: string | null;
	title: string | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareOperatorsRow {
	name: string | null;
	input_shapes: string | null;
	category: string | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareOperatorShapesRow {
	name: string | null;
	input_shapes: string | null;
	category: string | null;
	is_others?: true;
	[of_a_run: string]: unknown;
}

export interface CompareDifferencesRow {
	run: string | null;
	what: string | null;
	baseline: string | null;
	other: string | null;
	comparable: string | null;
	meaning: string | null;
	is_others?: true;
}

export interface CompareGatesRow {
	gate: string | null;
	run: string | null;
	value: number | null;
	limit: number | null;
	state: string | null;
	is_others?: true;
}

export interface Compare {
	runs?: CompareRunsRow[];
	figures?: CompareFiguresRow[];
	buckets?: CompareBucketsRow[];
	histogram?: CompareHistogramRow[];
	modules?: CompareModulesRow[];
	findings?: CompareFindingsRow[];
	ops?: CompareOpsRow[];
	difference?: CompareDifferenceRow[];
	operators?: CompareOperatorsRow[];
	operator_shapes?: CompareOperatorShapesRow[];
	differences?: CompareDifferencesRow[];
	gates?: CompareGatesRow[];
	comparable?: string | null;
	basis?: string | null;
	run_count?: number | null;
	baseline?: string | null;
	verdicts?: Record<string, unknown> | null;
}

export interface CompileModesModesRow {
	mode: string | null;
	run: string | null;
	steps: number | null;
	step_time_ms: number | null;
	speedup: number | null;
	speedup_low: number | null;
	speedup_high: number | null;
	turns: number | null;
	p_value: number | null;
	may_be_chance: boolean | null;
	compile_time_ms: number | null;
	pays_after_steps: number | null;
	graph_breaks: number | null;
	recompilations: number | null;
	fusion_ratio: number | null;
	ops_before_fusion: number | null;
	ops_after_fusion: number | null;
	kernels_a_step: number | null;
	kernel_launches_a_step: number | null;
	cuda_graph_launches: number | null;
	uses_cuda_graphs: boolean | null;
	is_others?: true;
}

export interface CompileModes {
	modes?: CompileModesModesRow[];
	baseline?: string | null;
	fastest_mode?: string | null;
	speedup?: number | null;
	may_be_chance?: boolean | null;
}

export interface ThresholdsThresholdsRow {
	name: string | null;
	value: number | null;
	default: number | null;
	unit: string | null;
	meaning: string | null;
	is_others?: true;
}

export interface Thresholds {
	thresholds?: ThresholdsThresholdsRow[];
}

export interface ExplainWordsRow {
	word: string | null;
	kind: string | null;
	view: string | null;
	page: string | null;
	text: string | null;
	is_others?: true;
}

export interface Explain {
	words?: ExplainWordsRow[];
}

export interface Results {
	steps?: StepsRow[];
	run?: Run | null;
	overview?: Overview;
	capture?: Capture;
	ops?: OpsRow[];
	modules?: ModulesRow[];
	op_cores?: OpCoresRow[];
	time?: Time;
	gaps?: Gaps;
	scopes?: Scopes;
	timeline?: Timeline;
	kernels?: KernelsRow[];
	total_time_ms?: number | null;
	cuda_time_ms?: number | null;
	cpu_time_ms?: number | null;
	gpu?: Gpu;
	operators?: Operators;
	remat?: Remat;
	systolic?: Systolic;
	padding?: Padding;
	fusion?: Fusion;
	memory?: Memory;
	roofline?: RooflineRow[];
	roofline_ridges?: RooflineRidgesRow[];
	custom_calls?: CustomCalls;
	collectives?: CollectivesRow[];
	collective_cores?: CollectiveCoresRow[];
	resharding?: ReshardingRow[];
	async?: Async;
	dcn?: DcnRow[];
	sparsecore?: Sparsecore;
	streams?: Streams;
	critical_path?: CriticalPath;
	cache?: Cache;
	compile?: Compile;
	compile_devices?: CompileDevices;
	capacity?: Capacity;
	allocators?: Allocators;
	memory_timeline?: MemoryTimeline;
	hta?: Hta;
	hta_critical_path?: HtaCriticalPath;
	flame?: Flame;
	counters?: Counters;
	rates?: Rates;
	prediction?: Prediction;
	doctor?: Doctor;
	heatmap?: Heatmap;
	compare?: Compare;
	compile_modes?: CompileModes;
	thresholds?: Thresholds;
	explain?: Explain;
}
