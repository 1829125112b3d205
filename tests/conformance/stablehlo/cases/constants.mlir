module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x8xf32>) -> (tensor<10xf32> {jax.result_info = "result[0][0]"}, tensor<10xf16> {jax.result_info = "result[0][1]"}, tensor<10xbf16> {jax.result_info = "result[0][2]"}, tensor<3xf8E4M3FN> {jax.result_info = "result[0][3]"}, tensor<3xf8E5M2> {jax.result_info = "result[0][4]"}, tensor<2x2xi4> {jax.result_info = "result[0][5]"}, tensor<2xui4> {jax.result_info = "result[0][6]"}, tensor<2x1xi8> {jax.result_info = "result[0][7]"}, tensor<2x1xui8> {jax.result_info = "result[0][8]"}, tensor<2x1xi16> {jax.result_info = "result[0][9]"}, tensor<2x1xui32> {jax.result_info = "result[0][10]"}, tensor<3xi1> {jax.result_info = "result[0][11]"}, tensor<2x2xi1> {jax.result_info = "result[0][12]"}, tensor<2x0x3xf32> {jax.result_info = "result[0][13]"}, tensor<3x4xf32> {jax.result_info = "result[0][14]"}, tensor<2xcomplex<f32>> {jax.result_info = "result[0][15]"}, tensor<2x2xcomplex<f32>> {jax.result_info = "result[0][16]"}, tensor<6x8xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<[0.000000e+00, -0.000000e+00, 1.500000e+00, 0x7F800000, 0xFF800000, 0x7FC00000, 3.14159274, 9.99999974E-6, -6.550400e+04, 4.480000e+02]> : tensor<10xf32>
    %cst_0 = stablehlo.constant dense<[0.000000e+00, -0.000000e+00, 1.500000e+00, 0x7C00, 0xFC00, 0x7E00, 3.140630e+00, 1.001360e-05, -6.550400e+04, 4.480000e+02]> : tensor<10xf16>
    %cst_1 = stablehlo.constant dense<[0.000000e+00, -0.000000e+00, 1.500000e+00, 0x7F80, 0xFF80, 0x7FC0, 3.140630e+00, 1.001360e-05, -6.553600e+04, 4.480000e+02]> : tensor<10xbf16>
    %cst_2 = stablehlo.constant dense<[1.500000e+00, -2.000000e+00, 5.000000e-01]> : tensor<3xf8E4M3FN>
    %cst_3 = stablehlo.constant dense<[1.500000e+00, -2.000000e+00, 5.000000e-01]> : tensor<3xf8E5M2>
    %c = stablehlo.constant dense<[[-8, 7], [0, 3]]> : tensor<2x2xi4>
    %c_4 = stablehlo.constant dense<[1, 15]> : tensor<2xui4>
    %c_5 = stablehlo.constant dense<[[127], [0]]> : tensor<2x1xi8>
    %c_6 = stablehlo.constant dense<[[255], [0]]> : tensor<2x1xui8>
    %c_7 = stablehlo.constant dense<[[32767], [0]]> : tensor<2x1xi16>
    %c_8 = stablehlo.constant dense<[[4294967295], [0]]> : tensor<2x1xui32>
    %c_9 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %c_10 = stablehlo.constant dense<true> : tensor<2x2xi1>
    %cst_11 = stablehlo.constant dense<> : tensor<2x0x3xf32>
    %cst_12 = stablehlo.constant dense<7.250000e+00> : tensor<3x4xf32>
    %cst_13 = stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<2xcomplex<f32>>
    %cst_14 = stablehlo.constant dense<[[(1.000000e+00,2.000000e+00), (-0.000000e+00,-5.000000e-01)], [(0x7F800000,0.000000e+00), (0x7FC00000,0.000000e+00)]]> : tensor<2x2xcomplex<f32>>
    %cst_15 = stablehlo.constant dense<[[0.000000e+00, 1.000000e+00, 8.000000e+00, 2.700000e+01, 6.400000e+01, 1.250000e+02, 2.160000e+02, 3.430000e+02], [5.120000e+02, 7.290000e+02, 1.000000e+03, 1.331000e+03, 1.728000e+03, 2.197000e+03, 2.744000e+03, 3.375000e+03], [4.096000e+03, 4.913000e+03, 5.832000e+03, 6.859000e+03, 8.000000e+03, 9.261000e+03, 1.064800e+04, 1.216700e+04], [1.382400e+04, 1.562500e+04, 1.757600e+04, 1.968300e+04, 2.195200e+04, 2.438900e+04, 2.700000e+04, 2.979100e+04], [3.276800e+04, 3.593700e+04, 3.930400e+04, 4.287500e+04, 4.665600e+04, 5.065300e+04, 5.487200e+04, 5.931900e+04], [6.400000e+04, 6.892100e+04, 7.408800e+04, 7.950700e+04, 8.518400e+04, 9.112500e+04, 9.733600e+04, 1.038230e+05]]> : tensor<6x8xf32>
    %0 = stablehlo.add %arg0, %cst_15 : tensor<6x8xf32>
    return %cst, %cst_0, %cst_1, %cst_2, %cst_3, %c, %c_4, %c_5, %c_6, %c_7, %c_8, %c_9, %c_10, %cst_11, %cst_12, %cst_13, %cst_14, %0 : tensor<10xf32>, tensor<10xf16>, tensor<10xbf16>, tensor<3xf8E4M3FN>, tensor<3xf8E5M2>, tensor<2x2xi4>, tensor<2xui4>, tensor<2x1xi8>, tensor<2x1xui8>, tensor<2x1xi16>, tensor<2x1xui32>, tensor<3xi1>, tensor<2x2xi1>, tensor<2x0x3xf32>, tensor<3x4xf32>, tensor<2xcomplex<f32>>, tensor<2x2xcomplex<f32>>, tensor<6x8xf32>
  }
}
