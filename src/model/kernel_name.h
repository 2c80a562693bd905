/* SPDX-License-Identifier: MIT */
/*
 * What a kernel of a GPU is for, by its name: the one table behind buckets, kinds of ops, classes of the
 * timeline and types of hta. Names are all that a trace has, so a list is never complete, and a
 * kernel that is not in it computes.
 */
#ifndef TS_MODEL_KERNEL_NAME_H
#define TS_MODEL_KERNEL_NAME_H

#include "base/bytes.h"

enum ts_kernel_category {
	TS_CATEGORY_COMMUNICATION,
	TS_CATEGORY_HOST_COPY, /* to or from the host */
	TS_CATEGORY_COPY,
	TS_CATEGORY_FILL, /* those behind it compute */
	TS_CATEGORY_EMBEDDING,
	TS_CATEGORY_ATTENTION,
	TS_CATEGORY_CONVOLUTION,
	TS_CATEGORY_GEMM,
	TS_CATEGORY_SOFTMAX,
	TS_CATEGORY_NORM,
	TS_CATEGORY_OPTIMIZER,
	TS_CATEGORY_REDUCTION,
	TS_CATEGORY_INDEXING, /* gathers, scatters, sorts */
	TS_CATEGORY_ELEMENTWISE,
	TS_CATEGORY_OTHER,
	TS_NR_KERNEL_CATEGORIES
};
extern const char *const ts_kernel_category_names[]; /* "Communication" */

struct ts_kernel_class {
	enum ts_kernel_category category;
	const char *rule; /* the part of the name that says so; NULL: no part does */
};
struct ts_kernel_class ts_kernel_class_of(struct ts_bytes name);

#endif
