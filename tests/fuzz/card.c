/* SPDX-License-Identifier: MIT */
/* Any text as a report beside a profile: what a list says of it is whole JSON, and its texts end where they must; its findings
 * stand in the order of time. */
#include "serve/card.h"

#include "codec/jtok.h"
#include "serve/places.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(json)

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static void check(const struct ts_card *card)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&out, TS_JSON_COMPACT);

	if (card->nr_spark > TS_CARD_SPARK || !ends(card->chip, sizeof(card->chip)) ||
	    !ends(card->program, sizeof(card->program)) ||
	    !ends(card->verdict, sizeof(card->verdict)))
		abort();
	ts_json_object(&json);
	ts_card_put(&json, card);
	ts_json_object_end(&json);
	if (!out.failed && ts_jtok_value_end(out.p, out.p + out.n) != out.p + out.n)
		abort();
	ts_buf_release(&out);
}

static void check_places(struct ts_bytes text)
{
	struct ts_places places = { .nr = 0 };

	if (ts_places_read(&places, text, NULL) == TS_OK && places.nr > TS_PLACES_MAX)
		abort();
	for (size_t i = 0; i < places.nr; i++)
		for (size_t k = 0; k < places.items[i].places.nr; k++) {
			const struct ts_span *place = &places.items[i].places.items[k];

			if (place->start_ps >= place->end_ps ||
			    (k > 0 && place[-1].end_ps >= place->start_ps))
				abort();
		}
	ts_places_release(&places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes text = { data, n };
	struct ts_card card;

	(void)ts_card_is_of(text, TS_LIT("host.xplane.pb"), n);
	(void)ts_card_read(&card, text);
	check(&card);
	check_places(text);
	return 0;
}
