/*
 * An analysis: a constant struct in its own file and a line in list.h. It sees every block of
 * events once, keeps a small state per line, and says what it found in a result.
 *
 * States: the runner makes one per line (zeroed, .state_size bytes) on the thread that decodes the
 * line, feeds it, and merges it into one per analysis in the order of the lines, whatever order
 * they finished in; so results do not depend on threads. close() sees the sum. An analysis
 * without .block only has close(): it works from the profile and from other results.
 */
#ifndef TS_ANALYSIS_ANALYSIS_H
#define TS_ANALYSIS_ANALYSIS_H

#include "hw/chips.h"
#include "model/merged.h"
#include "model/outline.h"
#include "result/result.h"

/* What all analyses may read. Const during the passes; results grow between closes. */
struct ts_context {
	const struct ts_profile *profile;
	const struct ts_outline *outline; /* steps, host activity */
	const struct ts_rates *rates;	  /* one a device of the profile */
	const struct ts_settings *settings;
	struct ts_results *results; /* of the analyses closed before */
	size_t overlay_budget;	    /* slices a host may have in all; 0: no tracks are wanted */
	size_t tree_rows;	    /* that a tree of call paths may have in a result */
	bool merged; /* whether TS_PASS_MERGED shows events: else its analyses are closed with nothing */
	bool no_python; /* what Python's tracer saw is no activity of a host (timeline) */
	const struct ts_rates *chip; /* of modules without a run, when the user named it; or NULL */
};

enum ts_passes {
	TS_PASS_DEVICES = 1, /* the device lines */
	TS_PASS_MERGED,	 /* all lines of a host as one (model/merged.h); see struct ts_context */
	TS_PASS_HOSTS,	 /* host threads again, once it is known what to ask them for */
	TS_PASS_OVERLAY, /* the device lines again, where an overlay is wanted */
};

struct ts_analysis {
	const char *name, *title;
	bool top_level;	       /* its result's fields stand in the report itself */
	const char *needs[20]; /* closed before this one */
	int pass;	       /* of enum ts_passes: each begins when the one before was closed */
	unsigned columns;      /* enum ts_columns */
	size_t state_size;
	/* False: not interested in this line. LINE is an index into the profile's lines. */
	bool (*wants)(const struct ts_context *ctx, const struct ts_line *line);
	enum ts_status (*open)(void *state, const struct ts_context *ctx,
			       const struct ts_line *line, struct ts_error *err);
	enum ts_status (*block)(void *state, const struct ts_context *ctx,
				const struct ts_block *block, struct ts_error *err);
	/* In TS_PASS_MERGED instead of .block: a state is a host's then, LINE of .open its first one
	 * that is wanted, and states are merged in the order of hosts. */
	enum ts_status (*merged)(void *state, const struct ts_context *ctx,
				 const struct ts_merged *merged, struct ts_error *err);
	/* INTO is zeroed before the first merge. FROM is released by the runner afterwards. */
	enum ts_status (*merge)(void *into, void *from, const struct ts_context *ctx,
				struct ts_error *err);
	enum ts_status (*close)(void *state, const struct ts_context *ctx, struct ts_result *result,
				struct ts_error *err);
	void (*release)(void *state); /* frees what open/block/merge took */
};

extern const struct ts_analysis *const ts_analyses[]; /* NULL at the end */

/* The kinds of rows that a host's slices are shared among; their shares are the whole (share.c). */
enum ts_share {
	TS_SHARE_TIME,	   /* time classes */
	TS_SHARE_FINDINGS, /* ops of findings */
	TS_SHARE_PADDING,
	TS_SHARE_TIMES, /* findings about a time */
	TS_SHARE_COMPILATIONS,
	TS_SHARE_SPARSECORES,
	TS_NR_SHARES
};

/* Slices that each of NR_ROWS rows of this kind may have. */
size_t ts_overlay_share(const struct ts_context *ctx, enum ts_share share, size_t nr_rows);

/*
 * Thresholds of the doctor, settable with --threshold NAME=VALUE and the config file. Shares are in
 * percent here, as people write them; of core time (wall time x cores) where nothing else is said.
 */
struct ts_settings {
	double mxu_utilization_low;	/* %, critical below */
	double mxu_utilization_warning; /* %, warning below */
	double mxu_fill_low;		/* % of the array that a product's shape can fill */
	double padding_waste_high;	/* %, warning above */
	double compilation_time_high;	/* ms, warning above */
	double idle_high;
	double communication_high;
	double host_transfer_high;
	double memory_wait_high;
	double layout_copy_high;
	double input_high;
	double rematerialization_high;
	double dominant_op_high;
	double small_op_time;	/* us, mean time of an op below which it is tiny */
	double small_ops_high;	/* %, of core time in tiny ops */
	double op_chains_high;	/* %, of core time in tiny ops in series */
	double unfused_high;	/* %, of core time in intermediates through HBM, a reason */
	double slow_step_high;	/* %, over the median step */
	double impact_critical; /* %, of core time from which a finding is critical */
	double impact_warning;
	double finding_min; /* % below which a finding is not worth a line */
	double max_findings;
	double large_transfer_size;   /* MiB of one transfer between host and device */
	double small_transfer_size;   /* KiB, below it is small */
	double small_transfers_count; /* so many small ones are many */
	/* bands of the key figures that no rule has a threshold for */
	double device_utilization_good; /* % */
	double device_utilization_fair;
	double kernel_duration_good; /* ms */
	double kernel_duration_fair;
	double host_overhead_good; /* % */
	double host_overhead_fair;
	double memory_bandwidth_good; /* % */
	double memory_bandwidth_fair;
	double compilation_time_good; /* s */
	double compilation_time_fair;
	double occupancy_good;		 /* % */
	double capture_compilation_high; /* %, of core time: the profile shows compilation */
	double capture_steps_high;	 /* steps that a profile needs at most */
	double peak_memory_high;	 /* %, of the device's memory that a program needs */
	double donation_high;		 /* %, of it that donated arguments could save */
	double upcasts_high;		 /* %, of core time in bytes of arrays stored too wide */
	double hbm_bandwidth_low;	 /* %, of HBM's peak: what memory-bound ops should reach */
	double kernel_roofline_low;	 /* % of its roofline, below it a kernel is slow */
	double async_exposed_high;	 /* %, of core time waiting for asynchronous copies */
	double memory_growth_high; /* %, of a device's memory that its heap grows, step after step */
	double fragmentation_high;   /* %, of what is reserved at the peak and not allocated */
	double allocator_calls_high; /* %, of core time in calls of the driver's allocator */
	double kernel_gap_short; /* us, a shorter gap on a stream is between two kernels, no wait */
	double kernel_short;	 /* us, a kernel that takes less is short */
	double launch_queue_full;   /* launches that wait on a stream when the next one blocks */
	double short_kernels_count; /* so many kernels of less than kernel_short are many */
	double kernel_gaps_high;    /* %, of GPU time between kernels that were launched in time */
	double short_kernels_high;  /* %, of GPU time in short kernels */
	double launch_queue_high;   /* %, of the time that a stream's queue is full */
	double late_rank_high;	    /* %, of core time waiting for one rank alone */
};

struct ts_setting {
	const char *name, *unit, *help;
	size_t offset; /* of the double in struct ts_settings */
	double value;  /* by default */
};
extern const struct ts_setting ts_setting_list[]; /* name NULL at the end */
void ts_settings_init(struct ts_settings *settings);
/* False: no such threshold, or the value is negative or no number. */
bool ts_settings_set(struct ts_settings *settings, struct ts_bytes name, double value);

#endif
