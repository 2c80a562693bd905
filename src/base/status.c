/* Status and error. The story is built front to back: cause first, then places in front of it. */
#include "base/status.h"

#include <stdarg.h>

enum ts_status ts_fail(struct ts_error *err, enum ts_status status, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		err->status = status;
	}
	return status;
}

enum ts_status ts_fail_at(struct ts_error *err, enum ts_status status, const char *fmt, ...)
{
	char story[sizeof(err->text)];
	va_list ap;
	int n;

	if (!err)
		return status;
	va_start(ap, fmt);
	n = vsnprintf(story, sizeof(story), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(story))
		snprintf(story + n, sizeof(story) - (size_t)n, ": %s", err->text);
	memcpy(err->text, story, sizeof(story));
	err->text[sizeof(err->text) - 1] = '\0';
	err->status = status;
	return status;
}

enum ts_status ts_fail_nomem(struct ts_error *err)
{
	return ts_fail(err, TS_NOMEM, "out of memory");
}
