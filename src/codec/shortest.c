/* SPDX-License-Identifier: MIT */
/*
 * Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020): the interval of what
 * reads back as the double is scaled by a power of ten, so that at most one number of the shorter
 * length lies in it and two of the longer; the scaled ends are rounded to odd, which keeps every
 * comparison with a multiple of a quarter exact.
 *
 * A power of ten is needed to 128 bits. It is worked out from every 27th one, to 192 bits, and a power
 * of five that fits 64: for every exponent of a double that gives the same bits as the full product
 * (the test looks at each).
 */
#include "codec/shortest.h"

#include <math.h>

#include "base/bytes.h"
#include "base/check.h"

#define FRACTION_BITS 52
#define HIDDEN	      (UINT64_C(1) << FRACTION_BITS)
#define LOWEST	      (-1074) /* exponent of a double's last bit */

#define FIRST_POWER (-297)
#define BETWEEN	    27
#define LAST_EXACT  55 /* 5^55 fits 128 bits, 5^56 does not */

static const uint64_t powers[][3] = {
	{ 0xa76c582338ed2621, 0xaf2af2b80af6f24e, 0x657c8f4d43323a36 },
	{ 0x873e4f75e2224e68, 0x5a7744a6e804a291, 0xcc35eddfcf0996d7 },
	{ 0xda7f5bf590966848, 0xaf39a475506a899e, 0xa30294cc2934e662 },
	{ 0xb080392cc4349dec, 0xbd8d794d96aacfb3, 0xfe13a5c86af64418 },
	{ 0x8e938662882af53e, 0x547eb47b7282ee9c, 0x41b0230e1421487d },
	{ 0xe65829b3046b0afa, 0x0cb4a5a3112a5112, 0xa3b561b1cb208396 },
	{ 0xba121a4650e4ddeb, 0x92f34d62616ce413, 0x21a0183e10583cd3 },
	{ 0x964e858c91ba2655, 0x3a6a07f8d510f86f, 0xe9082f25e9c5e9ec },
	{ 0xf2d56790ab41c2a2, 0xfae27299423fb9c3, 0x3695dad7e8858901 },
	{ 0xc428d05aa4751e4c, 0xaa97e14c3c26b886, 0x96842dc95323f5a8 },
	{ 0x9e74d1b791e07e48, 0x775ea264cf55347d, 0xca49f1c05120c9c7 },
	{ 0x8000000000000000, 0x0000000000000000, 0x0000000000000000 },
	{ 0xcecb8f27f4200f3a, 0x0000000000000000, 0x0000000000000000 },
	{ 0xa70c3c40a64e6c51, 0x999090b65f67d924, 0x0000000000000000 },
	{ 0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3, 0xdf9f915627c04e28 },
	{ 0xda01ee641a708de9, 0xe80e6f4820cc9495, 0xd74baad03bc1d8d3 },
	{ 0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f, 0xc04c79ffe324301f },
	{ 0x8e41ade9fbebc27d, 0x14588f13be847307, 0x23bd6a2059c002f5 },
	{ 0xe5d3ef282a242e81, 0x8f1668c8a86da5fa, 0xf0b5ccf5176ecc7c },
	{ 0xb9a74a0637ce2ee1, 0x6d953e2bd7173692, 0x88efb0037ac08bde },
	{ 0x95f83d0a1fb69cd9, 0x4abdaf101564f98e, 0x0d5a4af7b3a98e47 },
	{ 0xf24a01a73cf2dccf, 0xbc633b39673c8cec, 0x3d9c44cd2f36917c },
	{ 0xc3b8358109e84f07, 0x0a862f80ec4700c8, 0x02606ea01029dc37 },
	{ 0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1, 0x4944d9f52cd0dec2 },
};

struct wide {
	uint64_t high, low;
};

static struct wide shortest_product(uint64_t a, uint64_t b)
{
	uint64_t a_low = a & UINT32_MAX, a_high = a >> 32, b_low = b & UINT32_MAX, b_high = b >> 32;
	uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
	uint64_t other = a_low * b_high + (middle & UINT32_MAX);

