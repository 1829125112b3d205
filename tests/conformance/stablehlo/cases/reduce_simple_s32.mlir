module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x2xi32>) -> (tensor<3x2xi32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}, tensor<3xi32> {jax.result_info = "result[2]"}, tensor<2x2xi32> {jax.result_info = "result[3]"}, tensor<i1> {jax.result_info = "result[4]"}, tensor<2x2xi1> {jax.result_info = "result[5]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2x3x2xi32>, tensor<i32>) -> tensor<3x2xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x2xi32>, tensor<i32>) -> tensor<i32>
    %c_1 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %2 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x2xi32>, tensor<i32>) -> tensor<3xi32>
    %c_2 = stablehlo.constant dense<2147483647> : tensor<i32>
    %3 = stablehlo.reduce(%arg0 init: %c_2) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<2x3x2xi32>
    %5 = stablehlo.compare GT, %arg0, %4, SIGNED : (tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<2x3x2xi1>
    %c_4 = stablehlo.constant dense<false> : tensor<i1>
    %6 = stablehlo.reduce(%5 init: %c_4) applies stablehlo.or across dimensions = [0, 1, 2] : (tensor<2x3x2xi1>, tensor<i1>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<3> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2x3x2xi32>
    %8 = stablehlo.compare GT, %arg0, %7, SIGNED : (tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<2x3x2xi1>
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %9 = stablehlo.reduce(%8 init: %c_6) applies stablehlo.and across dimensions = [1] : (tensor<2x3x2xi1>, tensor<i1>) -> tensor<2x2xi1>
    return %0, %1, %2, %3, %6, %9 : tensor<3x2xi32>, tensor<i32>, tensor<3xi32>, tensor<2x2xi32>, tensor<i1>, tensor<2x2xi1>
  }
}
