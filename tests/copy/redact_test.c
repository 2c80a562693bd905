/* SPDX-License-Identifier: MIT */
/*
 * Redacting: what becomes of names, and that nothing of whom a profile is from is left in the copy. Names
 * are written out with #1, #2 ... in place of hashes, in the order in which they first appear.
 */
#include "codec/jtok.h"
#include "copy/redact.h"
#include "tests/copy/canary.h"
#include "tests/copy/trimmed.h"
#include "tests/read/mutate.h"
#include "tests/read/xplane_make.h"
#include "tests/test.h"

#define HASH_LETTERS 16

/* Opened once: thousands of inputs use it. */
static struct ts_names shared;

static void open_names(struct ts_names *names)
{
	struct ts_sipkey key = { { 1, 2 } };
	static const char *const keep[] = { "public_*" };

	assert_int_equal(ts_names_open(names, &key, keep, 1, NULL), TS_OK);
}

/* --- names */

static bool is_hash(struct ts_bytes text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!memchr("bdfghjklqvxz", text.p[i], 12))
			return false;
	return text.n == HASH_LETTERS;
}

/* Replaces hashes by their numbers. */
static void put_numbered(struct ts_buf *out, struct ts_bytes text)
{
	struct ts_bytes seen[32];
	size_t nr = 0;

	for (size_t at = 0; at < text.n;) {
		struct ts_bytes hash = ts_bytes_cut(text, at, HASH_LETTERS);
		size_t i = 0;

		if (!is_hash(hash)) {
			ts_buf_putc(out, (char)text.p[at++]);
			continue;
		}
		while (i < nr && !ts_bytes_eq(seen[i], hash))
			i++;
		if (i == nr && nr < TS_NELEM(seen))
			seen[nr++] = hash;
		ts_buf_printf(out, "#%zu", i + 1);
		at += HASH_LETTERS;
	}
	ts_buf_putc(out, '\0');
}

struct name_row {
	const char *name, *copy;
};

