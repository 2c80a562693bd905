/* SPDX-License-Identifier: MIT */
/* A session's folder and the files of its hosts. */
#include "live/captured.h"

#include <time.h>

#include "base/check.h"
#include "io/file.h"
#include "io/newfile.h"
#include "io/rundir.h"

#define DIR_MODE 0777

/* DIR/alert_RULE/plugins/profile/2026_01_31_12_00_00, in local time as JAX names sessions. */
static bool captured_put_folder(struct ts_buf *out, const char *dir, const char *rule,
				int64_t unix_ms)
{
	time_t seconds = (time_t)(unix_ms / 1000);
	char name[32];
	struct tm at;

	if (!localtime_r(&seconds, &at) ||
	    strftime(name, sizeof(name), "%Y_%m_%d_%H_%M_%S", &at) == 0)
		return false;
	ts_buf_printf(out, "%s/alert_%s/plugins/profile/%s", dir, rule, name);
	return !out->failed;
}

static enum ts_status captured_write_host(struct ts_bytes folder, const struct ts_run_bytes *item,
					  struct ts_error *err)
{
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_buf path = TS_BUF_INIT;
	enum ts_status st = TS_OK;
	size_t made;

	ts_buf_printf(&path, "%.*s/", TS_ARG(folder));
	for (size_t i = 0; i < item->host.n; i++)
		ts_buf_putc(&path, strchr(":/", item->host.p[i]) ? '_' : (char)item->host.p[i]);
	ts_buf_puts(&path, TS_XPLANE_SUFFIX);
	ts_buf_putc(&path, '\0');
	if (path.failed)
		return ts_fail_nomem(err);
	st = ts_dir_make_for((const char *)path.p, DIR_MODE, &made, err);
	if (st == TS_OK)
		st = ts_newfile_open(&file, (const char *)path.p, err);
	if (st == TS_OK)
		st = ts_newfile_put(&file, item->bytes, err);
	if (st == TS_OK)
		st = ts_newfile_commit(&file, err);
	ts_newfile_release(&file);
	ts_buf_release(&path);
	return st;
}

enum ts_status ts_captured_write(const char *dir, const char *rule, const struct ts_round *round,
				 int64_t unix_ms, struct ts_buf *folder, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(dir != NULL && rule != NULL && round != NULL && folder != NULL);
	ts_buf_clear(folder);
	if (!captured_put_folder(folder, dir, rule, unix_ms))
		return ts_fail_nomem(err);
	for (size_t i = 0; i < round->nr && st == TS_OK; i++)
		st = captured_write_host(ts_buf_bytes(folder), &round->items[i], err);
	if (st) {
		ts_buf_clear(folder);
		return ts_fail_at(err, st, "the capture is not kept");
	}
	ts_buf_putc(folder, '\0');
	return folder->failed ? ts_fail_nomem(err) : TS_OK;
}
