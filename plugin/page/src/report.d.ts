// The report tpusight/1 (docs/analyses) as the page reads it, and what the page makes of it. Every type of the page is here.
// null: unknown; a result that a report does not have is undefined. Tables that are drawn column by column are rows of any names.
import type { ComponentChild, ComponentType } from "preact";
import type uPlot from "uplot";

export type Maybe<T> = T | null | undefined;
export type Range = [from_ps: number, to_ps: number];
export type Cell = any;
export type Row = Record<string, Cell>;

export interface Host {
	name: string;
	file?: Maybe<string>;
}
export interface Device {
	id: number;
	host: string;
	name: string;
	hbm_bytes_per_s?: Maybe<number>;
}
export interface Run {
	run: Maybe<string>;
	session: Maybe<string>;
	duration_ps: Maybe<number>;
	capture_ps?: Maybe<number>;
	hosts?: Host[];
	devices?: Device[];
}
export interface Track {
	device_id: number;
	name: string;
	unit?: Maybe<string>;
	labels: string[];
	slices?: number[]; // start, end, index of its label
	points?: number[]; // time, value
}
export type SliceTrack = Track & { slices: number[] };
export type PointTrack = Track & { points: number[] };
export interface Step extends Row {
	step: number;
	start_ps: number;
	duration_ps: number;
}
export interface Finding {
	id: string;
	severity: Severity;
	title: string;
	evidence: Maybe<string>;
	severity_reason: Maybe<string>;
	gain_ps: Maybe<number>;
	gain_pct: Maybe<number>;
	impact_ps: Maybe<number>;
	impact_pct: Maybe<number>;
	ceiling?: Maybe<string>;
	advice: Maybe<string>;
	code: Maybe<string>;
	confidence: string;
	where?: { op?: Maybe<string>; module?: Maybe<string>; source?: Maybe<string> }[];
	time_ranges?: FindingRange[];
	links?: { xprof?: Maybe<string>; xprof_trace?: Maybe<string>; perfetto_sql?: Maybe<string> };
}
export interface FindingRange {
	finding?: string;
	start_ps: number;
	end_ps: number;
	device?: Maybe<number>;
}
export interface Kpi {
	name: string;
	unit: string;
	value: number | null;
	good: number;
	fair: number | null;
	band: string;
	band_reason?: Maybe<string>;
	better: string;
	window: string;
	meaning: string;
}
export type Severity = "critical" | "warning" | "info";

// A result: single values, tables by their names, what is to be known about them, and where each value comes from.
export interface View {
	notes?: string[];
	provenance?: Record<string, string>;
	[name: string]: Cell;
}
export interface FrameRow {
	name: string;
	parent: number | null;
	category: string;
	count: number;
	cpu_self_ps: number;
	device_self_ps: number;
}

// A figure above its peak: it is null where it stands.
export interface Impossible {
	view: string;
	table: string | null;
	row: number | null;
	item: string | null;
	field: string;
	value: number;
	peak: number;
	cause: string;
}

export interface Report {
	impossible?: Impossible[];
	impossible_count?: number;
	schema: string;
	run: Maybe<Run>;
	notes?: string[];
	provenance?: Record<string, string>;
	overview?: View & { health_score?: Maybe<number>; step_time_ps?: Maybe<Record<string, number>>; host_step_time_ps?: Maybe<Record<string, number>> };
	capture?: View & { verdict?: Maybe<string>; causes: { id: string; what?: Maybe<string> }[] };
	time?: View & { bottleneck?: Maybe<string>; buckets?: Record<string, number>; per_step?: Step[]; total_ps?: Maybe<number>; wall_start_ps?: Maybe<number>; wall_ps?: Maybe<number> };
	doctor?: View & { findings?: Finding[]; ranges?: FindingRange[]; kpis?: Kpi[] };
	flame?: View & { stacks?: FrameRow[]; modules?: FrameRow[]; scopes?: FrameRow[] };
	heatmap?: View & { ops: { op: string; mxu_utilization_pct: (number | null)[] }[]; steps: (number | null)[]; steps_per_column: number };
	fusion?: View & { unfused?: Row[] };
	systolic?: View & { ops?: Row[] };
	steps?: Step[];
	ops?: Row[];
	modules?: Row[];
	kernels?: Row[];
	roofline?: Row[];
	roofline_ridges?: Row[];
	collectives?: Row[];
	collective_cores?: Row[];
	tracks?: Track[];
	padding?: View;
	cache?: View;
	memory?: View;
	memory_timeline?: View;
	capacity?: View;
	allocators?: View;
	hta?: View;
	timeline?: View & { steps?: Step[] };
	operators?: View & { by_name?: Row[]; by_shape?: Row[] };
	compile?: View;
	gaps?: View;
	scopes?: View & { named?: Row[] };
	async?: View;
	remat?: View;
	sparsecore?: View;
	custom_calls?: View;
}
// --- what the page looks at (state.js)

