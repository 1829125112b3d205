module @members attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32, mhlo.use_auto_spmd_partitioning = false} {
  func.func private @add(%arg0: tensor<complex<f32>>, %arg1: tensor<complex<f32>>) -> tensor<complex<f32>> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<complex<f32>>
    return %0 : tensor<complex<f32>>
  }
  func.func @main(%arg0: tensor<7xcomplex<f32>>) -> tensor<7xcomplex<f32>> {
    %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%arg1: tensor<complex<f32>>, %arg2: tensor<complex<f32>>):
      %1 = stablehlo.add %arg1, %arg2 : tensor<complex<f32>>
      stablehlo.return %1 : tensor<complex<f32>>
    }) : (tensor<7xcomplex<f32>>) -> tensor<7xcomplex<f32>>
    return %0 : tensor<7xcomplex<f32>>
  }
}