	return (struct wide){ a_high * b_high + (middle >> 32) + (other >> 32), a * b };
}

/* floor(log2(10^K)) and floor(log10(2^Q)), the latter of 3/4 of it where the double is a power of two:
 * right for all exponents of doubles. */
static int log2_of_power(int k)
{
	return (int)((int64_t)k * 1741647 >> 19);
}

static int log10_of_bits(int q, bool is_power)
{
	return (int)(((int64_t)q * 1262611 - (is_power ? 524031 : 0)) >> 22);
}

/* The sum of a product and what is carried into it; it does not overflow. */
static struct wide plus(struct wide a, uint64_t carried)
{
	a.low += carried;
	a.high += a.low < carried;
	return a;
}

/* 10^K as 128 bits of which the first is set: exact, or the next larger. */
static struct wide power_of_ten(int k)
{
	const uint64_t *base = powers[(k - FIRST_POWER) / BETWEEN];
	struct wide top, next, power;
	uint64_t five = 1;
	int shift = 0;

	for (int i = (k - FIRST_POWER) % BETWEEN; i > 0; i--)
		five *= 5;
	next = plus(shortest_product(base[1], five), shortest_product(base[2], five).high);
	top = plus(shortest_product(base[0], five), next.high);
	power = (struct wide){ top.low, next.low }; /* where FIVE is 1 */
	if (top.high > 0) {
		while (!(top.high << shift >> 63))
			shift++;
		power.high = top.high << shift | top.low >> (64 - shift);
		power.low = top.low << shift | next.low >> (64 - shift);
	}
	return k < 0 || k > LAST_EXACT ? plus(power, 1) : power;
}

/* The high 64 bits of G x N; the last of them is set, too, where there is anything below. */
static uint64_t shortest_scaled(struct wide g, uint64_t n)
{
	struct wide y = plus(shortest_product(g.high, n), shortest_product(g.low, n).high);

	return y.high | (y.low > 1);
}

/* The interval of what reads back, and the double in it, in quarters of 10^k. */
struct interval {
	uint64_t low, value, high;
};

static struct interval shortest_interval_of(uint64_t c, int q, bool is_power, int k)
{
	struct wide g = power_of_ten(-k);
	int h = q + log2_of_power(-k) + 1;
	uint64_t is_open = c & 1; /* its ends read back as the neighbours */

	return (struct interval){ shortest_scaled(g, (4 * c - (is_power ? 1 : 2)) << h) + is_open,
				  shortest_scaled(g, 4 * c << h),
				  shortest_scaled(g, (4 * c + 2) << h) - is_open };
}

/* Of two neighbours in the interval or not, the right one; false: both are, or neither is. */
static bool only_one(struct interval in, uint64_t number, uint64_t times, uint64_t *found)
{
	bool below = in.low <= 4 * times * number, above = 4 * times * (number + 1) <= in.high;

	*found = number + above;
	return below != above;
}

static struct ts_decimal shortest_trimmed(uint64_t digits, int exponent)
{
	for (; digits % 10 == 0; exponent++)
		digits /= 10;
	return (struct ts_decimal){ digits, exponent };
}

struct ts_decimal ts_shortest(double value)
{
	uint64_t bits, c, found, s;
	struct interval in;
	bool is_power;
	int q, k;

	TS_ASSERT_HOT(isfinite(value) && value > 0);
	memcpy(&bits, &value, sizeof(bits));
	c = bits & (HIDDEN - 1);
	q = (int)(bits >> FRACTION_BITS);
	is_power = c == 0 && q > 1;
	c |= q > 0 ? HIDDEN : 0;
	q = LOWEST + (q > 0 ? q - 1 : 0);
	k = log10_of_bits(q, is_power);
	in = shortest_interval_of(c, q, is_power, k);
	s = in.value / 4;
	if (s >= 10 && only_one(in, s / 10, 10, &found))
		return shortest_trimmed(found, k + 1);
	if (!only_one(in, s, 1, &found)) /* the closer one, of equals the even one */
		found = s + (in.value > 4 * s + 2 || (in.value == 4 * s + 2 && s % 2 > 0));
	return shortest_trimmed(found, k);
}
