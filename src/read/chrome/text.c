/* SPDX-License-Identifier: MIT */
/*
 * The text of a packed trace, in which the stats of its events are looked up. Of a trace that is alone it was written to disk while
 * it was read. Of one rank of many it is unpacked again when the first stat is asked for, and goes when the host
 * rests: so the disk holds the texts of the ranks that are being read, and not of all.
 */
#include "base/check.h"
#include "io/gzip.h"
#include "read/chrome/chrome.h"

#define PART_BYTES (size_t)262144

/* A damaged text ends where it is damaged: the reader has said so. */
static enum ts_status text_unpack(struct chrome_file *file)
{
	struct ts_gunzip gz = TS_GUNZIP_INIT;
	uint8_t *part = malloc(PART_BYTES);
	enum ts_status st = part ? ts_gunzip_open(&gz, file->bytes, NULL) : TS_NOMEM;
	size_t got = 1;

	while (st == TS_OK && got > 0) {
		struct ts_bytes bytes = { part, 0 };

		st = ts_gunzip_read(&gz, part, PART_BYTES, &got, NULL);
		bytes.n = got;
		if ((st == TS_OK || st == TS_FORMAT) &&
		    ts_scratch_put(&file->unpacked, bytes, NULL))
			st = TS_IO;
	}
	if (st == TS_OK || st == TS_FORMAT)
		st = ts_scratch_map(&file->unpacked, &file->text, NULL);
	ts_gunzip_release(&gz);
	free(part);
	return st;
}

static void make_text(struct chrome_file *file)
{
	pthread_mutex_lock(&file->text_lock);
	if (!atomic_load_explicit(&file->has_text, memory_order_relaxed)) {
		if (text_unpack(file)) {
			ts_scratch_release(&file->unpacked);
			file->text = (struct ts_bytes){ NULL, 0 };
			file->text_lost = true;
		}
		atomic_store_explicit(&file->has_text, true, memory_order_release);
	}
	pthread_mutex_unlock(&file->text_lock);
}

struct ts_bytes ts_chrome_text(const struct chrome_file *shared)
{
	struct chrome_file *file = (struct chrome_file *)(uintptr_t)shared;

	TS_ASSERT_HOT(file);
	if (file->is_lazy && !atomic_load_explicit(&file->has_text, memory_order_acquire))
		make_text(file);
	return file->text;
}

void ts_chrome_note_lost(struct ts_profile *profile, const struct chrome_file *file,
			 struct ts_bytes name)
{
	TS_ASSERT(profile && file);
	if (file->text_lost)
		ts_profile_add_damage(profile, name, 0,
				      "no room in the temporary folder to unpack it: what its "
				      "events say in args is unknown (set TMPDIR, or unpack it)",
				      true);
}

void ts_chrome_rest(struct ts_profile *profile, uint32_t host)
{
	struct chrome_file *file = profile->hosts[host].reader_data;

	TS_ASSERT(file);
	if (!file->is_lazy || !atomic_load_explicit(&file->has_text, memory_order_acquire))
		return;
	if (file->text_lost) { /* once: it is not tried again */
		ts_chrome_note_lost(profile, file, profile->hosts[host].file);
		file->is_lazy = false;
		return;
	}
	ts_scratch_release(&file->unpacked);
	file->text = (struct ts_bytes){ NULL, 0 };
	atomic_store_explicit(&file->has_text, false, memory_order_release);
}
