module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>) -> (tensor<6x4xf32> {jax.result_info = "result[0]"}, tensor<4x2x3xf32> {jax.result_info = "result[1]"}, tensor<5x2x3x4xf32> {jax.result_info = "result[2]"}, tensor<2x3xf32> {jax.result_info = "result[3]"}, tensor<2x3x4xf32> {jax.result_info = "result[4]"}, tensor<2x7x4xf32> {jax.result_info = "result[5]"}, tensor<2x0x4xf32> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
    %1 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3] : (tensor<2x3x4xf32>) -> tensor<5x2x3x4xf32>
    %3 = stablehlo.iota dim = 1 : tensor<2x3xf32>
    %4 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<2x3x4xf32>
    %5 = stablehlo.slice %arg0 [0:2, 0:1, 0:4] : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
    %6 = stablehlo.negate %arg0 : tensor<2x3x4xf32>
    %7 = stablehlo.concatenate %arg0, %5, %6, dim = 1 : (tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<2x3x4xf32>) -> tensor<2x7x4xf32>
    %8 = stablehlo.slice %arg0 [0:2, 0:0, 0:4] : (tensor<2x3x4xf32>) -> tensor<2x0x4xf32>
    return %0, %1, %2, %3, %4, %7, %8 : tensor<6x4xf32>, tensor<4x2x3xf32>, tensor<5x2x3x4xf32>, tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<2x7x4xf32>, tensor<2x0x4xf32>
  }
}
