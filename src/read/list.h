/* Every reader. Adding one: its file, a line here and in files.mk. */
#define TS_READERS(X) \
	X(xplane)     \
	X(chrome)     \
	X(pprof)      \
	X(torch_trace)
