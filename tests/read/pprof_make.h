/* SPDX-License-Identifier: MIT */
/*
 * Memory profiles by hand: pprof's profile.proto with the fields that are read.
 */
#ifndef TESTS_READ_PPROF_MAKE_H
#define TESTS_READ_PPROF_MAKE_H

#include "codec/pbw.h"

/* Strings of every profile made here, by number. */
enum {
	PP_NONE,
	PP_ALLOCATIONS,
	PP_COUNT,
	PP_SPACE,
	PP_BYTES,
	PP_KIND,
	PP_BUFFER,
	PP_DEVICE,
	PP_CHIP,
	PP_INNER,
	PP_LIBRARY,
	PP_OUTER,
	PP_OWN,
	PP_MAIN,
	PP_CHIP1
};

static inline void pp_strings(struct ts_buf *out)
{
	static const char *const all[] = { "",
					   "allocations",
					   "count",
					   "space",
					   "bytes",
					   "kind",
					   "buffer",
					   "device",
					   "TPU_0",
					   "ones",
					   "/v/site-packages/jax/a.py",
					   "init",
					   "/home/me/train.py",
					   "main",
					   "TPU_1" };

	for (size_t i = 0; i < TS_NELEM(all); i++)
		ts_pbw_bytes(out, 6, ts_bytes_of(all[i]));
}

static inline void pp_type(struct ts_buf *out, uint64_t name, uint64_t unit)
{
	size_t mark = ts_pbw_begin(out, 1);

	ts_pbw_u64(out, 1, name);
	ts_pbw_u64(out, 2, unit);
	ts_pbw_end(out, mark);
}

static inline void pp_types(struct ts_buf *out)
{
	pp_type(out, PP_ALLOCATIONS, PP_COUNT);
	pp_type(out, PP_SPACE, PP_BYTES);
}

static inline void pp_function(struct ts_buf *out, uint64_t id, uint64_t name, uint64_t file)
{
	size_t mark = ts_pbw_begin(out, 5);

	ts_pbw_u64(out, 1, id);
	ts_pbw_u64(out, 2, name);
	ts_pbw_u64(out, 4, file);
	ts_pbw_end(out, mark);
}

static inline void pp_line(struct ts_buf *out, uint64_t function, uint64_t line)
{
	size_t mark = ts_pbw_begin(out, 4);

	ts_pbw_u64(out, 1, function);
	ts_pbw_u64(out, 2, line);
	ts_pbw_end(out, mark);
}

static inline void pp_location(struct ts_buf *out, uint64_t id, uint64_t function, uint64_t line)
{
	size_t mark = ts_pbw_begin(out, 4);

	ts_pbw_u64(out, 1, id);
	pp_line(out, function, line);
	ts_pbw_end(out, mark);
}

static inline void pp_label(struct ts_buf *out, uint64_t key, uint64_t text)
{
	size_t mark = ts_pbw_begin(out, 3);

	ts_pbw_u64(out, 1, key);
	ts_pbw_u64(out, 2, text);
	ts_pbw_end(out, mark);
}

/* With numbers one by one: the old way, which readers must know too. */
static inline void pp_sample(struct ts_buf *out, const uint64_t *locations, size_t nr,
			     uint64_t count, uint64_t nr_bytes, uint64_t device)
{
	size_t mark = ts_pbw_begin(out, 2);

	for (size_t i = 0; i < nr; i++)
		ts_pbw_u64(out, 1, locations[i]);
	ts_pbw_u64(out, 2, count);
	ts_pbw_u64(out, 2, nr_bytes);
	pp_label(out, PP_KIND, PP_BUFFER);
	pp_label(out, PP_DEVICE, device);
	ts_pbw_end(out, mark);
}

/*
 * main (train.py:9) calls init (train.py:3 and :4), which calls ones() of a library: 300 bytes of
 * line 3 on TPU_0 and 200 on TPU_1, 50 of line 4 on TPU_1; strings last, as jax writes them.
 */
static inline void pp_training(struct ts_buf *out)
{
	static const uint64_t of_3[] = { 70, 3, 9 }, of_4[] = { 70, 4, 9 };

	pp_types(out);
	pp_sample(out, of_4, 3, 1, 50, PP_CHIP1);
	pp_sample(out, of_3, 3, 2, 300, PP_CHIP);
	pp_sample(out, of_3, 3, 1, 200, PP_CHIP1);
	pp_location(out, 70, 11, 700);
	pp_location(out, 3, 12, 3);
	pp_location(out, 4, 12, 4);
	pp_location(out, 9, 13, 9);
	pp_function(out, 11, PP_INNER, PP_LIBRARY);
	pp_function(out, 12, PP_OUTER, PP_OWN);
	pp_function(out, 13, PP_MAIN, PP_OWN);
	pp_strings(out);
}

#endif
