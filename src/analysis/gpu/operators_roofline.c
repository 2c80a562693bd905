/* SPDX-License-Identifier: MIT */
/*
 * How near operators come to the roofline: of those whose FLOPs and bytes are known, the time that the chip
 * needs at least, by the peak of the type that is multiplied and by the memory's, against what their kernels
 * took. Sums by category tell where the time of GEMMs, convolutions and attention goes.
 */
#include "analysis/gpu/operators.h"

#include "analysis/kit/peaks.h"
#include "result/impossible.h"
#include "base/order.h"
#include "result/schema/operators.def"

bool ts_operators_is_sized(const struct operator_row *row)
{
	return row->calls > 0 && row->nr_sized == row->calls &&
	       (row->nr_counted == row->calls || row->nr_counted == 0);
}

static struct ts_roofline operators_roofline_roofline_of(const struct operator_row *row,
							 const struct ts_rates *rates)
{
	struct ts_rates own = *rates;

	if (row->flops > 0) /* else it does not use matrix units */
		own.peak_flops_per_s = ts_type_peak(rates, (enum ts_aten_type)row->type);
	return ts_roofline_of(&own, row->flops, row->bytes, NAN);
}

static double operators_roofline_least_of(const struct operator_row *row,
					  const struct ts_rates *rates)
{
	struct ts_roofline line;

	if (row->gpu_ps <= 0)
		return 0; /* nothing to hold it against, and nothing that a sum would lack */
	if (!rates || !ts_operators_is_sized(row))
		return NAN;
	line = operators_roofline_roofline_of(row, rates);
	return isnan(line.compute_s) || isnan(line.hbm_s) ? NAN : line.least_s;
}

void ts_operators_least(struct operator_row *rows, size_t nr, const struct ts_rates *rates)
{
	for (size_t i = 0; i < nr; i++)
		rows[i].least_s = operators_roofline_least_of(&rows[i], rates);
}

/* That of its formula, or of the kernels that it launches itself; OPERATORS_NO_CATEGORY: several, or there is not one. */
static uint8_t operators_roofline_category_of(const struct ts_context *ctx,
					      const struct operator_row *row)
{
	enum ts_kernel_category own =
		ts_aten_category(ts_aten_formula_of(ctx->profile->ops[row->op].name));

	if (own != TS_CATEGORY_OTHER)
		return (uint8_t)own;
	return row->has_categories ? OPERATORS_NO_CATEGORY : row->category;
}

struct ts_value ts_operators_category(const struct ts_context *ctx, const struct operator_row *row)
{
	uint8_t category = operators_roofline_category_of(ctx, row);

	return category < OPERATORS_NO_CATEGORY
		       ? ts_text(ts_bytes_of(ts_kernel_category_names[category]))
		       : ts_null();
}

struct ts_value ts_operators_intensity(const struct operator_row *row)
{
	return ts_operators_is_sized(row) && row->bytes > 0 && row->nr_counted > 0
		       ? ts_real(row->flops / row->bytes)
		       : ts_null();
}

/* By all calls together. */
struct ts_value ts_operators_bound(const struct operator_row *row, const struct ts_rates *rates)
{
	return isfinite(row->least_s) && row->least_s > 0
		       ? ts_text(ts_bytes_of(
				 ts_bound_name(operators_roofline_roofline_of(row, rates).bound)))
		       : ts_null();
}

struct ts_value ts_operators_roofline(struct ts_result *result, const struct operator_row *row)
{
	if (!isfinite(row->least_s) || row->gpu_ps <= 0)
		return ts_null();
	return ts_held_share_pct(
		result, row->least_s / ((double)row->gpu_ps * 1e-12),
		TS_LIT("the mask of attention, arrays that stay in the cache, or kernels "
		       "that are missing in the trace"));
}

