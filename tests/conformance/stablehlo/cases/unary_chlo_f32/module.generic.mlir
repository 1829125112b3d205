"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13]"}, {jax.result_info = "result[14]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<5xf32>):
    %0 = "chlo.acos"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %1 = "chlo.asin"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %2 = "chlo.atan"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
    %5 = "stablehlo.add"(%arg0, %4) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %6 = "chlo.acosh"(%5) : (tensor<5xf32>) -> tensor<5xf32>
    %7 = "chlo.asinh"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %8 = "chlo.atanh"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %9 = "chlo.erf_inv"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %10 = "chlo.sinh"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %11 = "chlo.cosh"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %12 = "chlo.erf"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %13 = "chlo.erfc"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %14 = "chlo.lgamma"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %15 = "chlo.digamma"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %16 = "chlo.bessel_i1e"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    %17 = "chlo.square"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    "func.return"(%0, %1, %2, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17) : (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
