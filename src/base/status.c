/* Status and error. The story is built front to back: cause first, then places in front of it. */
#include "base/status.h"

#include "base/bytes.h"

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
	char cause[sizeof(err->text)];
	size_t at, left;
	va_list ap;
	int n;

	if (!err)
		return status;
	memcpy(cause, err->text, sizeof(cause));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	at = n < 0 ? 0 : TS_MIN((size_t)n, sizeof(err->text) - 1);
	left = TS_MIN(strlen(cause), sizeof(err->text) - 1 - at);
	if (left > 2) {
		memcpy(err->text + at, ": ", 2);
		left = TS_MIN(left, sizeof(err->text) - 3 - at);
		memcpy(err->text + at + 2, cause, left);
		err->text[at + 2 + left] = '\0';
	}
	err->status = status;
	return status;
}

enum ts_status ts_fail_nomem(struct ts_error *err)
{
	return ts_fail(err, TS_NOMEM, "out of memory");
}
