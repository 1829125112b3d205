module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xcomplex<f32>>, %arg1: tensor<3xcomplex<f32>>) -> (tensor<3xf32> {jax.result_info = "result[0][0]"}, tensor<3xf32> {jax.result_info = "result[0][1]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[0][2]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[0][3]"}, tensor<3xf32> {jax.result_info = "result[0][4]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[5]"}) {
    %cst = stablehlo.constant dense<[(0.000000e+00,1.000000e+00), (2.500000e+00,0.000000e+00), (2.500000e-01,-1.000000e-03)]> : tensor<3xcomplex<f32>>
    %0 = stablehlo.real %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %1 = stablehlo.imag %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %2 = stablehlo.real %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %3 = stablehlo.imag %arg1 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %4 = stablehlo.complex %2, %3 : tensor<3xcomplex<f32>>
    %5 = stablehlo.real %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %6 = stablehlo.imag %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %7 = stablehlo.negate %6 : tensor<3xf32>
    %8 = stablehlo.complex %5, %7 : tensor<3xcomplex<f32>>
    %9 = stablehlo.abs %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %10 = stablehlo.multiply %arg0, %arg1 : tensor<3xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(2.000000e+00,-3.000000e+00)> : tensor<complex<f32>>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
    %12 = stablehlo.add %10, %11 : tensor<3xcomplex<f32>>
    %13 = stablehlo.divide %arg0, %arg1 : tensor<3xcomplex<f32>>
    %14 = stablehlo.exponential %arg0 : tensor<3xcomplex<f32>>
    %15 = stablehlo.sqrt %arg1 : tensor<3xcomplex<f32>>
    %16 = stablehlo.multiply %arg0, %cst : tensor<3xcomplex<f32>>
    return %0, %1, %4, %8, %9, %12, %13, %14, %15, %16 : tensor<3xf32>, tensor<3xf32>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xf32>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
  }
}