static const struct name_row name_rows[] = {
	/* public: opcodes, shapes, categories, planes and lines */
	{ "%fusion.12 = bf16[8,128]{1,0:T(8,128)(2,1)} fusion(%copy-done.3), kind=kLoop",
	  "%fusion.12 = bf16[8,128]{1,0:T(8,128)(2,1)} fusion(%copy-done.3), kind=kLoop" },
	{ "/device:TPU:0 SparseCore 1", "/device:TPU:0 SparseCore 1" },
	{ "Task Environment", "Task Environment" },
	{ "TPU v5 lite", "TPU v5 lite" },
	{ "jit(f)/jit(main)/transpose(jvp())/dot_general",
	  "jit(f)/jit(main)/transpose(jvp())/dot_general" },
	/* somebody's, with what is XLA's, JAX's or a number at its ends */
	{ "jit_secret", "jit_#1" },
	{ "PjitFunction(secret)", "PjitFunction(#1)" },
	{ "jit(secret)/jit(main)/Secret_0/add", "jit(#1)/jit(main)/#2_0/add" },
	{ "secret.3 secret_fusion.3 wrapped_secret", "#1.3 #1_fusion.3 wrapped_#1" },
	{ "%secret.1 = f32[65536]{0} custom-call(f32[65536]{0} %p), custom_call_target=\"secret\"",
	  "%#1.1 = f32[65536]{0} custom-call(f32[65536]{0} %p), custom_call_target=\"#1\"" },
	{ "nn.Module: SecretBlock_12", "nn.Module: #1_12" },
	{ "ProfilerStep#7", "ProfilerStep#7" },
	/* what analyses see through names by stays: a step, a product, a wait */
	{ "jit_secret_train_step", "jit_#1__train_step" },
	{ "secret_gemm_2x", "#1__gemm" },
	{ "ncclDevKernel_AllReduce_Secret", "ncclDevKernel_AllReduce_#1" },
	{ "secretLoadedExecutable::Execute", "#1__LoadedExecutable::Execute" },
	{ "secret_elementwise_kernel", "#1__elementwise_kernel" },
	/* kernels of libraries and of Inductor */
	{ "void at::native::vectorized_elementwise_kernel<4, Secret>(int)",
	  "void at::native::vectorized_elementwise_kernel<4, #1>(int)" },
	{ "aten::_foreach_add_", "aten::_foreach_add_" },
	{ "secret::op", "#1::#2" },
	{ "triton_poi_fused_add_relu_3", "triton_poi_fused_add_relu_3" },
	{ "triton_poi_fused_secret_add_3", "triton_poi_fused_#1_add_3" },
	{ "cudaLaunchKernel", "cudaLaunchKernel" },
	/* paths: their shape and ending stay, their numbers do not */
	{ "/home/secret/project-7/model.py:123", "/#1/#2/#3-#4/#5.py:123" },
	{ "/tmp/secret/4711.json.gz", "/#1/#2/#3.json.gz" },
	{ "secret/model.py(42): forward", "#1/#2.py(42): forward" },
	{ "$compiler.py:387 compile_or_get_cached", "$compiler.py:387 compile_or_get_cached" },
	{ "$secret.py:387 compile_or_get_cached", "$#1.py:387 compile_or_get_cached" },
	/* addresses, mail, numbers that tell */
	{ "10.0.13.7", "#1.#2.#3.#4" },
	{ "bob@secret.example", "#1" },
	{ "mail to bob@example.com", "#1 to #2" },
	{ "customer_402934", "#1" },
	{ "customer 402934881", "#1 #2" },
	{ "order#402934881 customer-402934881", "#1##2 #3-#2" },
	{ "order_4029_3488_81", "#1" },
	{ "grpc://10.77.66.55:8470", "#1://#2.#3.#4.#5:#6" },
	{ "ip-10-77-66-55.ec2.local", "#1-#2-#3-#4-#5.#6.local" },
	{ "1.1.1.1", "#1.#1.#1.#1" },
	{ "layers.0.1.2", "#1.0.1.2" },
	{ "[fe80::4029:3488:1]:80 00:1a:2b:3c", "[#1::#2:#3:#4]:#5 #6:#7:#8:#9" },
	{ "3f2504e0-4489-11d3-9a0c-0305e82c3301", "#1-#2-#3-#4-#5" },
	{ "0xdeadbeefcafe 5ec2e7-1234567890", "#1 #2-#3" },
	{ "run_2026-11-30 on 30 11 2026 at 12:35:00", "run_#1-#2-#3 on #3 #2 #1 at #4:#5:#6" },
	{ "+1 (555) 123-4567", "+1 (#1) #2-#3" },
	{ "1,234,567 (1,234)", "#1,#2,#3 (1,234)" },
	{ "sk402934881 sq40293488 size:10.77.66.55", "#1 #2 size:#3.#4.#5.#6" },
	{ "secret-host:8470 model:12", "#1-host:8470 #2:12" },
	/* and those that tell nothing: shapes, layouts, details, steps, versions of names */
	{ "f32[402934881,128]{1,0:T(16,1024)(2,1)S(1)} pred[]",
	  "f32[402934881,128]{1,0:T(16,1024)(2,1)S(1)} pred[]" },
	{ "regs:32 static_shared:65536 grid:65536,1,1 block:256,1,1",
	  "regs:32 static_shared:65536 grid:65536,1,1 block:256,1,1" },
	{ "all-gather.3, replica_groups={{0,1024},{2,3}}, slice={[0:65536]}",
	  "all-gather.3, replica_groups={{0,1024},{2,3}}, slice={[0:65536]}" },
	{ "ProfilerStep#12345, step 204800", "ProfilerStep#12345, step 204800" },
	{ "execute_context_2(16384)_generation_3(3)", "execute_context_2(16384)_generation_3(3)" },
	{ "execute_16147_context_2(sq6144sk16384sqsq15728640)_generation_3(sq3sk6144)",
	  "execute_16147_context_2(sq6144sk16384sqsq15728640)_generation_3(sq3sk6144)" },
	{ "step[MIXED bs=2 toks=14721 c_sq=5]", "step[MIXED bs=2 toks=14721 c_sq=5]" },
	{ "NVIDIA H100 80GB HBM3 A100-PG509-200", "NVIDIA H100 80GB HBM3 A100-PG509-200" },
	/* a user's that look like a library's */
	{ "cuSecretAttention(float*)", "#1__Attention(float*)" },
	{ "void secret::native::secretKernel<float>(int)",
	  "void #1::native::#2__Kernel<float>(int)" },
	{ "at::native::secret_functor std::secret quantized::secret_op",
	  "at::native::#1 std::#2 quantized::#3" },
	{ "Cijk_secret_MT128x128x32 hipSecret", "Cijk_#1 #2" },
	{ "Cijk_Alik_Bljk_BBS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB0_WG64_16_1",
	  "Cijk_Alik_Bljk_BBS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB0_WG64_16_1" },
	{ "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_"
	  "tensor16x8x16_kernel",
	  "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_"
	  "tensor16x8x16_kernel" },
	{ "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn",
	  "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn" },
	{ "cuMemAlloc_v2 cudaMemcpyAsync_ptsz hipGetDevicePropertiesR0600",
	  "cuMemAlloc_v2 cudaMemcpyAsync_ptsz hipGetDevicePropertiesR0600" },
	{ "layer_12", "layer_12" },
	{ "32GB 0x7f3a 12", "32GB 0x7f3a 12" },
	/* other scripts, bytes that are no text */
	{ "\xc3\xa9quipe", "#1" },
	{ "a\xff\xfe", "#1" },
	/* asked for */
	{ "public_name public_2", "public_name public_2" },
};

