/* Numbers in bins of equal ratio: 32 to an octave, as a float of five digits has them. */
#include "analysis/gpu/hta.h"

#define DIGITS 5 /* binary, behind the leading one */

static size_t bin_of(int64_t number)
{
	uint64_t n = number > 0 ? (uint64_t)number : 0;
	unsigned octave = 0;

	while (n >> (octave + DIGITS + 1))
		octave++;
	return TS_MIN((size_t)octave * (1 << DIGITS) + (size_t)(n >> octave), HTA_BINS - 1);
}

/* The middle of the numbers that fall into it. */
static int64_t number_of(size_t bin)
{
	size_t octave = bin >> DIGITS;

	if (octave == 0)
		return (int64_t)bin;
	octave--;
	return (int64_t)(((bin - (octave << DIGITS)) << octave) + (((size_t)1 << octave) >> 1));
}

void hta_spread_add(struct hta_spread *spread, int64_t number)
{
	double from_mean = (double)number - spread->mean;

	spread->min = spread->nr == 0 ? number : TS_MIN(spread->min, number);
	spread->max = spread->nr == 0 ? number : TS_MAX(spread->max, number);
	spread->nr++;
	spread->sum = ts_i64_add(spread->sum, number);
	spread->mean += from_mean / (double)spread->nr;
	spread->squares += from_mean * ((double)number - spread->mean);
	if (spread->bins)
		spread->bins[bin_of(number)]++;
}

void hta_spread_merge(struct hta_spread *into, const struct hta_spread *from)
{
	double a = (double)into->nr, b = (double)from->nr, apart = from->mean - into->mean;

	if (from->nr == 0)
		return;
	into->min = into->nr == 0 ? from->min : TS_MIN(into->min, from->min);
	into->max = into->nr == 0 ? from->max : TS_MAX(into->max, from->max);
	into->nr += from->nr;
	into->sum = ts_i64_add(into->sum, from->sum);
	into->squares += from->squares + apart * apart * a * b / (a + b);
	into->mean += apart * b / (a + b);
	for (size_t i = 0; into->bins && from->bins && i < HTA_BINS; i++)
		into->bins[i] += from->bins[i];
}

double hta_spread_mean(const struct hta_spread *spread)
{
	return spread->nr > 0 ? (double)spread->sum / (double)spread->nr : NAN;
}

double hta_spread_deviation(const struct hta_spread *spread)
{
	if (spread->nr == 0)
		return NAN;
	return spread->nr > 1 ? sqrt(spread->squares / (double)(spread->nr - 1)) : 0;
}

int64_t hta_spread_percentile(const struct hta_spread *spread, double share)
{
	double wanted = share * (double)spread->nr;
	uint64_t seen = 0;

	if (spread->nr == 0 || !spread->bins)
		return -1;
	for (size_t i = 0; i < HTA_BINS; i++) {
		seen += spread->bins[i];
		if (seen > 0 && (double)seen >= wanted)
			return TS_MIN(TS_MAX(number_of(i), spread->min), spread->max);
	}
	return spread->max;
}
