/* SPDX-License-Identifier: MIT */
/* libmicrohttpd, and what its versions call differently. */
#ifndef TS_SERVE_MHD_H
#define TS_SERVE_MHD_H

#include <microhttpd.h>

#ifndef MHD_VERSION
#error "microhttpd.h without a version"
#endif
#if MHD_VERSION < 0x00097002 /* older versions return int */
typedef int mhd_result;
#else
typedef enum MHD_Result mhd_result;
#endif

#endif
