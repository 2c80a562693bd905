/* SPDX-License-Identifier: MIT */
/*
 * When a finding happens, and where a viewer shows it.
 *
 * Times are those that the rule reported, else the first execution of its first op that ran: an
 * example to look at. Links are to what was seen to work in TensorBoard with XProf 2.24: the graph
 * viewer takes module_name and node_name from the address, the trace viewer's own page view_start
 * and view_end in ms of its host's clock (docs/analyses/doctor/doctor.md). The page around the trace
 * viewer does not pass the time on, so that link goes round it. Addresses are relative to
 * TensorBoard's, and to the log directory in which the run was found.
 */
#include "analysis/doctor/doctor.h"

#include "base/check.h"
#include "base/order.h"

#define MARGIN 0.05 /* of a range, shown on either side of it */

/* RFC 3986: all but the unreserved characters. */
static void doctor_places_put_escaped(struct ts_buf *out, struct ts_bytes text)
{
	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = text.p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    (c != 0 && strchr("-._~", c)))
			ts_buf_putc(out, (char)c);
		else
			ts_buf_printf(out, "%%%02X", c);
	}
}

static struct ts_bytes doctor_places_keep(struct ts_doctor *doctor, struct ts_buf *text)
{
	struct ts_bytes kept = ts_arena_copy(&doctor->result->owner->arena, ts_buf_bytes(text));

	doctor->failed |= text->failed || !kept.p;
	ts_buf_release(text);
	return kept;
}

/* "run=R&tag=TAG&host=H", escaped once. */
static void put_query(struct ts_buf *out, const struct ts_profile *profile, const char *tag,
		      uint32_t host)
{
	struct ts_buf run = TS_BUF_INIT;

	/* As TensorBoard names it: below the log directory, without plugins/profile. */
	if (profile->run.n > 0 && !ts_bytes_is(profile->run, ".")) {
		ts_buf_put(&run, profile->run);
		ts_buf_putc(&run, '/');
	}
	ts_buf_put(&run, profile->session);
	ts_buf_puts(out, "run=");
	doctor_places_put_escaped(out, ts_buf_bytes(&run));
	ts_buf_puts(out, "&tag=");
	doctor_places_put_escaped(out, ts_bytes_of(tag));
	ts_buf_puts(out, "&host=");
	doctor_places_put_escaped(out, profile->hosts[host].name);
	out->failed |= run.failed;
	ts_buf_release(&run);
}

/* The module as XProf lists it: with the program's id. */
static struct ts_bytes graph_link(struct ts_doctor *doctor, const struct ts_op *op, uint32_t host)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	const struct ts_hlo_module *module;
	struct ts_buf link = TS_BUF_INIT, name = TS_BUF_INIT;

	if (!op || op->module >= profile->nr_modules || !op->has_program)
		return (struct ts_bytes){ NULL, 0 };
	module = &profile->modules[op->module];
	ts_buf_put(&name, module->name);
	ts_buf_printf(&name, "(%" PRIu64 ")", op->program_id);
	ts_buf_putc(&link, '?');
	put_query(&link, profile, "graph_viewer", host);
	ts_buf_puts(&link, "&module_name=");
	doctor_places_put_escaped(&link, ts_buf_bytes(&name));
	ts_buf_puts(&link, "&node_name=");
	doctor_places_put_escaped(&link, op->name);
	ts_buf_puts(&link, "#profile");
	link.failed |= name.failed;
	ts_buf_release(&name);
	return doctor_places_keep(doctor, &link);
}

/* What the host's clock began later than the run's: XProf counts from the host's own start. */
static double lag_ms(const struct ts_profile *profile, uint32_t host)
{
	int64_t start = profile->hosts[host].start_unix_ns;

	if (start == TS_UNKNOWN || profile->start_unix_ns == TS_UNKNOWN)
		return 0;
	return (double)ts_i64_sub(start, profile->start_unix_ns) * 1e-6;
}

