/* SPDX-License-Identifier: MIT */
/* What was counted, as fields and tables: figures of all ranks and of each, and what runs
 * together. */
#include "analysis/gpu/hta.h"

#include <inttypes.h>

#include "analysis/kit/cells.h"
#include "analysis/kit/gpu_idle.h"
#include "result/schema/hta.def"

/* --- figures: fields of all ranks, columns of each */

/* What is neither idle nor computing. */
static int64_t rest_ps(const struct ts_hta_figures *of)
{
	return of->kernel_ps - of->idle_ps - of->compute_ps;
}

static int64_t rest_us(const struct ts_hta_figures *of)
{
	return of->kernel_us - of->idle_us - of->compute_us;
}

static struct ts_value hta_report_whole_us(const struct ts_hta_figures *of, int64_t us)
{
	return of->kernel_us > 0 ? ts_int(us) : ts_null();
}

/* F of X, the object that the field stands in, its name, its value. */
#define FIGURES(F, X) \
	F(X, , gpu_idle_time_pct, ts_part_pct(of->idle_ps, of->kernel_ps)) \
	F(X, , compute_time_pct, ts_part_pct(of->compute_ps, of->kernel_ps)) \
	F(X, , non_compute_time_pct, ts_part_pct(rest_ps(of), of->kernel_ps)) \
	F(X, , communication_time_pct, ts_part_pct(of->communication_ps, of->kernel_ps)) \
	F(X, , memory_time_pct, ts_part_pct(of->memory_ps, of->kernel_ps)) \
	F(X, , comm_comp_overlap_pct, ts_part_pct(of->overlap_ps, of->communication_ps)) \
	F(X, , kernel_count, ts_int(of->nr_kernels)) \
	F(X, , short_kernel_count, ts_int(of->nr_short)) \
	F(X, , unlaunched_kernel_count, ts_int(of->nr_unlaunched)) \
	F(X, , last_step_kernel_count, ts_int(of->nr_late)) \
	F(X, exact., kernel_ps, ts_int(of->kernel_ps)) \
	F(X, exact., idle_ps, ts_int(of->idle_ps)) \
	F(X, exact., compute_ps, ts_int(of->compute_ps)) \
	F(X, exact., communication_ps, ts_int(of->communication_ps)) \
	F(X, exact., memory_ps, ts_int(of->memory_ps)) \
	F(X, exact., exposed_communication_ps, ts_int(of->exposed_ps)) \
	F(X, exact., overlap_ps, ts_int(of->overlap_ps)) \
	F(X, exact., short_ps, ts_int(of->short_ps))

/* HTA's columns, of the times as it rounds them. */
#define ROUNDED(F, X) \
	F(X, hta_0_5., kernel_time_us, hta_report_whole_us(of, of->kernel_us)) \
	F(X, hta_0_5., idle_time_us, hta_report_whole_us(of, of->idle_us)) \
	F(X, hta_0_5., compute_time_us, hta_report_whole_us(of, of->compute_us)) \
	F(X, hta_0_5., non_compute_time_us, hta_report_whole_us(of, rest_us(of)))

#define ROUNDED_SHARES(F, X) \
	F(X, hta_0_5., gpu_idle_time_pct, ts_part_pct(of->idle_us, of->kernel_us)) \
	F(X, hta_0_5., compute_time_pct, ts_part_pct(of->compute_us, of->kernel_us)) \
	F(X, hta_0_5., non_compute_time_pct, ts_part_pct(rest_us(of), of->kernel_us)) \
	F(X, hta_0_5., comm_comp_overlap_pct, ts_part_pct(of->overlap_us, of->communication_us))

#define AS_FIELD(X, object, name, value)  TS_SET(result, hta, object name, value);
#define AS_COLUMN(X, object, name, value) X(name, value)

static void hta_report_put_fields(const struct hta_report *report)
{
	struct ts_result *result = report->result;
	const struct ts_hta_facts *facts = report->facts;
	const struct ts_hta_figures *of = &facts->all;

	TS_SET(result, hta, gpu_idle_pct,
	       ts_share_pct(ts_gpu_idle(report->ctx, ts_time_facts(report->ctx))));
	TS_SET(result, hta, rank_count, ts_int((int64_t)facts->nr_ranks));
	FIGURES(AS_FIELD, )
	ROUNDED(AS_FIELD, )
	ROUNDED_SHARES(AS_FIELD, )
}

static struct ts_value hta_report_device_name(const struct ts_profile *profile,
					      const struct ts_hta_rank *rank)
{
	return rank->device == TS_NONE ? ts_null()
				       : ts_text_or_null(profile->devices[rank->device].name);
}

#define RANK_CELLS(X) \
	X(rank, ts_int(rank->number)) \
	X(host, ts_text_or_null(profile->hosts[rank->host].name)) \
	X(device, hta_report_device_name(profile, rank)) \
	FIGURES(AS_COLUMN, X) \
	ROUNDED(AS_COLUMN, X)

static void hta_report_put_ranks(const struct hta_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_hta_facts *facts = report->facts;
	struct ts_table *table =
		TS_TITLED_TABLE(report->result, hta_ranks, facts->nr_ranks > 1 ? "Ranks" : NULL);

	for (size_t i = 0; i < facts->nr_ranks; i++) {
		const struct ts_hta_rank *rank = &facts->ranks[i];
		const struct ts_hta_figures *of = &rank->figures;

		TS_CELLS(report->result, table, hta_ranks, RANK_CELLS);
	}
}

