/* SPDX-License-Identifier: MIT */
/* Rows say where in a report a figure stands; what is not on the way to one is stepped over. */
#include "serve/card.h"

#include "base/check.h"
#include "base/units.h"
#include "codec/jtok.h"
#include "io/tracefile.h"
#include "result/schema/ops.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"

#include <math.h>

#define NOTE	   "\"annotation\":"
#define NOTE_BYTES ((size_t)1 << 20) /* at the end of a file: the note names each file that was annotated */
#define NS_PER_MS  1000000

enum kind { KIND_INT, KIND_REAL, KIND_TEXT, KIND_BOOL };

struct row {
	const char *name; /* of a member, or of one in an object: "step_time_ps.median" */
	enum kind kind;
	size_t at, size; /* in struct ts_card; of a text its room */
};

#define INT(name, member)  { name, KIND_INT, offsetof(struct ts_card, member), 0 }
#define BOOL(name, member) { name, KIND_BOOL, offsetof(struct ts_card, member), 0 }
#define REAL(name, member) { name, KIND_REAL, offsetof(struct ts_card, member), 0 }
#define TEXT(name, member) \
	{ name, KIND_TEXT, offsetof(struct ts_card, member), sizeof(((struct ts_card *)0)->member) }

static const struct row run_rows[] = { INT(TS_NAME_IN(overview, run, duration_ps), wall_ps),
				       BOOL(TS_NAME_IN(overview, run, is_predicted), is_predicted),
				       { NULL } };
static const struct row overview_rows[] = {
	REAL(TS_NAME_IN(overview, overview, health_score), health_score),
	INT(TS_NAME_IN(overview, overview, step_count), nr_steps),
	INT(TS_NAME_IN(overview, overview, step_time_ps.median), step_median_ps),
	INT(TS_NAME_IN(overview, overview, step_time_ps.p90), step_p90_ps),
	{ NULL }
};
static const struct row time_rows[] = { INT(TS_FIELD_NAME(time, total_ps), total_ps),
					TEXT(TS_FIELD_NAME(time, bottleneck), verdict),
					{ NULL } };
static const struct row device_rows[] = { TEXT(TS_COLUMN_NAME(overview_device, chip), chip),
					  { NULL } };

/* Cut between two characters. */
static void card_take_text(char *out, size_t size, struct ts_bytes token)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_bytes text;
	size_t n;

	if (token.n == 0 || token.p[0] != '"')
		return;
	text = ts_jtok_text(token);
	text = ts_jtok_unescape(&arena, ts_bytes_cut(text, 0, 2 * size));
	n = TS_MIN(text.n, size - 1);
	while (n > 0 && n < text.n && (text.p[n] & 0xc0) == 0x80)
		n--;
	if (n > 0)
		memcpy(out, text.p, n);
	out[n] = '\0';
	ts_arena_release(&arena);
}

static void card_take(struct ts_card *card, const struct row *row, struct ts_bytes token)
{
	char *place = (char *)card + row->at;
	int64_t number = ts_bytes_is(token, "true");
	double real;

	if (row->kind == KIND_TEXT)
		card_take_text(place, row->size, token);
	else if (row->kind == KIND_INT && ts_bytes_i64(token, &number) && number >= 0)
		memcpy(place, &number, sizeof(number));
	else if (row->kind == KIND_BOOL && (number || ts_bytes_is(token, "false")))
		memcpy(place, &number, sizeof(number));
	else if (row->kind == KIND_REAL && ts_jtok_real(token, &real))
		memcpy(place, &real, sizeof(real));
}

static void take_rows(struct ts_card *card, const struct row *rows, struct ts_bytes object)
{
	for (; rows->name; rows++)
		card_take(card, rows, ts_jtok_at(object, rows->name));
}

/* --- what is more than a number */

static void take_run(struct ts_card *card, struct ts_bytes run)
{
	struct ts_jtok hosts = ts_jtok_enter(ts_jtok_at(run, TS_NAME_IN(overview, run, hosts)));
	struct ts_jtok devices = ts_jtok_enter(ts_jtok_at(run, TS_NAME_IN(overview, run, devices)));

	take_rows(card, run_rows, run);
	card->nr_devices = 0;
	while (ts_jtok_element(&hosts)) {
		int64_t ns;

		if (!ts_bytes_i64(
			    ts_jtok_text(ts_jtok_at(hosts.value,
						    TS_COLUMN_NAME(overview_host, start_unix_ns))),
			    &ns) ||
		    ns < 0)
			continue;
		if (card->when_unix_ms == TS_UNKNOWN || ns / NS_PER_MS < card->when_unix_ms)
			card->when_unix_ms = ns / NS_PER_MS;
	}
	while (ts_jtok_element(&devices))
		if (card->nr_devices++ == 0)
			take_rows(card, device_rows, devices.value);
}

static void take_overview(struct ts_card *card, struct ts_bytes overview)
{
	take_rows(card, overview_rows, overview);
}

