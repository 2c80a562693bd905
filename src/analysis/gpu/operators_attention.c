/* SPDX-License-Identifier: MIT */
/*
 * Attention that is not fused, by the shapes of operators: a softmax over [queries, keys], a product that makes such
 * a matrix, and one that takes it.
 */
#include "analysis/gpu/operators.h"

enum part { PART_NONE, PART_SOFTMAX, PART_MAKES, PART_TAKES };

struct operator_name {
	const char *name;
	int first; /* argument: the input, or the left one of the two that are multiplied */
};

static const struct operator_name softmaxes[] = { { "aten::_softmax", 0 },
						  { "aten::_safe_softmax", 0 } };
static const struct operator_name products[] = { { "aten::bmm", 0 }, { "aten::baddbmm", 1 } };

static int first_of(struct ts_bytes name, const struct operator_name *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_is(name, names[i].name))
			return names[i].first;
	return -1;
}

static bool read_scores(const struct ts_context *ctx, const struct operator_row *row,
			int64_t scores[2])
{
	int first = first_of(ctx->profile->ops[row->op].name, softmaxes, TS_NELEM(softmaxes));

	return first >= 0 && row->self_gpu_ps > 0 && ts_aten_matrix(row->shapes, first, scores);
}

static enum part operators_attention_part_of(const struct ts_context *ctx,
					     const struct operator_row *row,
					     const int64_t scores[2])
{
	int first = first_of(ctx->profile->ops[row->op].name, products, TS_NELEM(products));
	int64_t a[2], b[2];

	if (read_scores(ctx, row, a))
		return a[0] == scores[0] && a[1] == scores[1] ? PART_SOFTMAX : PART_NONE;
	if (first < 0 || !ts_aten_matrix(row->shapes, first, a) ||
	    !ts_aten_matrix(row->shapes, first + 1, b) || a[0] != scores[0])
		return PART_NONE;
	if (b[1] == scores[1])
		return PART_MAKES;
	return a[1] == scores[1] ? PART_TAKES : PART_NONE;
}

/* The softmax that took GPUs longest. False: there is none whose shape is known. */
static bool find_scores(const struct operators_state *sum, const struct ts_context *ctx,
			int64_t scores[2])
{
	int64_t longest_ps = 0, own[2];

	for (size_t i = 0; i < sum->nr_rows; i++)
		if (read_scores(ctx, &sum->rows[i], own) && sum->rows[i].self_gpu_ps > longest_ps) {
			longest_ps = sum->rows[i].self_gpu_ps;
			memcpy(scores, own, sizeof(own));
		}
	return longest_ps > 0;
}

struct ts_operators_facts ts_operators_attention(const struct operators_state *sum,
						 const struct ts_context *ctx)
{
	struct ts_operators_facts facts = { .softmax_calls = 0 };
	bool has[PART_TAKES + 1] = { false };

	if (!find_scores(sum, ctx, facts.scores))
		return facts;
	for (size_t i = 0; i < sum->nr_rows; i++) {
		const struct operator_row *row = &sum->rows[i];
		enum part part = operators_attention_part_of(ctx, row, facts.scores);

		has[part] = true;
		if (part == PART_SOFTMAX) {
			facts.softmax_calls = ts_i64_add(facts.softmax_calls, row->calls);
			facts.softmax_ps = ts_i64_add(facts.softmax_ps, row->self_gpu_ps);
		} else if (part != PART_NONE) {
			facts.product_ps = ts_i64_add(facts.product_ps, row->self_gpu_ps);
			facts.product_flops += row->flops;
		}
	}
	return has[PART_MAKES] && has[PART_TAKES]
		       ? facts
		       : (struct ts_operators_facts){ .softmax_calls = 0 };
}
