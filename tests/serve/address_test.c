/* SPDX-License-Identifier: MIT */
/* Addresses that a server listens at. */
#include "tests/test.h"
#include "base/bytes.h"
#include "serve/address.h"

TEST(an_address_is_read_and_written_as_a_url_has_it)
{
	static const struct row {
		const char *text, *url;
		bool is_loopback, is_any;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.1", true, false },
		{ "127.9.8.7", "127.9.8.7", true, false },
		{ "localhost", "127.0.0.1", true, false },
		{ "::1", "[::1]", true, false },
		{ "::ffff:127.0.0.1", "127.0.0.1", true, false },
		{ "0.0.0.0", "0.0.0.0", false, true },
		{ "::", "[::]", false, true },
		{ "10.0.0.2", "10.0.0.2", false, false },
		{ "::ffff:10.0.0.2", "10.0.0.2", false, false },
		{ "2001:DB8::0001", "[2001:db8::1]", false, false },
		{ "128.0.0.1", "128.0.0.1", false, false },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_address address;
		char url[TS_ADDRESS_CAP];

		assert_int_equal(ts_address_read(&address, rows[i].text, 80, &err), TS_OK);
		ts_address_write(&address, url);
		assert_string_equal(url, rows[i].url);
		assert_int_equal(ts_address_is_loopback(&address), rows[i].is_loopback);
		assert_int_equal(ts_address_is_any(&address), rows[i].is_any);
	}
}

TEST(what_is_not_an_address_in_numbers_is_refused)
{
	static const char *const rows[] = {
		"",	 "gateway",    "127.1", "0x7f.0.0.1",	"10.0.0.2:80",
		"[::1]", "10.0.0.256", "*",	"fe80::1%eth0", "localhost.example"
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_address address;

		assert_int_equal(ts_address_read(&address, rows[i], 80, &err), TS_USAGE);
		assert_non_null(strstr(err.text, "hostname -I"));
	}
}

TEST(what_is_not_a_socket_has_no_address)
{
	struct ts_address address;

	assert_false(ts_address_of_socket(&address, -1));
	assert_false(ts_address_of_socket(&address, 0));
}
