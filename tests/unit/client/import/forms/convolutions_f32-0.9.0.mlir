"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x2x5x4xf32>, tensor<4x2x3x2xf32>) -> (tensor<2x4x5x4xf32>, tensor<2x4x1x7xf32>, tensor<2x3x3x4xf32>, tensor<2x4x3x3xf32>, tensor<4x2x3x2xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x2x5x4xf32>, %arg1: tensor<4x2x3x2xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.convolution"(%arg0, %arg1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>}> : (tensor<2x2x5x4xf32>, tensor<4x2x3x2xf32>) -> tensor<2x4x5x4xf32>
    %2 = "stablehlo.convolution"(%arg0, %arg1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 2>, padding = dense<[[1, 0], [-1, 2]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 2, 1>, window_strides = array<i64: 2, 1>}> : (tensor<2x2x5x4xf32>, tensor<4x2x3x2xf32>) -> tensor<2x4x1x7xf32>
    %3 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x2x5x4xf32>) -> tensor<2x5x4x2xf32>
    %4 = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 2, 3, 1, 0>}> : (tensor<4x2x3x2xf32>) -> tensor<3x2x2x4xf32>
    %5 = "stablehlo.convolution"(%3, %4) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<2x5x4x2xf32>, tensor<3x2x2x4xf32>) -> tensor<2x3x3x4xf32>
    %6 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 4, 1, 3, 2>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<4x2x3x2xf32>) -> tensor<4x1x3x2xf32>
    %7 = "stablehlo.convolution"(%arg0, %6) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 2 : i64}> : (tensor<2x2x5x4xf32>, tensor<4x1x3x2xf32>) -> tensor<2x4x3x3xf32>
    %8 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x3x3xf32>
    %9 = "stablehlo.convolution"(%arg0, %8) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1]>, feature_group_count = 1 : i64}> : (tensor<2x2x5x4xf32>, tensor<2x4x3x3xf32>) -> tensor<4x2x3x2xf32>
    "func.return"(%1, %2, %5, %7, %9) : (tensor<2x4x5x4xf32>, tensor<2x4x1x7xf32>, tensor<2x3x3x4xf32>, tensor<2x4x3x3xf32>, tensor<4x2x3x2xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
