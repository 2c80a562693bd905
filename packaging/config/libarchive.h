/* SPDX-License-Identifier: MIT */
/*
 * What configure of libarchive would find: its own list for Linux, without what a reader of tar and zip in memory has no need of
 * (attributes of files, iconv, regular expressions), and with the packings that TPUsight reads.
 */
#define __LIBARCHIVE_CONFIG_H_INCLUDED 1
#include "../contrib/android/config/linux_host.h"

#undef HAVE_ICONV
#undef HAVE_ICONV_H
#undef HAVE_FGETXATTR
#undef HAVE_FLISTXATTR
#undef HAVE_FSETXATTR
#undef HAVE_GETXATTR
#undef HAVE_LGETXATTR
#undef HAVE_LISTXATTR
#undef HAVE_LLISTXATTR
#undef HAVE_LSETXATTR
#undef HAVE_SYS_XATTR_H
#undef HAVE_REGEX_H
#undef HAVE_SYS_CDEFS_H
#ifdef __APPLE__
#undef HAVE_LINUX_FIEMAP_H
#undef HAVE_LINUX_FS_H
#undef HAVE_LINUX_MAGIC_H
#undef HAVE_LINUX_TYPES_H
#undef HAVE_SYS_STATFS_H
#undef HAVE_SYS_VFS_H
#undef HAVE_SYS_SYSMACROS_H
#undef MAJOR_IN_SYSMACROS
#undef HAVE_STRUCT_STAT_ST_MTIM_TV_NSEC
#define HAVE_ARC4RANDOM_BUF 1
#endif
#undef HAVE_BZLIB_H
#undef HAVE_LIBBZ2
#undef HAVE_LZMA_H
#undef HAVE_LIBLZMA
#undef HAVE_LZ4_H
#undef HAVE_LIBLZ4
#undef HAVE_ZSTD_H
#undef HAVE_LIBZSTD
#define HAVE_BZLIB_H 1
#define HAVE_LIBBZ2 1
#define HAVE_LZMA_H 1
#define HAVE_LIBLZMA 1
#define HAVE_LZ4_H 1
#define HAVE_LIBLZ4 1
#define HAVE_ZSTD_H 1
#define HAVE_LIBZSTD 1
#define HAVE_DECL_INT32_MAX 1
#define HAVE_DECL_INT32_MIN 1
#define HAVE_DECL_INTMAX_MAX 1
#define HAVE_DECL_INTMAX_MIN 1
#define HAVE_DECL_UINTMAX_MAX 1
