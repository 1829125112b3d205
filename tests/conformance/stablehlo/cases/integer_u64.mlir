module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xui64>, %arg1: tensor<6xui64>) -> (tensor<6xui64> {jax.result_info = "result[0]"}, tensor<6xui64> {jax.result_info = "result[1]"}, tensor<6xui64> {jax.result_info = "result[2]"}, tensor<6xui64> {jax.result_info = "result[3]"}, tensor<6xui64> {jax.result_info = "result[4]"}, tensor<6xui64> {jax.result_info = "result[5]"}, tensor<6xui64> {jax.result_info = "result[6]"}, tensor<6xui64> {jax.result_info = "result[7]"}, tensor<6xui64> {jax.result_info = "result[8]"}, tensor<6xui64> {jax.result_info = "result[9]"}, tensor<6xui64> {jax.result_info = "result[10]"}, tensor<6xui64> {jax.result_info = "result[11]"}, tensor<6xui64> {jax.result_info = "result[12]"}, tensor<6xui64> {jax.result_info = "result[13]"}, tensor<6xui64> {jax.result_info = "result[14]"}, tensor<6xui64> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<6xui64>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<6xui64>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<6xui64>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<6xui64>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<6xui64>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<6xui64>
    %6 = stablehlo.and %arg0, %arg1 : tensor<6xui64>
    %7 = stablehlo.or %arg0, %arg1 : tensor<6xui64>
    %8 = stablehlo.xor %arg0, %arg1 : tensor<6xui64>
    %9 = stablehlo.shift_left %arg0, %arg1 : tensor<6xui64>
    %10 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<6xui64>
    %11 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<6xui64>
    %12 = stablehlo.not %arg0 : tensor<6xui64>
    %13 = stablehlo.count_leading_zeros %arg0 : tensor<6xui64>
    %14 = stablehlo.popcnt %arg0 : tensor<6xui64>
    %15 = stablehlo.multiply %arg0, %arg0 : tensor<6xui64>
    %16 = stablehlo.multiply %15, %arg0 : tensor<6xui64>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %16 : tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>
  }
}
