/* SPDX-License-Identifier: MIT */
/*
 * The lines that every form of a report on the console has: which run it is, its key figures, its findings.
 *
 *	profiles/run1/2025_03_11 · 1 host · 4 x TPU v6e · 92.6 s · 100 steps (inferred from jit_f)
 *	health 14/100   device busy 86.5 % (good)   HBM 5.1 % (poor)
 *	Findings, by the time they could save:
 *	1 critical    76.1 s  Copies to and from host memory take 82 % of device time (host-offload.py:29)
 *	   do: offload fewer arrays, or start each copy a step ahead
 *
 * Read from the results "overview" and "doctor". What is unknown is left out. Of the report, width, color and top count.
 */
#ifndef TS_WRITE_SUMMARY_H
#define TS_WRITE_SUMMARY_H

#include "model/bucket.h"
#include "result/schema/overview.def"
#include "write/output.h"

#define TS_SUMMARY_FINDINGS 3 /* shown; the others are counted */

#define TS_SUMMARY_DOT " \xC2\xB7 " /* between facts */

/* A field of the result "overview"; null where there is none. */
#define TS_OVERVIEW(results, name) TS_GET(TS_FIND(results, overview), overview, name)
/* What the run's chips call their matrix units; empty: it is not known. */
struct ts_bytes ts_summary_units(const struct ts_results *results);
/* logdir/run/session, without those that say nothing. */
void ts_summary_place(struct ts_buf *out, const struct ts_results *results);
/* Nothing of it was measured (run/predict.h), which every door says. */
bool ts_summary_is_predicted(const struct ts_results *results);
/* A line that says so, or nothing. */
void ts_summary_predicted(struct ts_buf *out, const struct ts_results *results, size_t width);
/* Known to have none, which is another thing than not known. */
bool ts_summary_has_no_device(const struct ts_results *results);
/* What ran, ran on the hosts' CPUs. */
bool ts_summary_is_of_cpus(const struct ts_results *results);
/* Hosts, devices, wall time and steps, each behind a dot. */
void ts_summary_facts(struct ts_buf *out, const struct ts_results *results);
/* The first line alone: which run, on what. WIDTH 0: one line however long. */
void ts_summary_head(struct ts_buf *out, const struct ts_results *results, size_t width);
/* The device time of a class, of the result "time"; NaN: unknown. */
double ts_summary_class_ps(const struct ts_result *time, enum ts_bucket bucket);
/* The second line: health and the key figures that are known, each with its band. */
void ts_summary_numbers(struct ts_buf *out, const struct ts_results *results,
			const struct ts_report *report);
/* One finding: its title, whole, and what to do. */
void ts_summary_finding(struct ts_buf *out, const struct ts_finding *finding, size_t number,
			const struct ts_report *report);
/* The first ones, or as many as report->top says. Notes, which have nothing to gain, are counted. */
void ts_summary_findings(struct ts_buf *out, const struct ts_result *doctor,
			 const struct ts_report *report);
/* A session among several: which, what it is, and the finding that gives most; three lines. */
void ts_summary_row(struct ts_buf *out, const struct ts_results *results,
		    const struct ts_report *report);

#endif