/* Steps that follow one another, together. */
struct bins {
	int64_t sum_ps[2 * TS_CARD_SPARK];
	size_t nr, steps_each, steps_in_last;
};

static void card_halve(struct bins *bins)
{
	bins->nr /= 2;
	for (size_t i = 0; i < bins->nr; i++)
		bins->sum_ps[i] = ts_i64_add(bins->sum_ps[2 * i], bins->sum_ps[2 * i + 1]);
	bins->steps_each *= 2;
	bins->steps_in_last = bins->steps_each;
}

static void card_add_step(struct bins *bins, int64_t ps)
{
	if (bins->steps_in_last == bins->steps_each || bins->nr == 0) {
		if (bins->nr == TS_NELEM(bins->sum_ps))
			card_halve(bins);
		bins->sum_ps[bins->nr++] = 0;
		bins->steps_in_last = 0;
	}
	bins->sum_ps[bins->nr - 1] = ts_i64_add(bins->sum_ps[bins->nr - 1], ps);
	bins->steps_in_last++;
}

/* The last one may have fewer steps than the others. */
static void give_bins(struct ts_card *card, struct bins *bins)
{
	if (bins->nr > 0)
		bins->sum_ps[bins->nr - 1] /= (int64_t)bins->steps_in_last;
	for (size_t i = 0; i + 1 < bins->nr; i++)
		bins->sum_ps[i] /= (int64_t)bins->steps_each;
	for (size_t i = 0; i < bins->nr; i++) {
		size_t to = bins->nr > TS_CARD_SPARK ? i / 2 : i;
		int64_t *spark = &card->spark_ps[to];

		*spark = to < card->nr_spark ? *spark + (bins->sum_ps[i] - *spark) / 2
					     : bins->sum_ps[i];
		card->nr_spark = to + 1;
	}
}

static void card_take_steps(struct ts_card *card, struct ts_bytes steps)
{
	struct ts_jtok rows = ts_jtok_enter(steps);
	struct bins bins = { .steps_each = 1 };
	int64_t ps;

	card->nr_spark = 0;
	while (ts_jtok_element(&rows))
		if (ts_bytes_i64(
			    ts_jtok_at(rows.value, TS_COLUMN_NAME(overview_steps, duration_ps)),
			    &ps) &&
		    ps >= 0)
			card_add_step(&bins, ps);
	give_bins(card, &bins);
}

/* The program is the module that took most of the time. */
static void card_take_modules(struct ts_card *card, struct ts_bytes modules)
{
	struct ts_jtok rows = ts_jtok_enter(modules);
	int64_t most = -1, ps;

	while (ts_jtok_element(&rows)) {
		if (!ts_bytes_i64(
			    ts_jtok_at(rows.value, TS_COLUMN_NAME(ops_modules, total_time_ps)),
			    &ps) ||
		    ps <= most)
			continue;
		most = ps;
		card_take_text(card->program, sizeof(card->program),
			       ts_jtok_at(rows.value, TS_COLUMN_NAME(ops_modules, name)));
	}
}

#define BUCKET_NAME(id, name) [TS_BUCKET_##id] = TS_NAME_IN(time, buckets, name),
static const char *const bucket_names[TS_NR_BUCKETS] = { TS_EACH_BUCKET(BUCKET_NAME) };

static void take_time(struct ts_card *card, struct ts_bytes time)
{
	struct ts_bytes buckets = ts_jtok_at(time, TS_GROUP_NAME(time, buckets));

	take_rows(card, time_rows, time);
	for (enum ts_bucket b = 0; b < TS_NR_BUCKETS; b++)
		(void)ts_bytes_i64(ts_jtok_at(buckets, bucket_names[b]), &card->bucket_ps[b]);
}

static const struct section {
	const char *name;
	void (*take)(struct ts_card *card, struct ts_bytes value);
} sections[] = { { TS_GROUP_NAME(overview, run), take_run },
		 { TS_GROUP_NAME(overview, overview), take_overview },
		 { TS_TABLE_NAME(overview, steps), card_take_steps },
		 { TS_TABLE_NAME(ops, modules), card_take_modules },
		 { TS_RESULT_NAME(time), take_time } };

void ts_card_init(struct ts_card *card)
{
	TS_ASSERT(card);
	memset(card, 0, sizeof(*card));
	card->when_unix_ms = card->nr_devices = card->nr_steps = card->is_predicted = TS_UNKNOWN;
	card->step_median_ps = card->step_p90_ps = card->wall_ps = card->total_ps = TS_UNKNOWN;
	card->health_score = NAN;
	for (size_t b = 0; b < TS_NR_BUCKETS; b++)
		card->bucket_ps[b] = TS_UNKNOWN;
}

bool ts_card_read(struct ts_card *card, struct ts_bytes text)
{
	struct ts_jtok members = ts_jtok_enter(ts_bytes_cut(text, 0, TS_CARD_BYTES));
	size_t nr_found = 0;

	ts_card_init(card);
	if (!ts_report_is_ours(text))
		return false;
	while (nr_found < TS_NELEM(sections) && ts_jtok_member(&members))
		for (size_t i = 0; i < TS_NELEM(sections); i++)
			if (ts_bytes_is(members.key, sections[i].name)) {
				sections[i].take(card, members.value);
				nr_found++;
			}
	return true;
}

