/* SPDX-License-Identifier: MIT */
/* SipHash-2-4-128, as its authors' reference code does it (github.com/veorq/SipHash). */
#include "base/siphash.h"

#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct state {
	uint64_t v[4];
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void rounds(struct state *s, int nr)
{
	uint64_t *v = s->v;

	while (nr-- > 0) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

static void siphash_take(struct state *s, uint64_t word)
{
	s->v[3] ^= word;
	rounds(s, 2);
	s->v[0] ^= word;
}

/* Little-endian, whatever the machine. */
static uint64_t siphash_word_of(const uint8_t *p, size_t n)
{
	uint64_t word = 0;

	for (size_t i = n; i-- > 0;)
		word = word << 8 | p[i];
	return word;
}

static uint64_t squeeze(struct state *s)
{
	rounds(s, 4);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

struct ts_siphash ts_siphash(const struct ts_sipkey *key, struct ts_bytes bytes)
{
	struct state s = { { UINT64_C(0x736f6d6570736575) ^ key->k[0],
			     UINT64_C(0x646f72616e646f6d) ^ key->k[1] ^ 0xee,
			     UINT64_C(0x6c7967656e657261) ^ key->k[0],
			     UINT64_C(0x7465646279746573) ^ key->k[1] } };
	struct ts_siphash hash;
	size_t at = 0;

	TS_ASSERT_HOT(key);
	TS_ASSERT_HOT(bytes.p || bytes.n == 0);
	for (; bytes.n - at >= 8; at += 8)
		siphash_take(&s, siphash_word_of(bytes.p + at, 8));
	siphash_take(&s, (uint64_t)bytes.n << 56 |
				 (bytes.n > at ? siphash_word_of(bytes.p + at, bytes.n - at) : 0));
	s.v[2] ^= 0xee;
	hash.h[0] = squeeze(&s);
	s.v[1] ^= 0xdd;
	hash.h[1] = squeeze(&s);
	return hash;
}

enum ts_status ts_sipkey_random(struct ts_sipkey *key, struct ts_error *err)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	size_t got = 0;

	TS_ASSERT(key);
	while (fd >= 0 && got < sizeof(key->k)) {
		ssize_t n = read(fd, (uint8_t *)key->k + got, sizeof(key->k) - got);

		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		got += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return got == sizeof(key->k) ? TS_OK
				     : ts_fail(err, TS_IO,
					       "/dev/urandom: cannot read it: %s "
					       "(give a key with --key or --salt)",
					       strerror(errno));
}

struct ts_sipkey ts_sipkey_of(struct ts_bytes secret)
{
	static const struct ts_sipkey fixed = { { UINT64_C(0x5450557369676874), 0x6b6579 } };
	struct ts_siphash hash = ts_siphash(&fixed, secret);

	TS_ASSERT(secret.p || secret.n == 0);
	return (struct ts_sipkey){ { hash.h[0], hash.h[1] } };
}
