module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<i32>) -> (tensor<i32> {jax.result_info = "result[0][0]"}, tensor<3xf32> {jax.result_info = "result[0][1]"}, tensor<3xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %arg0, %iterArg_2 = %c, %iterArg_3 = %arg0) : tensor<i32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>
    cond {
      %2 = stablehlo.convert %iterArg_2 : tensor<i32>
      %3 = stablehlo.compare LT, %2, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg_2, %c_4 : tensor<i32>
      %3 = stablehlo.sine %iterArg_3 : tensor<3xf32>
      %4 = stablehlo.multiply %3, %iterArg_1 : tensor<3xf32>
      stablehlo.return %iterArg, %iterArg_1, %2, %4 : tensor<i32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>
    }
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %arg1, %iterArg_2 = %arg0) : tensor<i32>, tensor<i32>, tensor<3xf32>
    cond {
      %2 = stablehlo.compare LT, %iterArg, %iterArg_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_3 : tensor<i32>
      %3 = stablehlo.convert %iterArg : (tensor<i32>) -> tensor<f32>
      %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %5 = stablehlo.add %iterArg_2, %4 : tensor<3xf32>
      stablehlo.return %2, %iterArg_1, %5 : tensor<i32>, tensor<i32>, tensor<3xf32>
    }
    return %0#2, %0#3, %1#2 : tensor<i32>, tensor<3xf32>, tensor<3xf32>
  }
}
