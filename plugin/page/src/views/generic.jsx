// A view as the report has it: its single values, then its tables. What has a drawing of its own draws it above.
import { h } from "preact";
import { title } from "../format.js";
import { columnsOf, Facts, Missing, Notes } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { Table } from "../table.jsx";

const LEAVE = ["op_index", "device_id", "straggler_device_id"]; // for programs, not for people

// FIRST: table -> columns that come first; SORT: table -> {column, down}.
export function Tables({ view, names, first = {}, sort = {}, draw = {}, onPick }) {
	const { report, look } = usePage();
	const all = names ?? Object.keys(view ?? {}).filter((n) => Array.isArray(view[n]) && n !== "notes");
	return all.map((n) => {
		const rows = inSight(view?.[n], look, report);
		return rows.length && typeof rows[0] === "object" ? <Table key={n} name={n} caption={title(n)} rows={rows} columns={columnsOf(rows, first[n], LEAVE)} sort={sort[n]} draw={draw} onPick={onPick} /> : null;
	});
}

export function Generic({ name, what, skip, children, ...tables }) {
	const { report } = usePage();
	const view = report[name];
	if (!view) return <Missing what={what ?? name} />;
	return (
		<div>
			<Facts view={view} skip={skip} />
			{children}
			<Tables view={view} {...tables} />
			<Notes view={view} />
		</div>
	);
}
