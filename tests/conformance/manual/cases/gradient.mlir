module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]> {stablehlo.mesh = {axes = [{name = "i", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<4x6xf32>) -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<4x6xf32> {jax.result_info = "result[1]"}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"i"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}]>] manual_axes={"i"} (%arg2: tensor<2x4xf32>, %arg3: tensor<4x6xf32>) {
      %2 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
      %3 = stablehlo.tanh %2 : tensor<2x6xf32>
      %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
      %5 = stablehlo.subtract %4, %3 : tensor<2x6xf32>
      sdy.return %arg3, %3, %5 : tensor<4x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>
    } : (tensor<8x4xf32>, tensor<4x6xf32>) -> (tensor<16x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1:2 = sdy.manual_computation(%cst, %0#0, %arg0, %0#1, %0#2) in_shardings=[<@mesh, []>, <@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}]>] out_shardings=[<@mesh, [{"i"}, {}]>, <@mesh, [{}, {}]>] manual_axes={"i"} (%arg2: tensor<f32>, %arg3: tensor<4x6xf32>, %arg4: tensor<2x4xf32>, %arg5: tensor<2x6xf32>, %arg6: tensor<2x6xf32>) {
      %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
      %3 = stablehlo.multiply %2, %arg6 : tensor<2x6xf32>
      %4 = stablehlo.multiply %3, %arg5 : tensor<2x6xf32>
      %5 = stablehlo.add %3, %4 : tensor<2x6xf32>
      %6 = stablehlo.dot_general %5, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6xf32>, tensor<2x4xf32>) -> tensor<6x4xf32>
      %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
      %8 = stablehlo.dot_general %5, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<2x4xf32>
      %9 = "stablehlo.all_reduce"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %10 = stablehlo.add %arg7, %arg8 : tensor<f32>
        stablehlo.return %10 : tensor<f32>
      }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      sdy.return %8, %9 : tensor<2x4xf32>, tensor<4x6xf32>
    } : (tensor<f32>, tensor<16x6xf32>, tensor<8x4xf32>, tensor<8x6xf32>, tensor<8x6xf32>) -> (tensor<8x4xf32>, tensor<4x6xf32>)
    return %1#0, %1#1 : tensor<8x4xf32>, tensor<4x6xf32>
  }
}
