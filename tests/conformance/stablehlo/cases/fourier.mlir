module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x6xf32>) -> (tensor<3x6xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<3x6xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<3x4xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<3x4xf32> {jax.result_info = "result[3]"}, tensor<3x6xf32> {jax.result_info = "result[4]"}) {
    %0 = call @fft(%arg0) : (tensor<3x6xf32>) -> tensor<3x6xcomplex<f32>>
    %1 = call @fft_0(%0) : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    %2 = call @fft_1(%arg0) : (tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>>
    %3 = stablehlo.slice %0 [0:3, 0:3] : (tensor<3x6xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = call @_pad(%3, %c) : (tensor<3x3xcomplex<f32>>, tensor<i32>) -> tensor<3x3xcomplex<f32>>
    %5 = call @fft_2(%4) : (tensor<3x3xcomplex<f32>>) -> tensor<3x4xf32>
    %6 = call @_roll_static(%arg0) : (tensor<3x6xf32>) -> tensor<3x6xf32>
    return %0, %1, %2, %5, %6 : tensor<3x6xcomplex<f32>>, tensor<3x6xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<3x4xf32>, tensor<3x6xf32>
  }
  func.func private @fft(%arg0: tensor<3x6xf32>) -> tensor<3x6xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<3x6xf32>) -> tensor<3x6xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [6] : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    return %1 : tensor<3x6xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [6] : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    return %0 : tensor<3x6xcomplex<f32>>
  }
  func.func private @fft_1(%arg0: tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [3, 6] : (tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>>
    return %0 : tensor<3x4xcomplex<f32>>
  }
  func.func private @_pad(%arg0: tensor<3x3xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<3x3xcomplex<f32>> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<3x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    return %1 : tensor<3x3xcomplex<f32>>
  }
  func.func private @fft_2(%arg0: tensor<3x3xcomplex<f32>>) -> tensor<3x4xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [4] : (tensor<3x3xcomplex<f32>>) -> tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
  func.func private @_roll_static(%arg0: tensor<3x6xf32>) -> tensor<3x6xf32> {
    %0 = stablehlo.slice %arg0 [2:3, 0:6] : (tensor<3x6xf32>) -> tensor<1x6xf32>
    %1 = stablehlo.slice %arg0 [0:2, 0:6] : (tensor<3x6xf32>) -> tensor<2x6xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x6xf32>, tensor<2x6xf32>) -> tensor<3x6xf32>
    %3 = stablehlo.slice %2 [0:3, 3:6] : (tensor<3x6xf32>) -> tensor<3x3xf32>
    %4 = stablehlo.slice %2 [0:3, 0:3] : (tensor<3x6xf32>) -> tensor<3x3xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x6xf32>
    return %5 : tensor<3x6xf32>
  }
}
