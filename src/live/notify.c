/* SPDX-License-Identifier: MIT */
/* inotify(7). Events of writing are not asked for, only that of closing: a log that is written
 * all the time would give them without end. */
#include "live/notify.h"

#include "base/check.h"

#ifdef HAVE_SYS_INOTIFY_H
#include <sys/inotify.h>
#include <unistd.h>

#define EVENTS                                                                                 \
	(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_MOVE_SELF | \
	 IN_DELETE_SELF | IN_ONLYDIR)

void ts_notify_open(struct ts_notify *notify)
{
	TS_ASSERT(notify != NULL);
	notify->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	notify->last = 0;
	notify->grew = false;
}

void ts_notify_folder(struct ts_notify *notify, const char *path)
{
	TS_ASSERT(notify != NULL && path != NULL);

	int number = notify->fd >= 0 ? inotify_add_watch(notify->fd, path, EVENTS) : -1;

	if (number > notify->last) {
		notify->last = number;
		notify->grew = true;
	}
}

bool ts_notify_drain(struct ts_notify *notify)
{
	TS_ASSERT(notify != NULL);

	_Alignas(struct inotify_event) char buf[16384];
	bool has_changes = false, is_lost = false;
	ssize_t n;

	while (notify->fd >= 0 && (n = read(notify->fd, buf, sizeof(buf))) > 0) {
		has_changes = true;
		for (ssize_t at = 0; at < n;) {
			struct inotify_event event;

			memcpy(&event, buf + at, sizeof(event));
			is_lost |= (event.mask & (IN_Q_OVERFLOW | IN_MOVE_SELF)) != 0;
			at += (ssize_t)(sizeof(event) + event.len);
		}
	}
	if (is_lost) {
		ts_notify_close(notify);
		ts_notify_open(notify);
		notify->grew = true;
	}
	return has_changes;
}

void ts_notify_close(struct ts_notify *notify)
{
	TS_ASSERT(notify != NULL);
	if (notify->fd >= 0)
		close(notify->fd);
	notify->fd = -1;
}
#else
void ts_notify_open(struct ts_notify *notify)
{
	TS_ASSERT(notify != NULL);
	notify->fd = -1;
}

void ts_notify_folder(struct ts_notify *notify, const char *path)
{
	TS_ASSERT(notify != NULL && path != NULL);
}

bool ts_notify_drain(struct ts_notify *notify)
{
	TS_ASSERT(notify != NULL);
	return false;
}

void ts_notify_close(struct ts_notify *notify)
{
	TS_ASSERT(notify != NULL);
}
#endif
