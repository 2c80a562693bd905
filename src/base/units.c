/* Quantities as people read them: three figures, decimal rates, binary sizes, SI times. */
#include "base/units.h"

#include <math.h>

struct unit {
	double size;
	const char *name;
};

static const char *scaled(char out[TS_UNIT_MAX], double value, const struct unit *units, size_t nr)
{
	double x = fabs(value);
	size_t i = 0;

	if (isnan(value)) {
		memcpy(out, "-", 2);
		return out;
	}
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
	static const struct unit units[] = {
		{ 1e12, "s" }, { 1e9, "ms" }, { 1e6, "us" }, { 1e3, "ns" }, { 1, "ps" },
	};

	return scaled(out, (double)ps, units, TS_NELEM(units));
}

const char *ts_fmt_bytes(char out[TS_UNIT_MAX], double bytes)
{
	static const struct unit units[] = {
		{ 1099511627776.0, "TiB" },
		{ 1073741824.0, "GiB" },
		{ 1048576.0, "MiB" },
		{ 1024.0, "KiB" },
		{ 1, "B" },
	};

	return scaled(out, bytes, units, TS_NELEM(units));
}

const char *ts_fmt_rate(char out[TS_UNIT_MAX], double bytes_per_s)
{
	static const struct unit units[] = {
		{ 1e12, "TB/s" }, { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" }, { 1, "B/s" },
	};

	return scaled(out, bytes_per_s, units, TS_NELEM(units));
}

const char *ts_fmt_count(char out[TS_UNIT_MAX], double n)
{
	static const struct unit units[] = {
		{ 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1, "" },
	};

	if (fabs(n) >= 1e4 && fabs(n) < 999950) { /* from there on it would read 1000.0 k */
		snprintf(out, TS_UNIT_MAX, "%.1f k", n / 1e3);
		return out;
	}
	return scaled(out, n, units, TS_NELEM(units));
}

const char *ts_fmt_pct(char out[TS_UNIT_MAX], double pct)
{
	if (isnan(pct))
		memcpy(out, "-", 2);
	else
		snprintf(out, TS_UNIT_MAX, "%.1f %%", pct);
	return out;
}
