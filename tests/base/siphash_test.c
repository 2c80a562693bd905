/* SPDX-License-Identifier: MIT */
/* SipHash against OpenSSL's (openssl mac -macopt hexkey:000102...0f -macopt size:16 SipHash). */
#include "base/siphash.h"
#include "tests/test.h"

struct row {
	size_t n; /* the text is 0, 1, 2 ... n-1 */
	uint64_t h[2];
};

static const struct row rows[] = {
	{ 0, { 0xe6a825ba047f81a3, 0x930255c71472f66d } },
	{ 1, { 0x44af996bd8c187da, 0x45fc229b11597634 } },
	{ 7, { 0x53c1dbd8beebf1a1, 0x3982f01fa64ab8c0 } },
	{ 8, { 0x61f55862baa9623b, 0xb49714f364e2830f } },
	{ 15, { 0x11a8b03399e99354, 0xd9c3cf970fec087e } },
	{ 63, { 0x4a83502f77d15051, 0x7cbd3f979a063e50 } },
};

TEST(texts_of_all_lengths_hash_as_elsewhere)
{
	const struct ts_sipkey key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };
	uint8_t text[64];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)i;
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_siphash hash = ts_siphash(&key, (struct ts_bytes){ text, rows[i].n });

		assert_true(hash.h[0] == rows[i].h[0] && hash.h[1] == rows[i].h[1]);
	}
}

TEST(keys_of_chance_differ_and_keys_of_a_secret_do_not)
{
	struct ts_sipkey a, b;

	assert_int_equal(ts_sipkey_random(&a, NULL), TS_OK);
	assert_int_equal(ts_sipkey_random(&b, NULL), TS_OK);
	assert_memory_not_equal(&a, &b, sizeof(a));
	a = ts_sipkey_of(TS_LIT("a secret"));
	b = ts_sipkey_of(TS_LIT("a secret"));
	assert_memory_equal(&a, &b, sizeof(a));
	b = ts_sipkey_of(TS_LIT("another"));
	assert_memory_not_equal(&a, &b, sizeof(a));
}
