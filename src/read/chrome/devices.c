/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a trace are devices. PyTorch's plugins give a device's process a label (libkineto's DeviceInfo:
 * "CPU", "GPU 0", "XPU 1", "MTIA 17"); where there is none, the process's name says it (torch_npu and msprof, rocprof's
 * first version), or a category that one kind of device alone has. A process with operators or ranges is a host, as hosts
 * and GPUs may go by the same number.
 */
#include "base/check.h"
#include "model/plane_kind.h"
#include "read/chrome/chrome.h"

/* Names that are whole. BESIDE: where another process's name is a device's. */
static const struct named {
	const char *name, *word;
	uint8_t shows;
	bool beside;
} named[] = {
	{ "Ascend Hardware", "NPU", CHROME_SHOWS_DEVICE, false },
	{ "CANN", NULL, CHROME_SHOWS_THREADS, true },
	{ "Overlap Analysis", NULL, CHROME_SHOWS_DERIVED, true },
	{ "Communication", NULL, CHROME_SHOWS_DERIVED, true },
	{ "HCCL", NULL, CHROME_SHOWS_DERIVED, true },
	{ "COPY", NULL, CHROME_SHOWS_UNREAD, true }, /* rocprof: copies of all GPUs */
};

/* Words that a name may begin with: "GPU0". */
static const char *const words[] = { "GPU", "XPU", "NPU", "HPU", "MTIA", "MLU", "AIU" };

static bool devices_is_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9';
}

static struct ts_bytes without_number(struct ts_bytes text)
{
	while (text.n > 0 && (devices_is_digit(text.p[text.n - 1]) || text.p[text.n - 1] == ' '))
		text.n--;
	return text;
}

static bool is_listed(struct ts_bytes word)
{
	for (size_t i = 0; i < TS_NELEM(words); i++)
		if (ts_bytes_is(word, words[i]))
			return true;
	return false;
}

/* The word of a label, "XPU" of "XPU 1"; empty: it is not one. */
static struct ts_bytes word_of_label(struct ts_bytes label)
{
	struct ts_bytes word = without_number(label);
	const struct ts_bytes none = { NULL, 0 };

	for (size_t i = 0; i < word.n; i++)
		if ((word.p[i] < 'A' || word.p[i] > 'Z') && word.p[i] != '_')
			return none;
	return word.n < label.n || is_listed(word) || ts_bytes_is(word, "CPU") ? word : none;
}

/* The same of a name: of rocprof "GPU0", earlier "7 GPU0". */
static struct ts_bytes word_of_name(struct ts_bytes name)
{
	struct ts_bytes word;
	size_t at = 0;

	while (at < name.n && devices_is_digit(name.p[at]))
		at++;
	if (at > 0 && at < name.n && name.p[at] == ' ')
		name = ts_bytes_cut(name, at + 1, name.n);
	word = without_number(name);
	return word.n < name.n && is_listed(word) ? word : (struct ts_bytes){ NULL, 0 };
}

static const struct named *named_as(const struct chrome_process *process)
{
	for (size_t i = 0; i < TS_NELEM(named); i++)
		if (ts_bytes_is(process->name, named[i].name))
			return &named[i];
	return NULL;
}

/* What its name alone says. */
static struct ts_bytes device_by_name(const struct chrome_process *process)
{
	const struct named *as = named_as(process);

	if (as && as->word)
		return ts_bytes_of(as->word);
	return word_of_name(process->name);
}

static bool is_device(const struct chrome_process *process, struct ts_bytes label)
{
	enum ts_plane_kind kind = ts_plane_kind_of(process->name);
	bool is_host = process->seen & CHROME_SEEN_HOST || ts_bytes_is(label, "CPU");

	if (kind != TS_PLANE_OTHER || is_host)
		return kind == TS_PLANE_GPU;
	if (label.n > 0 || device_by_name(process).n > 0)
		return true;
	return process->by_category && !(process->seen & CHROME_SEEN_RUNTIME);
}

/* The word for what its device's events are of, whether or not the process is a device as a whole. */
static struct ts_bytes devices_word_of(const struct chrome_process *process, struct ts_bytes label)
{
	if (label.n > 0 && !ts_bytes_is(label, "CPU"))
		return label;
	if (device_by_name(process).n > 0)
		return device_by_name(process);
	return process->by_category ? ts_bytes_of(process->by_category) : TS_LIT("GPU");
}

/* Of a file in which operators and ranges are told: events that are of no category, or of one that no rule knows, and
 * of a process that has nothing else. */
static bool devices_is_unread(const struct chrome_process *process, struct ts_bytes label)
{
	return process->seen == CHROME_SEEN_OPEN && label.n == 0 &&
	       ts_plane_kind_of(process->name) == TS_PLANE_OTHER && !named_as(process);
}

void ts_chrome_find_devices(struct chrome_names *names)
{
	bool by_name = false;
	uint8_t seen = 0;

	TS_ASSERT(names);
	for (size_t i = 0; i < names->nr_processes; i++) {
		by_name |= device_by_name(&names->processes[i]).n > 0;
		seen |= names->processes[i].seen;
	}
	for (size_t i = 0; i < names->nr_processes; i++) {
		struct chrome_process *process = &names->processes[i];
		struct ts_bytes label = word_of_label(process->labels);
		const struct named *as = named_as(process);

		process->word = devices_word_of(process, label);
		process->by_thread = ts_bytes_is(process->pid, "CUDA functions");
		if (is_device(process, label))
			process->shows = CHROME_SHOWS_DEVICE;
		else if (as && (!as->beside || by_name))
			process->shows = as->shows;
		else if (seen & CHROME_SEEN_HOST && devices_is_unread(process, label))
			process->shows = CHROME_SHOWS_UNREAD;
	}
}

bool ts_chrome_is_wait(struct ts_bytes name)
{
	static const char *const waits[] = {
		"event_wait",  "event_record",					/* MTIA */
		"EVENT_WAIT",  "EVENT_RECORD",	"NOTIFY_WAIT", "NOTIFY_RECORD", /* Ascend */
		"Notify_Wait", "Notify_Record",
	};

	TS_ASSERT_HOT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(waits); i++)
		if (ts_bytes_is(name, waits[i]))
			return true;
	return false;
}
