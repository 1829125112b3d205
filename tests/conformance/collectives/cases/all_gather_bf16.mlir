module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<2x3xbf16>) -> (tensor<4x3xbf16>, tensor<2x12xbf16>, tensor<8x3xbf16>) {
    %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[3, 0], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2x3xbf16>) -> tensor<4x3xbf16>
    %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<2x3xbf16>) -> tensor<2x12xbf16>
    %2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<0x0xi64>}> : (tensor<2x3xbf16>) -> tensor<8x3xbf16>
    return %0, %1, %2 : tensor<4x3xbf16>, tensor<2x12xbf16>, tensor<8x3xbf16>
  }
}
