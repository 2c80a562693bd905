/* SPDX-License-Identifier: MIT */
/*
 * Facts: proc(5) (mountinfo: "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG]... - TYPE SOURCE OPTIONS", with \040
 * and others for characters that part words); the mounts that users of WSL show in its reports of faults:
 * "9p C:\134 rw,...,aname=drvfs;path=C:\;...", "virtiofs drvfsC... rw", and of WSL 1 "drvfs C: rw".
 */
#include "io/place.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/check.h"
#include "io/sys.h"

#define MAX_MOUNTS (1 << 20)
#define PIECE	   4096

/* The folder's name behind the last '/', and what stands before it. */
static struct ts_bytes cut_name(struct ts_bytes *path)
{
	size_t at = path->n;
	struct ts_bytes name;

	while (at > 0 && path->p[at - 1] != '/')
		at--;
	name = ts_bytes_cut(*path, at, path->n);
	path->n = at > 0 ? at - 1 : 0;
	return name;
}

bool ts_place_is_session(const char *dir)
{
	char *real;
	struct ts_bytes path;
	bool is;

	TS_ASSERT(dir);
	real = realpath(dir, NULL);
	path = ts_bytes_of(real);
	is = cut_name(&path).n > 0 && ts_bytes_is(cut_name(&path), "profile") &&
	     ts_bytes_is(cut_name(&path), "plugins");
	free(real);
	return is;
}

static struct ts_bytes cut_word(struct ts_bytes *line)
{
	size_t n = 0;
	struct ts_bytes word;

	while (n < line->n && line->p[n] != ' ')
		n++;
	word = ts_bytes_cut(*line, 0, n);
	*line = ts_bytes_cut(*line, TS_MIN(n + 1, line->n), line->n);
	return word;
}

static bool is_octal(struct ts_bytes text, size_t i)
{
	for (size_t digit = i + 1; digit < i + 4; digit++)
		if (digit >= text.n || text.p[digit] < '0' || text.p[digit] > '7')
			return false;
	return text.p[i] == '\\';
}

/* How many bytes of PATH the folder POINT has, if PATH is it or below it; else 0. */
static size_t depth_below(struct ts_bytes point, const char *path)
{
	size_t at = 0;

	for (size_t i = 0; i < point.n; i++, at++) {
		unsigned c = point.p[i];

		if (is_octal(point, i)) {
			c = (unsigned)(point.p[i + 1] - '0') << 6 |
			    (unsigned)(point.p[i + 2] - '0') << 3 |
			    (unsigned)(point.p[i + 3] - '0');
			i += 3;
		}
		if ((uint8_t)path[at] != c)
			return 0;
	}
	if (at == 1) /* the root */
		return 1;
	return path[at] == '\0' || path[at] == '/' ? at : 0;
}

/* "C:", "C:\134" */
static bool place_is_letter(struct ts_bytes source)
{
	return source.n >= 2 && source.p[1] == ':' &&
	       ((source.p[0] | 0x20) >= 'a' && (source.p[0] | 0x20) <= 'z');
}

static bool is_drive(struct ts_bytes type, struct ts_bytes source, struct ts_bytes options)
{
	if (ts_bytes_is(type, "drvfs"))
		return true;
	return (ts_bytes_is(type, "9p") || ts_bytes_is(type, "virtiofs")) &&
	       (place_is_letter(source) || ts_bytes_has(source, "drvfs") ||
		ts_bytes_has(options, "drvfs"));
}

struct mount {
	struct ts_bytes point;
	bool is_drive;
};

static struct mount read_mount(struct ts_bytes line)
{
	struct mount mount;
	struct ts_bytes type, source;

	for (int i = 0; i < 4; i++)
		cut_word(&line);
	mount.point = cut_word(&line);
	while (line.n > 0 && !ts_bytes_is(cut_word(&line), "-"))
		;
	type = cut_word(&line);
	source = cut_word(&line);
	mount.is_drive = is_drive(type, source, line);
	return mount;
}

/* Of those that have the path the longest; of several of that length the last hides the others. */
bool ts_place_windows_mount(struct ts_bytes mounts, const char *path, struct ts_bytes *point)
{
	struct mount best = { .is_drive = false };
	size_t depth = 0;

	TS_ASSERT(path && point);
	while (mounts.n > 0) {
		size_t n = ts_bytes_find(mounts, "\n");
		struct mount mount = read_mount(ts_bytes_cut(mounts, 0, n));
		size_t below = mount.point.n > 0 ? depth_below(mount.point, path) : 0;

		if (below > 0 && below >= depth) {
			depth = below;
			best = mount;
		}
		mounts = ts_bytes_cut(mounts, TS_MIN(n + 1, mounts.n), mounts.n);
	}
	*point = best.point;
	return best.is_drive;
}

/* What could not be read is missing: it is a remark that is lost, and not a figure. */
static void read_mounts(struct ts_buf *out)
{
	int fd = ts_sys_open("/proc/self/mountinfo", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : 1;

	while (n > 0 && out->n < MAX_MOUNTS && ts_buf_room(out, PIECE)) {
		n = read(fd, out->p + out->n, PIECE);
		out->n += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
}

bool ts_place_is_windows(const char *path, struct ts_buf *point)
{
	struct ts_buf mounts = TS_BUF_INIT;
	struct ts_bytes found;
	char *real;
	bool is = false;

	TS_ASSERT(path && point);
	real = realpath(path, NULL);
	read_mounts(&mounts);
	if (real && ts_place_windows_mount(ts_buf_bytes(&mounts), real, &found)) {
		ts_buf_put(point, found);
		is = true;
	}
	ts_buf_release(&mounts);
	free(real);
	return is;
}
