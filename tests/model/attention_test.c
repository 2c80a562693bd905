/* SPDX-License-Identifier: MIT */
/* Attention by the flow of data: scores, a softmax over them, a product of it; and what only looks like it. */
#include "tests/test.h"
#include "model/attention.h"
#include "read/hlo.h"
#include "tests/read/hlo_make.h"

#define QUERIES "f32[256,64]{1,0}"
#define KEYS	"f32[512,64]{1,0}"
#define SCORES	"f32[256,512]{1,0}"
#define ROWS	"f32[256]{0}"
#define ADDER	500
#define FUSED	600
#define MAIN	700

enum id {
	Q = 1,
	K,
	V,
	LABELS,
	ZERO,
	DOT,
	TOP,
	TOPS,
	LESS,
	EXP,
	SUM,
	SUMS,
	DIVIDE,
	OFF,
	CHANGED,
	OUT
};

/* What stands between the softmax and the second product. */
enum between { NOTHING, LABELS_OFF, SCALED, GRADIENT };
/* What is done to the scores. */
enum form { WHOLE, NO_SUM, NO_SCORES, FUSED_SUM };

struct written {
	struct make make;
	struct ts_arena arena;
	struct ts_hlo_module module;
	const uint8_t *parts;
};

#define IDS(...) sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (const int64_t[]){ __VA_ARGS__ }

/* The sum of exponentials that are computed once more, as XLA fuses them. */
static void write_fused_sum(struct make *make)
{
	size_t comp = make_comp(make, "fused");

	make_param(make, 0, SCORES, 601);
	make_param(make, 1, "f32[]", 602);
	make_op(make, "exp.again", "exponential", SCORES, 603, IDS(601));
	make_caller(make, "sum.fused", "reduce", ROWS, 604, IDS(603, 602), ADDER);
	make_end_comp(make, comp, FUSED, 604);
}

static void write_softmax(struct make *make, enum form form)
{
	if (form == NO_SCORES)
		make_op(make, "scores", "tanh", SCORES, DOT, IDS(LABELS));
	else
		make_op(make, "scores", "dot", SCORES, DOT, IDS(Q, K));
	make_caller(make, "top", "reduce", ROWS, TOP, IDS(DOT, ZERO), ADDER);
	make_op(make, "tops", "broadcast", SCORES, TOPS, IDS(TOP));
	make_op(make, "less", "subtract", SCORES, LESS, IDS(DOT, TOPS));
	make_op(make, "exp", "exponential", SCORES, EXP, IDS(LESS));
	if (form == FUSED_SUM)
		make_caller(make, "sum", "fusion", ROWS, SUM, IDS(LESS, ZERO), FUSED);
	else if (form == NO_SUM)
		make_op(make, "sum", "log", ROWS, SUM, IDS(TOP));
	else
		make_caller(make, "sum", "reduce", ROWS, SUM, IDS(EXP, ZERO), ADDER);
	make_op(make, "sums", "broadcast", SCORES, SUMS, IDS(SUM));
	make_op(make, "divide", "divide", SCORES, DIVIDE, IDS(EXP, SUMS));
}

static void write_module(struct written *written, enum form form, enum between between)
{
	static const char *const opcodes[] = { "copy", "subtract", "multiply", "multiply" };
	struct ts_error err = TS_ERROR_INIT;
	struct make *make = &written->make;
	size_t comp;

	*written = (struct written){ .make = MAKE_INIT };
	make_reducer(make, "add", ADDER);
	if (form == FUSED_SUM)
		write_fused_sum(make);
	comp = make_comp(make, "main");
	make_param(make, 0, QUERIES, Q);
	make_param(make, 1, KEYS, K);
	make_param(make, 2, KEYS, V);
	make_param(make, 3, SCORES, LABELS);
	make_param(make, 4, "f32[]", ZERO);
	write_softmax(make, form);
	if (between == NOTHING)
		make_op(make, "changed", opcodes[between], SCORES, CHANGED, IDS(DIVIDE));
	else if (between == GRADIENT)
		make_op(make, "less.too", "subtract", SCORES, OFF, IDS(LABELS, SUMS));
	if (between != NOTHING)
		make_op(make, "changed", opcodes[between], SCORES, CHANGED,
			IDS(DIVIDE, between == GRADIENT ? OFF : LABELS));
	make_op(make, "out", "dot", QUERIES, OUT, IDS(CHANGED, V));
	make_end_comp(make, comp, MAIN, OUT);
	if (ts_hlo_read(&written->arena, make_end(make, MAIN), TS_LIT("attention"),
			&written->module, &err))
		fail_msg("%s", err.text);
	written->parts = ts_hlo_attention(&written->arena, &written->module);
}

static void release_module(struct written *written)
{
	ts_buf_release(&written->make.out);
	ts_arena_release(&written->arena);
}

static int part_of(const struct written *written, const char *name)
{
	uint32_t at = ts_hlo_find(&written->module, ts_bytes_of(name));

	assert_int_not_equal(at, TS_NONE);
	return written->parts[at];
}

TEST(test_products_and_the_softmax_between_them_are_attention)
{
	static const struct {
		enum form form;
		enum between between;
	} rows[] = { { WHOLE, NOTHING }, { WHOLE, SCALED }, { FUSED_SUM, NOTHING } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		static const char *const softmax[] = { "top", "less",	"exp",
						       "sum", "divide", "changed" };
		struct written written;

		write_module(&written, rows[i].form, rows[i].between);
		assert_non_null(written.parts);
		assert_int_equal(part_of(&written, "scores"), TS_ATTENTION_PRODUCT);
		assert_int_equal(part_of(&written, "out"), TS_ATTENTION_PRODUCT);
		for (size_t n = 0; n < TS_NELEM(softmax); n++)
			assert_int_equal(part_of(&written, softmax[n]), TS_ATTENTION_SOFTMAX);
		assert_int_equal(part_of(&written, "tops"), TS_ATTENTION_NONE);
		release_module(&written);
	}
}

/* A loss over a softmax: its gradient takes something off the softmax, or off what that is multiplied with; exp() alone is no softmax; nor is one of what no product made. */
TEST(test_what_only_looks_like_attention_is_none)
{
	static const struct {
		enum form form;
		enum between between;
	} rows[] = { { WHOLE, LABELS_OFF },
		     { WHOLE, GRADIENT },
		     { NO_SUM, NOTHING },
		     { NO_SCORES, NOTHING } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct written written;

		write_module(&written, rows[i].form, rows[i].between);
		assert_null(written.parts);
		release_module(&written);
	}
}
