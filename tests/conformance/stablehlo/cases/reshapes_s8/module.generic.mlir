"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x3x4xi8>) -> (tensor<6x4xi8>, tensor<4x2x3xi8>, tensor<5x2x3x4xi8>, tensor<2x3xi8>, tensor<2x3x4xi8>, tensor<2x7x4xi8>, tensor<2x0x4xi8>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x3x4xi8>):
    %0 = "stablehlo.reshape"(%arg0) : (tensor<2x3x4xi8>) -> tensor<6x4xi8>
    %1 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
    %2 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<2x3x4xi8>) -> tensor<5x2x3x4xi8>
    %3 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi8>
    %4 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: 0, 2>}> : (tensor<2x3x4xi8>) -> tensor<2x3x4xi8>
    %5 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<2x3x4xi8>) -> tensor<2x1x4xi8>
    %6 = "stablehlo.negate"(%arg0) : (tensor<2x3x4xi8>) -> tensor<2x3x4xi8>
    %7 = "stablehlo.concatenate"(%arg0, %5, %6) <{dimension = 1 : i64}> : (tensor<2x3x4xi8>, tensor<2x1x4xi8>, tensor<2x3x4xi8>) -> tensor<2x7x4xi8>
    %8 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2, 0, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<2x3x4xi8>) -> tensor<2x0x4xi8>
    "func.return"(%0, %1, %2, %3, %4, %7, %8) : (tensor<6x4xi8>, tensor<4x2x3xi8>, tensor<5x2x3x4xi8>, tensor<2x3xi8>, tensor<2x3x4xi8>, tensor<2x7x4xi8>, tensor<2x0x4xi8>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
