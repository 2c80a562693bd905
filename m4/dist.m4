dnl SPDX-License-Identifier: MIT
# TS_REPRODUCIBLE_DIST: the same files make the same tarball, whoever packs them, where and when: in the order of their names, of
# no owner, with one time ($dist_epoch of Makefile.am) and one set of permissions. A tar that cannot do that packs as it can.
AC_DEFUN([TS_REPRODUCIBLE_DIST], [
  ts_tar_flags="--sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w"
  AC_MSG_CHECKING([whether tar makes the same tarball twice])
  AS_IF([tar --format=ustar $ts_tar_flags --mtime=@0 -chf /dev/null -C "$srcdir" NEWS 2>/dev/null],
    [AC_MSG_RESULT([yes])
     am__tar="LC_ALL=C tar --format=ustar $ts_tar_flags --mtime=@\$(dist_epoch) -chf - \"\$\$tardir\""],
    [AC_MSG_RESULT([no])])
])

# The folders of a build do not stand in the programs, so that a compiler makes the same ones everywhere. Developers keep them:
# a debugger finds the sources by them.
AC_DEFUN([TS_REPRODUCIBLE_PROGRAMS], [
  MAP_CFLAGS=
  AS_IF([test "$enable_devel" != yes], [TS_TRY_FLAG([MAP_CFLAGS], [-ffile-prefix-map=/from=/to])])
  AS_IF([test -n "$MAP_CFLAGS"], [
    MAP_CFLAGS='-ffile-prefix-map=$(abs_srcdir)/= -ffile-prefix-map=$(srcdir)/= -ffile-prefix-map=$(abs_builddir)=.'])
  AC_SUBST([MAP_CFLAGS])
])
