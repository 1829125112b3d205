module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xi8>, %arg1: tensor<6xi8>) -> (tensor<6xi8> {jax.result_info = "result[0]"}, tensor<6xi8> {jax.result_info = "result[1]"}, tensor<6xi8> {jax.result_info = "result[2]"}, tensor<6xi8> {jax.result_info = "result[3]"}, tensor<6xi8> {jax.result_info = "result[4]"}, tensor<6xi8> {jax.result_info = "result[5]"}, tensor<6xi8> {jax.result_info = "result[6]"}, tensor<6xi8> {jax.result_info = "result[7]"}, tensor<6xi8> {jax.result_info = "result[8]"}, tensor<6xi8> {jax.result_info = "result[9]"}, tensor<6xi8> {jax.result_info = "result[10]"}, tensor<6xi8> {jax.result_info = "result[11]"}, tensor<6xi8> {jax.result_info = "result[12]"}, tensor<6xi8> {jax.result_info = "result[13]"}, tensor<6xi8> {jax.result_info = "result[14]"}, tensor<6xi8> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<6xi8>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<6xi8>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<6xi8>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<6xi8>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<6xi8>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<6xi8>
    %6 = stablehlo.and %arg0, %arg1 : tensor<6xi8>
    %7 = stablehlo.or %arg0, %arg1 : tensor<6xi8>
    %8 = stablehlo.xor %arg0, %arg1 : tensor<6xi8>
    %9 = stablehlo.shift_left %arg0, %arg1 : tensor<6xi8>
    %10 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<6xi8>
    %11 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<6xi8>
    %12 = stablehlo.not %arg0 : tensor<6xi8>
    %13 = stablehlo.count_leading_zeros %arg0 : tensor<6xi8>
    %14 = stablehlo.popcnt %arg0 : tensor<6xi8>
    %15 = stablehlo.multiply %arg0, %arg0 : tensor<6xi8>
    %16 = stablehlo.multiply %15, %arg0 : tensor<6xi8>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %16 : tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>
  }
}
