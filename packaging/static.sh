#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the programs tpusight and tpusight-annotate for one kind of machine, with every library inside, by the C compiler of the
# PyPI package ziglang. Libraries are built once and kept; so is what the compiler makes for itself.
#
#   packaging/static.sh MACHINE      MACHINE: x86_64-linux, aarch64-linux, aarch64-macos (compiled, not run)
#
# Everything lies in TS_PACKAGING (default: build-packaging): sources/, and MACHINE/ with lib/, include/ and program/bin/.
# Needs python3 with venv, pkg-config, protoc-c, make, autotools, npm (or plugin/page/dist), dpkg-dev, llvm-strip, and nasm for x86_64.
# TS_ZIG names the program zig where it is not to be installed by pip; TS_JOBS how many compilers run at once; TS_CONFIGURE_FLAGS
# what configure of TPUsight is told beside that.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
zig_version=0.17.1
work=${TS_PACKAGING:-$root/build-packaging}
jobs=${TS_JOBS:-$(getconf _NPROCESSORS_ONLN)}

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
say() { printf 'static.sh: %s\n' "$*" >&2; }

# What differs from machine to machine: zig's name, what configure calls it, ISA-L's two names.
case ${1:-} in
x86_64-linux) target=x86_64-linux-musl host=x86_64-linux-musl isal=(host_cpu=x86_64 arch=) ;;
aarch64-linux) target=aarch64-linux-musl host=aarch64-linux-musl isal=(host_cpu=aarch64 arch=aarch64) ;;
aarch64-macos) target=aarch64-macos.11.0 host=aarch64-apple-darwin isal=(host_cpu=base_aliases arch=noarch) ;;
*) usage ;;
esac
mkdir -p "$work/$1"
work=$(cd "$work" && pwd)
prefix=$work/$1
sources=$work/sources
tools=$prefix/tools
cache=${TS_ZIG_CACHE:-$work/zig-cache}
export ZIG_GLOBAL_CACHE_DIR=$cache ZIG_LOCAL_CACHE_DIR=$cache
cflags="-O2 -g0 -fPIE -ffunction-sections -fdata-sections"

