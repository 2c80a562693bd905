/* SPDX-License-Identifier: MIT */
/*
 * A card: what a list says of a run, taken out of its report in JSON.
 *
 * A report may be anybody's, so the reader takes any bytes: it looks at the first TS_CARD_BYTES alone, enters nothing
 * but the few objects that it knows, and cuts texts. A card is a plain value; what the report does not say is
 * TS_UNKNOWN, NaN or empty.
 */
#ifndef TS_SERVE_CARD_H
#define TS_SERVE_CARD_H

#include "codec/json.h"
#include "model/bucket.h"

#define TS_CARD_BYTES ((size_t)16 << 20) /* of a report; what a card needs stands in front */
#define TS_CARD_SPARK 32
#define TS_CARD_TEXT  256

struct ts_card {
	char chip[64], program[TS_CARD_TEXT], verdict[TS_CARD_TEXT];
	char problem[512];    /* why there is no report of this run; empty: there is one */
	int64_t when_unix_ms; /* the first start of a host's profiler */
	int64_t nr_devices, nr_steps;
	int64_t is_predicted; /* 1: nothing of it was measured */
	int64_t step_median_ps, step_p90_ps, wall_ps;
	double health_score;
	int64_t total_ps, bucket_ps[TS_NR_BUCKETS]; /* time of all cores */
	int64_t spark_ps
		[TS_CARD_SPARK]; /* times of steps, or means of as many that follow one another */
	size_t nr_spark;
};

/* False: TEXT is not a report of ours. */
bool ts_card_read(struct ts_card *card, struct ts_bytes text);
void ts_card_init(struct ts_card *card); /* nothing is known */

/*
 * Is the report TEXT, a file, of this profile, a file of NR_BYTES called NAME? It is when it says so of NAME itself: as
 * many bytes as the profile had, and as many as TPUsight put behind them.
 */
bool ts_card_is_of(struct ts_bytes text, struct ts_bytes name, uint64_t nr_bytes);

/* Its members, into an object that is open. */
void ts_card_put(struct ts_json *json, const struct ts_card *card);

#endif
