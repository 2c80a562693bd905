/* SPDX-License-Identifier: MIT */
/* How much is done. */
#include "base/meter.h"

#include "base/check.h"

/* With the lock held. */
static void show(struct ts_meter *meter)
{
	double share = meter->total ? (double)meter->done / (double)meter->total : 0;
	unsigned percent = meter->from + (unsigned)((meter->to - meter->from) * TS_MIN(share, 1));

	if (percent <= meter->shown)
		return;
	meter->shown = percent;
	meter->show(meter->ctx, percent);
}

void ts_meter_begin(struct ts_meter *meter, unsigned from, unsigned to, uint64_t total)
{
	TS_ASSERT(from <= to && to <= 100);
	if (!meter)
		return;
	pthread_mutex_lock(&meter->lock);
	meter->from = from;
	meter->to = to;
	meter->total = total;
	meter->done = 0;
	show(meter);
	pthread_mutex_unlock(&meter->lock);
}

void ts_meter_add(struct ts_meter *meter, uint64_t nr)
{
	if (!meter)
		return;
	pthread_mutex_lock(&meter->lock);
	meter->done += nr;
	show(meter);
	pthread_mutex_unlock(&meter->lock);
}
