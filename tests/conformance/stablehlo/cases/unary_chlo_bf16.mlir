module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xbf16>) -> (tensor<5xbf16> {jax.result_info = "result[0]"}, tensor<5xbf16> {jax.result_info = "result[1]"}, tensor<5xbf16> {jax.result_info = "result[2]"}, tensor<5xbf16> {jax.result_info = "result[3]"}, tensor<5xbf16> {jax.result_info = "result[4]"}, tensor<5xbf16> {jax.result_info = "result[5]"}, tensor<5xbf16> {jax.result_info = "result[6]"}, tensor<5xbf16> {jax.result_info = "result[7]"}, tensor<5xbf16> {jax.result_info = "result[8]"}, tensor<5xbf16> {jax.result_info = "result[9]"}, tensor<5xbf16> {jax.result_info = "result[10]"}, tensor<5xbf16> {jax.result_info = "result[11]"}, tensor<5xbf16> {jax.result_info = "result[12]"}, tensor<5xbf16> {jax.result_info = "result[13]"}, tensor<5xbf16> {jax.result_info = "result[14]"}) {
    %0 = chlo.acos %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %1 = chlo.asin %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %2 = chlo.atan %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<5xbf16>
    %4 = stablehlo.add %arg0, %3 : tensor<5xbf16>
    %5 = chlo.acosh %4 : tensor<5xbf16> -> tensor<5xbf16>
    %6 = chlo.asinh %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %7 = chlo.atanh %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %8 = chlo.erf_inv %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %9 = chlo.sinh %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %10 = chlo.cosh %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %11 = chlo.erf %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %12 = chlo.erfc %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %13 = chlo.lgamma %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %14 = chlo.digamma %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %15 = chlo.bessel_i1e %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    %16 = chlo.square %arg0 : tensor<5xbf16> -> tensor<5xbf16>
    return %0, %1, %2, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>
  }
}
