/* SPDX-License-Identifier: MIT */
/*
 * What the documents say of a word: rows of docs/words.md and of the pages of docs/analyses, made into C by embed.sh. One word may have several: a field of two views, a word that is also a rule.
 */
#ifndef TS_CLI_EXPLAIN_WORDS_H
#define TS_CLI_EXPLAIN_WORDS_H

struct ts_word {
	const char *word; /* NULL at the end of the list */
	const char *kind; /* label, word, view, field, bucket, rule */
	const char *view; /* the page that it is on; "" of a label */
	const char *page; /* docs/analyses/time/time.md */
	const char *text; /* a line for each column of its row */
};
extern const struct ts_word ts_words[];

#endif
