/* SPDX-License-Identifier: MIT */
/*
 * Transfers between host and device by their size: single ones that are large, and very many that
 * are small. What they cost in all is reported by host_copies and infeed_outfeed; this is for runs
 * where it stays below their limit, and for the small ones, which ask for another remedy.
 *
 * Bytes are those of an execution: of the array as laid out, else what the profile says.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/settings_list.h"

struct sizes {
	struct ts_selection large, small;
	double largest_bytes, small_bytes; /* of one; of all small ones */
};

static void sort_in(struct ts_doctor *doctor, struct sizes *sizes, const struct ts_op_fact *fact)
{
	const struct ts_settings *settings = doctor->ctx->settings;
	double bytes = ts_fact_copy(doctor, fact).bytes;

	if (bytes >= settings->large_transfer_size * 1024 * 1024) {
		ts_selection_add(&sizes->large, fact, fact->exclusive_ps);
		sizes->largest_bytes = fmax(sizes->largest_bytes, bytes);
	} else if (bytes > 0 && bytes < settings->small_transfer_size * 1024) {
		ts_selection_add(&sizes->small, fact, fact->exclusive_ps);
		sizes->small_bytes += bytes * (double)fact->occurrences;
	}
}

/* An asynchronous copy is counted by its start; its wait stands at the -done. */
static struct sizes sizes_of(struct ts_doctor *doctor)
{
	struct sizes sizes = { .largest_bytes = 0 };

	for (size_t i = 0; i < doctor->nr_facts; i++) {
		const struct ts_op_fact *fact = &doctor->facts[i];
		const struct ts_op *op = ts_fact_op(doctor, fact);

		if (fact->bucket == TS_BUCKET_HOST_TRANSFER && fact->occurrences > 0 &&
		    !(op && op->async == TS_ASYNC_START))
			sort_in(doctor, &sizes, fact);
	}
	return sizes;
}

/* Above its limit the whole bucket has findings that say more. */
static bool is_reported(const struct ts_doctor *doctor)
{
	return ts_doctor_bucket_share(doctor, TS_BUCKET_HOST_TRANSFER) * 100 >
	       doctor->ctx->settings->host_transfer_high;
}

static struct ts_finding *transfers_report(struct ts_doctor *doctor, const struct ts_rule *rule,
					   const char *which, const struct ts_selection *ops)
{
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, none, ts_bytes_of(which), ops->exclusive_ps);

	ts_doctor_where(doctor, finding, ops);
	return finding;
}

static void put_most(struct ts_doctor *doctor, const struct ts_selection *ops)
{
	TS_PUT(doctor, "; the cores wait {core} for them[, most in {ops}].",
	       TS_CORE(ops->exclusive_ps), TS_OPS(ops, 4));
}

static void report_large(struct ts_doctor *doctor, const struct ts_rule *rule,
			 const struct sizes *sizes)
{
	struct ts_finding *finding = transfers_report(doctor, rule, "large", &sizes->large);

	finding->title =
		TS_SENTENCE(doctor, "Single transfers of up to {bytes} between host and device",
			    TS_BYTES(sizes->largest_bytes));
	TS_PUT(doctor, "{count} op{s} of {bytes} or more run{v} {count} times",
	       TS_COUNT(sizes->large.nr_all),
	       TS_BYTES(doctor->ctx->settings->large_transfer_size * 1024 * 1024),
	       TS_COUNT(sizes->large.occurrences));
	put_most(doctor, &sizes->large);
	finding->evidence = ts_doctor_text(doctor);
}

static void report_small(struct ts_doctor *doctor, const struct ts_rule *rule,
			 const struct sizes *sizes)
{
	const struct ts_advice *advice = ts_advice_find(doctor->framework, "large_transfers_small");
	struct ts_finding *finding = transfers_report(doctor, rule, "small", &sizes->small);
	double mean = sizes->small_bytes / (double)sizes->small.occurrences;

	finding->advice = ts_bytes_of(advice->advice);
	finding->code = ts_bytes_of(advice->code);
	finding->title = TS_SENTENCE(
		doctor, "{count} small transfers between host and device, {bytes} each on average",
		TS_COUNT(sizes->small.occurrences), TS_BYTES(mean));
	TS_PUT(doctor, "They move {bytes} in all", TS_BYTES(sizes->small_bytes));
	put_most(doctor, &sizes->small);
	finding->evidence = ts_doctor_text(doctor);
}

static void check_large_transfers(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct sizes sizes = sizes_of(doctor);

	if (sizes.large.nr > 0 && !is_reported(doctor))
		report_large(doctor, rule, &sizes);
	if (sizes.small.nr > 0 &&
	    (double)sizes.small.occurrences >= doctor->ctx->settings->small_transfers_count)
		report_small(doctor, rule, &sizes);
}

const struct ts_rule ts_rule_large_transfers = {
	.name = "large_transfers",
	.confidence = TS_LIKELY,
	.check = check_large_transfers,
	.classes = TS_CLASS(TS_BUCKET_HOST_TRANSFER),
	.ceiling = "the core time of these transfers",
};