TEST(names_are_taken_apart)
{
	struct ts_names names;
	size_t nr_bad = 0;

	open_names(&names);
	for (size_t i = 0; i < TS_NELEM(name_rows); i++) {
		struct ts_buf out = TS_BUF_INIT, numbered = TS_BUF_INIT;

		ts_names_put(&names, ts_bytes_of(name_rows[i].name), &out);
		put_numbered(&numbered, ts_buf_bytes(&out));
		if (strcmp((const char *)numbered.p, name_rows[i].copy) != 0) {
			print_error("%s\n  became %s\n  not    %s\n", name_rows[i].name,
				    (const char *)numbered.p, name_rows[i].copy);
			nr_bad++;
		}
		ts_buf_release(&out);
		ts_buf_release(&numbered);
	}
	assert_int_equal(nr_bad, 0);
	ts_names_release(&names);
}

static void put_name(const struct ts_names *names, const char *name, char out[64])
{
	struct ts_buf buf = TS_BUF_INIT;

	ts_names_put(names, ts_bytes_of(name), &buf);
	snprintf(out, 64, "%.*s", TS_ARG(ts_buf_bytes(&buf)));
	ts_buf_release(&buf);
}

TEST(one_name_is_one_hash_everywhere_and_with_each_key_another)
{
	struct ts_names names, others;
	struct ts_sipkey key = { { 1, 3 } };
	char alone[64], module[64], scope[64], other[64];

	open_names(&names);
	assert_int_equal(ts_names_open(&others, &key, NULL, 0, NULL), TS_OK);
	put_name(&names, "secret", alone);
	put_name(&names, "jit_secret", module);
	put_name(&names, "jit(secret)", scope);
	put_name(&others, "secret", other);
	assert_string_equal(module + strlen("jit_"), alone);
	assert_memory_equal(scope + strlen("jit("), alone, strlen(alone));
	assert_string_not_equal(alone, other);
	ts_names_release(&names);
	ts_names_release(&others);
}

/* --- JSON */

static const struct name_row json_rows[] = {
	{ "\"secret\"", "\"#1\"" },
	{ "12.5", "12.5" },
	{ "-1e-5", "-1e-5" },
	{ "true", "true" },
	{ "NaN", "NaN" },
	{ "secret", "\"#1\"" }, /* no JSON */
	{ "{\"name\": \"secret\", \"dur\": 3, \"secret\": \"secret\"}",
	  "{\"name\": \"#1\", \"dur\": 3, \"#1\": \"#1\"}" },
	{ "{\"args\": {\"Input Dims\": [[8, 128], []], \"Input type\": [\"float\", \"\"]}}",
	  "{\"args\": {\"Input Dims\": [[8, 128], []], \"Input type\": [\"float\", \"\"]}}" },
	{ "{\"name\": \"s\\u0065cret\"}", "{\"name\": \"#1\"}" },
	{ "{\"unknown\": [1, \"secret\", {\"name\": \"add\"}]}",
	  "{\"#1\": [1, \"#2\", {\"name\": \"add\"}]}" },
	{ "{\"correlation\": 17, \"stream\": 7}", "{\"correlation\": 17, \"stream\": 7}" },
};

