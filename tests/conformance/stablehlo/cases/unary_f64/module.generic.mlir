"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi1>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13]"}, {jax.result_info = "result[14]"}, {jax.result_info = "result[15]"}, {jax.result_info = "result[16]"}, {jax.result_info = "result[17]"}, {jax.result_info = "result[18]"}, {jax.result_info = "result[19]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x3xf64>):
    %0 = "stablehlo.abs"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %1 = "stablehlo.negate"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %2 = "stablehlo.sign"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %3 = "stablehlo.ceil"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %4 = "stablehlo.floor"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %5 = "stablehlo.round_nearest_afz"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %6 = "stablehlo.round_nearest_even"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %7 = "stablehlo.exponential"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %8 = "stablehlo.exponential_minus_one"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %9 = "stablehlo.log"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %10 = "stablehlo.log_plus_one"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %11 = "stablehlo.tanh"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %12 = "stablehlo.sine"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %13 = "stablehlo.cosine"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %14 = "stablehlo.tan"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %15 = "stablehlo.sqrt"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %16 = "stablehlo.rsqrt"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %17 = "stablehlo.cbrt"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %18 = "stablehlo.negate"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %19 = "stablehlo.exponential"(%18) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %20 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2x3xf64>
    %22 = "stablehlo.add"(%21, %19) : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
    %23 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2x3xf64>
    %25 = "stablehlo.divide"(%24, %22) : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
    %26 = "stablehlo.is_finite"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xi1>
    "func.return"(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %25, %26) : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi1>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