find_zig() {
	[ -z "${TS_ZIG:-}" ] || { zig=$TS_ZIG; return; }
	if [ ! -x "$work/zig/bin/python" ]; then
		python3 -m venv "$work/zig"
		"$work/zig/bin/pip" install -q --disable-pip-version-check "ziglang==$zig_version"
	fi
	zig=$("$work/zig/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
}

# One word each, as configure scripts want them.
make_tool() {
	printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$2" >"$tools/$1"
	chmod +x "$tools/$1"
}
make_tools() {
	mkdir -p "$tools" "$prefix/lib/pkgconfig" "$prefix/include" "$prefix/log"
	make_tool cc "cc -target $target"
	make_tool ar ar
	make_tool ranlib ranlib
	export CC=$tools/cc AR=$tools/ar RANLIB=$tools/ranlib PKG_CONFIG="pkg-config --static" \
		PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
}

# The archive lib/libNAME.a of the given C files, with the given flags.
archive() {
	local name=$1 flags=$2 objects
	shift 2
	objects=$prefix/objects/$name
	rm -rf "$objects" "$prefix/lib/lib$name.a"
	mkdir -p "$objects"
	# shellcheck disable=SC2016,SC2086 # a script for sh, and words of flags
	printf '%s\0' "$@" | xargs -0 -P "$jobs" -I FILE sh -c \
		'out=$1/$(printf %s "$2" | tr / _).o; shift; file=$1; shift; exec "$@" -c "$file" -o "$out"' sh "$objects" FILE \
		"$CC" $cflags $flags
	"$AR" cr "$prefix/lib/lib$name.a" "$objects"/*.o
}
# The .pc file of module MODULE, version, libraries, and the modules that it needs.
describe() {
	printf 'Name: %s\nDescription: static\nVersion: %s\nLibs: -L%s %s\nCflags: -I%s\nRequires: %s\n' \
		"$1" "$2" "$prefix/lib" "$3" "$prefix/include" "${4:-}" >"$prefix/lib/pkgconfig/$1.pc"
}
version_of() { sed -n "s/^$1 //p" "$sources/sources.txt"; }

build_zlib() {
	# This version takes any macOS for one of before 2001, which has no fdopen: a macro of that name stops it.
	archive z "-DHAVE_UNISTD_H -Dfdopen=fdopen" "$1"/{adler32,crc32,deflate,infback,inffast,inflate,inftrees,trees,zutil,compress,uncompr,gzclose,gzlib,gzread,gzwrite}.c
	cp "$1"/zlib.h "$1"/zconf.h "$prefix/include"
	describe zlib "${2%%.dfsg*}" -lz
}
build_bzip2() {
	archive bz2 -D_FILE_OFFSET_BITS=64 "$1"/{blocksort,huffman,crctable,randtable,compress,decompress,bzlib}.c
	cp "$1/bzlib.h" "$prefix/include"
	describe bzip2 "${2%-*}" -lbz2
}
build_xz() {
	local in=$1/src/liblzma
	archive lzma "-include $here/config/xz.h -I$1/src/common -I$in/api -I$in/common -I$in/check -I$in/lz -I$in/lzma -I$in/delta \
		-I$in/simple -I$in/rangecoder" "$in"/common/{common,block_util,easy_preset,filter_common,index,stream_flags_common,vli_size}.c \
		"$in"/common/*_decoder.c "$in"/common/index_hash.c "$in"/check/{check,crc32_fast,crc32_table,crc64_fast,crc64_table,sha256}.c \
		"$in"/lz/lz_decoder.c "$in"/lzma/{lzma_decoder,lzma2_decoder,lzma_encoder_presets}.c "$in"/delta/{delta_common,delta_decoder}.c \
		"$in"/simple/{simple_coder,simple_decoder,arm,arm64,armthumb,ia64,powerpc,sparc,x86}.c
	cp -R "$in/api/lzma.h" "$in/api/lzma" "$prefix/include"
	describe liblzma "${2%%-*}" -llzma
}
build_lz4() {
	archive lz4 "" "$1"/lib/{lz4,lz4frame,lz4hc,xxhash}.c
	cp "$1"/lib/{lz4,lz4frame,lz4hc}.h "$prefix/include"
	describe liblz4 "${2%-*}" -llz4
}
build_zstd() {
	archive zstd "-DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0 -DXXH_NAMESPACE=ZSTD_ -I$1/lib -I$1/lib/common" "$1"/lib/{common,compress,decompress}/*.c
	cp "$1"/lib/{zstd,zstd_errors}.h "$prefix/include"
	describe libzstd "${2%%+*}" -lzstd
}
build_brotli() {
	archive brotli "-I$1/c/include" "$1"/c/common/*.c "$1"/c/dec/*.c
	cp -R "$1/c/include/brotli" "$prefix/include"
	describe libbrotlidec "${2%-*}" -lbrotli
}
build_isal() {
	# LLVM's assembler wants to read which half of a register is extended, and no extension of a half to itself.
	sed -i 's/next_in, x_dist, uxtw/next_in, w_dist, uxtw/; s/uxtw\(.read_in_length,read_in_length\)/mov\1/' "$1"/igzip/aarch64/*.S
	make -s -C "$1" -f Makefile.unx clean >/dev/null
	make -s -C "$1" -f Makefile.unx -j"$jobs" lib units="igzip crc" "${isal[@]}" CC="$CC $cflags" AR="$AR" \
		"$([ "${isal[0]}" != host_cpu=x86_64 ] && echo "AS=$CC -D__ASSEMBLY__" || echo AS=nasm)"
	cp "$1/bin/isa-l.a" "$prefix/lib/libisal.a"
	mkdir -p "$prefix/include/isa-l"
	cp "$1"/include/{igzip_lib,crc,types}.h "$prefix/include/isa-l"
	cp "$1"/include/{igzip_lib,crc,types}.h "$prefix/include"
	describe libisal "${2%-*}" -lisal
}
build_cjson() {
	archive cjson "" "$1/cJSON.c"
	mkdir -p "$prefix/include/cjson"
	cp "$1/cJSON.h" "$prefix/include/cjson"
	describe libcjson "${2%-*}" -lcjson
	sed -i "s|^Cflags:.*|& -I$prefix/include/cjson|" "$prefix/lib/pkgconfig/libcjson.pc"
}
build_protobuf-c() {
	archive protobuf-c "-DPACKAGE_VERSION=\"${2%-*}\"" "$1/protobuf-c/protobuf-c.c"
	mkdir -p "$prefix/include/protobuf-c"
	cp "$1/protobuf-c/protobuf-c.h" "$prefix/include/protobuf-c"
	describe libprotobuf-c "${2%-*}" -lprotobuf-c
}
build_libarchive() {
	local in=$1/libarchive
	archive archive "-DPLATFORM_CONFIG_H=\"$here/config/libarchive.h\" -I$in -I$prefix/include" \
		"$in"/archive_{acl,check_magic,cmdline,cryptor,digest,entry,entry_sparse,entry_strmode,entry_xattr,hmac,options,pack_dev}.c \
		"$in"/archive_{ppmd7,ppmd8,random,rb,string,string_sprintf,util,version_details,virtual}.c "$in"/xxhash.c \
		"$in"/archive_read{,_add_passphrase,_open_memory,_set_options,_support_format_tar,_support_format_zip}.c \
		"$in"/archive_read_support_filter_{bzip2,gzip,lz4,program,xz,zstd}.c "$in"/filter_fork_posix.c \
		"$in"/archive_write{,_set_format,_set_format_zip,_set_options,_set_passphrase}.c
	cp "$in/archive.h" "$in/archive_entry.h" "$prefix/include"
	describe libarchive "${2%-*}" -larchive "zlib bzip2 liblzma liblz4 libzstd"
}
build_microhttpd() {
	local in=$1/src/microhttpd
	mkdir -p "$prefix/config/microhttpd"
	cp "$here/config/microhttpd.h" "$prefix/config/microhttpd/MHD_config.h"
	archive microhttpd "-DHAVE_CONFIG_H -DBUILDING_MHD_LIB=1 -DVERSION=\"${2%-*}\" -I$prefix/config/microhttpd -I$1/src/include -I$in" \
		"$in"/{connection,reason_phrase,daemon,internal,memorypool,mhd_mono_clock,sysfdsetsize,mhd_str,mhd_send,mhd_sockets}.c \
		"$in"/{mhd_itc,mhd_compat,mhd_threads,response}.c
	cp "$1/src/include/microhttpd.h" "$prefix/include"
	describe libmicrohttpd "${2%-*}" "-lmicrohttpd -lpthread"
}
build_nghttp2() {
	mkdir -p "$prefix/include/nghttp2"
	cp "$1/lib/includes/nghttp2/nghttp2.h" "$prefix/include/nghttp2"
	sed "s/@PACKAGE_VERSION@/${2%-*}/; s/@PACKAGE_VERSION_NUM@/0x013400/" "$1/lib/includes/nghttp2/nghttp2ver.h.in" \
		>"$prefix/include/nghttp2/nghttp2ver.h"
	archive nghttp2 "-DNGHTTP2_STATICLIB -DHAVE_ARPA_INET_H -DHAVE_NETINET_IN_H -DHAVE_CLOCK_GETTIME -DHAVE_TIME_H -I$prefix/include" \
		"$1"/lib/*.c
	describe libnghttp2 "${2%-*}" -lnghttp2
}
build_curl() {
	mkdir -p "$prefix/config/curl"
	cp "$here/config/curl.h" "$prefix/config/curl/curl_config.h"
	archive curl "-DHAVE_CONFIG_H -DBUILDING_LIBCURL -DCURL_STATICLIB -DNGHTTP2_STATICLIB -I$prefix/config/curl -I$1/include -I$1/lib -I$prefix/include" \
		"$1"/lib/*.c "$1"/lib/v{auth,quic,ssh,tls}/*.c
	cp -R "$1/include/curl" "$prefix/include"
	describe libcurl "${2%-*}" -lcurl libnghttp2
}

# Each library whose version has not been built yet.
build_libraries() {
	local name version stamp code
	while IFS='|' read -r name _; do
		version=$(version_of "$name")
		stamp=$prefix/log/$name.built
		[ "$(cat "$stamp" 2>/dev/null)" != "$version" ] || continue
		say "$1: $name $version"
		set +e # a part of `||` would go on after a failure
		(set -e; "build_$name" "$sources/$name-$version" "$version") >"$prefix/log/$name.log" 2>&1
		code=$?
		set -e
		if [ "$code" != 0 ]; then
			tail -n 30 "$prefix/log/$name.log" >&2
			say "$name failed: $prefix/log/$name.log"
			exit 1
		fi
		echo "$version" >"$stamp"
	done < <(grep -v '^#' "$here/libraries.txt")
}

# Symbols are of no use to who installs a program. LLVM's strip knows the programs of every machine.
strip_programs() {
	local name
	case $host in *darwin*) return ;; esac # a program of macOS is signed as it was linked
	for name in tpusight tpusight-annotate; do "$strip" "bin/$name"; done
}
find_strip() {
	for strip in llvm-strip /usr/lib/llvm-*/bin/llvm-strip; do
		! command -v "$strip" >/dev/null || return 0
	done
}
# The manual pages of a program that does not run here are printed by one that does.
manual_by() {
	local native
	native=$(uname -m)-linux
	[ "$1" != "$native" ] || return 0
	TS_SOURCES_ARE_THERE=1 "$here/static.sh" "$native" >&2 || return
	echo "MANUAL_BY=$work/$native/program/bin/tpusight"
}

build_programs() {
	local manual
	manual=$(manual_by "$1")
	[ -x "$root/configure" ] || "$root/bootstrap"
	mkdir -p "$prefix/program"
	cd "$prefix/program"
	say "$1: tpusight"
	# shellcheck disable=SC2086 # words of flags
	[ -f Makefile ] || "$root/configure" --quiet --host="$host" CFLAGS=-O2 LDFLAGS=-Wl,--gc-sections ${TS_CONFIGURE_FLAGS:-}
	make -s -j"$jobs" ${manual:+"$manual"} all
	strip_programs
	ls -l bin/tpusight bin/tpusight-annotate >&2
}

"$here/tools.sh" "$1"
find_strip
find_zig
make_tools
[ -n "${TS_SOURCES_ARE_THERE:-}" ] || "$here/sources.sh" "$sources"
build_libraries "$1"
build_programs "$1"
