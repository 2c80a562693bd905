/*
 * What the doctor knows: the numbers of the other results in one place, so that rules look at
 * structs and not at tables. Everything may be missing.
 */
#include "analysis/doctor/doctor.h"

#include "base/check.h"
#include "model/trace_class.h"

#include "model/op_kind.h"

static enum ts_bucket bucket_of(struct ts_bytes name)
{
	for (int i = 0; i < TS_NR_BUCKETS; i++)
		if (ts_bytes_is(name, ts_bucket_name((enum ts_bucket)i)))
			return (enum ts_bucket)i;
	return TS_NR_BUCKETS;
}

static void gather_time(struct ts_doctor *doctor)
{
	char field[48];

	doctor->total_ps = -1;
	for (int i = 0; i < TS_NR_BUCKETS; i++)
		doctor->bucket_ps[i] = -1;
	if (!doctor->time)
		return;
	doctor->total_ps = ts_value_int(ts_result_get(doctor->time, "total_ps"));
	for (int i = 0; i < TS_NR_BUCKETS; i++) {
		snprintf(field, sizeof(field), "buckets.%s_ps", ts_bucket_name((enum ts_bucket)i));
		doctor->bucket_ps[i] = ts_value_int(ts_result_get(doctor->time, field));
	}
}

static const struct ts_rates *first_known(const struct ts_context *ctx)
{
	for (size_t i = 0; ctx->rates && i < ctx->profile->nr_devices; i++)
		if (ctx->rates[i].peak_flops_per_s > 0)
			return &ctx->rates[i];
	return NULL;
}

/* Copies, transposes and waits move bytes that no result asked for: they have no ideal time. */
static bool does_work(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	if (fact->bucket != TS_BUCKET_COMPUTE && fact->bucket != TS_BUCKET_MEMORY_WAIT)
		return false;
	return !op || (op->async == TS_ASYNC_NONE && op->kind != TS_OP_MOVE);
}

/* Bytes from and to HBM: as the profile broke them down, else all of them. */
static double hbm_bytes_of(const struct ts_op *op, double bytes_accessed)
{
	double bytes = op ? ts_op_hbm_bytes(op) : NAN;

	return isnan(bytes) ? bytes_accessed : bytes;
}

static void bound_fact(const struct ts_doctor *doctor, struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);
	struct ts_roofline roofline;

	if (!doctor->rates || fact->occurrences <= 0 || !does_work(doctor, fact))
		return;
	if (op && op->kind == TS_OP_CONTROL) /* its costs are those of the ops inside */
		return;
	roofline = ts_roofline_of(doctor->rates, fact->flops, hbm_bytes_of(op, fact->bytes),
				  op ? ts_op_vmem_bytes(op) : NAN);
	fact->bound = roofline.bound;
	if (roofline.least_s > 0)
		fact->least_ps = fmin(roofline.least_s * 1e12 * (double)fact->occurrences,
				      (double)fact->exclusive_ps);
}

static void read_first(const struct ts_doctor *doctor, const struct ts_table *table, size_t row,
		       struct ts_op_fact *fact)
{
	int64_t device = ts_cell_int(table, row, "first_device");

	if (device < 0 || (uint64_t)device >= doctor->ctx->profile->nr_devices)
		return;
	fact->first =
		(struct ts_when){ (uint32_t)device, true, ts_cell_int(table, row, "first_start_ps"),
				  ts_cell_int(table, row, "first_end_ps") };
}

static void read_fact(const struct ts_doctor *doctor, const struct ts_table *table, size_t row,
		      struct ts_op_fact *fact)
{
	int64_t op = ts_cell_int(table, row, "op_index");
	double padding = ts_cell_number(table, row, "padding_waste_pct") / 100;

