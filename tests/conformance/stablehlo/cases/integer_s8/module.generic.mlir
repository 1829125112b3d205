"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6xi8>, tensor<6xi8>) -> (tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13]"}, {jax.result_info = "result[14]"}, {jax.result_info = "result[15]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<6xi8>, %arg1: tensor<6xi8>):
    %0 = "stablehlo.add"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %1 = "stablehlo.subtract"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %2 = "stablehlo.multiply"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %3 = "stablehlo.divide"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %4 = "stablehlo.remainder"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %5 = "stablehlo.maximum"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %6 = "stablehlo.and"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %7 = "stablehlo.or"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %8 = "stablehlo.xor"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %9 = "stablehlo.shift_left"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %10 = "stablehlo.shift_right_arithmetic"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %11 = "stablehlo.shift_right_logical"(%arg0, %arg1) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %12 = "stablehlo.not"(%arg0) : (tensor<6xi8>) -> tensor<6xi8>
    %13 = "stablehlo.count_leading_zeros"(%arg0) : (tensor<6xi8>) -> tensor<6xi8>
    %14 = "stablehlo.popcnt"(%arg0) : (tensor<6xi8>) -> tensor<6xi8>
    %15 = "stablehlo.multiply"(%arg0, %arg0) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    %16 = "stablehlo.multiply"(%15, %arg0) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
    "func.return"(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %16) : (tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
