dnl SPDX-License-Identifier: MIT
# Link-time optimization: the programs are optimized as one, across their files; libtpusight's objects carry what that needs. Where
# the compiler can, they carry ordinary code as well (-ffat-lto-objects): the tests are linked from that, in a moment.

# TS_TRY_LTO(FLAG, FAT): sets LTO_CFLAGS, and with FAT NO_LTO_LDFLAGS, when a program is made of an archive both ways. The first calls
# a function that does not exist, in a place that is never reached: only who looks through both files leaves that call out. A linker
# that does not know the fat objects of its compiler takes their ordinary code, and nothing is optimized: it fails here.
AC_DEFUN([TS_TRY_LTO], [
  AC_MSG_CHECKING([whether $CC takes $1 $2])
  rm -rf conftest.lto && mkdir conftest.lto
  echo 'int ts_lto(int x) { return x + 1; }' >conftest.lto/part.c
  echo 'int ts_lto(int x); void ts_absent(void); int main(void) { if (ts_lto(-1)) ts_absent(); return 0; }' >conftest.lto/main.c
  echo 'void ts_absent(void); void ts_absent(void) { }' >conftest.lto/absent.c
  ts_lto_last=; test -z "$2" || ts_lto_last=-fno-lto
  AS_IF([(cd conftest.lto && for part in part main absent; do $CC $CFLAGS -O2 $1 $2 -Werror -c $part.c || exit; done &&
          $AR cr libpart.a part.o && $RANLIB libpart.a && $CC $CFLAGS -O2 $1 $LDFLAGS main.o libpart.a -o one && test -s one &&
          $CC $CFLAGS -O2 $1 $LDFLAGS $ts_lto_last main.o absent.o libpart.a -o two) >&AS_MESSAGE_LOG_FD 2>&1],
    [AC_MSG_RESULT([yes]); LTO_CFLAGS="$1 $2" NO_LTO_LDFLAGS=$ts_lto_last], [AC_MSG_RESULT([no])])
  rm -rf conftest.lto
])

# By itself it is on where a program is made to be used: with optimization, without sanitizers, not for developers.
AC_DEFUN([TS_ARG_LTO], [
  AC_ARG_ENABLE([lto],
    [AS_HELP_STRING([--disable-lto], [do not optimize the programs as one when they are linked])],
    [], [AS_CASE(["$enable_devel $enable_sanitize $enable_fuzz $CFLAGS"],
      [*--coverage*], [enable_lto=no],
      ["no no no "*-O@<:@123s@:>@*], [enable_lto=yes],
      [enable_lto=no])])
  LTO_CFLAGS= NO_LTO_LDFLAGS=
  AS_IF([test "$enable_lto" = yes], [
    TS_TRY_LTO([-flto=auto], [-ffat-lto-objects])
    AS_IF([test -z "$LTO_CFLAGS"], [TS_TRY_LTO([-flto], [-ffat-lto-objects])])
    AS_IF([test -z "$LTO_CFLAGS"], [TS_TRY_LTO([-flto=thin], [])])
    AS_IF([test -z "$LTO_CFLAGS"], [enable_lto="no: the compiler, $AR and the linker do not do it together"])
  ])
  AC_SUBST([LTO_CFLAGS])
  AC_SUBST([NO_LTO_LDFLAGS])
])
