module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x1xf32>, %arg1: tensor<3x1xi32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<1xf32> {jax.result_info = "result[1][0]"}, tensor<1xi32> {jax.result_info = "result[1][1]"}, tensor<3xi32> {jax.result_info = "result[2]"}, tensor<1xi32> {jax.result_info = "result[3]"}, tensor<1xi32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) across dimensions = [1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
      %5 = stablehlo.add %arg2, %arg3 : tensor<f32>
      %6 = stablehlo.sine %arg2 : tensor<f32>
      %7 = stablehlo.sine %arg3 : tensor<f32>
      %8 = stablehlo.multiply %6, %7 : tensor<f32>
      %9 = stablehlo.add %5, %8 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst_0), (%arg1 init: %c) across dimensions = [0] : (tensor<3x1xf32>, tensor<3x1xi32>, tensor<f32>, tensor<i32>) -> (tensor<1xf32>, tensor<1xi32>)
     reducer(%arg2: tensor<f32>, %arg4: tensor<f32>) (%arg3: tensor<i32>, %arg5: tensor<i32>)  {
      %5 = stablehlo.multiply %arg2, %arg4 : tensor<f32>
      %6 = stablehlo.xor %arg3, %arg5 : tensor<i32>
      stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
    }
    %2 = call @argmax(%arg0) : (tensor<3x1xf32>) -> tensor<3xi32>
    %3 = call @argmin(%arg1) : (tensor<3x1xi32>) -> tensor<1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.reduce(%arg1 init: %c_1) applies stablehlo.xor across dimensions = [0] : (tensor<3x1xi32>, tensor<i32>) -> tensor<1xi32>
    return %0, %1#0, %1#1, %2, %3, %4 : tensor<3xf32>, tensor<1xf32>, tensor<1xi32>, tensor<3xi32>, tensor<1xi32>, tensor<1xi32>
  }
  func.func private @argmax(%arg0: tensor<3x1xf32>) -> tensor<3xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<3x1xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<3x1xf32>, tensor<3x1xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<3xi32>
  }
  func.func private @argmin(%arg0: tensor<3x1xi32>) -> tensor<1xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<3x1xi32>
    %c = stablehlo.constant dense<2147483647> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<3x1xi32>, tensor<3x1xi32>, tensor<i32>, tensor<i32>) -> (tensor<1xi32>, tensor<1xi32>)
     reducer(%arg1: tensor<i32>, %arg3: tensor<i32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i32>, tensor<i32>
    }
    return %1#1 : tensor<1xi32>
  }
}
