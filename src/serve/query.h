/* SPDX-License-Identifier: MIT */
/*
 * What stands behind the ? of an address, as numbers and names.
 *
 * A number is whole, in decimal digits, and within the limits that its place has; anything else is an error that
 * says what is expected there. What is left out, or empty, is not an error.
 */
#ifndef TS_SERVE_QUERY_H
#define TS_SERVE_QUERY_H

#include "model/part.h"
#include "serve/server.h"

#define TS_QUERY_NAME_MAX 1024 /* bytes of a host or a device */

/* *VALUE stays as it is where there is nothing. */
enum ts_status ts_query_number(const struct ts_request *request, const char *name, int64_t least,
			       int64_t most, int64_t *value, struct ts_error *err);

/* from_ps, to_ps, device and host. The names are good during the request. */
enum ts_status ts_query_part(const struct ts_request *request, struct ts_part *part,
			     struct ts_error *err);

#endif
