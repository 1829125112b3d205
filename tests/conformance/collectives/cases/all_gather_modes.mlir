module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<8x3xf32>, tensor<4x3xf32>, tensor<1x12xf32>) {
    %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<1x3xf32>) -> tensor<2x3xf32>
    %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<1x3xf32>) -> tensor<8x3xf32>
    %2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %3 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<1x3xf32>) -> tensor<1x12xf32>
    return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<8x3xf32>, tensor<4x3xf32>, tensor<1x12xf32>
  }
}
