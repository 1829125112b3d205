module @jit__lambda attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]> {stablehlo.mesh = {axes = [{name = "i", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x6xf32>, %arg1: tensor<6xf32>) -> (tensor<6x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.cosine %arg0 : tensor<8x6xf32>
    %1 = stablehlo.reverse %arg1, dims = [0] : tensor<6xf32>
    %2 = sdy.manual_computation(%0, %1) in_shardings=[<@mesh, [{}, {"i"}]>, <@mesh, [{"i"}]>] out_shardings=[<@mesh, [{}, {"i"}]>] manual_axes={"i"} (%arg2: tensor<8x3xf32>, %arg3: tensor<3xf32>) {
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<2> : tensor<ui32>
      %7 = stablehlo.partition_id : tensor<ui32>
      %8 = stablehlo.divide %7, %c : tensor<ui32>
      %9 = stablehlo.remainder %8, %c_0 : tensor<ui32>
      %10 = stablehlo.convert %9 : (tensor<ui32>) -> tensor<i32>
      %11 = stablehlo.convert %10 : (tensor<i32>) -> tensor<f32>
      %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %13 = stablehlo.multiply %arg3, %12 : tensor<3xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<8x3xf32>
      %16 = stablehlo.add %arg2, %15 : tensor<8x3xf32>
      sdy.return %16 : tensor<8x3xf32>
    } : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
    %3 = stablehlo.sine %2 : tensor<8x6xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %6 = stablehlo.add %4, %5 : tensor<6x8xf32>
    return %6 : tensor<6x8xf32>
  }
}
