"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<7xf32>, tensor<3xf32>) -> (tensor<3xi32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg35: tensor<7xf32>, %arg36: tensor<3xf32>):
    %98 = "func.call"(%arg35) <{callee = @sort}> : (tensor<7xf32>) -> tensor<7xf32>
    %99 = "func.call"(%98, %arg36) <{callee = @searchsorted}> : (tensor<7xf32>, tensor<3xf32>) -> tensor<3xi32>
    %100 = "func.call"(%arg35) <{callee = @median}> : (tensor<7xf32>) -> tensor<f32>
    "func.return"(%99, %100) : (tensor<3xi32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<7xf32>) -> tensor<7xf32>, res_attrs = [{}], sym_name = "sort", sym_visibility = "private"}> ({
  ^bb0(%arg32: tensor<7xf32>):
    %86 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %88 = "stablehlo.sort"(%arg32) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg33: tensor<f32>, %arg34: tensor<f32>):
      %89 = "stablehlo.compare"(%arg33, %87) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %90 = "stablehlo.select"(%89, %87, %arg33) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %91 = "stablehlo.compare"(%arg33, %arg33) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %92 = "stablehlo.select"(%91, %86, %90) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %93 = "stablehlo.compare"(%arg34, %87) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %94 = "stablehlo.select"(%93, %87, %arg34) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %95 = "stablehlo.compare"(%arg34, %arg34) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %96 = "stablehlo.select"(%95, %86, %94) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %97 = "stablehlo.compare"(%92, %96) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%97) : (tensor<i1>) -> ()
    }) : (tensor<7xf32>) -> tensor<7xf32>
    "func.return"(%88) : (tensor<7xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<7xf32>, tensor<3xf32>) -> tensor<3xi32>, res_attrs = [{}], sym_name = "searchsorted", sym_visibility = "private"}> ({
  ^bb0(%arg30: tensor<7xf32>, %arg31: tensor<3xf32>):
    %85 = "func.call"(%arg30, %arg31) <{callee = @_searchsorted_scan_impl}> : (tensor<7xf32>, tensor<3xf32>) -> tensor<3xi32>
    "func.return"(%85) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<7xf32>, tensor<3xf32>) -> tensor<3xi32>, res_attrs = [{}], sym_name = "_searchsorted_scan_impl", sym_visibility = "private"}> ({
  ^bb0(%arg28: tensor<7xf32>, %arg29: tensor<3xf32>):
    %84 = "func.call"(%arg28, %arg29) <{callee = @_searchsorted_scan_impl_0}> : (tensor<7xf32>, tensor<3xf32>) -> tensor<3xi32>
    "func.return"(%84) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<7xf32>, tensor<3xf32>) -> tensor<3xi32>, res_attrs = [{}], sym_name = "_searchsorted_scan_impl_0", sym_visibility = "private"}> ({
  ^bb0(%arg16: tensor<7xf32>, %arg17: tensor<3xf32>):
    %72 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %73 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %74 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %75 = "stablehlo.constant"() <{value = dense<7> : tensor<ui32>}> : () -> tensor<ui32>
    %76 = "stablehlo.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %78 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %79:5 = "stablehlo.while"(%arg16, %arg17, %74, %77, %78) ({
    ^bb0(%arg23: tensor<7xf32>, %arg24: tensor<3xf32>, %arg25: tensor<i32>, %arg26: tensor<3xui32>, %arg27: tensor<3xui32>):
      %83 = "stablehlo.compare"(%arg25, %73) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%83) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg18: tensor<7xf32>, %arg19: tensor<3xf32>, %arg20: tensor<i32>, %arg21: tensor<3xui32>, %arg22: tensor<3xui32>):
      %81:2 = "func.call"(%arg18, %arg19, %arg21, %arg22) <{callee = @closed_call}> : (tensor<7xf32>, tensor<3xf32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>)
      %82 = "stablehlo.add"(%arg20, %72) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg18, %arg19, %82, %81#0, %81#1) : (tensor<7xf32>, tensor<3xf32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>) -> ()
    }) : (tensor<7xf32>, tensor<3xf32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<7xf32>, tensor<3xf32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>)
    %80 = "stablehlo.convert"(%79#4) : (tensor<3xui32>) -> tensor<3xi32>
    "func.return"(%80) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<7xf32>, tensor<3xf32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<7xf32>, %arg13: tensor<3xf32>, %arg14: tensor<3xui32>, %arg15: tensor<3xui32>):
    %46 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %49 = "stablehlo.subtract"(%arg15, %arg14) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %50 = "func.call"(%49, %48) <{callee = @floor_divide}> : (tensor<3xui32>, tensor<i32>) -> tensor<3xui32>
    %51 = "stablehlo.add"(%arg14, %50) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xui32>) -> tensor<3x1xui32>
    %53 = "stablehlo.gather"(%arg12, %52) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<7xf32>, tensor<3x1xui32>) -> tensor<3x1xf32>
    %54 = "stablehlo.reshape"(%53) : (tensor<3x1xf32>) -> tensor<3xf32>
    %55 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %56 = "stablehlo.compare"(%arg13, %55) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %57 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %58 = "stablehlo.select"(%56, %57, %arg13) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %59 = "stablehlo.compare"(%arg13, %arg13) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %60 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %61 = "stablehlo.select"(%59, %60, %58) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %62 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %63 = "stablehlo.compare"(%54, %62) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %64 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %65 = "stablehlo.select"(%63, %64, %54) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %66 = "stablehlo.compare"(%54, %54) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %67 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %68 = "stablehlo.select"(%66, %67, %65) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %69 = "stablehlo.compare"(%61, %68) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %70 = "stablehlo.select"(%69, %arg14, %51) : (tensor<3xi1>, tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %71 = "stablehlo.select"(%69, %51, %arg15) : (tensor<3xi1>, tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    "func.return"(%70, %71) : (tensor<3xui32>, tensor<3xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3xui32>, tensor<i32>) -> tensor<3xui32>, res_attrs = [{}], sym_name = "floor_divide", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<3xui32>, %arg11: tensor<i32>):
    %43 = "stablehlo.convert"(%arg11) : (tensor<i32>) -> tensor<ui32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %45 = "stablehlo.divide"(%arg10, %44) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    "func.return"(%45) : (tensor<3xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<7xf32>) -> tensor<f32>, res_attrs = [{}], sym_name = "median", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<7xf32>):
    %41 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %42 = "func.call"(%arg9, %41) <{callee = @quantile}> : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%42) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<7xf32>, tensor<f32>) -> tensor<f32>, res_attrs = [{}], sym_name = "quantile", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<7xf32>, %arg4: tensor<f32>):
    %4 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.constant"() <{value = dense<7.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %10 = "stablehlo.compare"(%arg3, %arg3) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %11 = "stablehlo.reduce"(%10, %9) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg7: tensor<i1>, %arg8: tensor<i1>):
      %40 = "stablehlo.or"(%arg7, %arg8) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%40) : (tensor<i1>) -> ()
    }) : (tensor<7xi1>, tensor<i1>) -> tensor<i1>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1xi1>
    %13 = "func.call"(%12, %8, %arg3) <{callee = @_where}> : (tensor<1xi1>, tensor<f32>, tensor<7xf32>) -> tensor<7xf32>
    %14 = "stablehlo.sort"(%13) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %31 = "stablehlo.compare"(%arg5, %7) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %32 = "stablehlo.select"(%31, %7, %arg5) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %33 = "stablehlo.compare"(%arg5, %arg5) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %34 = "stablehlo.select"(%33, %8, %32) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %35 = "stablehlo.compare"(%arg6, %7) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %36 = "stablehlo.select"(%35, %7, %arg6) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %37 = "stablehlo.compare"(%arg6, %arg6) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %38 = "stablehlo.select"(%37, %8, %36) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %39 = "stablehlo.compare"(%34, %38) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%39) : (tensor<i1>) -> ()
    }) : (tensor<7xf32>) -> tensor<7xf32>
    %15 = "stablehlo.subtract"(%6, %5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %16 = "stablehlo.multiply"(%arg4, %15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.floor"(%16) : (tensor<f32>) -> tensor<f32>
    %18 = "stablehlo.ceil"(%16) : (tensor<f32>) -> tensor<f32>
    %19 = "stablehlo.subtract"(%6, %5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.clamp"(%7, %17, %19) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %21 = "stablehlo.subtract"(%6, %5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %22 = "stablehlo.clamp"(%7, %18, %21) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %23 = "stablehlo.convert"(%20) : (tensor<f32>) -> tensor<i32>
    %24 = "stablehlo.convert"(%22) : (tensor<f32>) -> tensor<i32>
    %25 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %26 = "stablehlo.gather"(%14, %25) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<7xf32>, tensor<1xi32>) -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.gather"(%14, %27) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<7xf32>, tensor<1xi32>) -> tensor<f32>
    %29 = "stablehlo.add"(%26, %28) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %30 = "stablehlo.multiply"(%29, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%30) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1xi1>, tensor<f32>, tensor<7xf32>) -> tensor<7xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1xi1>, %arg1: tensor<f32>, %arg2: tensor<7xf32>):
    %0 = "stablehlo.convert"(%arg1) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xi1>) -> tensor<7xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
    %3 = "stablehlo.select"(%1, %2, %arg2) : (tensor<7xi1>, tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    "func.return"(%3) : (tensor<7xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