/* XProf opens no trace in JSON. */
static struct ts_bytes trace_link(struct ts_doctor *doctor, const struct ts_when *when,
				  uint32_t host)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	double start = (double)when->start_ps * 1e-9 - lag_ms(profile, host);
	double end = (double)when->end_ps * 1e-9 - lag_ms(profile, host);
	double margin = (end - start) * MARGIN;
	struct ts_buf link = TS_BUF_INIT, data = TS_BUF_INIT;

	if (profile->hosts[host].trace_ps != TS_UNKNOWN)
		return (struct ts_bytes){ NULL, 0 };
	ts_buf_puts(&data, "/data/plugin/profile/data?");
	put_query(&data, profile, "trace_viewer@", host);
	ts_buf_puts(&link, "data/plugin/profile/trace_viewer_index.html?is_streaming=true"
			   "&is_oss=true&trace_data_url=");
	doctor_places_put_escaped(&link, ts_buf_bytes(&data));
	ts_buf_printf(&link, "&view_start=%.6f&view_end=%.6f", fmax(start - margin, 0),
		      fmax(end + margin, 0));
	link.failed |= data.failed;
	ts_buf_release(&data);
	return doctor_places_keep(doctor, &link);
}

/* SQL knows one escape: the quote, twice. */
static void doctor_places_put_quoted(struct ts_buf *out, struct ts_bytes text)
{
	ts_buf_putc(out, '\'');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\'')
			ts_buf_putc(out, '\'');
		ts_buf_putc(out, (char)text.p[i]);
	}
	ts_buf_putc(out, '\'');
}

static const struct ts_op_fact *first_that_ran(const struct ts_doctor *doctor,
					       const struct ts_finding *finding)
{
	for (size_t i = 0; i < finding->nr_where; i++) {
		const struct ts_op_fact *fact =
			ts_doctor_fact(doctor, finding->where[i].module, finding->where[i].op);

		if (fact && fact->first_end_ps > fact->first_start_ps)
			return fact;
	}
	return NULL;
}

/* As a click shows it: args of a JSON trace stand under "args", those of Perfetto's own form under "debug". */
#define ARG(key)                                      \
	"coalesce(extract_arg(arg_set_id, 'args." key \
	"'), extract_arg(arg_set_id, 'debug." key "'))"

/* What a GPU ran may stand in a trace a second time, as render stages, which have no args of ours. */
#define NOT_TWICE                                                 \
	" and track_id not in (select id from track where type = " \
	"'gpu_render_stage')"

static const struct ts_op *doctor_places_op_at(const struct ts_doctor *doctor,
					       const struct ts_where *where)
{
	const struct ts_profile *profile = doctor->ctx->profile;

	return where->op_index < profile->nr_ops ? &profile->ops[where->op_index] : NULL;
}

static bool is_same_program(const struct ts_doctor *doctor, const struct ts_where *a,
			    const struct ts_where *b)
{
	const struct ts_op *x = doctor_places_op_at(doctor, a), *y = doctor_places_op_at(doctor, b);
	uint64_t p = x && x->has_program ? x->program_id : 0;
	uint64_t q = y && y->has_program ? y->program_id : 0;

	return p == q && ts_bytes_eq(a->module, b->module);
}

/* The first place of those before END that is of the same program as END, and with BY_NAME of the same op. */
static size_t first_like(const struct ts_doctor *doctor, const struct ts_where *where, size_t end,
			 bool by_name)
{
	size_t i = 0;

	while (i < end && (!is_same_program(doctor, &where[i], &where[end]) ||
			   (by_name && !ts_bytes_eq(where[i].op, where[end].op))))
		i++;
	return i;
}

/* The ops of the program to which place FIRST belongs, each name once. */
static void doctor_places_put_program(struct ts_buf *sql, const struct ts_doctor *doctor,
				      const struct ts_finding *finding, size_t first)
{
	const struct ts_where *where = finding->where;
	const struct ts_op *op = doctor_places_op_at(doctor, &where[first]);

	ts_buf_puts(sql, "name in (");
	for (size_t i = first; i < finding->nr_where; i++) {
		if (first_like(doctor, where, i, false) != first ||
		    first_like(doctor, where, i, true) != i)
			continue;
		ts_buf_puts(sql, i > first ? ", " : "");
		doctor_places_put_quoted(sql, where[i].op);
	}
	ts_buf_putc(sql, ')');
	if (where[first].module.n > 0) {
		ts_buf_puts(sql, " and " ARG("hlo_module") " = ");
		doctor_places_put_quoted(sql, where[first].module);
	} else {
		ts_buf_puts(sql, NOT_TWICE);
	}
	if (op && op->has_program)
		ts_buf_printf(sql, " and " ARG("program_id") " = '%" PRIu64 "'", op->program_id);
}

