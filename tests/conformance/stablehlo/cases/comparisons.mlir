module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi1>, %arg3: tensor<4xcomplex<f32>>) -> (tensor<4xi1> {jax.result_info = "result[0][0]"}, tensor<4xi1> {jax.result_info = "result[0][1]"}, tensor<4xi1> {jax.result_info = "result[0][2]"}, tensor<4xi1> {jax.result_info = "result[0][3]"}, tensor<4xi1> {jax.result_info = "result[0][4]"}, tensor<4xi1> {jax.result_info = "result[0][5]"}, tensor<4xi1> {jax.result_info = "result[0][6]"}, tensor<4xi1> {jax.result_info = "result[0][7]"}, tensor<4xi1> {jax.result_info = "result[0][8]"}, tensor<4xi1> {jax.result_info = "result[0][9]"}, tensor<4xi1> {jax.result_info = "result[0][10]"}, tensor<4xi1> {jax.result_info = "result[0][11]"}, tensor<4xi1> {jax.result_info = "result[0][12]"}, tensor<4xi1> {jax.result_info = "result[0][13]"}, tensor<4xi1> {jax.result_info = "result[0][14]"}, tensor<4xi1> {jax.result_info = "result[0][15]"}, tensor<4xi1> {jax.result_info = "result[0][16]"}, tensor<4xi1> {jax.result_info = "result[0][17]"}, tensor<4xi1> {jax.result_info = "result[1][0]"}, tensor<4xi1> {jax.result_info = "result[1][1]"}, tensor<4xi1> {jax.result_info = "result[1][2]"}, tensor<4xi1> {jax.result_info = "result[1][3]"}, tensor<4xi1> {jax.result_info = "result[1][4]"}, tensor<4xi1> {jax.result_info = "result[1][5]"}, tensor<4xi1> {jax.result_info = "result[1][6]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi32>
    %1 = stablehlo.convert %arg1 : (tensor<4xf32>) -> tensor<4xui8>
    %2 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %3 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %4 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %5 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %6 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %7 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %8 = stablehlo.reverse %0, dims = [0] : tensor<4xi32>
    %9 = stablehlo.compare EQ, %0, %8, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %10 = stablehlo.reverse %0, dims = [0] : tensor<4xi32>
    %11 = stablehlo.compare NE, %0, %10, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %12 = stablehlo.reverse %0, dims = [0] : tensor<4xi32>
    %13 = stablehlo.compare LT, %0, %12, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %14 = stablehlo.reverse %0, dims = [0] : tensor<4xi32>
    %15 = stablehlo.compare LE, %0, %14, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %16 = stablehlo.reverse %0, dims = [0] : tensor<4xi32>
    %17 = stablehlo.compare GT, %0, %16, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %18 = stablehlo.reverse %0, dims = [0] : tensor<4xi32>
    %19 = stablehlo.compare GE, %0, %18, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %20 = stablehlo.reverse %1, dims = [0] : tensor<4xui8>
    %21 = stablehlo.compare EQ, %1, %20, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %22 = stablehlo.reverse %1, dims = [0] : tensor<4xui8>
    %23 = stablehlo.compare NE, %1, %22, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %24 = stablehlo.reverse %1, dims = [0] : tensor<4xui8>
    %25 = stablehlo.compare LT, %1, %24, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %26 = stablehlo.reverse %1, dims = [0] : tensor<4xui8>
    %27 = stablehlo.compare LE, %1, %26, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %28 = stablehlo.reverse %1, dims = [0] : tensor<4xui8>
    %29 = stablehlo.compare GT, %1, %28, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %30 = stablehlo.reverse %1, dims = [0] : tensor<4xui8>
    %31 = stablehlo.compare GE, %1, %30, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %32 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %33 = stablehlo.and %arg2, %32 : tensor<4xi1>
    %34 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %35 = stablehlo.or %arg2, %34 : tensor<4xi1>
    %36 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %37 = stablehlo.xor %arg2, %36 : tensor<4xi1>
    %38 = stablehlo.not %arg2 : tensor<4xi1>
    %39 = stablehlo.not %arg2 : tensor<4xi1>
    %40 = stablehlo.compare EQ, %arg2, %39, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %41 = stablehlo.reverse %arg3, dims = [0] : tensor<4xcomplex<f32>>
    %42 = stablehlo.compare EQ, %arg3, %41, FLOAT : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
    %43 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
    return %2, %3, %4, %5, %6, %7, %9, %11, %13, %15, %17, %19, %21, %23, %25, %27, %29, %31, %33, %35, %37, %38, %40, %42, %43 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
  }
}
