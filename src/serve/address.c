/* SPDX-License-Identifier: MIT */
/* Facts: RFC 3986, 3.2.2 (brackets of IPv6); RFC 4291, 2.5.5.2 (IPv4 inside of IPv6). */
#include "serve/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

enum ts_status ts_address_read(struct ts_address *address, const char *text, uint16_t port,
			       struct ts_error *err)
{
	TS_ASSERT(address && text);
	*address = (struct ts_address){ .as.v6 = { .sin6_family = AF_INET6,
						   .sin6_port = htons(port) } };
	if (inet_pton(AF_INET6, text, &address->as.v6.sin6_addr) == 1)
		return TS_OK;
	*address =
		(struct ts_address){ .as.v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };
	if (strcmp(text, "localhost") == 0)
		text = "127.0.0.1";
	if (inet_pton(AF_INET, text, &address->as.v4.sin_addr) == 1)
		return TS_OK;
	return ts_fail(err, TS_USAGE,
		       "%s is not an address in numbers (127.0.0.1 is this machine alone, 0.0.0.0 "
		       "all of its addresses; hostname -I lists them)",
		       text);
}

/* The IPv4 address that it is or holds, in the order of the network; false: it is another one. */
static bool is_v4(const struct ts_address *address, struct in_addr *out)
{
	const struct in6_addr *v6 = &address->as.v6.sin6_addr;

	if (address->as.any.sa_family == AF_INET)
		*out = address->as.v4.sin_addr;
	else if (IN6_IS_ADDR_V4MAPPED(v6))
		memcpy(out, v6->s6_addr + 12, sizeof(*out));
	else
		return false;
	return true;
}

bool ts_address_is_loopback(const struct ts_address *address)
{
	struct in_addr v4;

	TS_ASSERT(address);
	if (is_v4(address, &v4))
		return ntohl(v4.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&address->as.v6.sin6_addr);
}

bool ts_address_is_any(const struct ts_address *address)
{
	struct in_addr v4;

	TS_ASSERT(address);
	if (is_v4(address, &v4))
		return v4.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&address->as.v6.sin6_addr);
}

void ts_address_write(const struct ts_address *address, char out[TS_ADDRESS_CAP])
{
	char text[INET6_ADDRSTRLEN] = "";
	struct in_addr v4;

	TS_ASSERT(address && out);
	if (is_v4(address, &v4)) {
		inet_ntop(AF_INET, &v4, text, sizeof(text));
		snprintf(out, TS_ADDRESS_CAP, "%s", text);
	} else {
		inet_ntop(AF_INET6, &address->as.v6.sin6_addr, text, sizeof(text));
		snprintf(out, TS_ADDRESS_CAP, "[%s]", text);
	}
}

bool ts_address_of_socket(struct ts_address *address, int fd)
{
	socklen_t n = sizeof(address->as);

	TS_ASSERT(address);
	*address = (struct ts_address){ .as.any = { .sa_family = AF_UNSPEC } };
	if (fd < 0 || getsockname(fd, &address->as.any, &n) != 0)
		return false;
	return address->as.any.sa_family == AF_INET || address->as.any.sa_family == AF_INET6;
}
