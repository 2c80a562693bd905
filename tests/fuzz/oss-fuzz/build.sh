#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# Builds the fuzz targets as OSS-Fuzz's base-builder wants it: compilers, flags, the engine and the folders come from the
# environment (CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SRC, WORK, OUT). Each target gets its seeds, its dictionary
# and the bound on the length of its inputs.
deps=$WORK/deps
export PKG_CONFIG="pkg-config --static" PKG_CONFIG_PATH=$deps/lib/pkgconfig
jobs=$(nproc)

with_cmake() { # SOURCE OPTION...
	local source=$SRC/$1 build=$WORK/$1
	shift
	cmake -S "$source" -B "$build" -DCMAKE_INSTALL_PREFIX="$deps" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$deps" \
		-DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@"
	cmake --build "$build" -j "$jobs"
	cmake --install "$build"
}

mkdir -p "$deps"
with_cmake zlib -DZLIB_BUILD_SHARED=OFF -DZLIB_BUILD_TESTING=OFF -DZLIB_BUILD_EXAMPLES=OFF
rm -f "$deps"/lib/libz.so*
# A processor that it does not know gets C alone: MemorySanitizer does not see what assembler writes.
with_cmake isa-l -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=none -DISAL_BUILD_TESTS=OFF -DISAL_BUILD_PERF_TESTS=OFF \
	-DISAL_BUILD_ISAL_SHIM=OFF
with_cmake cJSON -DENABLE_CJSON_TEST=OFF -DENABLE_CJSON_UTILS=OFF -DENABLE_CUSTOM_COMPILER_FLAGS=OFF
with_cmake libarchive -DENABLE_TEST=OFF -DENABLE_TAR=OFF -DENABLE_CPIO=OFF -DENABLE_CAT=OFF -DENABLE_UNZIP=OFF -DENABLE_WERROR=OFF \
	-DENABLE_OPENSSL=OFF -DENABLE_MBEDTLS=OFF -DENABLE_NETTLE=OFF -DENABLE_LIBB2=OFF -DENABLE_LZ4=OFF -DENABLE_LZO=OFF \
	-DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DENABLE_BZip2=OFF -DENABLE_LIBXML2=OFF -DENABLE_EXPAT=OFF -DENABLE_PCREPOSIX=OFF \
	-DENABLE_PCRE2POSIX=OFF -DENABLE_ACL=OFF -DENABLE_XATTR=OFF -DENABLE_ICONV=OFF
with_cmake curl -DBUILD_CURL_EXE=OFF -DBUILD_STATIC_LIBS=ON -DHTTP_ONLY=ON -DCURL_ENABLE_SSL=OFF -DCURL_USE_LIBPSL=OFF \
	-DCURL_USE_LIBSSH2=OFF -DUSE_NGHTTP2=OFF -DUSE_LIBIDN2=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DBUILD_LIBCURL_DOCS=OFF \
	-DBUILD_MISC_DOCS=OFF -DENABLE_CURL_MANUAL=OFF
# The library that generated code needs is one file; its build wants all of protobuf.
# shellcheck disable=SC2086
$CC $CFLAGS -I"$SRC/protobuf-c" -c "$SRC/protobuf-c/protobuf-c/protobuf-c.c" -o "$WORK/protobuf-c.o"
ar rcs "$deps/lib/libprotobuf-c.a" "$WORK/protobuf-c.o"

"$SRC/tpusight/bootstrap"
mkdir -p "$WORK/tpusight"
cd "$WORK/tpusight"
"$SRC/tpusight/configure" MICROHTTPD_CFLAGS=" " MICROHTTPD_LIBS=" " PROTOBUF_C_CFLAGS="-I$SRC/protobuf-c" \
	PROTOBUF_C_LIBS="-L$deps/lib -lprotobuf-c"
fuzz=$SRC/tpusight/tests/fuzz
targets=$(sed -n 's|^fuzz_replays += tests/fuzz/\(.*\)_replay$|\1|p' "$fuzz/files.mk")
# The engine may be C++, so the C++ compiler links; cmocka is for other tests.
# shellcheck disable=SC2046,SC2086 # names of targets have no spaces
make -j"$jobs" CCLD="$CXX $CXXFLAGS" LDADD="tests/fuzz/libmutate.a libtpusight.a" \
	LIBS="$LIB_FUZZING_ENGINE \$(LIBARCHIVE_LIBS) \$(PROTOBUF_C_LIBS) \$(CJSON_LIBS) \$(CURL_LIBS) \$(ZLIB_LIBS) \$(ISAL_LIBS) -lm -lpthread" \
	$(printf 'tests/fuzz/%s_fuzz ' $targets)

for target in $targets; do
	cp "tests/fuzz/${target}_fuzz" "$OUT/"
	# shellcheck disable=SC2046
	zip -q -j -r "$OUT/${target}_fuzz_seed_corpus.zip" $(sh "$fuzz/inputs.sh" seeds "$target")
	dict=$(sh "$fuzz/inputs.sh" dict "$target")
	[ -z "$dict" ] || cp "$dict" "$OUT/${target}_fuzz.dict"
	printf '[libfuzzer]\nmax_len = 65536\n' >"$OUT/${target}_fuzz.options"
done