/* Operators by category: of what they launch themselves, so that a linear layer counts where its product does. */
struct category_sum {
	struct ts_bytes name;
	int64_t calls, self_gpu_ps;
	/* Of those operators whose place under the roof is known. */
	int64_t known_ps;
	double flops, bytes, least_s;
};

static void operators_roofline_add_to(struct category_sum *sum, const struct operator_row *row)
{
	sum->calls = ts_i64_add(sum->calls, row->calls);
	sum->self_gpu_ps = ts_i64_add(sum->self_gpu_ps, row->self_gpu_ps);
	if (!isfinite(row->least_s) || row->self_gpu_ps != row->gpu_ps)
		return;
	sum->known_ps = ts_i64_add(sum->known_ps, row->gpu_ps);
	sum->flops += row->flops;
	sum->bytes += row->bytes;
	sum->least_s += row->least_s;
}

static struct ts_value operators_roofline_share(int64_t part_ps, int64_t all_ps)
{
	return all_ps > 0 ? ts_real(100 * (double)part_ps / (double)all_ps) : ts_null();
}

static struct ts_value operators_roofline_rate(const struct category_sum *sum, double amount)
{
	return sum->known_ps > 0 && amount > 0 ? ts_real(amount / ((double)sum->known_ps * 1e-12))
					       : ts_null();
}

static struct ts_value operators_roofline_known(const struct category_sum *sum, double amount)
{
	return sum->known_ps > 0 && amount > 0 ? ts_real(amount) : ts_null();
}

static struct ts_value reached(struct ts_result *result, const struct category_sum *sum)
{
	struct operator_row row = { .gpu_ps = sum->known_ps, .least_s = sum->least_s };

	return ts_operators_roofline(result, &row);
}

#define CELLS(X) \
	X(category, ts_text(sum->name)) \
	X(calls, ts_int(sum->calls)) \
	X(self_gpu_ps, ts_int(sum->self_gpu_ps)) \
	X(self_gpu_pct, operators_roofline_share(sum->self_gpu_ps, all_ps)) \
	X(modelled_pct, operators_roofline_share(sum->known_ps, sum->self_gpu_ps)) \
	X(flops, operators_roofline_known(sum, sum->flops)) \
	X(bytes, operators_roofline_known(sum, sum->bytes)) \
	X(flops_per_s, operators_roofline_rate(sum, sum->flops)) \
	X(bytes_per_s, operators_roofline_rate(sum, sum->bytes)) \
	X(roofline_efficiency_pct, reached(result, sum))

TS_ORDER(operators_roofline_longest_first, struct category_sum, TS_DOWN(self_gpu_ps) TS_UP(name))

static void operators_roofline_put_sums(struct ts_result *result, struct category_sum *sums,
					size_t nr, int64_t all_ps)
{
	struct ts_table *table = TS_TABLE(result, operators_categories);

	table->text_rows = nr;
	for (size_t i = 0; i < nr; i++) {
		const struct category_sum *sum = &sums[i];

		if (sum->calls > 0)
			TS_CELLS(result, table, operators_categories, CELLS);
	}
}

void ts_operators_categories(const struct ts_context *ctx, const struct operator_row *rows,
			     size_t nr, int64_t all_ps, struct ts_result *result)
{
	struct category_sum sums[OPERATORS_NO_CATEGORY + 1] = { { .calls = 0 } };

	for (size_t i = 0; i < OPERATORS_NO_CATEGORY; i++)
		sums[i].name = ts_bytes_of(ts_kernel_category_names[i]);
	sums[OPERATORS_NO_CATEGORY].name = TS_LIT("Several");
	for (size_t i = 0; i < nr; i++)
		if (rows[i].nr_own > 0)
			operators_roofline_add_to(
				&sums[operators_roofline_category_of(ctx, &rows[i])], &rows[i]);
	TS_SORT(sums, TS_NELEM(sums), operators_roofline_longest_first);
	if (all_ps > 0)
		operators_roofline_put_sums(result, sums, TS_NELEM(sums), all_ps);
}
