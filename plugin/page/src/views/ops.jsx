// SPDX-License-Identifier: MIT
// All ops in one table, their kinds first: what most of them are is said by that, and not by their numbers.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { columnsOf, Missing } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { Table } from "../table.jsx";

const FIRST = ["category", "name", "source", "self_time_ps", "bucket", "bound_by", "mxu_utilization_pct", "hbm_bytes_per_s", "padding_waste_pct", "flops", "bytes_accessed", "total_time_ps", "occurrences", "is_remat", "framework_op", "module"];
const LEAVE = ["op_index", "program_id", "first_device", "first_start_ps", "first_end_ps", "exclusive_ps"];

export function Ops() {
	const { report, look } = usePage();
	const rows = useMemo(() => inSight(report.ops, look, report), [report, look]);
	const columns = useMemo(() => columnsOf(rows, FIRST, LEAVE), [rows]);
	if (!report.ops?.length) return <Missing what="ops" />;
	return <Table name="ops" of="ops" caption="Operations" rows={rows} columns={columns} sort={{ column: "self_time_ps", down: true }} max={26} empty="No op ran in what is chosen." />;
}
