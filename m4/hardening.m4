dnl SPDX-License-Identifier: MIT
# What the compiler and the linker can do against a fault that was overlooked: each flag is asked for, and used where it is
# known. They stand in front of the user's CFLAGS and LDFLAGS, which therefore win. tests/build/hardening_test.py reads
# from the programs what came of it.

# TS_TRY_HARDENING(VARIABLE, FLAG...): adds the flags to VARIABLE when a program is compiled and linked with them.
AC_DEFUN([TS_TRY_HARDENING], [
  ts_save_CFLAGS=$CFLAGS ts_save_LDFLAGS=$LDFLAGS
  CFLAGS="$HARDENING_CFLAGS $2 $CFLAGS -Werror"
  LDFLAGS="$HARDENING_LDFLAGS $2 $LDFLAGS"
  AC_MSG_CHECKING([whether $CC takes $2])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[char s[8]; memset(s, 1, sizeof s); return s[7];]])],
    [AC_MSG_RESULT([yes]); $1="$$1 $2"; ts_taken=yes], [AC_MSG_RESULT([no]); ts_taken=no])
  CFLAGS=$ts_save_CFLAGS LDFLAGS=$ts_save_LDFLAGS
])

# Sanitizers want memory and calls as they are: with them it is off.
AC_DEFUN([TS_ARG_HARDENING], [
  AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening], [leave out the flags against exploits of overlooked faults])],
    [], [enable_hardening=yes])
  AS_IF([test "$enable_sanitize" != no || test "$enable_fuzz" = yes], [enable_hardening=no])
  HARDENING_CFLAGS= HARDENING_LDFLAGS=
  AS_IF([test "$enable_hardening" = yes], [
    TS_TRY_HARDENING([HARDENING_CFLAGS], [-fPIE])
    AS_IF([test "$ts_taken" = yes], [TS_TRY_HARDENING([HARDENING_LDFLAGS], [-pie])])
    dnl The last two: an x86 and an ARM know one each. -ftrivial-auto-var-init is left out: it costs 6 %
    dnl of a report of a million events, the others together less than 2 %.
    for flag in -fstack-protector-strong -fstack-clash-protection \
                -fcf-protection=full -mbranch-protection=standard; do
      TS_TRY_HARDENING([HARDENING_CFLAGS], [$flag])
    done
    dnl glibc knows 3 from 2.34 on, and none where the user's CFLAGS do not optimize
    TS_TRY_HARDENING([HARDENING_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3])
    AS_IF([test "$ts_taken" = no], [TS_TRY_HARDENING([HARDENING_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2])])
    for flag in relro now noexecstack separate-code; do
      TS_TRY_HARDENING([HARDENING_LDFLAGS], [-Wl,-z,$flag])
    done
  ])
  AC_SUBST([HARDENING_CFLAGS])
  AC_SUBST([HARDENING_LDFLAGS])
])
