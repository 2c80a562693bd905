dnl SPDX-License-Identifier: MIT
# Checks of tpusight's configure. Each missing dependency is remembered with the words that install
# it, and TS_REQUIRE_DONE names them all at once.

AC_DEFUN([TS_CHECK_C11], [
  AC_LANG_PUSH([C])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdalign.h>
#include <stdatomic.h>]], [[_Static_assert(sizeof(int) >= 4, "int");]])], [],
    [AC_MSG_ERROR([the C compiler does not do C11 (gcc 5 or clang 3.6 and later do): set CC=...])])
  AC_LANG_POP([C])
])

# Adds FLAG to VARIABLE when the compiler takes it.
AC_DEFUN([TS_TRY_FLAG], [
  ts_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $2"
  AC_MSG_CHECKING([whether $CC takes $2])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes]); $1="$$1 $2"], [AC_MSG_RESULT([no])])
  CFLAGS=$ts_save_CFLAGS
])

AC_DEFUN([TS_ARG_DEVEL], [
  AC_ARG_ENABLE([devel],
    [AS_HELP_STRING([--enable-devel], [make compiler warnings errors, with many of them])],
    [], [enable_devel=no])
  DEVEL_CFLAGS=
  TS_TRY_FLAG([DEVEL_CFLAGS], [-Wall])
  TS_TRY_FLAG([DEVEL_CFLAGS], [-Wextra])
  TS_TRY_FLAG([DEVEL_CFLAGS], [-Wno-missing-field-initializers]) dnl left out of a row means none
  TS_TRY_FLAG([DEVEL_CFLAGS], [-Wno-unused-parameter]) dnl a slot of a table gives what one of its functions uses
  AS_IF([test "$enable_devel" = yes], [
    for flag in -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings \
                -Wundef -Wvla -Wformat=2 -Wcast-align -Wno-format-nonliteral -Werror; do
      TS_TRY_FLAG([DEVEL_CFLAGS], [$flag])
    done
    DEVEL_CFLAGS="$DEVEL_CFLAGS -DTS_DEVEL=1" dnl base/check.h
  ])
  AC_SUBST([DEVEL_CFLAGS])
])

AC_DEFUN([TS_ARG_SANITIZE], [
  AC_ARG_ENABLE([sanitize],
    [AS_HELP_STRING([--enable-sanitize@<:@=LIST@:>@], [build with sanitizers (default list: address,undefined)])],
    [], [enable_sanitize=no])
  AS_IF([test "$enable_sanitize" = yes], [enable_sanitize=address,undefined])
  SANITIZE_CFLAGS=
  AS_IF([test "$enable_sanitize" != no], [
    SANITIZE_CFLAGS="-fsanitize=$enable_sanitize -fno-omit-frame-pointer"
    AS_CASE([$enable_sanitize], [*undefined*],
      [SANITIZE_CFLAGS="$SANITIZE_CFLAGS -fno-sanitize-recover=undefined"])])
  AC_SUBST([SANITIZE_CFLAGS])
])

AC_DEFUN([TS_ARG_FUZZ], [
  AC_ARG_ENABLE([fuzz],
    [AS_HELP_STRING([--enable-fuzz], [build the fuzz targets with libFuzzer (needs CC=clang)])],
    [], [enable_fuzz=no])
  FUZZ_CFLAGS=
  AS_IF([test "$enable_fuzz" = yes], [
    FUZZ_CFLAGS="-fsanitize=fuzzer-no-link"
    ts_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -fsanitize=fuzzer-no-link"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [],
      [AC_MSG_ERROR([--enable-fuzz needs clang and its fuzzer runtime: CC=clang, Debian: apt-get install clang])])
    CFLAGS=$ts_save_CFLAGS])
  AC_SUBST([FUZZ_CFLAGS])
  AM_CONDITIONAL([ENABLE_FUZZ], [test "$enable_fuzz" = yes])
])

AC_DEFUN([TS_MISSING], [
  ts_missing="$ts_missing
    $1: Debian, Ubuntu: apt-get install $2    macOS: brew install $3"
])

# TS_REQUIRE_LIB(PREFIX, pkg-config module, Debian package, Homebrew formula)
AC_DEFUN([TS_REQUIRE_LIB], [
  PKG_CHECK_MODULES([$1], [$2], [], [TS_MISSING([$2], [$3], [$4])])
])

AC_DEFUN([TS_REQUIRE_PROG], [
  AC_PATH_PROG([$1], [$2])
  AS_IF([test -z "$$1"], [TS_MISSING([$2], [$3], [$4])])
])

AC_DEFUN([TS_REQUIRE_THREADS], [
  AC_SEARCH_LIBS([pthread_create], [pthread], [],
    [AC_MSG_ERROR([POSIX threads are needed and were not found])])
])

AC_DEFUN([TS_REQUIRE_MATH], [
  AC_SEARCH_LIBS([floor], [m], [], [AC_MSG_ERROR([the C mathematics library was not found])])
])

AC_DEFUN([TS_REQUIRE_DONE], [
  AS_IF([test -n "$ts_missing"],
    [AC_MSG_ERROR([these are missing; install them and run configure again:$ts_missing])])
])

# Does the linker have --wrap? The test that fails each allocation in turn needs it, and code that is not optimized when it is linked.
AC_DEFUN([TS_CHECK_WRAP], [
  ts_save_LDFLAGS=$LDFLAGS
  LDFLAGS="$LDFLAGS -Wl,--wrap=malloc"
  AC_MSG_CHECKING([whether the linker takes --wrap])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdlib.h>
void *__wrap_malloc(size_t n) { return calloc(1, n); }]], [[return malloc(1) == NULL;]])],
    [have_wrap=yes], [have_wrap=no])
  AS_IF([test -n "$LTO_CFLAGS" && test -z "$NO_LTO_LDFLAGS"], [have_wrap=no])
  AC_MSG_RESULT([$have_wrap])
  LDFLAGS=$ts_save_LDFLAGS
  AM_CONDITIONAL([HAVE_WRAP], [test "$have_wrap" = yes])
])
