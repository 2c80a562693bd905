/* SPDX-License-Identifier: MIT */
/* Any bytes as protobuf fields, entered as messages down to a depth: views stay inside. */
#include "codec/pb.h"
#include "tests/fuzz/mutate/mutator.h"

#define DEPTH 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(proto)

static void walk(struct ts_pb pb, struct ts_bytes all, int depth)
{
	while (ts_pb_next(&pb)) {
		struct ts_bytes view = ts_pb_bytes(&pb);

		if (view.n && (view.p < all.p || view.n > all.n || view.p > all.p + all.n - view.n))
			abort();
		ts_pb_double(&pb);
		if (depth > 0 && pb.wire == TS_PB_BYTES) {
			struct ts_pb_error inner = { NULL, NULL };
			struct ts_pb message = ts_pb_of(view, &inner);

			walk(message, view, depth - 1);
		}
	}
	if (pb.err->cause && (pb.err->at < all.p || pb.err->at > all.p + all.n))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes all = { data, n };
	struct ts_pb_error error = { NULL, NULL };

	walk(ts_pb_of(all, &error), all, DEPTH);
	return 0;
}
