/* SPDX-License-Identifier: MIT */
/* Where a profile lies: TensorBoard's folders, drives of Windows, and the packages of a TensorBoard. */
#include "tmpdir.h"

#include "io/place.h"
#include "io/tensorboard.h"

/* What users of WSL show of their machines. */
static const char mounts[] =
	"1 0 8:32 / / rw,relatime - ext4 /dev/sdc rw,discard,errors=remount-ro,data=ordered\n"
	"2 1 0:21 / /mnt/wsl rw,relatime shared:1 - tmpfs none rw\n"
	"3 1 0:67 / /mnt/c rw,noatime - 9p C:\\134 "
	"rw,dirsync,aname=drvfs;path=C:\\;uid=1000;gid=1000,"
	"mmap,access=client,msize=65536,trans=fd\n"
	"4 1 0:68 / /mnt/d rw,noatime - virtiofs drvfsD1 rw\n"
	"5 1 0:69 / /mnt/e rw,noatime - drvfs E: rw,case=off\n"
	"6 1 0:70 / /work\\040here rw,noatime - 9p drvfs rw,aname=drvfs;path=F:\\\n"
	"7 1 0:71 / /mnt/plan9 rw - 9p 192.168.0.87 rw,trans=tcp,port=564\n"
	"8 1 0:72 / /mnt/vm rw - virtiofs shared rw\n"
	"9 3 0:73 / /mnt/c/linux rw - ext4 /dev/sdd rw\n"
	"10 1 0:74 / /mnt/g rw - 9p G:\\134 rw\n"
	"11 1 0:75 / /mnt/g rw - ext4 /dev/sde rw\n"
	"12 1\n"
	"\n";

TEST(a_drive_of_windows_is_known_by_its_mount)
{
	static const struct row {
		const char *path, *point; /* NULL: it is not one */
	} rows[] = {
		{ "/mnt/c", "/mnt/c" },
		{ "/mnt/c/Users/a/profiles", "/mnt/c" },
		{ "/mnt/d/x", "/mnt/d" },
		{ "/mnt/e/x", "/mnt/e" },
		{ "/work here/x", "/work\\040here" },
		{ "/mnt/cd/x", NULL },
		{ "/mnt/c/linux/x", NULL },
		{ "/mnt/plan9/x", NULL },
		{ "/mnt/vm/x", NULL },
		{ "/mnt/g/x", NULL },
		{ "/home/a/profiles", NULL },
		{ "/", NULL },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_bytes point;
		bool is = ts_place_windows_mount(ts_bytes_of(mounts), rows[i].path, &point);

		assert_int_equal(is, rows[i].point != NULL);
		if (is)
			assert_true(ts_bytes_is(point, rows[i].point));
	}
}

TEST(what_is_cut_off_is_not_read_beyond)
{
	struct ts_bytes point;

	for (size_t n = 0; n < sizeof(mounts); n++) {
		uint8_t *copy = malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy, mounts, n);
		ts_place_windows_mount((struct ts_bytes){ copy, n }, "/mnt/c/x", &point);
		free(copy);
	}
}

TEST_IN_TMPDIR(tensorboard_finds_what_lies_in_plugins_profile)
{
	make_dirs("logs/train/plugins/profile/now/deeper");
	make_dirs("plugins/other/now");
	assert_true(ts_place_is_session("logs/train/plugins/profile/now"));
	assert_true(ts_place_is_session("logs/train/plugins/profile/now/"));
	assert_true(ts_place_is_session("./logs/../logs/train/plugins/profile/now"));
	assert_int_equal(symlink("logs/train/plugins/profile/now", "link"), 0);
	assert_true(ts_place_is_session("link"));
	assert_false(ts_place_is_session("logs/train/plugins/profile"));
	assert_false(ts_place_is_session("logs/train/plugins/profile/now/deeper"));
	assert_false(ts_place_is_session("plugins/other/now"));
	assert_false(ts_place_is_session("/"));
	assert_false(ts_place_is_session("nothing"));
}

static void put_program(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0777);

	assert_true(fd >= 0);
	close(fd);
}

TEST_IN_TMPDIR(packages_are_looked_for_beside_tensorboard)
{
	struct ts_tensorboard found;

	make_dirs("venv/bin");
	make_dirs("venv/lib/python3.12/site-packages/tensorboard_data_server-0.7.dist-info");
	ts_tensorboard_find(&found, "venv/bin");
	assert_string_equal(found.program, "");
	put_program("venv/bin/tensorboard");
	ts_tensorboard_find(&found, "venv/bin");
	assert_string_equal(found.program, "");
	make_dirs("venv/lib/python3.12/site-packages/tensorboard-2.21.0.dist-info");
	ts_tensorboard_find(&found, ":nothing:venv/bin");
	assert_non_null(strstr(found.program, "/venv/bin/tensorboard"));
	assert_non_null(strstr(found.packages, "/venv/lib/python3.12/site-packages"));
	assert_false(found.has_xprof);
	assert_false(found.has_tpusight);
	make_dirs("venv/lib/python3.12/site-packages/tensorboard_plugin_profile-2.20.dist-info");
	make_dirs("venv/lib/python3.12/site-packages/tpusight-0.2.0.dist-info");
	ts_tensorboard_find(&found, "venv/bin");
	assert_true(found.has_xprof);
	assert_true(found.has_tpusight);
}

TEST_IN_TMPDIR(the_first_tensorboard_in_path_is_meant)
{
	struct ts_tensorboard found;

	make_dirs("one/bin");
	make_dirs("two/bin/tensorboard");
	make_dirs("two/lib/python3.9/dist-packages/tensorboard-2.3.dist-info");
	make_dirs("three/bin");
	make_dirs("three/lib/python3.9/dist-packages/tensorboard-2.3.dist-info");
	make_dirs("three/lib/python3.9/dist-packages/xprof-2.3.dist-info");
	put_program("three/bin/tensorboard");
	assert_int_equal(symlink("../../three/bin/tensorboard", "one/bin/tensorboard"), 0);
	ts_tensorboard_find(&found, "two/bin:one/bin");
	assert_non_null(strstr(found.program, "/three/bin/tensorboard"));
	assert_true(found.has_xprof);
	ts_tensorboard_find(&found, "two/bin");
	assert_string_equal(found.program, "");
	ts_tensorboard_find(&found, NULL);
	assert_string_equal(found.program, "");
}
