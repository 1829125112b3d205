module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func private @add(%arg0: tensor<bf16>, %arg1: tensor<bf16>) -> tensor<bf16> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<bf16>
    return %0 : tensor<bf16>
  }
  func.func private @max(%arg0: tensor<bf16>, %arg1: tensor<bf16>) -> tensor<bf16> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<bf16>
    return %0 : tensor<bf16>
  }
  func.func @main(%arg0: tensor<4x6xbf16>) -> (tensor<2x6xbf16>, tensor<4x3xbf16>, tensor<1x6xbf16>) {
    %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%arg1: tensor<bf16>, %arg2: tensor<bf16>):
      %3 = stablehlo.add %arg1, %arg2 : tensor<bf16>
      stablehlo.return %3 : tensor<bf16>
    }) : (tensor<4x6xbf16>) -> tensor<2x6xbf16>
    %1 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
    ^bb0(%arg1: tensor<bf16>, %arg2: tensor<bf16>):
      %3 = stablehlo.maximum %arg1, %arg2 : tensor<bf16>
      stablehlo.return %3 : tensor<bf16>
    }) : (tensor<4x6xbf16>) -> tensor<4x3xbf16>
    %2 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%arg1: tensor<bf16>, %arg2: tensor<bf16>):
      %3 = stablehlo.add %arg1, %arg2 : tensor<bf16>
      stablehlo.return %3 : tensor<bf16>
    }) : (tensor<4x6xbf16>) -> tensor<1x6xbf16>
    return %0, %1, %2 : tensor<2x6xbf16>, tensor<4x3xbf16>, tensor<1x6xbf16>
  }
}
