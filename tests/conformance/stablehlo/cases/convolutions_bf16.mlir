module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x2x5x4xbf16>, %arg1: tensor<4x2x3x2xbf16>) -> (tensor<2x4x5x4xbf16> {jax.result_info = "result[0]"}, tensor<2x4x1x7xbf16> {jax.result_info = "result[1]"}, tensor<2x3x3x4xbf16> {jax.result_info = "result[2]"}, tensor<2x4x3x3xbf16> {jax.result_info = "result[3]"}, tensor<4x2x3x2xbf16> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2x5x4xbf16>, tensor<4x2x3x2xbf16>) -> tensor<2x4x5x4xbf16>
    %1 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 1], pad = [[1, 0], [-1, 2]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2x5x4xbf16>, tensor<4x2x3x2xbf16>) -> tensor<2x4x1x7xbf16>
    %2 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x2x5x4xbf16>) -> tensor<2x5x4x2xbf16>
    %3 = stablehlo.transpose %arg1, dims = [2, 3, 1, 0] : (tensor<4x2x3x2xbf16>) -> tensor<3x2x2x4xbf16>
    %4 = stablehlo.convolution(%2, %3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x2xbf16>, tensor<3x2x2x4xbf16>) -> tensor<2x3x3x4xbf16>
    %5 = stablehlo.slice %arg1 [0:4, 0:1, 0:3, 0:2] : (tensor<4x2x3x2xbf16>) -> tensor<4x1x3x2xbf16>
    %6 = stablehlo.convolution(%arg0, %5) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2x5x4xbf16>, tensor<4x1x3x2xbf16>) -> tensor<2x4x3x3xbf16>
    %7 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2x5x4xbf16>, tensor<4x2x3x2xbf16>) -> tensor<2x4x3x3xbf16>
    %8 = stablehlo.convert %7 : (tensor<2x4x3x3xbf16>) -> tensor<2x4x3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x4x3x3xf32>, tensor<f32>) -> tensor<f32>
    %10 = stablehlo.convert %9 : (tensor<f32>) -> tensor<bf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x3x3xf32>
    %12 = stablehlo.convert %11 : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xbf16>
    %13 = stablehlo.convolution(%arg0, %12) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2x5x4xbf16>, tensor<2x4x3x3xbf16>) -> tensor<4x2x3x2xbf16>
    return %0, %1, %4, %6, %13 : tensor<2x4x5x4xbf16>, tensor<2x4x1x7xbf16>, tensor<2x3x3x4xbf16>, tensor<2x4x3x3xbf16>, tensor<4x2x3x2xbf16>
  }
}
