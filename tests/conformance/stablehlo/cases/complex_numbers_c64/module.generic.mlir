"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xf32>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[0][2]"}, {jax.result_info = "result[0][3]"}, {jax.result_info = "result[0][4]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3xcomplex<f32>>, %arg1: tensor<3xcomplex<f32>>):
    %0 = "stablehlo.constant"() <{value = dense<[(0.000000e+00,1.000000e+00), (2.500000e+00,0.000000e+00), (2.500000e-01,-1.000000e-03)]> : tensor<3xcomplex<f32>>}> : () -> tensor<3xcomplex<f32>>
    %1 = "stablehlo.real"(%arg0) : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %2 = "stablehlo.imag"(%arg0) : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %3 = "stablehlo.real"(%arg0) : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %4 = "stablehlo.imag"(%arg1) : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %5 = "stablehlo.complex"(%3, %4) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xcomplex<f32>>
    %6 = "stablehlo.real"(%arg0) : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %7 = "stablehlo.imag"(%arg0) : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %8 = "stablehlo.negate"(%7) : (tensor<3xf32>) -> tensor<3xf32>
    %9 = "stablehlo.complex"(%6, %8) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xcomplex<f32>>
    %10 = "stablehlo.abs"(%arg0) : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %11 = "stablehlo.multiply"(%arg0, %arg1) : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    %12 = "stablehlo.constant"() <{value = dense<(2.000000e+00,-3.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
    %14 = "stablehlo.add"(%11, %13) : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    %15 = "stablehlo.divide"(%arg0, %arg1) : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    %16 = "stablehlo.exponential"(%arg0) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    %17 = "stablehlo.sqrt"(%arg1) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    %18 = "stablehlo.multiply"(%arg0, %0) : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    "func.return"(%1, %2, %5, %9, %10, %14, %15, %16, %17, %18) : (tensor<3xf32>, tensor<3xf32>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xf32>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
