/* SPDX-License-Identifier: MIT */
/*
 * What a run is called beside the others: the label that the user gave, else the folder that tells it
 * apart.
 *
 * A session is named by the second in which it was captured, and a folder by a person: so a time is
 * left out where the folders differ, and has its folder in front where they do not.
 */
#include "compare/parts.h"

#include "base/check.h"

#define LABEL_MAX 40 /* of a run; longer, it loses folders in front */

static bool labels_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* 2026_11_22_09_06_03, as profilers name sessions; with "_2" where two began in one second. */
static bool labels_is_time(struct ts_bytes part)
{
	static const char form[] = "0000_00_00_00_00_00";

	if (part.n < sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < part.n; i++) {
		bool digit = i < sizeof(form) - 1 ? form[i] == '0' : labels_is_digit(part.p[i]);

		if (digit ? !labels_is_digit(part.p[i]) : part.p[i] != '_')
			return false;
	}
	return true;
}

/* Where the last part begins: behind the last slash. */
static size_t last_part(struct ts_bytes name)
{
	size_t at = name.n;

	while (at > 0 && name.p[at - 1] != '/')
		at--;
	return at;
}

static struct ts_bytes labels_part_at(struct ts_bytes name, size_t at)
{
	return ts_bytes_cut(name, at, name.n);
}

/* Where the names begin to differ, at the start of a part between slashes. */
static size_t common_prefix(const struct comparing *comparing)
{
	struct ts_bytes first = comparing->runs[0].name;
	size_t n = first.n;

	for (size_t r = 1; r < comparing->nr; r++) {
		struct ts_bytes name = comparing->runs[r].name;
		size_t same = 0;

		while (same < n && same < name.n && name.p[same] == first.p[same])
			same++;
		n = same;
	}
	while (n > 0 && first.p[n - 1] != '/')
		n--;
	return n;
}

/* The name from AT on; with the folder in front of AT where only a time is left. */
static struct ts_bytes from(struct ts_bytes name, size_t at)
{
	if (!labels_is_time(labels_part_at(name, at)) || at == 0)
		return labels_part_at(name, at);
	return labels_part_at(name, last_part(ts_bytes_cut(name, 0, at - 1)));
}

static struct ts_bytes without_last(struct ts_bytes name)
{
	size_t at = last_part(name);

	return ts_bytes_cut(name, 0, at > 0 ? at - 1 : 0);
}

static bool all_differ(const struct ts_bytes *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < i; k++)
			if (ts_bytes_eq(names[i], names[k]))
				return false;
	return true;
}

/* Does every run have a folder in front of its last part, which is a time or the same in all? */
static bool last_tells_nothing(const struct ts_bytes *names, size_t nr)
{
	struct ts_bytes first = labels_part_at(names[0], last_part(names[0]));
	bool same = nr > 1, times = true;

	for (size_t r = 0; r < nr; r++) {
		size_t at = last_part(names[r]);

		if (at == 0)
			return false;
		same &= ts_bytes_eq(labels_part_at(names[r], at), first);
		times &= labels_is_time(labels_part_at(names[r], at));
	}
	return same || times;
}

static void drop_last_parts(struct ts_bytes *names, size_t nr)
{
	while (last_tells_nothing(names, nr)) {
		struct ts_bytes shorter[TS_COMPARE_MAX];

		for (size_t r = 0; r < nr; r++)
			shorter[r] = without_last(names[r]);
		if (!all_differ(shorter, nr))
			return;
		memcpy(names, shorter, nr * sizeof(*names));
	}
}

/* A long path keeps its last folders. */
static struct ts_bytes shortened(struct ts_bytes name)
{
	while (name.n > LABEL_MAX) {
		size_t slash = ts_bytes_find(name, "/");

		if (slash + 1 >= name.n || labels_is_time(labels_part_at(name, slash + 1)))
			break;
		name = labels_part_at(name, slash + 1);
	}
	return name;
}

static void find_names(const struct comparing *comparing, struct ts_bytes *names)
{
	size_t skip = common_prefix(comparing);

	for (size_t r = 0; r < comparing->nr; r++)
		names[r] = from(comparing->runs[r].name, skip);
	drop_last_parts(names, comparing->nr);
	for (size_t r = 0; r < comparing->nr; r++) {
		const char *label = comparing->runs[r].label;

		names[r] = label ? ts_bytes_of(label) : shortened(names[r]);
	}
}

enum ts_status ts_compare_labels(struct comparing *comparing, struct ts_error *err)
{
	struct ts_bytes names[TS_COMPARE_MAX];

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr >= 1 && comparing->nr <= TS_COMPARE_MAX);
	find_names(comparing, names);
	for (size_t r = 0; r < comparing->nr; r++) {
		struct ts_bytes label = names[r];
		size_t twins = 0;

		for (size_t i = 0; i < r; i++)
			twins += ts_bytes_eq(names[i], label);
		label = twins ? ts_result_text(comparing->result, "%.*s (%zu)", TS_ARG(label),
					       twins + 1)
			      : ts_result_text(comparing->result, "%.*s", TS_ARG(label));
		if (!label.p)
			return ts_fail_nomem(err);
		comparing->labels[r] = (const char *)label.p;
	}
	return TS_OK;
}
