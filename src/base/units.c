/* SPDX-License-Identifier: MIT */
/* Quantities as people read them: three figures, decimal rates, binary sizes, SI times. */
#include "base/units.h"

#include <math.h>

#include "base/check.h"
#include "base/units_list.h"

struct scale {
	double size;
	const char *name;
};

static const char *unknown(char out[TS_UNIT_MAX])
{
	memcpy(out, "-", 2);
	return out;
}

static const char *units_scaled(char out[TS_UNIT_MAX], double value, const struct scale *units,
				size_t nr)
{
	double x = fabs(value);
	size_t i = 0;

	if (isnan(value))
		return unknown(out);
	while (i + 1 < nr && x < units[i].size * 0.9995)
		i++;
	x = value / units[i].size;
	snprintf(out, TS_UNIT_MAX, "%.*f%s%s",
		 fabs(x) >= 99.95 || units[i].size == 1 ? (x != floor(x))
		 : fabs(x) >= 9.995			? 1
							: 2,
		 x, units[i].name[0] ? " " : "", units[i].name);
	return out;
}

const char *ts_fmt_ps(char out[TS_UNIT_MAX], int64_t ps)
{
	static const struct scale units[] = {
		{ 1e12, "s" }, { 1e9, "ms" }, { 1e6, "\u00b5s" }, { 1e3, "ns" }, { 1, "ps" },
	};

	return units_scaled(out, (double)ps, units, TS_NELEM(units));
}

const char *ts_fmt_core_ps(char out[TS_UNIT_MAX], int64_t ps)
{
	static const struct scale units[] = {
		{ 1e12, "core-s" }, { 1e9, "core-ms" }, { 1e6, "core-\u00b5s" },
		{ 1e3, "core-ns" }, { 1, "core-ps" },
	};

	if (ps == 0)
		return "0";
	return units_scaled(out, (double)ps, units, TS_NELEM(units));
}

const char *ts_fmt_bytes(char out[TS_UNIT_MAX], double bytes)
{
	static const struct scale units[] = {
		{ 1099511627776.0, "TiB" },
		{ 1073741824.0, "GiB" },
		{ 1048576.0, "MiB" },
		{ 1024.0, "KiB" },
		{ 1, "B" },
	};

	return units_scaled(out, bytes, units, TS_NELEM(units));
}

const char *ts_fmt_rate(char out[TS_UNIT_MAX], double bytes_per_s)
{
	static const struct scale units[] = {
		{ 1e12, "TB/s" }, { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" }, { 1, "B/s" },
	};

	return units_scaled(out, bytes_per_s, units, TS_NELEM(units));
}

const char *ts_fmt_count(char out[TS_UNIT_MAX], double n)
{
	static const struct scale units[] = {
		{ 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1, "" },
	};

	if (fabs(n) >= 1e4 && fabs(n) < 999950) { /* from there on it would read 1000.0 k */
		snprintf(out, TS_UNIT_MAX, "%.1f k", n / 1e3);
		return out;
	}
	return units_scaled(out, n, units, TS_NELEM(units));
}

const char *ts_fmt_pct(char out[TS_UNIT_MAX], double pct)
{
	if (isnan(pct))
		return unknown(out);
	snprintf(out, TS_UNIT_MAX, "%.1f %%", pct);
	return out;
}

static const struct ts_unit units_by_ending[] = {
#define ROW(ending, kind, name, label, said) { ending, TS_UNIT_##kind, name, label, said },
	TS_UNITS(ROW)
#undef ROW
};

const struct ts_unit *ts_unit_of(struct ts_bytes name)
{
	while (name.n > 0) {
		for (size_t i = 0; i < TS_NELEM(units_by_ending); i++)
			if (ts_bytes_ends(name, units_by_ending[i].ending))
				return &units_by_ending[i];
		while (name.n > 0 && name.p[--name.n] != '.')
			continue;
	}
	return NULL;
}

static const char *fmt_time(char out[TS_UNIT_MAX], double ps)
{
	if (isnan(ps))
		return unknown(out);
	return ts_fmt_ps(out, fabs(ps) < 9e18 ? (int64_t)llround(ps) : INT64_MAX);
}

static const char *fmt_core(char out[TS_UNIT_MAX], double ps)
{
	if (isnan(ps))
		return unknown(out);
	return ts_fmt_core_ps(out, fabs(ps) < 9e18 ? (int64_t)llround(ps) : INT64_MAX);
}

static const char *fmt_thread(char out[TS_UNIT_MAX], double ps)
{
	static const struct scale units[] = {
		{ 1e12, "thread-s" }, { 1e9, "thread-ms" }, { 1e6, "thread-\u00b5s" },
		{ 1e3, "thread-ns" }, { 1, "thread-ps" },
	};

	if (isnan(ps))
		return unknown(out);
	if (ps == 0)
		return "0";
	return units_scaled(out, ps, units, TS_NELEM(units));
}

static const char *fmt_per_s(char out[TS_UNIT_MAX], double n)
{
	char count[TS_UNIT_MAX];

	snprintf(out, TS_UNIT_MAX, "%.29s/s", ts_fmt_count(count, n));
	return out;
}

static const char *units_fmt_number(char out[TS_UNIT_MAX], double number)
{
	snprintf(out, TS_UNIT_MAX, "%.4g", number);
	return out;
}

const char *ts_fmt_unit(char out[TS_UNIT_MAX], const struct ts_unit *unit, double number)
{
	static const char *(*const by_kind[])(char out[TS_UNIT_MAX], double number) = {
		[TS_UNIT_TIME] = fmt_time,	[TS_UNIT_CORE] = fmt_core,
		[TS_UNIT_BYTES] = ts_fmt_bytes, [TS_UNIT_BANDWIDTH] = ts_fmt_rate,
		[TS_UNIT_SHARE] = ts_fmt_pct,	[TS_UNIT_COUNT] = ts_fmt_count,
		[TS_UNIT_RATE] = fmt_per_s,	[TS_UNIT_NUMBER] = units_fmt_number,
		[TS_UNIT_THREAD] = fmt_thread,
	};

	TS_ASSERT(unit->kind < TS_NELEM(by_kind));
	return by_kind[unit->kind](out, number);
}