export interface Look {
	view: string;
	run: Maybe<string>;
	host: Maybe<string>;
	device: number | null;
	finding: Maybe<string>;
	range: Range | null;
}
export type SetLook = (change: Partial<Look>) => void;
export interface ListedRun {
	id: string;
	title?: string;
	path?: string;
}
// REPORT is there whenever a view other than the live one is drawn.
export interface PageState {
	report: Report;
	runs: ListedRun[] | undefined;
	look: Look;
	setLook: SetLook;
	theme: string;
	perfetto: Perfetto | null;
}
export interface PageView {
	name: string;
	title: string;
	Draw: ComponentType;
	of?: string[];
	has?: (report: Report) => boolean;
}

// --- what goes on (docs/live.md)

export interface LiveAlert {
	id: number;
	rule: string;
	state: string;
	severity: Severity;
	message?: Maybe<string>;
	evidence?: Maybe<string>;
	advice?: Maybe<string>;
	session?: Maybe<string>;
	for_ms: number;
	time_unix_ms: number;
}
export interface LiveFigures {
	id: number;
	time_unix_ms: number;
	hosts: number;
	sample: number;
	took_ms: number;
	problem?: Maybe<string>;
	metrics: Record<string, number | null>;
	alerts: LiveAlert[];
	services?: (Row & { service: string })[];
}
export interface LiveSample extends LiveFigures {
	type: "sample";
	analysed_ms: number;
}
export interface LiveSession extends LiveFigures {
	type: "session";
	path: string;
	state: string;
	captured_unix_ms?: Maybe<number>;
}
export type LiveEvent = LiveSample | LiveSession | (LiveAlert & { type: "alert" }) | { type: "end" };
export interface LiveCounts {
	sample: number;
	alert: number;
	session: number;
}
// What is known of what goes on: bounded lists, and how many there ever were.
export interface Known {
	sample: LiveSample[];
	alert: LiveAlert[];
	session: LiveSession[];
	counts: LiveCounts;
	end: LiveEvent | null;
	news: LiveAlert[];
	last: number;
}
export interface Watched extends Known {
	state: string;
	paused: boolean;
	pause: () => void;
	waiting: { samples: number; alerts: number };
}

// --- Perfetto

export interface PerfettoTrace {
	file: string;
	path: string;
	host: string | null; // null: it has all hosts
	bytes: number;
	shift_ns: string | null; // from a time of the report to one of the trace; past what a double holds
}
export interface PerfettoRange {
	start: bigint;
	end: bigint;
}
export interface PerfettoCommand {
	id: string;
	args: string[];
}
// What the server has of the run RUN. ERROR: why it is not known.
export interface Perfetto {
	run: string;
	ui: string;
	traces: PerfettoTrace[];
	error?: string;
}
export type OpenState = "opening" | "sent" | "blocked" | "closed" | "silent" | Error;

// --- drawing

export interface Drawing {
	data: uPlot.AlignedData;
	options: Omit<uPlot.Options, "width" | "height">;
}

export interface Weight {
	name: string;
	title: string;
	self: "cpu_self_ps" | "device_self_ps" | "count";
	unit: string;
}
export interface Tree {
	rows: FrameRow[];
	parent: Int32Array;
	depth: Int32Array;
	end: Int32Array;
	self: Float64Array;
	total: Float64Array;
	start: Float64Array;
	all: number;
	depths: number;
	hidden: (i: number) => boolean;
}
export interface Sort {
	column: string | null;
	down: boolean;
}
export type DrawCell = (value: Cell, row: Row) => ComponentChild;
export interface SharesPart {
	name: string;
	value: number;
	color: string;
	key?: string;
}
export interface TableProps {
	name: string;
	rows: Row[];
	columns: string[];
	caption: string;
	sort?: Sort;
	draw?: Record<string, DrawCell>;
	onPick?: (row: Row) => void;
	max?: number;
	empty?: string;
}
// By the names of a result's tables.
export interface TablesProps {
	names?: string[];
	first?: Record<string, string[]>;
	sort?: Record<string, Sort>;
	draw?: Record<string, DrawCell>;
	empty?: Record<string, string>;
	onPick?: (row: Row) => void;
}
