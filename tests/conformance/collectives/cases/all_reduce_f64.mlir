module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func private @add(%arg0: tensor<f64>, %arg1: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f64>
    return %0 : tensor<f64>
  }
  func.func private @mul(%arg0: tensor<f64>, %arg1: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<f64>
    return %0 : tensor<f64>
  }
  func.func private @max(%arg0: tensor<f64>, %arg1: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<f64>
    return %0 : tensor<f64>
  }
  func.func private @min(%arg0: tensor<f64>, %arg1: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<f64>
    return %0 : tensor<f64>
  }
  func.func @main(%arg0: tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>) {
    %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %8 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %1 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %8 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %2 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %8 = stablehlo.multiply %arg1, %arg2 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %3 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %8 = stablehlo.multiply %arg1, %arg2 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %4 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %8 = stablehlo.maximum %arg1, %arg2 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %5 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %8 = stablehlo.maximum %arg1, %arg2 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %6 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %8 = stablehlo.minimum %arg1, %arg2 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %7 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %8 = stablehlo.minimum %arg1, %arg2 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>, tensor<3x5xf64>
  }
}
