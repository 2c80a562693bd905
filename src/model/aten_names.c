/* SPDX-License-Identifier: MIT */
/*
 * Names of ATen and prims ops that have an underscore inside, in the order of bytes: in a kernel's
 * name ops are joined by underscores, so these have to be known: else each would be taken for two
 * ops. From PyTorch 2.15's registry of ops (torch._C._dispatch_get_all_op_names); left out are ops
 * that change their argument, and those of layouts that Inductor does not take; and the custom ops
 * of vLLM that its kernels are named by. Of an op that is not here each word counts as one.
 */
#include "model/torch_event.h"

#include "base/check.h"

/* clang-format off */
static const char *const names[] = {
	"_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d",
	"_adaptive_avg_pool3d_backward", "_add_relu", "_addmm_activation",
	"_amp_foreach_non_finite_check_and_unscale", "_amp_update_scale", "_assert_async",
	"_autocast_to_full_precision", "_autocast_to_reduced_precision", "_batch_norm_no_update",
	"_batch_norm_with_update", "_batch_norm_with_update_functional", "_cdist_backward",
	"_cdist_forward", "_chunk_cat", "_compute_linear_combination", "_conj",
	"_conv_depthwise2d", "_convert_indices_from_coo_to_csr",
	"_convert_indices_from_csr_to_coo", "_convert_weight_to_int4pack", "_convolution",
	"_convolution_double_backward", "_convolution_mode", "_ctc_loss", "_ctc_loss_backward",
	"_cummin_helper", "_dim_arange", "_dirichlet_grad", "_efficient_attention_backward",
	"_efficient_attention_forward", "_efficientzerotensor", "_embedding_bag",
	"_embedding_bag_backward", "_embedding_bag_forward_only",
	"_embedding_bag_per_sample_weights_backward", "_euclidean_dist", "_fft_c2c", "_fft_c2r",
	"_fft_r2c", "_flash_attention_backward", "_flash_attention_forward",
	"_flash_attention_forward_no_dropout_inplace", "_foreach_abs", "_foreach_acos",
	"_foreach_add", "_foreach_addcdiv", "_foreach_addcmul", "_foreach_asin", "_foreach_atan",
	"_foreach_ceil", "_foreach_clamp_max", "_foreach_clamp_min", "_foreach_clone",
	"_foreach_copy", "_foreach_cos", "_foreach_cosh", "_foreach_div", "_foreach_erf",
	"_foreach_erfc", "_foreach_exp", "_foreach_expm1", "_foreach_floor", "_foreach_frac",
	"_foreach_lerp", "_foreach_lgamma", "_foreach_log", "_foreach_log10", "_foreach_log1p",
	"_foreach_log2", "_foreach_max", "_foreach_maximum", "_foreach_minimum", "_foreach_mm",
	"_foreach_mul", "_foreach_neg", "_foreach_norm", "_foreach_pow", "_foreach_powsum",
	"_foreach_reciprocal", "_foreach_round", "_foreach_rsqrt", "_foreach_sigmoid",
	"_foreach_sign", "_foreach_sin", "_foreach_sinh", "_foreach_sqrt", "_foreach_sub",
	"_foreach_tan", "_foreach_tanh", "_foreach_trunc", "_foreach_zero", "_fused_adam",
	"_fused_adamw", "_fused_dropout", "_fused_moving_avg_obs_fq_helper", "_fused_rms_norm",
	"_fused_rms_norm_backward", "_fused_sdp_choice", "_fused_sgd", "_grouped_mm",
	"_index_put_impl", "_int_mm", "_log_softmax", "_log_softmax_backward_data",
	"_logcumsumexp", "_lu_with_info", "_masked_scale", "_masked_softmax",
	"_masked_softmax_backward", "_native_batch_norm_legit",
	"_native_batch_norm_legit_no_training", "_native_multi_head_attention",
	"_new_zeros_with_same_feature_meta", "_pad_circular", "_pad_enum", "_pdist_backward",
	"_pdist_forward", "_prelu_kernel", "_prelu_kernel_backward", "_safe_softmax",
	"_sample_dirichlet", "_saturate_weight_to_fp16", "_scaled_addmm",
	"_scaled_dot_product_attention_math", "_scaled_dot_product_efficient_attention",
	"_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_flash_attention",
	"_scaled_dot_product_flash_attention_backward",
	"_scaled_dot_product_fused_attention_overrideable",
	"_scaled_dot_product_fused_attention_overrideable_backward", "_scaled_grouped_mm",
	"_scaled_mm", "_scaled_mm_v2", "_segment_reduce_backward", "_sink_tokens", "_softmax",
	"_softmax_backward_data", "_spdiags", "_stack", "_standard_gamma", "_standard_gamma_grad",
	"_to_copy", "_to_cpu", "_transform_bias_rescale_qkv", "_transformer_encoder_layer_fwd",
	"_unique", "_unique2", "_unsafe_index", "_unsafe_index_put", "_unsafe_masked_index",
	"_unsafe_masked_index_put_accumulate", "_unsafe_view", "_upsample_bicubic2d_aa",
	"_upsample_bicubic2d_aa_backward", "_upsample_bilinear2d_aa",
	"_upsample_bilinear2d_aa_backward", "_upsample_lanczos2d_aa",
	"_upsample_lanczos2d_aa_backward", "_upsample_nearest_exact1d",
	"_upsample_nearest_exact1d_backward", "_upsample_nearest_exact2d",
	"_upsample_nearest_exact2d_backward", "_upsample_nearest_exact3d",
	"_upsample_nearest_exact3d_backward", "_weight_int4pack_mm", "_weight_int8pack_mm",
	"_weight_norm", "_weight_norm_differentiable_backward", "_weight_norm_interface",
	"_weight_norm_interface_backward", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
	"adaptive_avg_pool3d", "adaptive_avg_pool3d_backward", "adaptive_max_pool1d",
	"adaptive_max_pool2d", "adaptive_max_pool2d_backward", "adaptive_max_pool3d",
	"adaptive_max_pool3d_backward", "affine_grid_generator", "affine_grid_generator_backward",
	"all_gather_into_tensor", "all_reduce", "all_to_all_single", "alpha_dropout", "as_strided",
	"as_strided_scatter", "atleast_1d", "atleast_2d", "atleast_3d", "avg_pool1d", "avg_pool2d",
	"avg_pool2d_backward", "avg_pool3d", "avg_pool3d_backward", "bartlett_window",
	"batch_norm", "batch_norm_backward", "batch_norm_backward_elemt",
	"batch_norm_backward_reduce", "batch_norm_elemt", "batch_norm_gather_stats",
	"batch_norm_gather_stats_with_counts", "batch_norm_stats", "batch_norm_update_stats",
	"bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1",
	"binary_cross_entropy", "binary_cross_entropy_backward",
	"binary_cross_entropy_with_logits", "bitwise_and", "bitwise_left_shift", "bitwise_not",
	"bitwise_or", "bitwise_right_shift", "bitwise_xor", "blackman_window", "block_diag",
	"broadcast_in_dim", "broadcast_tensors", "broadcast_to", "cartesian_prod", "chain_matmul",
	"channel_shuffle", "cholesky_inverse", "cholesky_solve", "clamp_max", "clamp_min",
	"collapse_view", "column_stack", "conj_physical", "constant_pad_nd", "conv_depthwise3d",
	"conv_tbc", "conv_tbc_backward", "conv_transpose1d", "conv_transpose2d",
	"conv_transpose3d", "convert_element_type", "convolution_backward",
	"convolution_overrideable", "copy_strided", "copy_to", "cosine_embedding_loss",
	"cosine_similarity", "count_nonzero", "cross_entropy_loss", "ctc_loss", "cudnn_batch_norm",
	"cudnn_batch_norm_backward", "cummaxmin_backward", "cumprod_backward",
	"cumulative_trapezoid", "dense_dim", "dequantize_per_channel", "dequantize_per_tensor",
	"device_put", "diag_embed", "diagonal_backward", "diagonal_scatter", "elu_backward",
	"embedding_backward", "embedding_bag", "embedding_renorm", "empty_like", "empty_permuted",
	"empty_strided", "empty_strided_cuda", "erf_inv", "expand_as", "feature_alpha_dropout",
	"feature_dropout", "fft_c2c", "fft_c2r", "fft_fft", "fft_fft2", "fft_fftfreq", "fft_fftn",
	"fft_fftshift", "fft_hfft", "fft_hfft2", "fft_hfftn", "fft_ifft", "fft_ifft2", "fft_ifftn",
	"fft_ifftshift", "fft_ihfft", "fft_ihfft2", "fft_ihfftn", "fft_irfft", "fft_irfft2",
	"fft_irfftn", "fft_r2c", "fft_rfft", "fft_rfft2", "fft_rfftfreq", "fft_rfftn",
	"flex_attention", "flex_attention_backward", "float_power", "floor_divide",
	"fractional_max_pool2d", "fractional_max_pool2d_backward", "fractional_max_pool3d",
	"fractional_max_pool3d_backward", "frobenius_norm", "full_like", "fused_adam",
	"gather_backward", "gelu_backward", "get_device", "glu_backward", "greater_equal",
	"grid_sampler", "grid_sampler_2d", "grid_sampler_2d_backward", "grid_sampler_3d",
	"grid_sampler_3d_backward", "group_norm", "gru_cell", "hamming_window", "hann_window",
	"hardshrink_backward", "hardsigmoid_backward", "hardswish_backward", "hardtanh_backward",
	"hash_tensor", "hinge_embedding_loss", "histogramdd_bin_edges", "huber_loss",
	"huber_loss_backward", "index_add", "index_fill", "index_put", "index_reduce",
	"index_select", "index_select_backward", "inductor_force_stride_order",
	"inductor_lookup_seed", "inductor_randint", "inductor_random", "inductor_seeds",
	"infinitely_differentiable_gelu_backward", "instance_norm", "int_repr", "kaiser_window",
	"kl_div", "l1_loss", "layer_norm", "leaky_relu", "leaky_relu_backward", "less_equal",
	"lift_fresh", "linalg__powsum", "linalg_cond", "linalg_cross", "linalg_det",
	"linalg_diagonal", "linalg_eig", "linalg_eigh", "linalg_eigvals", "linalg_eigvalsh",
	"linalg_householder_product", "linalg_inv", "linalg_inv_ex", "linalg_ldl_factor",
	"linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_lstsq", "linalg_lu",
	"linalg_lu_factor", "linalg_lu_factor_ex", "linalg_lu_solve", "linalg_matmul",
	"linalg_matrix_exp", "linalg_matrix_norm", "linalg_matrix_power", "linalg_matrix_rank",
	"linalg_matrix_sqrth", "linalg_multi_dot", "linalg_norm", "linalg_pinv", "linalg_polar",
	"linalg_qr", "linalg_slogdet", "linalg_solve", "linalg_solve_ex",
	"linalg_solve_triangular", "linalg_svd", "linalg_svdvals", "linalg_tensorinv",
	"linalg_tensorsolve", "linalg_vander", "linalg_vecdot", "linalg_vector_norm",
	"linear_backward", "log_normal", "log_sigmoid", "log_sigmoid_backward",
	"log_sigmoid_forward", "log_softmax", "logical_and", "logical_not", "logical_or",
	"logical_xor", "logit_backward", "low_memory_max_pool_with_offsets", "lstm_cell",
	"lu_solve", "lu_unpack", "margin_ranking_loss", "masked_fill", "masked_scatter",
	"masked_scatter_backward", "masked_select", "masked_select_backward", "matmul_backward",
	"matrix_H", "matrix_exp", "matrix_exp_backward", "matrix_power", "max_pool1d",
	"max_pool2d", "max_pool2d_backward", "max_pool2d_with_indices",
	"max_pool2d_with_indices_backward", "max_pool3d", "max_pool3d_with_indices",
	"max_pool3d_with_indices_backward", "max_unpool2d", "max_unpool3d", "maximum_value",
	"minimum_value", "miopen_batch_norm", "mish_backward", "moe_forward", "moe_forward_shared",
	"mse_loss", "mse_loss_backward",
	"multi_margin_loss", "multi_margin_loss_backward", "multilabel_margin_loss",
	"multilabel_margin_loss_backward", "multilabel_margin_loss_forward", "nan_to_num",
	"native_batch_norm", "native_batch_norm_backward", "native_dropout",
	"native_dropout_backward", "native_group_norm", "native_group_norm_backward",
	"native_layer_norm", "native_layer_norm_backward", "native_norm", "new_empty",
	"new_empty_strided", "new_full", "new_ones", "new_zeros", "nll_loss", "nll_loss2d",
	"nll_loss2d_backward", "nll_loss2d_forward", "nll_loss_backward", "nll_loss_forward",
	"nll_loss_nd", "nonzero_numpy", "nonzero_static", "norm_except_dim", "not_equal",
	"nuclear_norm", "numpy_T", "one_hot", "ones_like", "output_nr", "pad_sequence",
	"pairwise_distance", "pin_memory", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss",
	"prepare_softmax_online", "promote_types", "quantize_per_channel", "quantize_per_tensor",
	"rand_like", "randint_like", "randn_like", "reduce_scatter_tensor", "reflection_pad1d",
	"reflection_pad1d_backward", "reflection_pad2d", "reflection_pad2d_backward",
	"reflection_pad3d", "reflection_pad3d_backward", "repeat_interleave", "replication_pad1d",
	"replication_pad1d_backward", "replication_pad2d", "replication_pad2d_backward",
	"replication_pad3d", "replication_pad3d_backward", "reshape_as", "resize_as",
	"resolve_neg", "rms_norm", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell",
	"row_stack", "rrelu_with_noise", "rrelu_with_noise_backward", "scalar_tensor",
	"scaled_dot_product_attention", "scatter_add", "scatter_reduce", "segment_reduce",
	"select_backward", "select_scatter", "shift_left", "shift_right_arithmetic",
	"sigmoid_backward", "silu_backward", "slice_backward", "slice_copy", "slice_inverse",
	"slice_scatter", "smooth_l1_loss", "smooth_l1_loss_backward", "soft_margin_loss",
	"soft_margin_loss_backward", "softplus_backward", "softshrink_backward",
	"spherical_bessel_j0", "split_copy", "split_dim", "split_with_sizes", "std_mean",
	"sum_to_size", "take_along_dim", "tanh_backward", "tensor_split", "threshold_backward",
	"to_padded_tensor", "trace_backward", "triangular_solve", "triplet_margin_loss",
	"triton_kernel_wrapper_functional", "triton_kernel_wrapper_mutation", "true_divide",
	"type_as", "unfold_backward", "unified_attention",
	"unified_attention_with_output", "unique_consecutive", "unique_dim", "unique_dim_consecutive",
	"unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "upsample_bicubic2d",
	"upsample_bicubic2d_backward", "upsample_bilinear2d", "upsample_bilinear2d_backward",
	"upsample_linear1d", "upsample_linear1d_backward", "upsample_nearest1d",
	"upsample_nearest1d_backward", "upsample_nearest2d", "upsample_nearest2d_backward",
	"upsample_nearest3d", "upsample_nearest3d_backward", "value_selecting_reduction_backward",
	"var_mean", "view_as", "view_as_complex", "view_as_real", "view_of", "view_of_dtype",
	"wait_tensor", "xor_sum", "zeros_like",
};
/* clang-format on */

/* Up to the next underscore from FROM on, or to the end. */
static size_t aten_names_word_end(struct ts_bytes name, size_t from)
{
	while (from < name.n && name.p[from] != '_')
		from++;
	return from;
}

static bool is_name(struct ts_bytes word)
{
	size_t low = 0, high = TS_NELEM(names);

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = ts_bytes_cmp(ts_bytes_of(names[mid]), word);

		if (order == 0)
			return true;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

size_t ts_aten_prefix(struct ts_bytes name)
{
	size_t longest = 0, end = 0;

	TS_ASSERT_HOT(name.p || name.n == 0);
	for (size_t words = 0; words < 10 && end < name.n; words++) {
		end = aten_names_word_end(name,
					  end + (end > 0 || (name.n > 0 && name.p[0] == '_')));
		if (is_name(ts_bytes_cut(name, 0, end)))
			longest = end;
	}
	return longest;
}
