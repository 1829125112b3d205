module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2xf32>, %arg1: tensor<3x2xf32>) -> (tensor<3x2xf32> {jax.result_info = "result[0]"}, tensor<3x2xf32> {jax.result_info = "result[1]"}, tensor<3x2xf32> {jax.result_info = "result[2]"}, tensor<3x2xf32> {jax.result_info = "result[3]"}, tensor<3x2xf32> {jax.result_info = "result[4]"}, tensor<3x2xf32> {jax.result_info = "result[5]"}, tensor<3x2xf32> {jax.result_info = "result[6]"}, tensor<3x2xf32> {jax.result_info = "result[7]"}, tensor<3x2xf32> {jax.result_info = "result[8]"}, tensor<3x2xf32> {jax.result_info = "result[9]"}, tensor<3x2xf32> {jax.result_info = "result[10]"}, tensor<3x2xf32> {jax.result_info = "result[11]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3x2xf32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<3x2xf32>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<3x2xf32>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<3x2xf32>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<3x2xf32>
    %5 = stablehlo.power %arg0, %arg1 : tensor<3x2xf32>
    %6 = stablehlo.atan2 %arg0, %arg1 : tensor<3x2xf32>
    %7 = stablehlo.maximum %arg0, %arg1 : tensor<3x2xf32>
    %8 = stablehlo.minimum %arg0, %arg1 : tensor<3x2xf32>
    %9 = stablehlo.clamp %arg0, %arg1, %arg0 : tensor<3x2xf32>
    %10 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %11 = stablehlo.select %10, %arg0, %arg1 : tensor<3x2xi1>, tensor<3x2xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %13 = stablehlo.compare GT, %arg1, %12, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %14 = call @_where(%13, %arg0, %c) : (tensor<3x2xi1>, tensor<3x2xf32>, tensor<i32>) -> tensor<3x2xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %11, %14 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
  }
  func.func private @_where(%arg0: tensor<3x2xi1>, %arg1: tensor<3x2xf32>, %arg2: tensor<i32>) -> tensor<3x2xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<3x2xi1>, tensor<3x2xf32>
    return %2 : tensor<3x2xf32>
  }
}
