module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
    %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
    %1 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
    %2 = stablehlo.add %0, %1 : tensor<5xf32>
    %3 = "stablehlo.collective_permute"(%2) <{source_target_pairs = dense<[[1, 1], [2, 0], [3, 2]]> : tensor<3x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
    return %0, %1, %3 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
  }
}
