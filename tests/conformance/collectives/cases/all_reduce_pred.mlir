module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func private @all(%arg0: tensor<i1>, %arg1: tensor<i1>) -> tensor<i1> {
    %0 = stablehlo.and %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @any(%arg0: tensor<i1>, %arg1: tensor<i1>) -> tensor<i1> {
    %0 = stablehlo.or %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func @main(%arg0: tensor<16xi1>) -> (tensor<16xi1>, tensor<16xi1>) {
    %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%arg1: tensor<i1>, %arg2: tensor<i1>):
      %2 = stablehlo.and %arg1, %arg2 : tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<16xi1>) -> tensor<16xi1>
    %1 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%arg1: tensor<i1>, %arg2: tensor<i1>):
      %2 = stablehlo.or %arg1, %arg2 : tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<16xi1>) -> tensor<16xi1>
    return %0, %1 : tensor<16xi1>, tensor<16xi1>
  }
}
