"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x2xf32>, tensor<2x2xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2x2xf32>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[1][0]"}, {jax.result_info = "result[1][1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg27: tensor<4x2xf32>, %arg28: tensor<2x2xf32>):
    %33 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %34 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %35 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %36 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %37 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %40 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %41:5 = "stablehlo.while"(%arg27, %arg28, %36, %39, %40) ({
    ^bb0(%arg72: tensor<4x2xf32>, %arg73: tensor<2x2xf32>, %arg74: tensor<i32>, %arg75: tensor<2xf32>, %arg76: tensor<4xf32>):
      %89 = "stablehlo.compare"(%arg74, %35) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%89) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg67: tensor<4x2xf32>, %arg68: tensor<2x2xf32>, %arg69: tensor<i32>, %arg70: tensor<2xf32>, %arg71: tensor<4xf32>):
      %85 = "func.call"(%arg67, %arg69) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %86:2 = "func.call"(%arg68, %arg70, %85) <{callee = @closed_call}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %87 = "func.call"(%arg71, %86#1, %arg69) <{callee = @dynamic_update_index_in_dim}> : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
      %88 = "stablehlo.add"(%arg69, %34) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg67, %arg68, %88, %86#0, %87) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4xf32>) -> ()
    }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4xf32>)
    %42 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %43 = "stablehlo.reshape"(%arg27) : (tensor<4x2xf32>) -> tensor<2x2x2xf32>
    %44 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2xf32>
    %45:5 = "stablehlo.while"(%43, %arg28, %36, %42, %44) ({
    ^bb0(%arg62: tensor<2x2x2xf32>, %arg63: tensor<2x2xf32>, %arg64: tensor<i32>, %arg65: tensor<2xf32>, %arg66: tensor<2x2xf32>):
      %84 = "stablehlo.compare"(%arg64, %33) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%84) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg57: tensor<2x2x2xf32>, %arg58: tensor<2x2xf32>, %arg59: tensor<i32>, %arg60: tensor<2xf32>, %arg61: tensor<2x2xf32>):
      %70 = "stablehlo.subtract"(%33, %arg59) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %71 = "stablehlo.subtract"(%70, %34) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %72 = "func.call"(%arg57, %71) <{callee = @dynamic_index_in_dim_0}> : (tensor<2x2x2xf32>, tensor<i32>) -> tensor<2x2xf32>
      %73 = "stablehlo.slice"(%72) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %74 = "stablehlo.reshape"(%73) : (tensor<1x2xf32>) -> tensor<2xf32>
      %75:2 = "func.call"(%arg58, %arg60, %74) <{callee = @closed_call}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %76 = "stablehlo.slice"(%72) <{limit_indices = array<i64: 1, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %77 = "stablehlo.reshape"(%76) : (tensor<1x2xf32>) -> tensor<2xf32>
      %78:2 = "func.call"(%arg58, %75#0, %77) <{callee = @closed_call}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %79 = "stablehlo.broadcast_in_dim"(%78#1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
      %80 = "stablehlo.broadcast_in_dim"(%75#1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
      %81 = "stablehlo.concatenate"(%79, %80) <{dimension = 0 : i64}> : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %82 = "func.call"(%arg61, %81, %71) <{callee = @dynamic_update_index_in_dim_1}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2x2xf32>
      %83 = "stablehlo.add"(%arg59, %34) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg57, %arg58, %83, %78#0, %82) : (tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>) -> ()
    }) : (tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>)
    %46 = "stablehlo.reshape"(%45#4) : (tensor<2x2xf32>) -> tensor<4xf32>
    %47 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %48 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2xf32>
    %49 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2xf32>
    %50 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2xf32>
    %51:7 = "stablehlo.while"(%arg27, %arg28, %36, %47, %48, %49, %50) ({
    ^bb0(%arg50: tensor<4x2xf32>, %arg51: tensor<2x2xf32>, %arg52: tensor<i32>, %arg53: tensor<2xf32>, %arg54: tensor<4x2xf32>, %arg55: tensor<4x2xf32>, %arg56: tensor<4x2xf32>):
      %69 = "stablehlo.compare"(%arg52, %35) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%69) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg43: tensor<4x2xf32>, %arg44: tensor<2x2xf32>, %arg45: tensor<i32>, %arg46: tensor<2xf32>, %arg47: tensor<4x2xf32>, %arg48: tensor<4x2xf32>, %arg49: tensor<4x2xf32>):
      %63 = "func.call"(%arg43, %arg45) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %64:4 = "func.call"(%arg44, %arg46, %63) <{callee = @closed_call_2}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
      %65 = "func.call"(%arg47, %64#1, %arg45) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %66 = "func.call"(%arg48, %64#2, %arg45) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %67 = "func.call"(%arg49, %64#3, %arg45) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %68 = "stablehlo.add"(%arg45, %34) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg43, %arg44, %68, %64#0, %65, %66, %67) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> ()
    }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
    %52 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %53 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2xf32>
    %54:7 = "stablehlo.while"(%51#4, %51#5, %51#6, %arg28, %36, %53, %52) ({
    ^bb0(%arg36: tensor<4x2xf32>, %arg37: tensor<4x2xf32>, %arg38: tensor<4x2xf32>, %arg39: tensor<2x2xf32>, %arg40: tensor<i32>, %arg41: tensor<2x2xf32>, %arg42: tensor<2xf32>):
      %62 = "stablehlo.compare"(%arg40, %35) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%62) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg29: tensor<4x2xf32>, %arg30: tensor<4x2xf32>, %arg31: tensor<4x2xf32>, %arg32: tensor<2x2xf32>, %arg33: tensor<i32>, %arg34: tensor<2x2xf32>, %arg35: tensor<2xf32>):
      %55 = "stablehlo.subtract"(%35, %arg33) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %56 = "stablehlo.subtract"(%55, %34) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %57 = "func.call"(%arg29, %56) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %58 = "func.call"(%arg30, %56) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %59 = "func.call"(%arg31, %56) <{callee = @dynamic_index_in_dim}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %60:2 = "func.call"(%arg32, %arg34, %arg35, %57, %58, %59) <{callee = @closed_call_4}> : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>)
      %61 = "stablehlo.add"(%arg33, %34) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg29, %arg30, %arg31, %arg32, %61, %60#0, %60#1) : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xf32>) -> ()
    }) : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xf32>)
    "func.return"(%41#3, %41#4, %45#3, %46, %54#5) : (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg25: tensor<4x2xf32>, %arg26: tensor<i32>):
    %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %31 = "stablehlo.dynamic_slice"(%arg25, %arg26, %30) <{slice_sizes = array<i64: 1, 2>}> : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %32 = "stablehlo.reshape"(%31) : (tensor<1x2xf32>) -> tensor<2xf32>
    "func.return"(%32) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<2x2xf32>, %arg21: tensor<2xf32>, %arg22: tensor<2xf32>):
    %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.dot_general"(%arg21, %arg20) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    %26 = "stablehlo.add"(%25, %arg22) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %27 = "stablehlo.tanh"(%26) : (tensor<2xf32>) -> tensor<2xf32>
    %28 = "stablehlo.reduce"(%arg21, %24) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %29 = "stablehlo.add"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%29) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%27, %28) : (tensor<2xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg17: tensor<4xf32>, %arg18: tensor<f32>, %arg19: tensor<i32>):
    %22 = "stablehlo.broadcast_in_dim"(%arg18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %23 = "stablehlo.dynamic_update_slice"(%arg17, %22, %arg19) : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    "func.return"(%23) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x2x2xf32>, tensor<i32>) -> tensor<2x2xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_0", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<2x2x2xf32>, %arg16: tensor<i32>):
    %19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.dynamic_slice"(%arg15, %arg16, %19, %19) <{slice_sizes = array<i64: 1, 2, 2>}> : (tensor<2x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %21 = "stablehlo.reshape"(%20) : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    "func.return"(%21) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2x2xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_1", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<2x2xf32>, %arg13: tensor<2xf32>, %arg14: tensor<i32>):
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %17 = "stablehlo.broadcast_in_dim"(%arg13) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1x2xf32>
    %18 = "stablehlo.dynamic_update_slice"(%arg12, %17, %arg14, %16) : (tensor<2x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    "func.return"(%18) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), res_attrs = [{}, {}, {}, {}], sym_name = "closed_call_2", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<2x2xf32>, %arg10: tensor<2xf32>, %arg11: tensor<2xf32>):
    %10 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.dot_general"(%arg10, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    %12 = "stablehlo.add"(%11, %arg11) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %13 = "stablehlo.tanh"(%12) : (tensor<2xf32>) -> tensor<2xf32>
    %14 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %15 = "stablehlo.subtract"(%14, %13) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%13, %arg10, %13, %15) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_3", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<4x2xf32>, %arg7: tensor<2xf32>, %arg8: tensor<i32>):
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.broadcast_in_dim"(%arg7) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1x2xf32>
    %9 = "stablehlo.dynamic_update_slice"(%arg6, %8, %arg8, %7) : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    "func.return"(%9) : (tensor<4x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>), res_attrs = [{}, {}], sym_name = "closed_call_4", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>, %arg5: tensor<2xf32>):
    %0 = "stablehlo.multiply"(%arg2, %arg5) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.multiply"(%0, %arg4) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %3 = "stablehlo.dot_general"(%2, %arg3) <{dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %4 = "stablehlo.transpose"(%3) <{permutation = array<i64: 1, 0>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %5 = "stablehlo.add"(%arg1, %4) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %6 = "stablehlo.dot_general"(%2, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}> : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    "func.return"(%5, %6) : (tensor<2x2xf32>, tensor<2xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
