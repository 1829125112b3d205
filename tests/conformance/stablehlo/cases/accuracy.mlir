module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}, tensor<4xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<4xf32>
    %2:2 = stablehlo.optimization_barrier %arg0, %1 : tensor<4xf32>, tensor<4xf32>
    %3 = stablehlo.reduce_precision %arg0, format = e5m7 : tensor<4xf32>
    %4 = stablehlo.exponential %arg0 : tensor<4xf32>
    %5 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<rtol = 1.000000e-04, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    %6 = stablehlo.multiply %2#0, %2#1 : tensor<4xf32>
    return %3, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
