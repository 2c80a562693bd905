/* SPDX-License-Identifier: MIT */
/*
 * What the analysis operators knows: the softmax that took GPUs longest and the products that make its input and take
 * its output, by their shapes: attention that is not fused.
 */
#ifndef TS_ANALYSIS_FACTS_OPERATORS_H
#define TS_ANALYSIS_FACTS_OPERATORS_H

#include <stdint.h>

struct ts_operators_facts {
	int64_t scores[2];     /* queries, keys: the last two dims of the softmax's input */
	int64_t softmax_calls; /* 0: there is none between two products, or the trace has no shapes */
	int64_t softmax_ps, product_ps; /* of the kernels that they launched */
	double product_flops;		/* 0: unknown */
};

#endif
