/* SPDX-License-Identifier: MIT */
/* HighwayHash against the vectors of its authors (github.com/google/highwayhash, highwayhash_test.cc), and in pieces. */
#include "codec/highway.h"
#include "tests/test.h"

static const uint64_t key[4] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110,
				 0x1f1e1d1c1b1a1918 };

static uint64_t hash_of(const uint8_t *p, size_t n, size_t piece)
{
	struct ts_highway hash;

	ts_highway_init(&hash, key);
	for (size_t at = 0; at < n; at += piece)
		ts_highway_add(&hash, (struct ts_bytes){ p + at, TS_MIN(piece, n - at) });
	return ts_highway_finish(&hash);
}

TEST(the_vectors_of_its_authors)
{
	static const uint64_t expected[] = { 0x907a56de22c26e53, 0x7eab43aac7cddd78,
					     0xb8d0569ab0b53d62, 0x5c6befab8a463d80,
					     0xf205a46893007eda, 0x2b8a1668e4a94541,
					     0xbd4ccc325befca6f, 0x4d02ae1738f59482 };
	uint8_t bytes[TS_NELEM(expected)];

	for (size_t n = 0; n < TS_NELEM(expected); n++) {
		bytes[n] = (uint8_t)n;
		assert_true(hash_of(bytes, n, 64) == expected[n]);
	}
}

TEST(pieces_of_any_size_give_the_same)
{
	uint8_t bytes[200];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t n = 0; n <= sizeof(bytes); n++)
		for (size_t piece = 1; piece < 70; piece++)
			assert_true(hash_of(bytes, n, piece) == hash_of(bytes, n, 1000));
}

/* The first 64 bytes of every file of Riegeli's have three hashes: of 16, 32 and 0 bytes. */
TEST(the_hashes_of_a_signature)
{
	static const uint64_t riegeli[4] = { 0x2f696c6567656952, 0x0a7364726f636572,
					     0x2f696c6567656952, 0x0a7364726f636572 };
	struct ts_highway hash;
	uint8_t block[16] = { [8] = 0x40 };

	ts_highway_init(&hash, riegeli);
	assert_true(ts_highway_finish(&hash) == 0x72c3b1e9c0139fe1);
	ts_highway_init(&hash, riegeli);
	ts_highway_add(&hash, (struct ts_bytes){ block, sizeof(block) });
	assert_true(ts_highway_finish(&hash) == 0x3f4a880dd170af83);
}