/* --- whose report it is */

static bool card_ends_in(struct ts_bytes path, struct ts_bytes name)
{
	return path.n >= name.n && ts_bytes_eq(ts_bytes_cut(path, path.n - name.n, path.n), name) &&
	       (path.n == name.n || path.p[path.n - name.n - 1] == '/');
}

static int64_t profile_bytes(struct ts_bytes text, struct ts_bytes name)
{
	struct ts_bytes head = ts_bytes_cut(text, 0, TS_CARD_BYTES);
	struct ts_jtok hosts = ts_jtok_enter(ts_jtok_at(head, TS_FIELD_NAME(overview, run.hosts)));
	int64_t nr_bytes;

	while (ts_jtok_element(&hosts))
		if (card_ends_in(ts_jtok_text(ts_jtok_at(hosts.value,
							 TS_COLUMN_NAME(overview_host, file))),
				 name) &&
		    ts_bytes_i64(ts_jtok_at(hosts.value, TS_COLUMN_NAME(overview_host, bytes)),
				 &nr_bytes))
			return nr_bytes;
	return TS_UNKNOWN;
}

/* Of the last note: what an earlier one says stands in a text, if at all. */
static struct ts_bytes card_note_of(struct ts_bytes text)
{
	struct ts_bytes tail = ts_bytes_cut(text, text.n - TS_MIN(text.n, NOTE_BYTES), text.n);
	struct ts_bytes note = { NULL, 0 };
	size_t at;

	while ((at = ts_bytes_find(tail, NOTE)) < tail.n)
		note = tail = ts_bytes_cut(tail, at + strlen(NOTE), tail.n);
	while (note.n > 0 && note.p[0] == ' ')
		note = ts_bytes_cut(note, 1, note.n);
	return note;
}

static int64_t overlay_bytes(struct ts_bytes text, struct ts_bytes name)
{
	struct ts_jtok files = ts_jtok_enter(ts_jtok_at(card_note_of(text), "files"));
	int64_t nr_bytes;

	while (ts_jtok_element(&files))
		if (ts_bytes_is(ts_jtok_text(ts_jtok_at(files.value, "what")), "overlay") &&
		    ts_bytes_eq(ts_jtok_text(ts_jtok_at(files.value, "name")), name) &&
		    ts_bytes_i64(ts_jtok_at(files.value, "bytes"), &nr_bytes))
			return nr_bytes;
	return 0;
}

bool ts_card_is_of(struct ts_bytes text, struct ts_bytes name, uint64_t nr_bytes)
{
	int64_t own = ts_report_is_ours(text) ? profile_bytes(text, name) : TS_UNKNOWN;

	return own >= 0 && (uint64_t)ts_i64_add(own, overlay_bytes(text, name)) == nr_bytes;
}

/* --- writing */

static void put_shares(struct ts_json *json, const struct ts_card *card)
{
	ts_json_key(json, "buckets_pct");
	ts_json_object(json);
	for (enum ts_bucket b = 0; b < TS_NR_BUCKETS; b++) {
		bool known = card->total_ps > 0 && card->bucket_ps[b] >= 0;

		ts_json_key(json, ts_bucket_name(b));
		ts_json_double(json,
			       known ? 100.0 * (double)card->bucket_ps[b] / (double)card->total_ps
				     : NAN);
	}
	ts_json_object_end(json);
}

void ts_card_put(struct ts_json *json, const struct ts_card *card)
{
	TS_ASSERT(json && card);
	ts_json_put_count(json, "when_unix_ms", card->when_unix_ms);
	ts_json_put_known(json, "chip", ts_bytes_of(card->chip));
	ts_json_put_count(json, "chips", card->nr_devices);
	ts_json_put_known(json, "program", ts_bytes_of(card->program));
	ts_json_key(json, "is_predicted");
	if (card->is_predicted == TS_UNKNOWN)
		ts_json_null(json);
	else
		ts_json_bool(json, card->is_predicted);
	ts_json_put_count(json, "steps", card->nr_steps);
	ts_json_put_count(json, "step_median_ps", card->step_median_ps);
	ts_json_put_count(json, "step_p90_ps", card->step_p90_ps);
	ts_json_put_count(json, "wall_ps", card->wall_ps);
	ts_json_put_double(json, "health_score", card->health_score);
	ts_json_put_known(json, "verdict", ts_bytes_of(card->verdict));
	put_shares(json, card);
	ts_json_key(json, "spark");
	ts_json_array(json);
	for (size_t i = 0; i < card->nr_spark; i++)
		ts_json_i64(json, card->spark_ps[i]);
	ts_json_array_end(json);
	ts_json_put_known(json, "problem", ts_bytes_of(card->problem));
}
