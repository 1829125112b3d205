"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xcomplex<f32>>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[0][2]"}, {jax.result_info = "result[0][3]"}, {jax.result_info = "result[0][4]"}, {jax.result_info = "result[0][5]"}, {jax.result_info = "result[0][6]"}, {jax.result_info = "result[0][7]"}, {jax.result_info = "result[0][8]"}, {jax.result_info = "result[0][9]"}, {jax.result_info = "result[0][10]"}, {jax.result_info = "result[0][11]"}, {jax.result_info = "result[0][12]"}, {jax.result_info = "result[0][13]"}, {jax.result_info = "result[0][14]"}, {jax.result_info = "result[0][15]"}, {jax.result_info = "result[0][16]"}, {jax.result_info = "result[0][17]"}, {jax.result_info = "result[1][0]"}, {jax.result_info = "result[1][1]"}, {jax.result_info = "result[1][2]"}, {jax.result_info = "result[1][3]"}, {jax.result_info = "result[1][4]"}, {jax.result_info = "result[1][5]"}, {jax.result_info = "result[1][6]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi1>, %arg3: tensor<4xcomplex<f32>>):
    %0 = "stablehlo.convert"(%arg0) : (tensor<4xf32>) -> tensor<4xi32>
    %1 = "stablehlo.convert"(%arg1) : (tensor<4xf32>) -> tensor<4xui8>
    %2 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %3 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %4 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %5 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %6 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %7 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %8 = "stablehlo.reverse"(%0) <{dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4xi32>
    %9 = "stablehlo.compare"(%0, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %10 = "stablehlo.reverse"(%0) <{dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4xi32>
    %11 = "stablehlo.compare"(%0, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %12 = "stablehlo.reverse"(%0) <{dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4xi32>
    %13 = "stablehlo.compare"(%0, %12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %14 = "stablehlo.reverse"(%0) <{dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4xi32>
    %15 = "stablehlo.compare"(%0, %14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %16 = "stablehlo.reverse"(%0) <{dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4xi32>
    %17 = "stablehlo.compare"(%0, %16) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %18 = "stablehlo.reverse"(%0) <{dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4xi32>
    %19 = "stablehlo.compare"(%0, %18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %20 = "stablehlo.reverse"(%1) <{dimensions = array<i64: 0>}> : (tensor<4xui8>) -> tensor<4xui8>
    %21 = "stablehlo.compare"(%1, %20) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %22 = "stablehlo.reverse"(%1) <{dimensions = array<i64: 0>}> : (tensor<4xui8>) -> tensor<4xui8>
    %23 = "stablehlo.compare"(%1, %22) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %24 = "stablehlo.reverse"(%1) <{dimensions = array<i64: 0>}> : (tensor<4xui8>) -> tensor<4xui8>
    %25 = "stablehlo.compare"(%1, %24) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %26 = "stablehlo.reverse"(%1) <{dimensions = array<i64: 0>}> : (tensor<4xui8>) -> tensor<4xui8>
    %27 = "stablehlo.compare"(%1, %26) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %28 = "stablehlo.reverse"(%1) <{dimensions = array<i64: 0>}> : (tensor<4xui8>) -> tensor<4xui8>
    %29 = "stablehlo.compare"(%1, %28) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %30 = "stablehlo.reverse"(%1) <{dimensions = array<i64: 0>}> : (tensor<4xui8>) -> tensor<4xui8>
    %31 = "stablehlo.compare"(%1, %30) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %32 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %33 = "stablehlo.and"(%arg2, %32) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %34 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %35 = "stablehlo.or"(%arg2, %34) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %36 = "stablehlo.compare"(%arg0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %37 = "stablehlo.xor"(%arg2, %36) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %38 = "stablehlo.not"(%arg2) : (tensor<4xi1>) -> tensor<4xi1>
    %39 = "stablehlo.not"(%arg2) : (tensor<4xi1>) -> tensor<4xi1>
    %40 = "stablehlo.compare"(%arg2, %39) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %41 = "stablehlo.reverse"(%arg3) <{dimensions = array<i64: 0>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %42 = "stablehlo.compare"(%arg3, %41) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
    %43 = "stablehlo.compare"(%arg3, %arg3) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
    "func.return"(%2, %3, %4, %5, %6, %7, %9, %11, %13, %15, %17, %19, %21, %23, %25, %27, %29, %31, %33, %35, %37, %38, %40, %42, %43) : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
