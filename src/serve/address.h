/* SPDX-License-Identifier: MIT */
/*
 * Where a server listens: an address of this machine, IPv4 or IPv6, written in numbers. Names are not looked
 * up, but for localhost, which is 127.0.0.1.
 */
#ifndef TS_SERVE_ADDRESS_H
#define TS_SERVE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/status.h"

#define TS_ADDRESS_CAP (INET6_ADDRSTRLEN + sizeof("[]"))

struct ts_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} as;
};

/* TS_USAGE: TEXT is not an address. */
enum ts_status ts_address_read(struct ts_address *address, const char *text, uint16_t port,
			       struct ts_error *err);
/* Can programs of this machine alone reach it? */
bool ts_address_is_loopback(const struct ts_address *address);
/* Is it all addresses of this machine: 0.0.0.0 or ::? */
bool ts_address_is_any(const struct ts_address *address);
/* As it stands in a URL: IPv6 in brackets. An IPv4 address that IPv6 holds is written as IPv4. */
void ts_address_write(const struct ts_address *address, char out[TS_ADDRESS_CAP]);
/* Our own end of a connection; false: the system does not say it. */
bool ts_address_of_socket(struct ts_address *address, int fd);

#endif
