/* SPDX-License-Identifier: MIT */
/* Every command, in the order of the help. Adding one: its file and a line here (docs/adding). */
#define TS_COMMANDS(X) \
	X(annotate)    \
	X(report)      \
	X(check)       \
	X(compare)     \
	X(hta)         \
	X(kernels)     \
	X(timeline)    \
	X(flame)       \
	X(memory)      \
	X(compile)     \
	X(hlo)         \
	X(trim)        \
	X(redact)      \
	X(export)      \
	X(map)         \
	X(reduce)      \
	X(thresholds)  \
	X(explain)     \
	X(schema)      \
	X(manual)      \
	X(serve)       \
	X(live)
