module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> (tensor<3xf32> {jax.result_info = "result[0]['new']"}, tensor<3xf32> {jax.result_info = "result[0]['old']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    return %0, %arg1, %cst : tensor<3xf32>, tensor<3xf32>, tensor<f32>
  }
}
