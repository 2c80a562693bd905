/* SPDX-License-Identifier: MIT */
/* Every output. Adding one: its file and a line here (docs/adding). */
#define TS_OUTPUTS(X) \
	X(text)       \
	X(json)       \
	X(html)       \
	X(csv)        \
	X(xlsx)
