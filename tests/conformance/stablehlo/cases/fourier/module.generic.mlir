"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x6xf32>) -> (tensor<3x6xcomplex<f32>>, tensor<3x6xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<3x4xf32>, tensor<3x6xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<3x6xf32>):
    %13 = "func.call"(%arg7) <{callee = @fft}> : (tensor<3x6xf32>) -> tensor<3x6xcomplex<f32>>
    %14 = "func.call"(%13) <{callee = @fft_0}> : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    %15 = "func.call"(%arg7) <{callee = @fft_1}> : (tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>>
    %16 = "stablehlo.slice"(%13) <{limit_indices = array<i64: 3, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x6xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %17 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %18 = "func.call"(%16, %17) <{callee = @_pad}> : (tensor<3x3xcomplex<f32>>, tensor<i32>) -> tensor<3x3xcomplex<f32>>
    %19 = "func.call"(%18) <{callee = @fft_2}> : (tensor<3x3xcomplex<f32>>) -> tensor<3x4xf32>
    %20 = "func.call"(%arg7) <{callee = @_roll_static}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
    "func.return"(%13, %14, %15, %19, %20) : (tensor<3x6xcomplex<f32>>, tensor<3x6xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<3x4xf32>, tensor<3x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x6xf32>) -> tensor<3x6xcomplex<f32>>, res_attrs = [{}], sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<3x6xf32>):
    %11 = "stablehlo.convert"(%arg6) : (tensor<3x6xf32>) -> tensor<3x6xcomplex<f32>>
    %12 = "stablehlo.fft"(%11) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    "func.return"(%12) : (tensor<3x6xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>, res_attrs = [{}], sym_name = "fft_0", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<3x6xcomplex<f32>>):
    %10 = "stablehlo.fft"(%arg5) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    "func.return"(%10) : (tensor<3x6xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>>, res_attrs = [{}], sym_name = "fft_1", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<3x6xf32>):
    %9 = "stablehlo.fft"(%arg4) <{fft_length = array<i64: 3, 6>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>>
    "func.return"(%9) : (tensor<3x4xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x3xcomplex<f32>>, tensor<i32>) -> tensor<3x3xcomplex<f32>>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<3x3xcomplex<f32>>, %arg3: tensor<i32>):
    %7 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<complex<f32>>
    %8 = "stablehlo.pad"(%arg2, %7) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<3x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    "func.return"(%8) : (tensor<3x3xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x3xcomplex<f32>>) -> tensor<3x4xf32>, res_attrs = [{}], sym_name = "fft_2", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<3x3xcomplex<f32>>):
    %6 = "stablehlo.fft"(%arg1) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<3x3xcomplex<f32>>) -> tensor<3x4xf32>
    "func.return"(%6) : (tensor<3x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x6xf32>) -> tensor<3x6xf32>, res_attrs = [{}], sym_name = "_roll_static", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x6xf32>):
    %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 3, 6>, start_indices = array<i64: 2, 0>, strides = array<i64: 1, 1>}> : (tensor<3x6xf32>) -> tensor<1x6xf32>
    %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x6xf32>) -> tensor<2x6xf32>
    %2 = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<1x6xf32>, tensor<2x6xf32>) -> tensor<3x6xf32>
    %3 = "stablehlo.slice"(%2) <{limit_indices = array<i64: 3, 6>, start_indices = array<i64: 0, 3>, strides = array<i64: 1, 1>}> : (tensor<3x6xf32>) -> tensor<3x3xf32>
    %4 = "stablehlo.slice"(%2) <{limit_indices = array<i64: 3, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x6xf32>) -> tensor<3x3xf32>
    %5 = "stablehlo.concatenate"(%3, %4) <{dimension = 1 : i64}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x6xf32>
    "func.return"(%5) : (tensor<3x6xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
