/* Every output. Adding one: its file, a line here and in files.mk. */
#define TS_OUTPUTS(X) \
	X(text)       \
	X(json)       \
	X(html)       \
	X(csv)
