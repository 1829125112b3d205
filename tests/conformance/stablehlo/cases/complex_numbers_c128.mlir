module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xcomplex<f64>>, %arg1: tensor<3xcomplex<f64>>) -> (tensor<3xf64> {jax.result_info = "result[0][0]"}, tensor<3xf64> {jax.result_info = "result[0][1]"}, tensor<3xcomplex<f64>> {jax.result_info = "result[0][2]"}, tensor<3xcomplex<f64>> {jax.result_info = "result[0][3]"}, tensor<3xf64> {jax.result_info = "result[0][4]"}, tensor<3xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<3xcomplex<f64>> {jax.result_info = "result[2]"}, tensor<3xcomplex<f64>> {jax.result_info = "result[3]"}, tensor<3xcomplex<f64>> {jax.result_info = "result[4]"}, tensor<3xcomplex<f64>> {jax.result_info = "result[5]"}) {
    %cst = stablehlo.constant dense<[(0.000000e+00,1.000000e+00), (2.500000e+00,0.000000e+00), (2.500000e-01,-1.000000e-03)]> : tensor<3xcomplex<f64>>
    %0 = stablehlo.real %arg0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %1 = stablehlo.imag %arg0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %2 = stablehlo.real %arg0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %3 = stablehlo.imag %arg1 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %4 = stablehlo.complex %2, %3 : tensor<3xcomplex<f64>>
    %5 = stablehlo.real %arg0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %6 = stablehlo.imag %arg0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %7 = stablehlo.negate %6 : tensor<3xf64>
    %8 = stablehlo.complex %5, %7 : tensor<3xcomplex<f64>>
    %9 = stablehlo.abs %arg0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %10 = stablehlo.multiply %arg0, %arg1 : tensor<3xcomplex<f64>>
    %cst_0 = stablehlo.constant dense<(2.000000e+00,-3.000000e+00)> : tensor<complex<f64>>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %12 = stablehlo.add %10, %11 : tensor<3xcomplex<f64>>
    %13 = stablehlo.divide %arg0, %arg1 : tensor<3xcomplex<f64>>
    %14 = stablehlo.exponential %arg0 : tensor<3xcomplex<f64>>
    %15 = stablehlo.sqrt %arg1 : tensor<3xcomplex<f64>>
    %16 = stablehlo.multiply %arg0, %cst : tensor<3xcomplex<f64>>
    return %0, %1, %4, %8, %9, %12, %13, %14, %15, %16 : tensor<3xf64>, tensor<3xf64>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xf64>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>
  }
}
