"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x2xf32>, tensor<2x2xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2x2xf32>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[1][0]"}, {jax.result_info = "result[1][1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg27: tensor<4x2xf32>, %arg28: tensor<2x2xf32>):
    %34 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %36 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %38 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %39:5 = "stablehlo.while"(%arg27, %arg28, %38, %35, %37) ({
    ^bb0(%arg74: tensor<4x2xf32>, %arg75: tensor<2x2xf32>, %arg76: tensor<i32>, %arg77: tensor<2xf32>, %arg78: tensor<4xf32>):
      %114 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %115 = "stablehlo.compare"(%arg76, %114) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%115) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg69: tensor<4x2xf32>, %arg70: tensor<2x2xf32>, %arg71: tensor<i32>, %arg72: tensor<2xf32>, %arg73: tensor<4xf32>):
      %109 = "func.call"(%arg69, %arg71) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %110:2 = "func.call"(%arg70, %arg72, %109) <{callee = @closed_call}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %111 = "func.call"(%arg73, %110#1, %arg71) <{callee = @dynamic_update_index_in_dim}> : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
      %112 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %113 = "stablehlo.add"(%arg71, %112) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg69, %arg70, %113, %110#0, %111) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4xf32>) -> ()
    }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4xf32>)
    %40 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %42 = "stablehlo.reshape"(%arg27) : (tensor<4x2xf32>) -> tensor<2x2x2xf32>
    %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2xf32>
    %45 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %46:5 = "stablehlo.while"(%42, %arg28, %45, %41, %44) ({
    ^bb0(%arg64: tensor<2x2x2xf32>, %arg65: tensor<2x2xf32>, %arg66: tensor<i32>, %arg67: tensor<2xf32>, %arg68: tensor<2x2xf32>):
      %107 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %108 = "stablehlo.compare"(%arg66, %107) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%108) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg59: tensor<2x2x2xf32>, %arg60: tensor<2x2xf32>, %arg61: tensor<i32>, %arg62: tensor<2xf32>, %arg63: tensor<2x2xf32>):
      %90 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %91 = "stablehlo.subtract"(%90, %arg61) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %92 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %93 = "stablehlo.subtract"(%91, %92) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %94 = "func.call"(%arg59, %93) <{callee = @dynamic_index_in_dim_0}> : (tensor<2x2x2xf32>, tensor<i32>) -> tensor<2x2xf32>
      %95 = "stablehlo.slice"(%94) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %96 = "stablehlo.reshape"(%95) : (tensor<1x2xf32>) -> tensor<2xf32>
      %97:2 = "func.call"(%arg60, %arg62, %96) <{callee = @closed_call}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %98 = "stablehlo.slice"(%94) <{limit_indices = array<i64: 1, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %99 = "stablehlo.reshape"(%98) : (tensor<1x2xf32>) -> tensor<2xf32>
      %100:2 = "func.call"(%arg60, %97#0, %99) <{callee = @closed_call}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %101 = "stablehlo.broadcast_in_dim"(%100#1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
      %102 = "stablehlo.broadcast_in_dim"(%97#1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
      %103 = "stablehlo.concatenate"(%101, %102) <{dimension = 0 : i64}> : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %104 = "func.call"(%arg63, %103, %93) <{callee = @dynamic_update_index_in_dim_1}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2x2xf32>
      %105 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %106 = "stablehlo.add"(%arg61, %105) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg59, %arg60, %106, %100#0, %104) : (tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>) -> ()
    }) : (tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>)
    %47 = "stablehlo.reshape"(%46#4) : (tensor<2x2xf32>) -> tensor<4xf32>
    %48 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %50 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2xf32>
    %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2xf32>
    %54 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2xf32>
    %56 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %57:7 = "stablehlo.while"(%arg27, %arg28, %56, %49, %51, %53, %55) ({
    ^bb0(%arg52: tensor<4x2xf32>, %arg53: tensor<2x2xf32>, %arg54: tensor<i32>, %arg55: tensor<2xf32>, %arg56: tensor<4x2xf32>, %arg57: tensor<4x2xf32>, %arg58: tensor<4x2xf32>):
      %88 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %89 = "stablehlo.compare"(%arg54, %88) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%89) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg45: tensor<4x2xf32>, %arg46: tensor<2x2xf32>, %arg47: tensor<i32>, %arg48: tensor<2xf32>, %arg49: tensor<4x2xf32>, %arg50: tensor<4x2xf32>, %arg51: tensor<4x2xf32>):
      %81 = "func.call"(%arg45, %arg47) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %82:4 = "func.call"(%arg46, %arg48, %81) <{callee = @closed_call_2}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
      %83 = "func.call"(%arg49, %82#1, %arg47) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %84 = "func.call"(%arg50, %82#2, %arg47) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %85 = "func.call"(%arg51, %82#3, %arg47) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %86 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %87 = "stablehlo.add"(%arg47, %86) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg45, %arg46, %87, %82#0, %83, %84, %85) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> ()
    }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
    %58 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.reduce"(%57#3, %58) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg43: tensor<f32>, %arg44: tensor<f32>):
      %80 = "stablehlo.add"(%arg43, %arg44) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%80) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %60 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %62 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2xf32>
    %66 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %67:7 = "stablehlo.while"(%57#4, %57#5, %57#6, %arg28, %66, %65, %63) ({
    ^bb0(%arg36: tensor<4x2xf32>, %arg37: tensor<4x2xf32>, %arg38: tensor<4x2xf32>, %arg39: tensor<2x2xf32>, %arg40: tensor<i32>, %arg41: tensor<2x2xf32>, %arg42: tensor<2xf32>):
      %78 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %79 = "stablehlo.compare"(%arg40, %78) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%79) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg29: tensor<4x2xf32>, %arg30: tensor<4x2xf32>, %arg31: tensor<4x2xf32>, %arg32: tensor<2x2xf32>, %arg33: tensor<i32>, %arg34: tensor<2x2xf32>, %arg35: tensor<2xf32>):
      %68 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %69 = "stablehlo.subtract"(%68, %arg33) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %70 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %71 = "stablehlo.subtract"(%69, %70) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %72 = "func.call"(%arg29, %71) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %73 = "func.call"(%arg30, %71) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %74 = "func.call"(%arg31, %71) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %75:2 = "func.call"(%arg32, %arg34, %arg35, %72, %73, %74) <{callee = @closed_call_4}> : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>)
      %76 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %77 = "stablehlo.add"(%arg33, %76) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg29, %arg30, %arg31, %arg32, %77, %75#0, %75#1) : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xf32>) -> ()
    }) : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xf32>)
    "func.return"(%39#3, %39#4, %46#3, %47, %67#5) : (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg25: tensor<4x2xf32>, %arg26: tensor<i32>):
    %31 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %32 = "stablehlo.dynamic_slice"(%arg25, %arg26, %31) <{slice_sizes = array<i64: 1, 2>}> : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %33 = "stablehlo.reshape"(%32) : (tensor<1x2xf32>) -> tensor<2xf32>
    "func.return"(%33) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<2x2xf32>, %arg21: tensor<2xf32>, %arg22: tensor<2xf32>):
    %25 = "stablehlo.dot_general"(%arg21, %arg20) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    %26 = "stablehlo.add"(%25, %arg22) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %27 = "stablehlo.tanh"(%26) : (tensor<2xf32>) -> tensor<2xf32>
    %28 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.reduce"(%arg21, %28) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %30 = "stablehlo.add"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%30) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%27, %29) : (tensor<2xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg17: tensor<4xf32>, %arg18: tensor<f32>, %arg19: tensor<i32>):
    %23 = "stablehlo.broadcast_in_dim"(%arg18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %24 = "stablehlo.dynamic_update_slice"(%arg17, %23, %arg19) : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    "func.return"(%24) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x2x2xf32>, tensor<i32>) -> tensor<2x2xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_0", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<2x2x2xf32>, %arg16: tensor<i32>):
    %19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %21 = "stablehlo.dynamic_slice"(%arg15, %arg16, %19, %20) <{slice_sizes = array<i64: 1, 2, 2>}> : (tensor<2x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %22 = "stablehlo.reshape"(%21) : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    "func.return"(%22) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2x2xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_1", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<2x2xf32>, %arg13: tensor<2xf32>, %arg14: tensor<i32>):
    %16 = "stablehlo.broadcast_in_dim"(%arg13) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1x2xf32>
    %17 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %18 = "stablehlo.dynamic_update_slice"(%arg12, %16, %arg14, %17) : (tensor<2x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    "func.return"(%18) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), res_attrs = [{}, {}, {}, {}], sym_name = "closed_call_2", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<2x2xf32>, %arg10: tensor<2xf32>, %arg11: tensor<2xf32>):
    %10 = "stablehlo.dot_general"(%arg10, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    %11 = "stablehlo.add"(%10, %arg11) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %12 = "stablehlo.tanh"(%11) : (tensor<2xf32>) -> tensor<2xf32>
    %13 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %15 = "stablehlo.subtract"(%14, %12) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%12, %arg10, %12, %15) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_3", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<4x2xf32>, %arg7: tensor<2xf32>, %arg8: tensor<i32>):
    %7 = "stablehlo.broadcast_in_dim"(%arg7) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1x2xf32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.dynamic_update_slice"(%arg6, %7, %arg8, %8) : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    "func.return"(%9) : (tensor<4x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>), res_attrs = [{}, {}], sym_name = "closed_call_4", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>, %arg5: tensor<2xf32>):
    %0 = "stablehlo.multiply"(%arg2, %arg5) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.multiply"(%0, %arg4) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %3 = "stablehlo.dot_general"(%2, %arg3) <{dot_dimension_numbers = #stablehlo.dot<>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %4 = "stablehlo.transpose"(%3) <{permutation = array<i64: 1, 0>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %5 = "stablehlo.add"(%arg1, %4) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %6 = "stablehlo.dot_general"(%2, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    "func.return"(%5, %6) : (tensor<2x2xf32>, tensor<2xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
