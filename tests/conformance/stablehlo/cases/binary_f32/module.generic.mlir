"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<3x2xf32>, %arg4: tensor<3x2xf32>):
    %3 = "stablehlo.add"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %4 = "stablehlo.subtract"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %5 = "stablehlo.multiply"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %6 = "stablehlo.divide"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %7 = "stablehlo.remainder"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %8 = "stablehlo.power"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %9 = "stablehlo.atan2"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %10 = "stablehlo.maximum"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %11 = "stablehlo.minimum"(%arg3, %arg4) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %12 = "stablehlo.clamp"(%arg3, %arg4, %arg3) : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %13 = "stablehlo.compare"(%arg3, %arg4) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %14 = "stablehlo.select"(%13, %arg3, %arg4) : (tensor<3x2xi1>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %15 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x2xf32>
    %17 = "stablehlo.compare"(%arg4, %16) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %18 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %19 = "func.call"(%17, %arg3, %18) <{callee = @_where}> : (tensor<3x2xi1>, tensor<3x2xf32>, tensor<i32>) -> tensor<3x2xf32>
    "func.return"(%3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %14, %19) : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x2xi1>, tensor<3x2xf32>, tensor<i32>) -> tensor<3x2xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x2xi1>, %arg1: tensor<3x2xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x2xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<3x2xi1>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    "func.return"(%2) : (tensor<3x2xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