/* --- types */

#define NR_SETS (1U << TS_NR_KERNEL_TYPES)

/* By the set of types that run; of all ranks. */
struct together {
	int64_t ps[NR_SETS], all_ps;
};

static struct ts_bytes set_name(struct ts_result *result, unsigned set)
{
	struct ts_bytes name = { NULL, 0 };

	for (unsigned type = 0; type < TS_NR_KERNEL_TYPES; type++) {
		if (!(set >> type & 1))
			continue;
		name = name.n == 0 ? ts_bytes_of(ts_kernel_type_names[type])
				   : ts_result_text(result, "%.*s overlapping %s", TS_ARG(name),
						    ts_kernel_type_names[type]);
	}
	return name;
}

/* What runs beside a kernel of an unknown type says what the time is spent on. */
static unsigned known_of(unsigned set)
{
	unsigned known = set & ~(1U << TS_KERNEL_OTHER);

	return known ? known : set;
}

static struct together add_up(const struct hta_state *sum)
{
	struct together of = { .all_ps = 0 };

	for (size_t i = 0; i < sum->nr_ranks; i++)
		for (unsigned set = 1; set < NR_SETS; set++) {
			int64_t *ps = &of.ps[known_of(set)];

			*ps = ts_i64_add(*ps, sum->ranks[i].ps.time[set]);
			of.all_ps = ts_i64_add(of.all_ps, sum->ranks[i].ps.time[set]);
		}
	return of;
}

#define TYPE_CELLS(X) \
	X(kernel_type, ts_text(set_name(result, set))) \
	X(sum_ps, ts_int(of.ps[set])) \
	X(share_pct, ts_part_pct(of.ps[set], of.all_ps))

static void hta_report_put_types(struct ts_result *result, const struct hta_state *sum)
{
	struct together of = add_up(sum);
	struct ts_table *table = TS_TABLE(result, hta_kernel_types);

	for (unsigned set = 1; set < NR_SETS; set++)
		if (of.ps[set] != 0)
			TS_CELLS(result, table, hta_kernel_types, TYPE_CELLS);
}

/* --- notes */

static void hta_report_put_notes(struct ts_result *result, const struct ts_hta_figures *all)
{
	if (all->nr_late > 0)
		ts_result_note(result,
			       "%" PRId64
			       " kernels launched in the last profiler step are left out, as "
			       "by HTA: the profile ends before it does.",
			       all->nr_late);
	if (all->nr_unlaunched > 0 && all->nr_late > 0)
		ts_result_note(result,
			       "%" PRId64
			       " kernels have no launch in the trace. They count here; HTA leaves "
			       "them out where there are steps.",
			       all->nr_unlaunched);
	if (all->nr_early > 0)
		ts_result_note(result,
			       "%" PRId64
			       " kernels begin before their launch: the clocks of host and device "
			       "differ, and their delays are not known.",
			       all->nr_early);
}

/* Traces of hosts, and any other profile when hta was asked for: only then its lines are interleaved. */
static bool hta_report_says_nothing(const struct ts_context *ctx)
{
	for (size_t i = 0; i < ctx->profile->nr_hosts; i++)
		if (ctx->profile->hosts[i].trace_start_ns != TS_UNKNOWN)
			return ctx->has_interleaved && ctx->profile->nr_devices == 0;
	return ctx->has_interleaved;
}

static bool hta_report_has_gpu(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].is_gpu)
			return true;
	return false;
}

/* On a trace of hosts alone HTA stops with an error; here it has no kernels. */
static void put_nothing(struct ts_result *result, const struct ts_context *ctx)
{
	const struct ts_profile *profile = ctx->profile;

	if (!hta_report_says_nothing(ctx))
		return;
	TS_SET(result, hta, rank_count, ts_int((int64_t)profile->nr_hosts));
	TS_SET(result, hta, gpu_idle_time_pct, ts_null())->label = "GPU idle";
	TS_SET(result, hta, kernel_count, ts_int(0));
	if (profile->nr_devices > 0 && !hta_report_has_gpu(profile))
		ts_result_note(result, "The devices of this profile are not GPUs, so there are no "
				       "kernels of a GPU. tpusight report shows what they did.");
	else
		ts_result_note(result, "No kernel ran on a GPU while this profile was taken.");
}

enum ts_status ts_hta_report(struct hta_state *sum, const struct ts_context *ctx,
			     struct ts_hta_facts *facts, struct ts_result *result,
			     struct ts_error *err)
{
	const struct hta_report report = { sum, ctx, facts, result };
	enum ts_status st = ts_hta_make_facts(sum, ctx, &result->owner->arena, facts, err);

	if (st)
		return st;
	if (facts->all.nr_kernels == 0) {
		put_nothing(result, ctx);
		return TS_OK;
	}
	hta_report_put_fields(&report);
	hta_report_put_ranks(&report);
	hta_report_put_types(result, sum);
	st = ts_hta_put_kernels(&report, err);
	if (st)
		return st;
	ts_hta_put_rank_kernels(&report);
	ts_hta_put_idle(&report);
	ts_hta_put_launches(&report);
	ts_hta_put_queues(&report);
	ts_hta_put_collectives(&report);
	ts_hta_put_stragglers(&report);
	ts_hta_put_sequences(&report);
	hta_report_put_notes(result, &facts->all);
	return ts_hta_put_tracks(&report, err);
}