/*
 * Rows that the query page makes clickable: id, ts, dur, track_id. Ops by their names in their program, as other
 * programs have ops of the same names; what is not about ops that ran by the slices of ours that carry the
 * finding's id.
 */
static struct ts_bytes slices_sql(struct ts_doctor *doctor, const struct ts_draft *draft)
{
	const struct ts_finding *finding = &draft->finding;
	struct ts_buf sql = TS_BUF_INIT;

	ts_buf_puts(&sql, "select id, ts, dur, track_id, name from slice where ");
	if (draft->nr_ranges == 0 && first_that_ran(doctor, finding)) {
		for (size_t i = 0; i < finding->nr_where; i++) {
			if (first_like(doctor, finding->where, i, false) != i)
				continue;
			ts_buf_puts(&sql, i ? " or " : "");
			doctor_places_put_program(&sql, doctor, finding, i);
		}
	} else {
		ts_buf_puts(&sql, "category = 'tpusight' and " ARG("finding") " = ");
		doctor_places_put_quoted(&sql, finding->id);
	}
	ts_buf_puts(&sql, " order by ts");
	return doctor_places_keep(doctor, &sql);
}

TS_ORDER(doctor_places_by_start, struct ts_when, TS_UP(start_ps) TS_UP(device) TS_UP(end_ps))

static size_t copy_ranges(const struct ts_doctor *doctor, const struct ts_draft *draft,
			  struct ts_when *when)
{
	size_t nr = 0;

	for (size_t i = 0; i < doctor->nr_ranges && nr < draft->nr_ranges; i++) {
		const struct ts_range *range = &doctor->ranges[i];

		if (range->draft == draft->serial)
			when[nr++] = (struct ts_when){ range->device, false, range->start_ps,
						       range->end_ps };
	}
	return nr;
}

static void doctor_places_put_times(struct ts_doctor *doctor, struct ts_draft *draft)
{
	const struct ts_op_fact *fact = first_that_ran(doctor, &draft->finding);
	size_t nr = draft->nr_ranges ? draft->nr_ranges : fact != NULL;
	struct ts_when *when =
		ts_arena_array(&doctor->result->owner->arena, TS_MAX(nr, 1), sizeof(*when));

	if (!when) {
		doctor->failed = true;
		return;
	}
	if (draft->nr_ranges == 0 && fact)
		when[0] = (struct ts_when){ fact->first_device, true, fact->first_start_ps,
					    fact->first_end_ps };
	else
		nr = copy_ranges(doctor, draft, when);
	TS_ASSERT(nr <= TS_MAX_RANGES);
	TS_SORT(when, nr, doctor_places_by_start);
	draft->finding.when = when;
	draft->finding.nr_when = nr;
}

/* The longest time there is: where the most can be seen of it. */
static const struct ts_when *doctor_places_longest(const struct ts_finding *finding)
{
	const struct ts_when *best = NULL;

	for (size_t i = 0; i < finding->nr_when; i++) {
		const struct ts_when *when = &finding->when[i];

		if (!best || when->end_ps - when->start_ps > best->end_ps - best->start_ps)
			best = when;
	}
	return best;
}

static void put_links(struct ts_doctor *doctor, struct ts_draft *draft)
{
	struct ts_finding *finding = &draft->finding;
	const struct ts_profile *profile = doctor->ctx->profile;
	const struct ts_when *when = doctor_places_longest(finding);
	const struct ts_op_fact *fact = first_that_ran(doctor, finding);
	uint32_t host = 0;

	if (when && when->device < profile->nr_devices)
		host = profile->devices[when->device].host;
	finding->links.perfetto_sql = slices_sql(doctor, draft);
	if (profile->session.n == 0 || host >= profile->nr_hosts)
		return; /* not from a log directory: no viewer serves it */
	if (when)
		finding->links.xprof_trace = trace_link(doctor, when, host);
	if (fact)
		finding->links.xprof = graph_link(doctor, ts_fact_op(doctor, fact), host);
}

void ts_doctor_places(struct ts_doctor *doctor)
{
	for (size_t i = 0; i < doctor->nr_drafts && !doctor->failed; i++) {
		doctor_places_put_times(doctor, &doctor->drafts[i]);
		put_links(doctor, &doctor->drafts[i]);
	}
}
