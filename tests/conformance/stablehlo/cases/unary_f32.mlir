module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<2x3xf32> {jax.result_info = "result[1]"}, tensor<2x3xf32> {jax.result_info = "result[2]"}, tensor<2x3xf32> {jax.result_info = "result[3]"}, tensor<2x3xf32> {jax.result_info = "result[4]"}, tensor<2x3xf32> {jax.result_info = "result[5]"}, tensor<2x3xf32> {jax.result_info = "result[6]"}, tensor<2x3xf32> {jax.result_info = "result[7]"}, tensor<2x3xf32> {jax.result_info = "result[8]"}, tensor<2x3xf32> {jax.result_info = "result[9]"}, tensor<2x3xf32> {jax.result_info = "result[10]"}, tensor<2x3xf32> {jax.result_info = "result[11]"}, tensor<2x3xf32> {jax.result_info = "result[12]"}, tensor<2x3xf32> {jax.result_info = "result[13]"}, tensor<2x3xf32> {jax.result_info = "result[14]"}, tensor<2x3xf32> {jax.result_info = "result[15]"}, tensor<2x3xf32> {jax.result_info = "result[16]"}, tensor<2x3xf32> {jax.result_info = "result[17]"}, tensor<2x3xf32> {jax.result_info = "result[18]"}, tensor<2x3xi1> {jax.result_info = "result[19]"}) {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf32>
    %1 = stablehlo.negate %arg0 : tensor<2x3xf32>
    %2 = stablehlo.sign %arg0 : tensor<2x3xf32>
    %3 = stablehlo.ceil %arg0 : tensor<2x3xf32>
    %4 = stablehlo.floor %arg0 : tensor<2x3xf32>
    %5 = stablehlo.round_nearest_afz %arg0 : tensor<2x3xf32>
    %6 = stablehlo.round_nearest_even %arg0 : tensor<2x3xf32>
    %7 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    %8 = stablehlo.exponential_minus_one %arg0 : tensor<2x3xf32>
    %9 = stablehlo.log %arg0 : tensor<2x3xf32>
    %10 = stablehlo.log_plus_one %arg0 : tensor<2x3xf32>
    %11 = stablehlo.tanh %arg0 : tensor<2x3xf32>
    %12 = stablehlo.sine %arg0 : tensor<2x3xf32>
    %13 = stablehlo.cosine %arg0 : tensor<2x3xf32>
    %14 = stablehlo.tan %arg0 : tensor<2x3xf32>
    %15 = stablehlo.sqrt %arg0 : tensor<2x3xf32>
    %16 = stablehlo.rsqrt %arg0 : tensor<2x3xf32>
    %17 = stablehlo.cbrt %arg0 : tensor<2x3xf32>
    %18 = stablehlo.negate %arg0 : tensor<2x3xf32>
    %19 = stablehlo.exponential %18 : tensor<2x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %21 = stablehlo.add %20, %19 : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %23 = stablehlo.divide %22, %21 : tensor<2x3xf32>
    %24 = stablehlo.is_finite %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %23, %24 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi1>
  }
}
