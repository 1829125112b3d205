module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xbf16>, %arg1: tensor<4x4xbf16>, %arg2: tensor<4x4xbf16>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x4xbf16> {jax.result_info = "result[1][0]"}, tensor<4x4xbf16> {jax.result_info = "result[1][1]"}, tensor<4x4xbf16> {jax.result_info = "result[1][2]"}) {
    %c = stablehlo.constant dense<[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]> : tensor<4x4xi1>
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<4x4xbf16>
    %3 = stablehlo.divide %1, %2 : tensor<4x4xbf16>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4:2 = call @_where(%c, %3, %cst_0) : (tensor<4x4xi1>, tensor<4x4xbf16>, tensor<f32>) -> (tensor<4x4xbf16>, tensor<4x4xbf16>)
    %5 = stablehlo.convert %4#0 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %7 = stablehlo.reshape %6 : (tensor<4xf32>) -> tensor<4x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %9 = stablehlo.compare EQ, %5, %8, FLOAT : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
    %10 = stablehlo.convert %9 : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %13 = stablehlo.maximum %12, %6 : tensor<4xf32>
    %14 = stablehlo.compare EQ, %6, %13, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %17 = stablehlo.select %14, %15, %16 : tensor<4xi1>, tensor<4xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %19 = stablehlo.compare EQ, %18, %13, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %22 = stablehlo.select %19, %20, %21 : tensor<4xi1>, tensor<4xf32>
    %23 = stablehlo.divide %17, %22 : tensor<4xf32>
    %24 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %26 = stablehlo.subtract %5, %25 : tensor<4x4xf32>
    %27 = stablehlo.exponential %26 : tensor<4x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %31 = stablehlo.divide %27, %30 : tensor<4x4xf32>
    %32 = stablehlo.multiply %29, %29 : tensor<4x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %34 = stablehlo.divide %33, %32 : tensor<4x1xf32>
    %35 = stablehlo.convert %31 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    %36 = stablehlo.dot_general %35, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %37 = stablehlo.convert %36 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %40 = stablehlo.convert %39 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    %41 = stablehlo.dot_general %40, %35, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %42 = stablehlo.transpose %41, dims = [1, 0] : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %43 = stablehlo.dot_general %40, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %44 = stablehlo.convert %43 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
    %45 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<4x4xf32>
    %47 = stablehlo.multiply %46, %27 : tensor<4x4xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %49 = stablehlo.reshape %48 : (tensor<4xf32>) -> tensor<4x1xf32>
    %50 = stablehlo.negate %49 : tensor<4x1xf32>
    %51 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %52 = stablehlo.divide %44, %51 : tensor<4x4xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%50 init: %cst_14) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
    %55 = stablehlo.add %52, %54 : tensor<4x4xf32>
    %56 = stablehlo.multiply %55, %27 : tensor<4x4xf32>
    %57 = stablehlo.convert %56 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    %58 = call @_where_0(%c, %4#1, %57) : (tensor<4x4xi1>, tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %cst_15 = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %59 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<bf16>) -> tensor<4x4xbf16>
    %60 = stablehlo.divide %58, %59 : tensor<4x4xbf16>
    %61 = stablehlo.dot_general %60, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %62 = stablehlo.transpose %61, dims = [1, 0] : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %63 = stablehlo.dot_general %60, %0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %64 = stablehlo.transpose %62, dims = [1, 0] : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
    return %38, %63, %64, %42 : tensor<f32>, tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>
  }
  func.func private @_where(%arg0: tensor<4x4xi1>, %arg1: tensor<4x4xbf16>, %arg2: tensor<f32>) -> (tensor<4x4xbf16>, tensor<4x4xbf16>) {
    %0 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<4x4xbf16>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<4x4xi1>, tensor<4x4xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<4x4xbf16>
    return %2, %3 : tensor<4x4xbf16>, tensor<4x4xbf16>
  }
  func.func private @_where_0(%arg0: tensor<4x4xi1>, %arg1: tensor<4x4xbf16>, %arg2: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<4x4xbf16>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<4x4xi1>, tensor<4x4xbf16>
    return %1 : tensor<4x4xbf16>
  }
}