	fact->op = op < 0 || (uint64_t)op >= doctor->ctx->profile->nr_ops ? TS_NONE : (uint32_t)op;
	fact->name = ts_cell_text(table, row, "name");
	fact->module = ts_cell_text(table, row, "module");
	fact->category = ts_cell_text(table, row, "category");
	fact->source = ts_cell_text(table, row, "source");
	fact->bucket = bucket_of(ts_cell_text(table, row, "bucket"));
	fact->occurrences = ts_cell_int(table, row, "occurrences");
	fact->exclusive_ps = ts_cell_int(table, row, "exclusive_ps");
	fact->self_ps = ts_cell_int(table, row, "self_time_ps");
	if (fact->exclusive_ps < 0)
		fact->exclusive_ps = TS_MAX(fact->self_ps, 0);
	if (fact->self_ps < 0)
		fact->self_ps = fact->exclusive_ps;
	fact->flops = ts_cell_number(table, row, "flops");
	fact->bytes = ts_cell_number(table, row, "bytes_accessed");
	fact->padding_share = padding > 0 ? fmin(padding, 1) : 0;
	fact->least_ps = NAN;
	read_first(doctor, table, row, fact);
	bound_fact(doctor, fact);
}

static int by_time(const void *a, const void *b)
{
	const struct ts_op_fact *x = a, *y = b;
	int order = (y->self_ps > x->self_ps) - (y->self_ps < x->self_ps);

	if (order == 0)
		order = ts_bytes_cmp(x->module, y->module);
	if (order == 0)
		order = ts_bytes_cmp(x->name, y->name);
	return order ? order : (x->op > y->op) - (x->op < y->op);
}

static uint64_t place_key(struct ts_bytes module, struct ts_bytes op)
{
	return ts_hash(op, ts_hash(module, 1));
}

static bool index_facts(struct ts_doctor *doctor)
{
	for (size_t i = doctor->nr_facts; i-- > 0;) { /* of equal names the largest stays */
		const struct ts_op_fact *fact = &doctor->facts[i];

		if (!ts_map_set(&doctor->by_place, place_key(fact->module, fact->name),
				(uint32_t)i))
			return false;
	}
	return true;
}

static void gather_ops(struct ts_doctor *doctor)
{
	const struct ts_table *table = ts_result_find_table(doctor->ops, "ops");

	if (!table || table->nr_rows == 0 || table->nr_rows >= TS_NONE)
		return;
	doctor->facts = ts_arena_array(&doctor->scratch, table->nr_rows, sizeof(*doctor->facts));
	if (!doctor->facts) {
		doctor->failed = true;
		return;
	}
	doctor->nr_facts = table->nr_rows;
	for (size_t i = 0; i < table->nr_rows; i++)
		read_fact(doctor, table, i, &doctor->facts[i]);
	qsort(doctor->facts, doctor->nr_facts, sizeof(*doctor->facts), by_time);
	if (!index_facts(doctor))
		doctor->failed = true;
}

void ts_doctor_gather(struct ts_doctor *doctor)
{
	const struct ts_context *ctx = doctor->ctx;

	TS_ASSERT(ctx && doctor->result && !doctor->facts);
	doctor->time = ts_results_find(ctx->results, "time");
	doctor->ops = ts_results_find(ctx->results, "ops");
	doctor->systolic = ts_results_find(ctx->results, "systolic");
	doctor->padding = ts_results_find(ctx->results, "padding");
	doctor->cache = ts_results_find(ctx->results, "cache");
	doctor->rates = first_known(ctx);
	doctor->framework = ts_framework_of(ctx->profile);
	doctor->nr_cores = ctx->profile->nr_devices;
	doctor->nr_steps = ctx->outline ? ctx->outline->steps.nr_steps : 0;
	gather_time(doctor);
	gather_ops(doctor);
}

void ts_doctor_release(struct ts_doctor *doctor)
{
	ts_map_release(&doctor->by_place);
	free(doctor->drafts);
	free(doctor->ranges);
	ts_buf_release(&doctor->text);
	ts_arena_release(&doctor->scratch);
}

const struct ts_op_fact *ts_doctor_fact(const struct ts_doctor *doctor, struct ts_bytes module,
					struct ts_bytes op)
{
	uint32_t at = ts_map_find(&doctor->by_place, place_key(module, op));
	const struct ts_op_fact *fact = at == TS_NONE ? NULL : &doctor->facts[at];

	if (!fact || !ts_bytes_eq(fact->module, module) || !ts_bytes_eq(fact->name, op))
		return NULL; /* not there, or another place with the same hash */
	return fact;
}

const struct ts_op *ts_fact_op(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	TS_ASSERT(fact->op == TS_NONE || fact->op < doctor->ctx->profile->nr_ops);
	return fact->op == TS_NONE ? NULL : &doctor->ctx->profile->ops[fact->op];
}
