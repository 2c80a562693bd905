/* How a finding names ops, times and shares. Names are other people's bytes: they go into texts as
 * they are, only cut when they are long. */
#include "analysis/doctor/doctor.h"

#define NAME_MAX_BYTES 96

void ts_say_name(struct ts_doctor *doctor, struct ts_bytes name)
{
	size_t n = name.n;

	if (n > NAME_MAX_BYTES) { /* not inside a UTF-8 character */
		n = NAME_MAX_BYTES;
		while (n > NAME_MAX_BYTES - 4 && (name.p[n] & 0xc0) == 0x80)
			n--;
	}
	ts_buf_put(&doctor->text, ts_bytes_cut(name, 0, n));
	if (n < name.n)
		ts_buf_puts(&doctor->text, "...");
	if (name.n == 0)
		ts_buf_puts(&doctor->text, "(unnamed)");
}

void ts_say_ops(struct ts_doctor *doctor, const struct ts_selection *ops, size_t max)
{
	size_t nr = TS_MIN(ops->nr, max);
	char time[TS_UNIT_MAX];

	for (size_t i = 0; i < nr; i++) {
		if (i > 0)
			ts_buf_puts(&doctor->text, i + 1 == ops->nr_all ? " and " : ", ");
		ts_say_name(doctor, ops->items[i]->name);
		if (doctor->total_ps > 0)
			ts_buf_printf(&doctor->text, " (%s)",
				      ts_fmt_ps(time, ops->items[i]->self_ps));
	}
	if (nr < ops->nr_all)
		ts_buf_printf(&doctor->text, " and %zu more", ops->nr_all - nr);
}

void ts_say_executions(struct ts_doctor *doctor, int64_t nr)
{
	ts_buf_printf(&doctor->text, " in %" PRId64 " execution%s", nr, nr == 1 ? "" : "s");
}

const char *ts_fmt_share(char out[TS_UNIT_MAX], double share)
{
	double pct = share * 100;

	if (isnan(pct))
		memcpy(out, "?", 2);
	else
		snprintf(out, TS_UNIT_MAX, pct >= 9.95 || pct == 0 ? "%.0f %%" : "%.1f %%", pct);
	return out;
}

struct ts_bytes ts_doctor_text(struct ts_doctor *doctor)
{
	struct ts_bytes text =
		ts_arena_copy(&doctor->result->owner->arena, ts_buf_bytes(&doctor->text));

	if (doctor->text.failed || !text.p)
		doctor->failed = true;
	ts_buf_clear(&doctor->text);
	return text;
}
