module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=4]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x4x2xf32>) -> (tensor<8x4x2xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"b"}, {"a"}, {}]>] out_shardings=[<@mesh, [{"b"}, {"a"}, {}]>] manual_axes={"a", "b"} (%arg1: tensor<2x2x2xf32>) {
      %1 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]> : tensor<8x2xi64>}> : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
      sdy.return %1 : tensor<2x2x2xf32>
    } : (tensor<8x4x2xf32>) -> tensor<8x4x2xf32>
    return %0 : tensor<8x4x2xf32>
  }
}
