"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x2xbf16>, tensor<3x2xbf16>) -> (tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<3x2xbf16>, %arg4: tensor<3x2xbf16>):
    %3 = "stablehlo.add"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %4 = "stablehlo.subtract"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %5 = "stablehlo.multiply"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %6 = "stablehlo.divide"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %7 = "stablehlo.remainder"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %8 = "stablehlo.power"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %9 = "stablehlo.atan2"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %10 = "stablehlo.maximum"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %11 = "stablehlo.minimum"(%arg3, %arg4) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %12 = "stablehlo.clamp"(%arg3, %arg4, %arg3) : (tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %13 = "stablehlo.compare"(%arg3, %arg4) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xi1>
    %14 = "stablehlo.select"(%13, %arg3, %arg4) : (tensor<3x2xi1>, tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    %15 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<3x2xbf16>
    %17 = "stablehlo.compare"(%arg4, %16) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xi1>
    %18 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %19 = "func.call"(%17, %arg3, %18) <{callee = @_where}> : (tensor<3x2xi1>, tensor<3x2xbf16>, tensor<i32>) -> tensor<3x2xbf16>
    "func.return"(%3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %14, %19) : (tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x2xi1>, tensor<3x2xbf16>, tensor<i32>) -> tensor<3x2xbf16>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x2xi1>, %arg1: tensor<3x2xbf16>, %arg2: tensor<i32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<bf16>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<3x2xbf16>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<3x2xi1>, tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
    "func.return"(%2) : (tensor<3x2xbf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
