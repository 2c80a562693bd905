/* SPDX-License-Identifier: MIT */
/*
 * Confinement: before a program reads foreign bytes it gives up, for good, what its command does not
 * need, so that a fault in a reader is worth little to a person who made the bytes.
 *
 * Files are confined by Landlock (Linux 5.13 and later): content is read and written only below the
 * places that were allowed, and TCP that the command does not use is closed (6.7). Names, sizes and
 * times of files can be looked at as before. System calls that no reader needs - programs, sockets
 * where there is no network, the ways into other processes and into the kernel - end with EPERM by a
 * seccomp filter. Both hold for the thread that enters, for the threads and programs it makes later,
 * and cannot be taken back; so it enters before it makes threads.
 *
 * Best effort: where the system has one or neither, the program goes on, and the struct says so. A
 * program built with a sanitizer cannot be confined: sanitizers trace their process and write logs.
 */
#ifndef TS_IO_CONFINE_H
#define TS_IO_CONFINE_H

#include <stdbool.h>

/* What a command does beside reading what it is given. */
enum ts_needs {
	TS_WRITES_INSIDE = 1, /* into the folders that it reads */
	TS_WRITES_BESIDE = 2, /* next to them, where no other place is named */
	TS_LISTENS = 4,
	TS_CONNECTS = 8,
	TS_RUNS_PROGRAMS = 16,
};

enum ts_access { TS_ACCESS_READ, TS_ACCESS_WRITE /* and read, make, replace, remove */ };

struct ts_confine {
	unsigned needs; /* enum ts_needs; the two first are the caller's own */
	int ruleset;	/* a descriptor of Landlock; -1: there is none */
	int landlock;	/* its version, once it holds; 0: it does not */
	bool seccomp;	/* the filter holds */
};

bool ts_confine_is_possible(void); /* false in builds with a sanitizer, and not on Linux */
/* To be followed by ts_confine_enter(), behind which nothing is held. */
void ts_confine_init(struct ts_confine *confine, unsigned needs);
/* What is at PATH, and below it. A path that is not there allows nothing. */
void ts_confine_allow(struct ts_confine *confine, const char *path, enum ts_access access);
/* The libraries, settings and devices that any program reads, what standard files are, and the folder
 * for temporary files. */
void ts_confine_allow_system(struct ts_confine *confine);
void ts_confine_enter(struct ts_confine *confine);

#endif
