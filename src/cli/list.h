/* Every command, in the order of the help. Adding one: its file, a line here and in files.mk. */
#define TS_COMMANDS(X) \
	X(annotate)    \
	X(report)      \
	X(check)       \
	X(compare)     \
	X(flame)       \
	X(hlo)         \
	X(compile)     \
	X(hta)         \
	X(kernels)     \
	X(memory)      \
	X(trim)        \
	X(timeline)    \
	X(redact)      \
	X(live)        \
	X(serve)
