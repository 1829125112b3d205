module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x0xf32>, %arg1: tensor<f32>) -> (tensor<2x0xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}, tensor<f32> {jax.result_info = "result[2]"}, tensor<0xf32> {jax.result_info = "result[3]"}, tensor<2x2xf32> {jax.result_info = "result[4]"}, tensor<1x1xf32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x0xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x0xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x0xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x0xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %4 = stablehlo.maximum %cst_1, %3 : tensor<f32>
    %5 = stablehlo.reshape %arg0 : (tensor<2x0xf32>) -> tensor<0xf32>
    %6 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x0xf32>) -> tensor<0x2xf32>
    %7 = stablehlo.dot_general %arg0, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x0xf32>, tensor<0x2xf32>) -> tensor<2x2xf32>
    %8 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    return %1, %2, %4, %5, %7, %8 : tensor<2x0xf32>, tensor<f32>, tensor<f32>, tensor<0xf32>, tensor<2x2xf32>, tensor<1x1xf32>
  }
}
