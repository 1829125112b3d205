module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<5xbf16>) -> (tensor<5xbf16>, tensor<5xbf16>) {
    %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<5xbf16>) -> tensor<5xbf16>
    %1 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<5xbf16>) -> tensor<5xbf16>
    return %0, %1 : tensor<5xbf16>, tensor<5xbf16>
  }
}
