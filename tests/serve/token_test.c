/* SPDX-License-Identifier: MIT */
/* Tokens of a server; what becomes of whole requests is in tests/page/token_test.py. */
#include "tests/test.h"
#include "serve/token.h"

#define GOOD "abcDEF0123456-._~"

static enum ts_status read_token(struct ts_token *token, const char *text)
{
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = ts_token_read(token, ts_bytes_of(text), &err);

	if (st)
		assert_null(strstr(err.text, text[0] ? text : "\n"));
	return st;
}

TEST(a_token_is_what_an_address_holds_as_it_is)
{
	static const char *const others[] = { "",
					      "tooshort",
					      "0123456789abcdef ",
					      "0123456789abcdef&x",
					      "0123456789abcdef%41",
					      "0123456789abcde\n",
					      "0123456789abcdef;",
					      "0123456789abcd\xc3\xbc" };
	struct ts_token token = { "" };
	char longest[200];

	assert_int_equal(read_token(&token, GOOD), TS_OK);
	assert_string_equal(token.text, GOOD);
	for (size_t i = 0; i < TS_NELEM(others); i++)
		assert_int_equal(read_token(&token, others[i]), TS_USAGE);
	assert_string_equal(token.text, GOOD);
	memset(longest, 'a', sizeof(longest));
	longest[TS_TOKEN_MOST + 1] = '\0';
	assert_int_equal(read_token(&token, longest), TS_USAGE);
	longest[TS_TOKEN_MOST] = '\0';
	assert_int_equal(read_token(&token, longest), TS_OK);
}

TEST(only_the_whole_token_is_the_token)
{
	static const char *const others[] = { "",
					      "a",
					      "abcDEF0123456-._",
					      "abcDEF0123456-._~a",
					      "abcDEF0123456-._~abcDEF0123456-._~",
					      "abcdef0123456-._~",
					      "xbcDEF0123456-._~" };
	struct ts_token token = { GOOD }, nothing = { "" };

	assert_true(ts_token_is(&token, ts_bytes_of(GOOD)));
	for (size_t i = 0; i < TS_NELEM(others); i++)
		assert_false(ts_token_is(&token, ts_bytes_of(others[i])));
	assert_false(ts_token_is(&nothing, ts_bytes_of("")));
}

TEST(a_new_token_is_another_one_each_time)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_token one, two, again;

	assert_int_equal(ts_token_new(&one, &err), TS_OK);
	assert_int_equal(ts_token_new(&two, &err), TS_OK);
	assert_int_equal(strlen(one.text), 32);
	assert_string_not_equal(one.text, two.text);
	assert_int_equal(ts_token_read(&again, ts_bytes_of(one.text), &err), TS_OK);
}
