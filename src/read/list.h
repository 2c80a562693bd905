/* SPDX-License-Identifier: MIT */
/* Every reader. Adding one: its file and a line here (docs/adding). */
#define TS_READERS(X) \
	X(xplane)     \
	X(riegeli)    \
	X(chrome)     \
	X(pprof)      \
	X(torch_trace)
