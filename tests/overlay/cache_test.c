/* SPDX-License-Identifier: MIT */
/* XProf's caches: which files they are, and what stands in cache_version.txt. */
#include "tests/test.h"
#include "folder.h"
#include "overlay/cache.h"

static const struct ts_hostfile hosts[] = {
	{ "t1v-n-0", "t1v-n-0.xplane.pb", "t1v-n-0.xplane.pb", 1 },
	{ "ALL_HOSTS", "ALL_HOSTS.xplane.pb", "ALL_HOSTS.xplane.pb", 1 },
};
static const struct ts_session session = {
	.kind = TS_SESSION_DIR, .dir = ".", .files = hosts, .nr_files = 2
};

TEST(caches_are_known_by_their_names)
{
	static const struct {
		const char *name;
		bool cache;
	} rows[] = {
		{ "t1v-n-0.SSTABLE", true },
		{ "t1v-n-0.metadata.SSTABLE", true },
		{ "t1v-n-0.trie.SSTABLE", true },
		{ "t1v-n-0.op_stats_v2.pb", true },
		{ "ALL_HOSTS.op_stats_v2.pb", true },
		{ "ALL_HOSTS.op_stats.pb", true },
		{ "ALL_HOSTS.SSTABLE", true },
		{ "t1v-n-0.op_stats.pb", true },
		{ "NO_HOST.op_stats_v2.pb", true },
		{ "ALL_HOSTS.my_backup.pb", false }, /* a name of the user's */
		{ "ALL_HOSTS.overview_page.pb", false },
		{ "ALL_HOSTS.pb", false },
		{ "ALL_HOSTS", false },
		{ "NO_HOST.dcn_collective_stats.pb", true },
		{ ".cached_tools.json", true },
		{ "t1v-n-0.xplane.pb", false },
		{ "ALL_HOSTS.xplane.pb", false }, /* a host of that name */
		{ "ALL_HOSTS.smart_suggestion.pb", false },
		{ "ALL_HOSTS.tpusight.json", false },
		{ "ALL_HOSTS.hlo_proto.pb", false },
		{ "jit_f(1).hlo_proto.pb", false },
		{ "other.SSTABLE", false },
		{ "t1v-n-01.SSTABLE", false },
		{ "t1v-n-0.trace.json.gz", false },
		{ "cache_version.txt", false },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (ts_cache_is(&session, rows[i].name) != rows[i].cache)
			fail_msg("%s", rows[i].name);
}

TEST(our_version_file_is_known_and_reads_as_the_version)
{
	struct ts_buf buf = TS_BUF_INIT;

	ts_cache_version_make(&buf, TS_LIT("2.24.2"));
	assert_true(ts_cache_version_ours(ts_buf_bytes(&buf)));
	/* what Python's str.strip() leaves */
	while (buf.n && strchr(" \t\n\r\f\v", buf.p[buf.n - 1]))
		buf.n--;
	assert_true(ts_bytes_is(ts_buf_bytes(&buf), "2.24.2"));
	assert_false(ts_cache_version_ours(ts_buf_bytes(&buf)));
	assert_false(ts_cache_version_ours(TS_LIT("2.24.2\n")));
	assert_false(ts_cache_version_ours(TS_LIT("\n\t\n")));
	assert_false(ts_cache_version_ours(TS_LIT("notes of mine\n\t\n")));
	assert_false(ts_cache_version_ours(TS_LIT("")));
	ts_buf_release(&buf);
}

static void assert_version(const char *path, const char *home, bool found, const char *expected)
{
	struct ts_buf version = TS_BUF_INIT;

	assert_int_equal(ts_cache_installed(path, home, &version), found);
	assert_true(ts_bytes_is(ts_buf_bytes(&version), expected));
	ts_buf_release(&version);
}

TEST(the_installed_version_is_that_of_the_first_path)
{
	struct folder f;
	char path[1200], home[300];

	folder_make(&f);
	make_dirs(&f, "empty/bin");
	make_dirs(&f, "venv/bin");
	make_dirs(&f, "venv/lib/python3.11/site-packages/xprof-2.21.3.dist-info");
	make_dirs(&f, "venv/lib/python3.11/site-packages/xprof_rs-0.1.3.dist-info");
	make_dirs(&f, "venv/lib/python3.11/site-packages/xprof-;rm -rf.dist-info");
	make_dirs(&f,
		  "venv/lib/python3.11/site-packages/tensorboard_plugin_profile-9.9.9.dist-info");
	make_dirs(&f, "usr/bin");
	make_dirs(&f, "usr/lib/python3/dist-packages/tensorboard_plugin_profile-2.19.0.dist-info");
	make_dirs(&f, "home/.local/lib/python3.12/site-packages/xprof-2.22.0.dist-info");
	snprintf(home, sizeof(home), "%s/home", f.path);
	snprintf(path, sizeof(path), "/nowhere::%s/empty/bin:%s/venv/bin:%s/usr/bin", f.path,
		 f.path, f.path);
	assert_version(path, home, true, "2.21.3");
	snprintf(path, sizeof(path), "%s/usr/bin", f.path);
	assert_version(path, home, true, "2.19.0");
	snprintf(path, sizeof(path), "%s/empty/bin", f.path);
	assert_version(path, home, true, "2.22.0");
	assert_version(path, NULL, false, TS_XPROF_VERSION);
	assert_version(NULL, NULL, false, TS_XPROF_VERSION);
	folder_remove(&f);
}
