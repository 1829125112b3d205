module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
    %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
    %1 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[3, 1]]> : tensor<1x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
    return %0, %1 : tensor<5xf32>, tensor<5xf32>
  }
}
