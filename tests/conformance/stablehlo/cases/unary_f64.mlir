module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result[0]"}, tensor<2x3xf64> {jax.result_info = "result[1]"}, tensor<2x3xf64> {jax.result_info = "result[2]"}, tensor<2x3xf64> {jax.result_info = "result[3]"}, tensor<2x3xf64> {jax.result_info = "result[4]"}, tensor<2x3xf64> {jax.result_info = "result[5]"}, tensor<2x3xf64> {jax.result_info = "result[6]"}, tensor<2x3xf64> {jax.result_info = "result[7]"}, tensor<2x3xf64> {jax.result_info = "result[8]"}, tensor<2x3xf64> {jax.result_info = "result[9]"}, tensor<2x3xf64> {jax.result_info = "result[10]"}, tensor<2x3xf64> {jax.result_info = "result[11]"}, tensor<2x3xf64> {jax.result_info = "result[12]"}, tensor<2x3xf64> {jax.result_info = "result[13]"}, tensor<2x3xf64> {jax.result_info = "result[14]"}, tensor<2x3xf64> {jax.result_info = "result[15]"}, tensor<2x3xf64> {jax.result_info = "result[16]"}, tensor<2x3xf64> {jax.result_info = "result[17]"}, tensor<2x3xf64> {jax.result_info = "result[18]"}, tensor<2x3xi1> {jax.result_info = "result[19]"}) {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf64>
    %1 = stablehlo.negate %arg0 : tensor<2x3xf64>
    %2 = stablehlo.sign %arg0 : tensor<2x3xf64>
    %3 = stablehlo.ceil %arg0 : tensor<2x3xf64>
    %4 = stablehlo.floor %arg0 : tensor<2x3xf64>
    %5 = stablehlo.round_nearest_afz %arg0 : tensor<2x3xf64>
    %6 = stablehlo.round_nearest_even %arg0 : tensor<2x3xf64>
    %7 = stablehlo.exponential %arg0 : tensor<2x3xf64>
    %8 = stablehlo.exponential_minus_one %arg0 : tensor<2x3xf64>
    %9 = stablehlo.log %arg0 : tensor<2x3xf64>
    %10 = stablehlo.log_plus_one %arg0 : tensor<2x3xf64>
    %11 = stablehlo.tanh %arg0 : tensor<2x3xf64>
    %12 = stablehlo.sine %arg0 : tensor<2x3xf64>
    %13 = stablehlo.cosine %arg0 : tensor<2x3xf64>
    %14 = stablehlo.tan %arg0 : tensor<2x3xf64>
    %15 = stablehlo.sqrt %arg0 : tensor<2x3xf64>
    %16 = stablehlo.rsqrt %arg0 : tensor<2x3xf64>
    %17 = stablehlo.cbrt %arg0 : tensor<2x3xf64>
    %18 = stablehlo.negate %arg0 : tensor<2x3xf64>
    %19 = stablehlo.exponential %18 : tensor<2x3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %20 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %21 = stablehlo.add %20, %19 : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %22 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %23 = stablehlo.divide %22, %21 : tensor<2x3xf64>
    %24 = stablehlo.is_finite %arg0 : (tensor<2x3xf64>) -> tensor<2x3xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %23, %24 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi1>
  }
}
