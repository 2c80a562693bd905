/* SPDX-License-Identifier: MIT */
#include "cli/ending.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A signal that is blocked is kept, also where it is ignored: sigwait() would find it. */
static bool is_ignored(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void ts_block_endings(sigset_t *ends)
{
	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, ends, NULL);
}
