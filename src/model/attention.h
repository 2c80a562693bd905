/* SPDX-License-Identifier: MIT */
/*
 * Attention that a module has written out: a matrix product makes scores, a softmax goes over them, and a matrix
 * product takes what comes of it, each in an op of its own, so that the scores go through memory. It is known by the
 * flow of data, as XLA fuses it in many ways and names nothing.
 *
 * Between the exponential and the second product an element may be scaled, divided, masked or converted, no sum or
 * difference may be in it: the gradient of a loss over a softmax is one (of a cross entropy the softmax less what it
 * should be), times the weights that made the logits, and no attention.
 */
#ifndef TS_MODEL_ATTENTION_H
#define TS_MODEL_ATTENTION_H

#include "base/arena.h"
#include "model/hlo.h"

enum ts_attention_part { TS_ATTENTION_NONE, TS_ATTENTION_SOFTMAX, TS_ATTENTION_PRODUCT };

/*
 * What each instruction of MODULE outside of fusions does in attention: module->nr_instrs of enum ts_attention_part, in
 * SCRATCH; NULL: there is none, or no memory (the arena says so). Of a backward pass the products of the same scores are
 * parts, too.
 */
const uint8_t *ts_hlo_attention(struct ts_arena *scratch, const struct ts_hlo_module *module);

#endif
