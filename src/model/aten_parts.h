/* SPDX-License-Identifier: MIT */
/* Shared by aten_work.c (formulas), aten_table.c (operators) and aten_text.c (lists) only. */
#ifndef TS_MODEL_ATEN_PARTS_H
#define TS_MODEL_ATEN_PARTS_H

#include "model/aten_work.h"

/* What a formula makes of a call's arguments. Those up to ATEN_LAST_MATRIX use matrix units. */
enum ts_aten_kind {
	ATEN_PRODUCT, /* .first and the one behind it: [..., m, k] x [..., k, n] */
	ATEN_LINEAR,  /* [..., k] x [n, k] */
	ATEN_GROUPED, /* [tokens, k] x [groups, k, n]: a token meets one group */
	ATEN_CONV,    /* .at: stride, padding, dilation, transposed */
	ATEN_CONV_BACKWARD,
	ATEN_ATTENTION, /* .first: query, key, value; .at: causal, what says it, layout */
	ATEN_ATTENTION_BACKWARD,
	ATEN_LAST_MATRIX = ATEN_ATTENTION_BACKWARD,
	ATEN_EACH, /* an element of the result of one of each array, which are broadcast: .at[0] arguments; an array behind
			 them is the result */
	ATEN_TRUTH,   /* likewise, and the result is a bool */
	ATEN_LIKE,    /* arrays in, and a result like argument .first */
	ATEN_ARRAYS,  /* all arrays are arguments, and each is touched once */
	ATEN_INPLACE, /* likewise; .at[0] and .at[1] are read and written */
	ATEN_INTO, /* .first and the one behind it are put into larger arrays, where .at[0] says */
	ATEN_FILL, /* argument .first is written */
	ATEN_REDUCE, /* .first is read; .at[0]: the dims that the result lacks */
	ATEN_ROWS,   /* rows of .first, as many as .at[0] has elements */
	ATEN_PICK,   /* elements of .first, likewise */
	ATEN_NAMED,  /* what it does is known, not how much */
};

/* Layouts of attention's arrays, and what its causal argument is. */
enum {
	ATEN_BY_HEAD,
	ATEN_BY_TOKEN
}; /* [batch, heads, length, width]; [batch, length, heads, width] */
enum { ATEN_IS_BOOL, ATEN_IS_KIND }; /* "True"; a number, 0 for no mask */

struct ts_aten_formula {
	const char *name; /* of PyTorch's own without "aten::", and without a '_' at the end */
	enum ts_aten_kind kind;
	enum ts_kernel_category category;
	int8_t first, at[4]; /* places of arguments; -1: there is none */
};

/* --- aten_text.c */

#define ATEN_RANK_MAX 8
struct ts_aten_shape {
	int64_t dims[ATEN_RANK_MAX];
	size_t nr;
};

/* Argument AT of a list; empty where there is none. */
struct ts_bytes ts_aten_item(struct ts_bytes list, int at);
/* A list of whole numbers, none of them below 0. False: it is not one. */
bool ts_aten_shape(struct ts_bytes text, struct ts_aten_shape *shape);
/* The same where they may be below 0. */
bool ts_aten_numbers(struct ts_bytes text, struct ts_aten_shape *numbers);
/* Each item in turn: *LIST is what ts_aten_enter() left, or an item. */
bool ts_aten_enter(struct ts_bytes *list);
bool ts_aten_next(struct ts_bytes *list, struct ts_bytes *item);

static inline double ts_aten_product(const struct ts_aten_shape *shape, size_t from, size_t to)
{
	double all = 1;

	for (size_t i = from; i < to; i++)
		all *= (double)shape->dims[i];
	return all;
}

/* --- aten_bytes.c: arrays in and out */

/* Bytes of an element of the array AT, 0: its type is not known; its type. */
int ts_aten_element(const struct ts_aten_call *call, int at, enum ts_aten_type *type);
/* Of an element of the type that has this number in PyTorch; 0: unknown. */
int ts_aten_element_of(int64_t number);
/* An array; NaN: its type or its shape is not known. */
double ts_aten_array(const struct ts_aten_call *call, int at);
/* Of what does not use matrix units. */
double ts_aten_vector_bytes(const struct ts_aten_call *call);

#endif
