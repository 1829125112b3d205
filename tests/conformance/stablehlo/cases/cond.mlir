module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0][0]"}, tensor<f32> {jax.result_info = "result[0][1]"}, tensor<3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<i1>) -> tensor<i32>
    %1:2 = "stablehlo.case"(%0) ({
      %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %19 = stablehlo.multiply %arg2, %18 : tensor<3xf32>
      %20 = stablehlo.slice %arg2 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
      %21 = stablehlo.reshape %20 : (tensor<1xf32>) -> tensor<f32>
      stablehlo.return %19, %21 : tensor<3xf32>, tensor<f32>
    }, {
      %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %19 = stablehlo.add %arg2, %18 : tensor<3xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.reduce(%arg2 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %19, %20 : tensor<3xf32>, tensor<f32>
    }) : (tensor<i32>) -> (tensor<3xf32>, tensor<f32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %18 = stablehlo.sine %arg2 : tensor<3xf32>
      stablehlo.return %18 : tensor<3xf32>
    }, {
      %18 = stablehlo.cosine %arg2 : tensor<3xf32>
      stablehlo.return %18 : tensor<3xf32>
    }, {
      %18 = stablehlo.convert %arg0 : (tensor<i1>) -> tensor<i32>
      %19 = "stablehlo.case"(%18) ({
        %20 = stablehlo.negate %arg2 : tensor<3xf32>
        stablehlo.return %20 : tensor<3xf32>
      }, {
        %20 = stablehlo.exponential %arg2 : tensor<3xf32>
        stablehlo.return %20 : tensor<3xf32>
      }) : (tensor<i32>) -> tensor<3xf32>
      stablehlo.return %19 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %5 = stablehlo.compare GT, %arg2, %4, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %6 = stablehlo.convert %5 : (tensor<3xi1>) -> tensor<3xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %8 = stablehlo.compare EQ, %6, %7, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %9 = stablehlo.select %8, %arg2, %arg2 : tensor<3xi1>, tensor<3xf32>
    %10 = stablehlo.cosine %9 : tensor<3xf32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %12 = stablehlo.compare EQ, %6, %11, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %13 = stablehlo.select %12, %arg2, %arg2 : tensor<3xi1>, tensor<3xf32>
    %14 = stablehlo.sine %13 : tensor<3xf32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %16 = stablehlo.compare LT, %6, %15, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %17 = stablehlo.select %16, %10, %14 : tensor<3xi1>, tensor<3xf32>
    return %1#0, %1#1, %3, %17 : tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>
  }
}