TEST(json_keeps_its_numbers_and_known_keys)
{
	struct ts_names names;

	open_names(&names);
	for (size_t i = 0; i < TS_NELEM(json_rows); i++) {
		struct ts_buf out = TS_BUF_INIT, numbered = TS_BUF_INIT;

		ts_redact_json(&names, ts_bytes_of(json_rows[i].name), TS_KEY_UNKNOWN, &out);
		put_numbered(&numbered, ts_buf_bytes(&out));
		assert_string_equal((const char *)numbered.p, json_rows[i].copy);
		ts_buf_release(&out);
		ts_buf_release(&numbered);
	}
	ts_names_release(&names);
}

TEST(json_of_any_depth_is_closed)
{
	struct ts_names names;
	struct ts_buf deep = TS_BUF_INIT, out = TS_BUF_INIT;

	open_names(&names);
	ts_buf_pad(&deep, '[', 100000);
	ts_buf_pad(&deep, ']', 100000);
	ts_redact_json(&names, ts_buf_bytes(&deep), TS_KEY_UNKNOWN, &out);
	assert_true(ts_jtok_value_end(out.p, out.p + out.n) == out.p + out.n);
	assert_true(out.n < 1000);
	ts_buf_release(&deep);
	ts_buf_release(&out);
	ts_names_release(&names);
}

/* --- files */

static enum ts_status redact_bytes(bool trace, struct ts_bytes bytes, struct ts_buf *out,
				   struct ts_redact_report *report)
{
	struct ts_copy_out copy = { .file = TS_NEWFILE_INIT };
	enum ts_status st;

	if (shared.words.nr == 0)
		open_names(&shared);
	st = trace ? ts_redact_trace(&shared, bytes, false, &copy, report, NULL)
		   : ts_redact_xplane(&shared, bytes, &copy, report, NULL);
	ts_buf_clear(out);
	ts_buf_put(out, ts_buf_bytes(&copy.text));
	ts_copy_release(&copy);
	return st;
}

static void assert_no_secret(struct ts_bytes copy)
{
	for (size_t i = 0; i + 6 <= copy.n; i++)
		for (size_t j = 0; j <= 6; j++) {
			if (j == 6)
				fail_msg("a secret at byte %zu: %.*s", i, 40, copy.p + i);
			if ((copy.p[i + j] | 0x20) != "secret"[j])
				break;
		}
}

/* bf16[8,128]{1,0}, with what no XLA knows. */
static void put_shape(struct ts_buf *out)
{
	size_t shape = ts_pbw_begin(out, 3), layout;

	ts_pbw_i64(out, 2, 16);
	ts_pbw_bytes(out, 3, TS_LIT("\x08\x80\x01"));
	layout = ts_pbw_begin(out, 5);
	ts_pbw_bytes(out, 1, TS_LIT("\x01\x00"));
	ts_pbw_text(out, 99, TS_LIT("secret of a newer XLA"));
	ts_pbw_end(out, layout);
	ts_pbw_text(out, 99, TS_LIT("secret of a newer XLA"));
	ts_pbw_end(out, shape);
}

