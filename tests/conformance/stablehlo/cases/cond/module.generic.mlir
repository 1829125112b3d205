"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<i32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<3xf32>):
    %0 = "stablehlo.convert"(%arg0) : (tensor<i1>) -> tensor<i32>
    %1:2 = "stablehlo.case"(%0) ({
      %36 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %38 = "stablehlo.multiply"(%arg2, %37) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %39 = "stablehlo.slice"(%arg2) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<3xf32>) -> tensor<1xf32>
      %40 = "stablehlo.reshape"(%39) : (tensor<1xf32>) -> tensor<f32>
      "stablehlo.return"(%38, %40) : (tensor<3xf32>, tensor<f32>) -> ()
    }, {
      %30 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %32 = "stablehlo.add"(%arg2, %31) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %33 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %34 = "stablehlo.reduce"(%arg2, %33) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
        %35 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%35) : (tensor<f32>) -> ()
      }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%32, %34) : (tensor<3xf32>, tensor<f32>) -> ()
    }) : (tensor<i32>) -> (tensor<3xf32>, tensor<f32>)
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.clamp"(%2, %arg1, %3) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.case"(%4) ({
      %29 = "stablehlo.sine"(%arg2) : (tensor<3xf32>) -> tensor<3xf32>
      "stablehlo.return"(%29) : (tensor<3xf32>) -> ()
    }, {
      %28 = "stablehlo.cosine"(%arg2) : (tensor<3xf32>) -> tensor<3xf32>
      "stablehlo.return"(%28) : (tensor<3xf32>) -> ()
    }, {
      %24 = "stablehlo.convert"(%arg0) : (tensor<i1>) -> tensor<i32>
      %25 = "stablehlo.case"(%24) ({
        %27 = "stablehlo.negate"(%arg2) : (tensor<3xf32>) -> tensor<3xf32>
        "stablehlo.return"(%27) : (tensor<3xf32>) -> ()
      }, {
        %26 = "stablehlo.exponential"(%arg2) : (tensor<3xf32>) -> tensor<3xf32>
        "stablehlo.return"(%26) : (tensor<3xf32>) -> ()
      }) : (tensor<i32>) -> tensor<3xf32>
      "stablehlo.return"(%25) : (tensor<3xf32>) -> ()
    }) : (tensor<i32>) -> tensor<3xf32>
    %6 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %8 = "stablehlo.compare"(%arg2, %7) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %9 = "stablehlo.convert"(%8) : (tensor<3xi1>) -> tensor<3xi32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %12 = "stablehlo.compare"(%9, %11) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %13 = "stablehlo.select"(%12, %arg2, %arg2) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %14 = "stablehlo.cosine"(%13) : (tensor<3xf32>) -> tensor<3xf32>
    %15 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %17 = "stablehlo.compare"(%9, %16) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %18 = "stablehlo.select"(%17, %arg2, %arg2) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %19 = "stablehlo.sine"(%18) : (tensor<3xf32>) -> tensor<3xf32>
    %20 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %22 = "stablehlo.compare"(%9, %21) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %23 = "stablehlo.select"(%22, %14, %19) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%1#0, %1#1, %5, %23) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
