module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf32>, %arg1: tensor<3xi32>) -> (tensor<5xf32> {jax.result_info = "result[0][0]"}, tensor<5xf32> {jax.result_info = "result[0][1]"}, tensor<5xf32> {jax.result_info = "result[0][2]"}, tensor<5xf32> {jax.result_info = "result[0][3]"}, tensor<5xf32> {jax.result_info = "result[0][4]"}, tensor<5xf32> {jax.result_info = "result[0][5]"}, tensor<5xf32> {jax.result_info = "result[0][6]"}, tensor<5xf32> {jax.result_info = "result[0][7]"}, tensor<5xf32> {jax.result_info = "result[0][8]"}, tensor<5xf32> {jax.result_info = "result[0][9]"}, tensor<5xf32> {jax.result_info = "result[0][10]"}, tensor<5xf32> {jax.result_info = "result[0][11]"}, tensor<5xf32> {jax.result_info = "result[0][12]"}, tensor<5xf32> {jax.result_info = "result[0][13]"}, tensor<5xui32> {jax.result_info = "result[1][0]"}, tensor<3x4xi8> {jax.result_info = "result[1][1]"}, tensor<5xi1> {jax.result_info = "result[1][2]"}, tensor<5xf16> {jax.result_info = "result[2]"}, tensor<3xui8> {jax.result_info = "result[3]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xi4>
    %1 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xui4>
    %2 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xi2>
    %3 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xui2>
    %4 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf8E3M4>
    %5 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf8E4M3>
    %6 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf8E4M3B11FNUZ>
    %7 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf8E4M3FN>
    %8 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf8E4M3FNUZ>
    %9 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf8E5M2>
    %10 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf8E5M2FNUZ>
    %11 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf8E8M0FNU>
    %12 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf4E2M1FN>
    %13 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xbf16>
    %14 = stablehlo.convert %0 : (tensor<5xi4>) -> tensor<5xf32>
    %15 = stablehlo.convert %1 : (tensor<5xui4>) -> tensor<5xf32>
    %16 = stablehlo.convert %2 : (tensor<5xi2>) -> tensor<5xf32>
    %17 = stablehlo.convert %3 : (tensor<5xui2>) -> tensor<5xf32>
    %18 = stablehlo.convert %4 : (tensor<5xf8E3M4>) -> tensor<5xf32>
    %19 = stablehlo.convert %5 : (tensor<5xf8E4M3>) -> tensor<5xf32>
    %20 = stablehlo.convert %6 : (tensor<5xf8E4M3B11FNUZ>) -> tensor<5xf32>
    %21 = stablehlo.convert %7 : (tensor<5xf8E4M3FN>) -> tensor<5xf32>
    %22 = stablehlo.convert %8 : (tensor<5xf8E4M3FNUZ>) -> tensor<5xf32>
    %23 = stablehlo.convert %9 : (tensor<5xf8E5M2>) -> tensor<5xf32>
    %24 = stablehlo.convert %10 : (tensor<5xf8E5M2FNUZ>) -> tensor<5xf32>
    %25 = stablehlo.convert %11 : (tensor<5xf8E8M0FNU>) -> tensor<5xf32>
    %26 = stablehlo.convert %12 : (tensor<5xf4E2M1FN>) -> tensor<5xf32>
    %27 = stablehlo.convert %13 : (tensor<5xbf16>) -> tensor<5xf32>
    %28 = stablehlo.bitcast_convert %arg0 : (tensor<5xf32>) -> tensor<5xui32>
    %29 = stablehlo.bitcast_convert %arg1 : (tensor<3xi32>) -> tensor<3x4xi8>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %31 = stablehlo.compare NE, %arg0, %30, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
    %32 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf16>
    %33 = stablehlo.convert %arg1 : (tensor<3xi32>) -> tensor<3xui8>
    %34 = stablehlo.convert %arg1 : (tensor<3xi32>) -> tensor<3xcomplex<f32>>
    return %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %31, %32, %33, %34 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xui32>, tensor<3x4xi8>, tensor<5xi1>, tensor<5xf16>, tensor<3xui8>, tensor<3xcomplex<f32>>
  }
}
