module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xbf16>, %arg1: tensor<2x4x3xbf16>, %arg2: tensor<4xbf16>) -> (tensor<2x3x3xbf16> {jax.result_info = "result[0]"}, tensor<2x3x3xbf16> {jax.result_info = "result[1]"}, tensor<4x4xbf16> {jax.result_info = "result[2]"}, tensor<bf16> {jax.result_info = "result[3]"}, tensor<3x2xbf16> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xbf16>, tensor<2x4x3xbf16>) -> tensor<2x3x3xbf16>
    %1 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xbf16>, tensor<2x3x4xbf16>) -> tensor<2x3x3xbf16>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<4xbf16>) -> tensor<4x1xbf16>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<4xbf16>) -> tensor<1x4xbf16>
    %4 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x1xbf16>) -> tensor<4x4xbf16>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x4xbf16>) -> tensor<4x4xbf16>
    %6 = stablehlo.multiply %4, %5 : tensor<4x4xbf16>
    %7 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<bf16>
    %8 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4xbf16>, tensor<2x3x4xbf16>) -> tensor<2x3xbf16>
    %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
    return %0, %1, %6, %7, %9 : tensor<2x3x3xbf16>, tensor<2x3x3xbf16>, tensor<4x4xbf16>, tensor<bf16>, tensor<3x2xbf16>
  }
}