/* A module with the word wherever a module can have one, on the wire. */
static void put_hlo(struct ts_buf *out)
{
	size_t module = ts_pbw_begin(out, 1), comp, instr, metadata, below;

	ts_pbw_text(out, 1, TS_LIT("jit_secret"));
	ts_pbw_text(out, 2, TS_LIT("secret_main"));
	ts_pbw_i64(out, 5, 7);
	comp = ts_pbw_begin(out, 3);
	ts_pbw_text(out, 1, TS_LIT("secret_comp"));
	instr = ts_pbw_begin(out, 2);
	ts_pbw_text(out, 1, TS_LIT("secret.1"));
	ts_pbw_text(out, 2, TS_LIT("custom-call"));
	put_shape(out);
	metadata = ts_pbw_begin(out, 7);
	ts_pbw_text(out, 2, TS_LIT("jit(secret)/Secret_0/add"));
	ts_pbw_text(out, 3, TS_LIT("/home/secret/secret.py"));
	ts_pbw_i64(out, 4, 123);
	ts_pbw_end(out, metadata);
	ts_pbw_text(out, 8, TS_LIT("secret constant"));
	ts_pbw_text(out, 28, TS_LIT("secret_target"));
	ts_pbw_text(out, 43,
		    TS_LIT("{\"custom_call_config\": {\"body\": \"c2VjcmV0 secret\", "
			   "\"cost_estimate\": {\"flops\": \"1000\"}}, \"secret\": 1}"));
	below = ts_pbw_begin(out, 68);
	metadata = ts_pbw_begin(out, 1);
	ts_pbw_text(out, 1, TS_LIT("secret_key"));
	ts_pbw_text(out, 2, TS_LIT("secret value"));
	ts_pbw_end(out, metadata);
	ts_pbw_end(out, below);
	ts_pbw_text(out, 4711, TS_LIT("secret of a newer XLA"));
	ts_pbw_end(out, instr);
	ts_pbw_end(out, comp);
	below = ts_pbw_begin(out, 17);
	ts_pbw_text(out, 1, TS_LIT("/home/secret/secret.py"));
	ts_pbw_text(out, 2, TS_LIT("secret_function"));
	ts_pbw_end(out, below);
	ts_pbw_text(out, 4711, TS_LIT("secret of a newer XLA"));
	ts_pbw_end(out, module);
}

static void put_plane(struct ts_buf *out, const struct ts_buf *hlo)
{
	struct xp xp = xp_plane(out, "/device:CUSTOM:secret");
	struct xp_meta meta;
	size_t event;

	xp_stat_text(&xp, XP_PLANE_STATS, "device_type_string", "TPU v5 lite");
	xp_stat_text(&xp, XP_PLANE_STATS, "user", "secret");
	xp_stat_text(&xp, XP_PLANE_STATS, "jax_version", "secret 402934881");
	xp_stat_uint(&xp, XP_PLANE_STATS, "customer", CANARY_NUMBER);
	xp_stat_bytes(&xp, XP_PLANE_STATS, "profile_options", TS_LIT("\x08\x01\x12\x06secret"));
	xp_stat_bytes(&xp, XP_PLANE_STATS, "bytes of somebody", TS_LIT("secret"));
	xp_line(&xp, "secret thread/123", 5);
	event = xp_begin_event(&xp, 1, 10, 20);
	xp_stat_text(&xp, XP_EVENT_STATS, "secret key", "secret");
	xp_stat_ref(&xp, XP_EVENT_STATS, "tf_op", "jit(secret)/add:");
	xp_stat_ref(&xp, XP_EVENT_STATS, "another", "secret 4711");
	xp_stat_uint(&xp, XP_EVENT_STATS, "flops", 4711);
	xp_stat_uint(&xp, XP_EVENT_STATS, "customer", CANARY_NUMBER);
	ts_pbw_text(out, 99, TS_LIT("secret of a newer profiler"));
	ts_pbw_end(out, event);
	xp_event(&xp, 1, 30, 40);
	ts_pbw_text(out, 99, TS_LIT("secret of a newer profiler"));
	xp_line_end(&xp);
	meta = xp_meta(&xp, 1, "%secret.1 = f32[8]{0} add()", "secret.1");
	ts_pbw_bytes(out, 3, TS_LIT("secret metadata"));
	xp_stat_text(&xp, XP_META_STATS, "source", "/home/secret/secret.py:12");
	xp_stat_bytes(&xp, XP_META_STATS, "hlo_proto", ts_buf_bytes(hlo));
	xp_meta_end(&xp, meta);
	xp_plane_end(&xp);
}

