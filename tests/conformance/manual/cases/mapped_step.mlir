module @jit__fun attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]> {stablehlo.mesh = {axes = [{name = "i", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, %arg1: tensor<4x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}) -> (tensor<4x8x3xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, tensor<4xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}, {}]>] out_shardings=[<@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}]>] manual_axes={"i"} (%arg2: tensor<1x8x3xf32>, %arg3: tensor<1x16x8xf32>) {
      %1 = stablehlo.reshape %arg2 : (tensor<1x8x3xf32>) -> tensor<8x3xf32>
      %2 = stablehlo.reshape %arg3 : (tensor<1x16x8xf32>) -> tensor<16x8xf32>
      %3 = stablehlo.dot_general %2, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x3xf32>) -> tensor<16x3xf32>
      %4 = stablehlo.tanh %3 : tensor<16x3xf32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x3xf32>
      %6 = stablehlo.subtract %5, %4 : tensor<16x3xf32>
      %7 = stablehlo.multiply %4, %4 : tensor<16x3xf32>
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x3xf32>
      %9 = stablehlo.multiply %8, %4 : tensor<16x3xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x3xf32>, tensor<f32>) -> tensor<f32>
      %cst_2 = stablehlo.constant dense<4.800000e+01> : tensor<f32>
      %11 = stablehlo.divide %10, %cst_2 : tensor<f32>
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %cst_4 = stablehlo.constant dense<4.800000e+01> : tensor<f32>
      %12 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<16x3xf32>
      %14 = stablehlo.multiply %13, %9 : tensor<16x3xf32>
      %15 = stablehlo.multiply %14, %6 : tensor<16x3xf32>
      %16 = stablehlo.multiply %15, %4 : tensor<16x3xf32>
      %17 = stablehlo.add %15, %16 : tensor<16x3xf32>
      %18 = stablehlo.dot_general %17, %2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x3xf32>, tensor<16x8xf32>) -> tensor<3x8xf32>
      %19 = stablehlo.transpose %18, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
      %20 = "stablehlo.all_reduce"(%19) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %30 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %30 : tensor<f32>
      }) : (tensor<8x3xf32>) -> tensor<8x3xf32>
      %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
      %22 = stablehlo.divide %20, %21 : tensor<8x3xf32>
      %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
      %24 = stablehlo.multiply %23, %22 : tensor<8x3xf32>
      %25 = stablehlo.subtract %1, %24 : tensor<8x3xf32>
      %26 = "stablehlo.all_reduce"(%11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %30 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %30 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %27 = stablehlo.divide %26, %cst_7 : tensor<f32>
      %28 = stablehlo.broadcast_in_dim %25, dims = [1, 2] : (tensor<8x3xf32>) -> tensor<1x8x3xf32>
      %29 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %28, %29 : tensor<1x8x3xf32>, tensor<1xf32>
    } : (tensor<4x8x3xf32>, tensor<4x16x8xf32>) -> (tensor<4x8x3xf32>, tensor<4xf32>)
    return %0#0, %0#1 : tensor<4x8x3xf32>, tensor<4xf32>
  }
}
