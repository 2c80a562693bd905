/* SPDX-License-Identifier: MIT */
/* Files of a session of several hosts, made of the sample; and all maps of it. For tests of pod/map.h. */
#ifndef TS_TESTS_POD_MAP_HOSTS_H
#define TS_TESTS_POD_MAP_HOSTS_H

#include "codec/pbw.h"
#include "pod/parcel.h"
#include "io/archive.h"
#include "tests/pod/map_run.h"
#include "tests/io/tmpdir.h"

/* Below the source tree; tests run in folders of their own. */
static inline const char *source(const char *name)
{
	static char top[4096], path[8192];

	if (!top[0])
		assert_non_null(realpath(TS_SRCDIR, top));
	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

#define SAMPLE \
	"tests/data/sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/" \
	"simulated-host.xplane.pb"

static inline void copy(const char *from, const char *to)
{
	struct ts_input input = TS_INPUT_INIT;

	assert_int_equal(ts_input_open(&input, from, NULL), TS_OK);
	make_file(to, input.bytes);
	ts_input_release(&input);
}

/* The run's start stands in the file as a varint: host NUMBER begins so many times 130 us later. */
static inline void save_host(const char *from, const char *dir, unsigned number)
{
	uint8_t start[TS_PBW_VARINT], later[TS_PBW_VARINT];
	struct ts_input input = TS_INPUT_INIT;
	struct ts_buf bytes = TS_BUF_INIT;
	struct ts_run run;
	struct ts_runs runs = TS_RUNS_INIT;
	char path[256];
	size_t n, nr = 0;
	int64_t ns;

	ts_run_init(&run);
	assert_int_equal(ts_runs_find(&runs, from, NULL), TS_OK);
	assert_int_equal(ts_run_read(&run, &runs.sessions[0],
				     &(struct ts_run_options){ .nr_threads = 1 }, NULL),
			 TS_OK);
	ns = run.profile.hosts[0].start_unix_ns;
	ts_run_release(&run);
	ts_runs_release(&runs);
	n = (size_t)(ts_pbw_store(start, (uint64_t)ns) - start);
	assert_int_equal(ts_pbw_store(later, (uint64_t)(ns + number * 130000)) - later, n);
	assert_int_equal(ts_input_open(&input, from, NULL), TS_OK);
	ts_buf_put(&bytes, input.bytes);
	for (size_t i = 0; i + n <= bytes.n; i++)
		if (memcmp(bytes.p + i, start, n) == 0) {
			memcpy(bytes.p + i, later, n);
			nr++;
		}
	assert_true(nr > 0);
	snprintf(path, sizeof(path), "%s/host%02u.xplane.pb", dir, number);
	make_file(path, ts_buf_bytes(&bytes));
	ts_buf_release(&bytes);
	ts_input_release(&input);
}

static inline void make_hosts(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		save_host(source(SAMPLE), "hosts",
			  i * 7 % nr); /* the first name is not the first start */
}

static inline void expect_words(const struct ts_error *err, const char *words)
{
	if (!strstr(err->text, words))
		fail_msg("%s, where it should say: %s", err->text, words);
}

static inline void expect_no_report(struct map_run *map, const char *words)
{
	struct ts_buf json = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	assert_int_not_equal(map_run_report(map, false, &json, &err), TS_OK);
	expect_words(&err, words);
	ts_buf_release(&json);
}

/* Each truncation is refused, and each byte that is another one. */
static inline void expect_damage(const struct ts_buf *parcel, enum ts_parcel_kind kind)
{
	struct ts_parcel opened;
	struct ts_buf copy = TS_BUF_INIT;
	size_t step = parcel->n / 500 + 1;

	for (size_t n = 0; n < parcel->n; n += n < 300 ? 1 : step)
		assert_int_equal(ts_parcel_open(&opened, ts_bytes_cut(ts_buf_bytes(parcel), 0, n),
						kind, NULL),
				 TS_FORMAT);
	ts_buf_put(&copy, ts_buf_bytes(parcel));
	for (size_t n = 0; n < copy.n; n += n < 300 ? 1 : step) {
		copy.p[n] ^= 0x20;
		assert_int_equal(ts_parcel_open(&opened, ts_buf_bytes(&copy), kind, NULL),
				 TS_FORMAT);
		copy.p[n] ^= 0x20;
	}
	ts_buf_release(&copy);
}

static inline void swap(struct ts_buf *a, struct ts_buf *b)
{
	struct ts_buf c = *a;

	*a = *b;
	*b = c;
}

static inline void map_all(struct map_run *map, bool backwards)
{
	struct ts_error err = TS_ERROR_INIT;

	for (size_t i = 0; i < map->nr; i++)
		assert_true(map_run_outline(map, i));
	if (map_run_join(map, backwards, &err))
		fail_msg("%s", err.text);
	for (size_t i = map->nr; i-- > 0;)
		if (map_run_pass(map, i, &err))
			fail_msg("%s", err.text);
}

static inline enum ts_status unpack_host(void *ctx, const char *name, struct ts_buf *content,
					 struct ts_error *err)
{
	char path[256];

	(void)err;
	snprintf(path, sizeof(path), "hosts/%s", strrchr(name, '/') + 1);
	make_file(path, ts_buf_bytes(content));
	++*(size_t *)ctx;
	return TS_OK;
}

/* The files of an archive, into hosts/; how many they are. */
static inline size_t unpack_hosts(const char *archive)
{
	struct ts_input input = TS_INPUT_INIT;
	size_t nr = 0;
	struct ts_archive_visitor visitor = { .entry = unpack_host, .ctx = &nr };

	assert_int_equal(ts_input_open(&input, archive, NULL), TS_OK);
	assert_int_equal(ts_archive_each(input.bytes, &visitor, NULL), TS_OK);
	ts_input_release(&input);
	return nr;
}

#endif