static void given_xplane(struct ts_buf *out)
{
	struct ts_buf hlo = TS_BUF_INIT;

	put_hlo(&hlo);
	put_plane(out, &hlo);
	ts_pbw_text(out, XSPACE_ERRORS, TS_LIT("secret: 12 events dropped"));
	ts_pbw_text(out, XSPACE_HOSTNAMES, TS_LIT("secret-7.example"));
	ts_pbw_text(out, 99, TS_LIT("secret of a newer profiler"));
	ts_buf_release(&hlo);
}

TEST(nothing_of_anybody_is_left_in_an_xplane)
{
	struct ts_buf run = TS_BUF_INIT, out = TS_BUF_INIT;
	struct ts_redact_report report;
	struct ts_bytes copy;

	given_xplane(&run);
	assert_int_equal(redact_bytes(false, ts_buf_bytes(&run), &out, &report), TS_OK);
	copy = ts_buf_bytes(&out);
	assert_string_equal(report.damage.text, "");
	assert_no_secret(copy);
	assert_true(is_sound_xspace(copy));
	assert_false(canary_number_is_here(copy));
	assert_true(ts_bytes_has(copy, "\x08\x80\x01"));
	assert_true(ts_bytes_has(copy, "TPU v5 lite"));
	assert_true(ts_bytes_has(copy, "device_type_string"));
	assert_true(ts_bytes_has(copy, "12 events dropped"));
	assert_true(ts_bytes_has(copy, " = f32[8]{0} add()"));
	assert_true(ts_bytes_has(copy, "custom-call"));
	assert_true(ts_bytes_has(copy, "\"flops\": \"1000\""));
	assert_true(ts_bytes_has(copy, ".py:12"));
	assert_false(ts_bytes_has(copy, "bytes of somebody"));
	ts_buf_release(&run);
	ts_buf_release(&out);
}

static const char trace[] =
	"{\"schemaVersion\": 1, \"username\": \"secret\", \"secret_key\": [\"secret\"], "
	"\"cuda_driver_version\": \"secret\", "
	"\"displayTimeUnit\": \"secret\",\n"
	"\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", \"numSms\": "
	"132, \"secret\": \"secret\", \"warpSize\": \"secret\"}],\n"
	"\"traceEvents\": [\n"
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"secret::op\", \"pid\": 1, \"tid\": 2, "
	"\"ts\": "
	"10.5, \"dur\": 3, \"args\": {\"Call stack\": \"secret.py(3): secret\", \"secret\": "
	"{\"secret\": "
	"\"secret\"}, \"correlation\": 17}},\n"
	"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": "
	"\"secret.exe\"}},\n"
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", "
	"\"pid\": 0, "
	"\"tid\": 7, \"ts\": 12, \"dur\": 1},\n"
	"{\"ph\": \"i\", \"name\": \"\\u0053\\u0065cret\", \"pid\": \"secret\", \"tid\": "
	"\"secret\", \"ts\": "
	"12, \"s\": \"g\"}\n"
	"], \"traceName\": \"/home/secret/trace.json\"}";

TEST(nothing_of_anybody_is_left_in_a_trace)
{
	struct ts_bytes bytes = { (const uint8_t *)trace, sizeof(trace) - 1 }, copy;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_redact_report report;

	assert_int_equal(redact_bytes(true, bytes, &out, &report), TS_OK);
	copy = ts_buf_bytes(&out);
	assert_string_equal(report.damage.text, "");
	assert_no_secret(copy);
	assert_true(ts_bytes_has(copy, "\"numSms\": 132"));
	assert_true(ts_bytes_has(copy, "NVIDIA H100 80GB HBM3"));
	assert_true(ts_bytes_has(copy, "Memcpy HtoD (Pinned -> Device)"));
	assert_true(ts_bytes_has(copy, "\"ts\": 10.5, \"dur\": 3"));
	assert_true(ts_bytes_has(copy, "\"correlation\": 17"));
	assert_true(ts_bytes_has(copy, ".py(3): "));
	ts_buf_release(&out);
}

