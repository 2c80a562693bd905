// SPDX-License-Identifier: MIT
// The report tpusight/1 (docs/analyses) as the page reads it, and what the page makes of it. What the program declares of it is
// results.d.ts, which `make schema` writes: results, rows and their names come from there. Every other type of the page is here.
// null: unknown; a result that a report does not have is undefined. Tables that are drawn column by column are rows of any names.
import type { ComponentChild, ComponentType } from "preact";
import type uPlot from "uplot";
import type { Compare, CompareRunsRow, CompileModes, HtaCriticalPathStepsRow, DoctorKpisRow, DoctorRangesRow, FlameStacksRow, HeatmapOpsRow, Results, Run as DeclaredRun, RunDevicesItem, RunHostsItem, StepsRow } from "./results.js";
import type { TimeScale } from "./timescale.js";

export type Maybe<T> = T | null | undefined;
export type Range = [from_ps: number, to_ps: number];
export type Cell = any;
export type Row = Record<string, Cell>;

// Declared figures may be null; these never are.
type Only<T, K extends keyof T> = { [P in K]-?: NonNullable<T[P]> };
type Sure<T, K extends keyof T> = Omit<T, K> & Only<T, K>;
// A result by the names that it is declared with: what its fields and rows hold, the page asks where it draws them.
type Named<T> = T extends unknown[] ? Row[] : { [K in keyof T]: NonNullable<T[K]> extends unknown[] ? Row[] : Cell } & Told;
// The same, of which the page knows more.
type Shaped<T, Own> = Omit<Named<NonNullable<T>>, keyof Own> & Own;
// What each result may have beside them: what is to be known about it, and where each value comes from.
interface Told {
	notes?: string[];
	provenance?: Record<string, string>;
}
export type Host = Sure<RunHostsItem, "name">;
export type Device = Sure<RunDevicesItem, "id" | "host" | "name">;
export type Run = Omit<DeclaredRun, "hosts" | "devices"> & { hosts?: Host[]; devices?: Device[] };
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
// Of any of the tables of steps. The sum of those that are not listed has "154 others" for a step, and no start.
export type Step = Row & Only<StepsRow, "step" | "start_ps" | "duration_ps">;
export interface Finding {
	id: string;
	rule?: string;
	severity: Severity;
	title: string;
	evidence: Maybe<string>;
	severity_reason: Maybe<string>;
	gain_ps: Maybe<number>;
	gain_pct: Maybe<number>;
	gain_alone_ps?: Maybe<number>;
	gain_low_ps?: Maybe<number>;
	gain_high_ps?: Maybe<number>;
	kind?: "cause" | "headroom";
	cause?: Maybe<{ kind: string; device?: Maybe<string>; host?: Maybe<string>; thread?: Maybe<string>; op?: Maybe<string>; event?: Maybe<string>; chain: string[] }>;
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
export type FindingRange = Sure<Partial<DoctorRangesRow>, "start_ps" | "end_ps"> & {
	example?: boolean; // one of several like it
};
export type Kpi = Sure<DoctorKpisRow, "name" | "unit" | "band" | "better" | "good" | "origin" | "window" | "meaning">;
export type Severity = "critical" | "warning" | "info";

// A result of any name, with its single values, and its tables by their names.
export interface View extends Told {
	[name: string]: Cell;
}
// Of a step: the one of median length, the slowest, or the only one.
export type CriticalStep = Sure<HtaCriticalPathStepsRow, "duration_ps" | "path_ps" | "path_pct" | "waits"> & { which: "median" | "slowest" | "only" };
export type HtaCriticalPath = Shaped<Results["hta_critical_path"], { steps?: CriticalStep[]; each_step?: Step[] }>;
export type FrameRow = Pick<FlameStacksRow, "parent"> & Only<FlameStacksRow, "name" | "category" | "count" | "cpu_self_ps" | "device_self_ps">;

// A figure above its peak: it is null where it stands.
export interface Impossible {
	view: string;
	table: string | null;
	row: number | null;
	item: string | null;
	item_index?: number; // of a list
	field: string;
	value: number;
	peak: number;
	cause: string;
}

// As it is declared, but for what the page knows more of.
type Declared = { [R in keyof Results]?: Named<NonNullable<Results[R]>> };
interface Own extends Told {
	part?: Row; // what was chosen of the run, where the report is of that alone
	impossible?: Impossible[];
	impossible_count?: number;
	schema: string;
	run: Maybe<Run>;
	capture?: Shaped<Results["capture"], { causes: Row[] }>;
	time?: Shaped<Results["time"], { per_step?: Step[] }>;
	doctor?: Shaped<Results["doctor"], { findings?: Finding[]; ranges?: FindingRange[]; kpis?: Kpi[] }>;
	flame?: Shaped<Results["flame"], { stacks?: FrameRow[]; modules?: FrameRow[]; scopes?: FrameRow[] }>;
	heatmap?: Shaped<Results["heatmap"], { ops: (Only<HeatmapOpsRow, "op"> & Pick<HeatmapOpsRow, "module"> & { mxu_utilization_pct: (number | null)[] })[]; steps: (number | null)[]; steps_per_column: number }>;
	steps?: Step[];
	tracks?: Track[];
	hta_critical_path?: HtaCriticalPath;
	timeline?: Shaped<Results["timeline"], { steps?: Step[] }>;
	compare?: Compared;
	compile_modes?: Modes;
}
export type Report = Omit<Declared, keyof Own> & Own;

// One program in several modes of its compiler (docs/analyses/compile/compile.md).
export type Modes = Named<CompileModes>;

// Several runs, the first being the baseline (docs/compare.md). Columns of run K are named run_K...
export type Compared = Shaped<Compare, {
	basis: "step" | "wall";
	runs: (Row & Sure<CompareRunsRow, "run" | "path">)[];
	modes?: Modes; // tpusight compile made the page
}>;

// --- what the page looks at (state.js)

export interface Look {
	view: string;
	run: string | null; // its name (runName)
	compared: string[]; // runs
	op: string | null; // MODULE/NAME
	host: Maybe<string>;
	device: number | null;
	finding: Maybe<string>;
	range: Range | null;
}
export type SetLook = (change: Partial<Look>) => void;
export type Choice = string | number | boolean | null | (string | number)[];
export type Chosen = Map<string, string>;
type Chooser<T> = [T, (next: T | ((now: T) => T)) => void];
export interface UseChoice {
	(key: string, first: string): Chooser<string>;
	(key: string, first: number): Chooser<number>;
	(key: string, first: boolean): Chooser<boolean>;
	(key: string, first: string[]): Chooser<string[]>;
}
export interface Choices {
	get: (key: string) => string | undefined;
	set: (key: string, text: string | null) => void;
	listen: (key: string, on: () => void) => () => void;
}
export interface ListedRun {
	id: string;
	title?: string;
	path?: string;
	hosts?: string[];
	program?: Maybe<string>;
	has_events?: boolean;
	is_predicted?: Maybe<boolean>;
	when_unix_ms?: Maybe<number>;
	step_median_ps?: Maybe<number>;
	spark?: number[];
}
// REPORT is there whenever a view other than the live one is drawn: of what is chosen of the run where a server was asked for that, else of the WHOLE run.
export interface PageState {
	report: Report;
	whole: Report;
	comparison: Compared | null; // that the file holds, in place of a report
	runs: ListedRun[] | undefined;
	look: Look;
	setLook: SetLook;
	choices: Choices;
	scale: TimeScale;
	link: () => string; // to all that is chosen
	theme: string;
	perfetto: Perfetto | null;
}
export interface PageView {
	name: string;
	place: string;
	title: string;
	Draw: ComponentType;
	of?: string[];
	isOfEvents?: boolean; // it asks for what is chosen by itself, and needs no report of that
	isTimeless?: boolean; // nothing in it is drawn over time
	has?: (report: Report) => boolean;
	lacks?: (report: Report) => boolean;
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

// Values over time hold from one of TIMES (ps) to the next.
export interface TimePart {
	name: string;
	color: string;
	values: number[];
}
export interface TimeLine {
	name: string;
	color: string;
	values: Maybe<number>[];
	fill?: boolean;
	dash?: number[];
}
export interface TimeBand {
	name: string;
	color: string;
	low: Maybe<number>[];
	mean: Maybe<number>[];
	high: Maybe<number>[];
}
export interface TimeChartProps {
	label: string;
	times: number[];
	parts?: TimePart[];
	bands?: TimeBand[];
	lines?: TimeLine[];
	top?: number;
	peak?: { value: number; name: string } | null;
	mark?: { at: number; value: number; name: string } | null;
	axis: (u: unknown, values: number[]) => string[];
	say: (index: number, at_ps: number) => string[];
	height?: number;
	whole?: boolean; // of the whole capture, whatever is chosen
}
export interface LaneRow {
	name: string;
	slices: number[]; // start, end, kind: in the order of their starts, one behind the other
	color: (kind: number) => string;
	text: (kind: number, at: number, near: number) => string; // AT: where the pointer is; NEAR: how far from it is meant too, both in ps
}

// --- pictures of the timeline (docs/serving.md)

export interface PictureLane {
	kind: string;
	host: string;
	device: number | null;
	name: string;
	slices: number[]; // start since from_ps, length, class, name, events
}
export interface Picture {
	from_ps: number;
	to_ps: number;
	classes: (string | null)[];
	names: string[];
	modules: (string | null)[];
	lanes: PictureLane[];
	left_out: number; // lanes
}
// What a file has of them.
export interface KeptPicture {
	kind: "whole" | "mean" | "slowest";
	step: number | null;
	host: string;
	picture: Picture;
}
export interface Lanes {
	picture: Picture;
	classes: (string | null)[]; // that some slice has
	rows: Map<string, { lane: PictureLane; slices: Float64Array }>;
}
export interface TimelineRow {
	key: string;
	kind: string;
	host: string;
	device: number | null;
	name: string;
	label: string; // in front of the row
	level: number; // in the tree
	fold: string | null; // what opens and shuts it; null: nothing is below it
	open: boolean;
	isFirst: boolean; // of its device, or of the threads
}
export interface PathSpan {
	key: string; // of its row
	start_ps: number;
	end_ps: number;
	kind: string;
	name: string | null;
}
// Time of a device in which nothing ran: its class, and what the host was in.
export interface Gap {
	start: number;
	end: number;
	bucket: string;
	event: string | null;
	thread: string | null;
	ended: string | null;
}
export type CriticalPathSteps = Row[];
export interface SeenPath {
	of: string;
	total: number;
	parts: { words: string; ps: number }[];
	missing: string | null;
}
export interface SeenSlice extends Row {
	row: string;
	kind: string; // of the row
	name: string | null; // null: several
	module: string | null;
	class: string | null;
	start_ps: number;
	duration_ps: number;
	events: number;
}

// What the overview draws (overview.js).
export interface TopOp {
	op: OpName;
	says: string;
	self_ps: number;
	share: number | null;
	bucket: string | null;
	parts: { bucket: string; share: number }[]; // of its own time
}
export interface StepBin {
	from: number;
	to: number;
	count: number;
}
export interface SlowStep {
	step: Step;
	excess: number | null; // over the median, in percent
	isSlow: boolean; // the report lists it as one that differs
	reason: string | null;
}

// A chip of a pod (pod.js); a figure is null where the report does not have it.
export interface Chip {
	id: number;
	host: string;
	shortHost: string;
	name: string;
	work_ps: number | null;
	waited_ps: number | null;
	communication_ps: number | null;
	duty_cycle_pct: number | null;
	mxu_utilization_pct: number | null;
	peak_bytes: number | null;
	memory_pct: number | null;
	late: Row | null;
}
export interface Measure {
	key: "work_ps" | "waited_ps" | "communication_ps" | "duty_cycle_pct" | "mxu_utilization_pct" | "memory_pct";
	title: string;
	says: string;
	most?: number;
}
export interface Arrival {
	host: string;
	name: string;
	early: number;
	excess: number; // what the others wait for its chips alone, ps
	chips: { chip: Chip; early: number }[];
}

// A product on the matrix unit (array.js).
export interface ArraySide {
	name: string;
	size: number;
	stored: number;
}
export interface ArrayTiles {
	d: number;
	stream: ArraySide;
	columns: ArraySide;
	depth: ArraySide;
	across: number;
	down: number;
	full: number;
	edge: number;
	batch: number;
	fill: number;
}
export interface Dot {
	x: number;
	y: number;
	radius: number;
	color: string;
	edge: string;
}

// On a roofline (roofline.js).
export interface RooflineOp {
	row: Row;
	x: number;
	y: number;
	time_ps: number;
}
export interface Roof {
	kind: string;
	memory: string;
	rate: number;
	peak: number;
	ridge: number;
}
export interface Without {
	why: string;
	count: number;
	time_ps: number;
	share_pct: number;
}

// An array as it is stored (layout.js).
export interface StoredSide {
	size: number;
	stored: number;
	tile: number;
	dimension: number | null;
}
export interface StoredShape {
	type: string;
	sizes: number[];
	columns: StoredSide;
	rows: StoredSide;
	planes: number;
}
export interface StoredArray {
	shape: string;
	count: number;
	logical: number;
	allocated: number;
	names: OpName[];
}
// Ops in columns (graph.js); an op is called by its module and name.
export interface GraphEdge {
	row: Row;
	from: string;
	to: string;
	out: number; // where it leaves the side of its op, 0 to 1
	into: number;
}
export interface Graph {
	edges: GraphEdge[];
	places: Map<string, { x: number; y: number }>;
	columns: number;
	rows: number;
}
export interface HeldPart {
	name: string;
	bytes: number;
	values: number[];
}

export interface OpName {
	module: string;
	name: string;
}
export interface Hit {
	kind: string;
	name: string;
	hint: string;
	change: Partial<Look>;
	choices?: Record<string, string>;
}
export interface Edge {
	op: OpName;
	bytes: number | null;
	why: Maybe<string>;
}
// Where a finding is. AT: when it happens, if that is once; MORE: ops that it names beside this one.
export interface Place {
	op: OpName | null;
	line: OpName | null; // the op that stands at .source
	source: string | null;
	device: number | null;
	host: string | null;
	who: string | null;
	since: number | null;
	what: string | null;
	more: number;
	at?: number;
}

export interface KnownOp extends OpName {
	row: Row;
	share_pct: number | null;
	mean_ps: number | null;
	roofline?: Row;
	systolic?: Row;
	padding?: Row;
	memory?: Row;
	async?: Row;
	collective?: Row;
	buffers: Row[];
	producers: Edge[];
	consumers: Edge[];
	findings: Finding[];
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
	of?: string; // where it stands in the report, if not under its name alone
	rows: Row[];
	columns: string[];
	caption: string;
	label?: string; // what it is called where its heading is not seen above it: the caption alone, if no other table of the view has it
	sort?: Sort;
	draw?: Record<string, DrawCell>;
	labels?: Record<string, string>;
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
	under?: string; // the heading above them
}
