/* SPDX-License-Identifier: MIT */
/*
 * What XLA dumped of a run's modules: --xla_dump_to=FOLDER --xla_dump_hlo_as_proto --xla_dump_hlo_pass_re=.*spmd-partition.* (XLA_FLAGS;
 * libtpu takes them from there as well). Of each compilation there is the module as the partitioner got it and as it left it.
 */
#ifndef TS_RUN_DUMPS_H
#define TS_RUN_DUMPS_H

#include "model/profile.h"

/*
 * Joins both to the modules of PROFILE that were compiled of them: by the module's name, and where a name was compiled several times by
 * its arguments, the latest one. They live in the profile's arena. A file that cannot be read is an error; a folder without any is, too.
 */
enum ts_status ts_dumps_join(struct ts_profile *profile, const char *folder, struct ts_error *err);

#endif