static void take_damaged(bool is_trace, struct ts_bytes bytes)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_redact_report report;
	struct ts_bytes copy;

	assert_int_equal(redact_bytes(is_trace, bytes, &out, &report), TS_OK);
	copy = ts_buf_bytes(&out);
	if (!is_trace) {
		assert_true(is_sound_xspace(copy));
	} else if (copy.n > 0) {
		const uint8_t *end = ts_jtok_value_end(copy.p, copy.p + copy.n);

		assert_true(end && ts_jtok_space(end, copy.p + copy.n) == copy.p + copy.n);
	}
	ts_buf_release(&out);
}

TEST(damage_gives_sound_copies)
{
	struct ts_bytes text = { (const uint8_t *)trace, sizeof(trace) - 1 };
	struct ts_buf run = TS_BUF_INIT, bad = TS_BUF_INIT;
	struct rng rng = { 29 };

	given_xplane(&run);
	for (size_t n = 0; n <= run.n; n++)
		take_damaged(false, ts_bytes_cut(ts_buf_bytes(&run), 0, n));
	for (size_t n = 0; n <= text.n; n++)
		take_damaged(true, ts_bytes_cut(text, 0, n));
	for (int i = 0; i < 3000; i++) {
		mutate(&rng, ts_buf_bytes(&run), &bad);
		take_damaged(false, ts_buf_bytes(&bad));
		mutate(&rng, text, &bad);
		take_damaged(true, ts_buf_bytes(&bad));
	}
	ts_buf_release(&run);
	ts_buf_release(&bad);
}

/* A trace that was cut has no secret either. */
TEST(what_was_cut_is_hashed_too)
{
	struct ts_bytes text = { (const uint8_t *)trace, sizeof(trace) - 1 };
	struct ts_buf run = TS_BUF_INIT, out = TS_BUF_INIT;
	struct ts_redact_report report;

	given_xplane(&run);
	for (size_t n = 0; n <= text.n; n++) {
		assert_int_equal(redact_bytes(true, ts_bytes_cut(text, 0, n), &out, &report),
				 TS_OK);
		assert_no_secret(ts_buf_bytes(&out));
	}
	for (size_t n = 0; n <= run.n; n++) {
		assert_int_equal(
			redact_bytes(false, ts_bytes_cut(ts_buf_bytes(&run), 0, n), &out, &report),
			TS_OK);
		assert_no_secret(ts_buf_bytes(&out));
	}
	ts_buf_release(&run);
	ts_buf_release(&out);
}

/* --- canaries */

#define NR_PLANTINGS 400

static void find_canaries(bool is_trace, struct ts_bytes bytes)
{
	struct ts_buf planted = TS_BUF_INIT, out = TS_BUF_INIT;
	struct ts_redact_report report;

	for (unsigned i = 1; i <= NR_PLANTINGS; i++) {
		struct rng rng = rng_of(i);
		size_t at;

		ts_buf_clear(&planted);
		if (is_trace)
			canary_plant_json(bytes, &rng, 1 + i % 4, &planted);
		else
			canary_plant_wire(bytes, &rng, 1 + i % 4, &planted, 0);
		assert_true(canary_find(ts_buf_bytes(&planted)) < planted.n);
		assert_int_equal(redact_bytes(is_trace, ts_buf_bytes(&planted), &out, &report),
				 TS_OK);
		assert_true(out.n > 0);
		at = canary_find(ts_buf_bytes(&out));
		if (at < out.n)
			fail_msg("planting %u: %.*s", i, 120, out.p + (at > 60 ? at - 60 : 0));
		assert_false(!is_trace && canary_number_is_here(ts_buf_bytes(&out)));
	}
	ts_buf_release(&planted);
	ts_buf_release(&out);
}

TEST(no_canary_in_a_text_a_number_or_an_unknown_field_is_left)
{
	struct ts_bytes text = { (const uint8_t *)trace, sizeof(trace) - 1 };
	struct ts_buf run = TS_BUF_INIT;

	given_xplane(&run);
	find_canaries(false, ts_buf_bytes(&run));
	find_canaries(true, text);
	ts_buf_release(&run);
}
