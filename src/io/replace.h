/*
 * A new file takes the place of one that was looked at, and of no other: what a program wrote or
 * put there in the meantime is never lost.
 *
 * On Linux the two names are exchanged, and what came out is looked at again before it goes: there
 * is no moment between the look and the change. Elsewhere, and on file systems that cannot do that,
 * the look comes right before the rename. A program that has the old file open for writing is asked
 * for where the system can tell (ts_file_is_open_to_write).
 */
#ifndef TS_IO_REPLACE_H
#define TS_IO_REPLACE_H

#include "io/newfile.h"

/*
 * The commit of FILE is to fail, and to change nothing, unless what is there then is OLD still, and no
 * program has it open for writing; NULL: unless there is nothing still. The status is TS_IO.
 */
void ts_newfile_expect(struct ts_newfile *file, const struct ts_file_look *old);

#endif
