/* SPDX-License-Identifier: MIT */
/*
 * What the checks of a capture share, and each check: capture_ran.c, capture_input.c and capture_steps.c have them, capture_causes.c
 * calls them in the order of the report. A check that lacks its numbers reports nothing.
 */
#ifndef TS_ANALYSIS_CAPTURE_CHECKS_H
#define TS_ANALYSIS_CAPTURE_CHECKS_H

#include "analysis/run/capture.h"

#define MAX_CAUSES 32

struct capture_report {
	const struct capture_state *sum;
	struct capture_pairs pairs;
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_capture_cause causes[MAX_CAUSES];
	size_t nr_causes;
	enum ts_capture_verdict verdict;
	size_t nr_ran; /* devices that ran something */
	struct ts_buf text;
	bool failed;
};

static inline bool capture_has_run(const struct capture_device *device)
{
	return device->first_ps <= device->last_ps;
}

static inline const char *capture_plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

/* capture_add.c: reports a cause; the evidence is what was put into report->text. */
void ts_capture_add(struct capture_report *report, const char *id, enum ts_severity severity,
		    enum ts_capture_verdict verdict, struct ts_bytes what);

/* capture_ran.c */
void ts_capture_check_annotation(struct capture_report *report);
void ts_capture_check_cpus(struct capture_report *report);
void ts_capture_check_no_device(struct capture_report *report);
struct capture_pairs ts_capture_pairs_of(const struct capture_report *report);
void ts_capture_check_lost_kernels(struct capture_report *report);
void ts_capture_check_early_kernels(struct capture_report *report);
uint64_t ts_capture_nr_calls(const struct capture_report *report);
bool ts_capture_was_captured(const struct capture_report *report);
void ts_capture_check_counters(struct capture_report *report);
void ts_capture_check_not_read(struct capture_report *report);
void ts_capture_check_other_device(struct capture_report *report);
void ts_capture_check_nothing_ran(struct capture_report *report);
void ts_capture_check_compilation(struct capture_report *report);
void ts_capture_check_warm_up(struct capture_report *report);
void ts_capture_check_ops_missing(struct capture_report *report);
void ts_capture_check_not_blocked(struct capture_report *report);
void ts_capture_check_marks(struct capture_report *report);

/* capture_input.c */
void ts_capture_check_messages(struct capture_report *report);
void ts_capture_check_damage(struct capture_report *report);
void ts_capture_check_impossible_times(struct capture_report *report);
void ts_capture_check_strict(struct capture_report *report);
void ts_capture_check_stand_in(struct capture_report *report);
void ts_capture_check_windows(struct capture_report *report);
void ts_capture_check_unused_devices(struct capture_report *report);
void ts_capture_check_host_tracing(struct capture_report *report);
void ts_capture_check_hlo(struct capture_report *report);
void ts_capture_check_impossible(struct capture_report *report);

/* capture_steps.c */
void ts_capture_check_steps(struct capture_report *report);
void ts_capture_check_epochs(struct capture_report *report);
void ts_capture_check_ranks(struct capture_report *report);
void ts_capture_check_devices(struct capture_report *report);
void ts_capture_check_steps_missing(struct capture_report *report);
void ts_capture_check_length(struct capture_report *report);

#endif
