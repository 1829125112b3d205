module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x7xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<i32>) -> (tensor<2x2xf32> {jax.result_info = "result[0]"}, tensor<5x22xf32> {jax.result_info = "result[1]"}, tensor<2x3xf32> {jax.result_info = "result[2]"}, tensor<6x7xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.slice %arg0 [1:5:2, 0:6:3] : (tensor<6x7xf32>) -> tensor<2x2xf32>
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg0, %cst, low = [1, 0], high = [-2, 3], interior = [0, 2] : (tensor<6x7xf32>, tensor<f32>) -> tensor<5x22xf32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.multiply %c, %arg2 : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_1 = stablehlo.constant dense<6> : tensor<i32>
    %4 = stablehlo.add %arg2, %c_1 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg2 : tensor<i1>, tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<7> : tensor<i32>
    %7 = stablehlo.add %2, %c_3 : tensor<i32>
    %8 = stablehlo.select %6, %7, %2 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %5, %8, sizes = [2, 3] : (tensor<6x7xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.compare LT, %arg2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<6> : tensor<i32>
    %11 = stablehlo.add %arg2, %c_5 : tensor<i32>
    %12 = stablehlo.select %10, %11, %arg2 : tensor<i1>, tensor<i32>
    %c_6 = stablehlo.constant dense<9> : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %c_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_8 = stablehlo.constant dense<9> : tensor<i32>
    %c_9 = stablehlo.constant dense<7> : tensor<i32>
    %14 = stablehlo.add %c_8, %c_9 : tensor<i32>
    %c_10 = stablehlo.constant dense<9> : tensor<i32>
    %15 = stablehlo.select %13, %14, %c_10 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_update_slice %arg0, %arg1, %12, %15 : (tensor<6x7xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<6x7xf32>
    return %0, %1, %9, %16 : tensor<2x2xf32>, tensor<5x22xf32>, tensor<2x3xf32>, tensor<6x7xf32>
  }
}
