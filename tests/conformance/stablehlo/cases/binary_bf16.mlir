module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2xbf16>, %arg1: tensor<3x2xbf16>) -> (tensor<3x2xbf16> {jax.result_info = "result[0]"}, tensor<3x2xbf16> {jax.result_info = "result[1]"}, tensor<3x2xbf16> {jax.result_info = "result[2]"}, tensor<3x2xbf16> {jax.result_info = "result[3]"}, tensor<3x2xbf16> {jax.result_info = "result[4]"}, tensor<3x2xbf16> {jax.result_info = "result[5]"}, tensor<3x2xbf16> {jax.result_info = "result[6]"}, tensor<3x2xbf16> {jax.result_info = "result[7]"}, tensor<3x2xbf16> {jax.result_info = "result[8]"}, tensor<3x2xbf16> {jax.result_info = "result[9]"}, tensor<3x2xbf16> {jax.result_info = "result[10]"}, tensor<3x2xbf16> {jax.result_info = "result[11]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3x2xbf16>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<3x2xbf16>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<3x2xbf16>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<3x2xbf16>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<3x2xbf16>
    %5 = stablehlo.power %arg0, %arg1 : tensor<3x2xbf16>
    %6 = stablehlo.atan2 %arg0, %arg1 : tensor<3x2xbf16>
    %7 = stablehlo.maximum %arg0, %arg1 : tensor<3x2xbf16>
    %8 = stablehlo.minimum %arg0, %arg1 : tensor<3x2xbf16>
    %9 = stablehlo.clamp %arg0, %arg1, %arg0 : tensor<3x2xbf16>
    %10 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xi1>
    %11 = stablehlo.select %10, %arg0, %arg1 : tensor<3x2xi1>, tensor<3x2xbf16>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<3x2xbf16>
    %13 = stablehlo.compare GT, %arg1, %12, FLOAT : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xi1>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %14 = call @_where(%13, %arg0, %c) : (tensor<3x2xi1>, tensor<3x2xbf16>, tensor<i32>) -> tensor<3x2xbf16>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %11, %14 : tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>
  }
  func.func private @_where(%arg0: tensor<3x2xi1>, %arg1: tensor<3x2xbf16>, %arg2: tensor<i32>) -> tensor<3x2xbf16> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<3x2xbf16>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<3x2xi1>, tensor<3x2xbf16>
    return %2 : tensor<3x2xbf16>
  }
}
