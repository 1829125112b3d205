"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<?x3xf32>, tensor<?xi32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<?x3xf32>, %arg9: tensor<?xi32>):
    %48 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %49 = "stablehlo.get_dimension_size"(%arg8) <{dimension = 0 : i64}> : (tensor<?x3xf32>) -> tensor<i32>
    %50 = "stablehlo.get_dimension_size"(%arg9) <{dimension = 0 : i64}> : (tensor<?xi32>) -> tensor<i32>
    %51 = "stablehlo.compare"(%49, %48) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%51, %49) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 3),args[1].shape = (k,). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %52 = "stablehlo.compare"(%50, %48) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%52, %49, %50) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'k'. Using the following polymorphic shapes specifications: args[0].shape = (b, 3),args[1].shape = (k,). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'k' = {1} from specification 'k' for dimension args[1].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %53:6 = "func.call"(%49, %50, %arg8, %arg9) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x3xf32>, tensor<?xi32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>)
    "func.return"(%53#0, %53#1, %53#2, %53#3, %53#4, %53#5) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "k"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x3xf32>, tensor<?xi32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>, %arg6: tensor<?x3xf32>, %arg7: tensor<?xi32>):
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %3 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %5 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<i32>
    %10 = "stablehlo.add"(%9, %6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %11 = "stablehlo.reshape"(%10) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.concatenate"(%11, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = "stablehlo.dynamic_gather"(%arg6, %8, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x3xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x3xf32>
    %14 = "stablehlo.concatenate"(%arg6, %arg6) <{dimension = 0 : i64}> : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %15 = "stablehlo.reshape"(%arg4) : (tensor<i32>) -> tensor<1xi32>
    %16 = "stablehlo.dynamic_iota"(%15) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %17 = "stablehlo.reshape"(%arg4) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.dynamic_broadcast_in_dim"(%7, %17) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %19 = "stablehlo.multiply"(%18, %16) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %20 = "stablehlo.reshape"(%arg4) : (tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.dynamic_broadcast_in_dim"(%3, %20) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %22 = "stablehlo.add"(%21, %19) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %23 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<i32>
    %24 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %25 = "stablehlo.dynamic_broadcast_in_dim"(%3, %24) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %26 = "stablehlo.compare"(%arg7, %25) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %27 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.dynamic_broadcast_in_dim"(%23, %27) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %29 = "stablehlo.add"(%arg7, %28) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %30 = "stablehlo.select"(%26, %29, %arg7) : (tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %31 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %32 = "stablehlo.concatenate"(%31, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %33 = "stablehlo.dynamic_broadcast_in_dim"(%30, %32) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %34 = "stablehlo.gather"(%arg6, %33) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<?x3xf32>, tensor<?x1xi32>) -> tensor<?x3xf32>
    %35 = "func.call"(%arg4, %arg5, %arg6, %3) <{callee = @_pad}> : (tensor<i32>, tensor<i32>, tensor<?x3xf32>, tensor<i32>) -> tensor<?x4xf32>
    %36 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<i32>
    %37 = "stablehlo.compare"(%3, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %38 = "stablehlo.add"(%3, %36) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %39 = "stablehlo.select"(%37, %38, %3) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %40 = "stablehlo.compare"(%3, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %41 = "stablehlo.add"(%3, %5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %42 = "stablehlo.select"(%40, %41, %3) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %43 = "stablehlo.dynamic_slice"(%arg6, %39, %42) <{slice_sizes = array<i64: 1, 3>}> : (tensor<?x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %44 = "stablehlo.reshape"(%43) : (tensor<1x3xf32>) -> tensor<3xf32>
    %45 = "stablehlo.reshape"(%arg4) : (tensor<i32>) -> tensor<1xi32>
    %46 = "stablehlo.concatenate"(%45, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %47 = "stablehlo.dynamic_broadcast_in_dim"(%44, %46) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    "func.return"(%13, %14, %22, %34, %35, %47) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "k"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x3xf32>, tensor<i32>) -> tensor<?x4xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x3xf32>, %arg3: tensor<i32>):
    %0 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.pad"(%arg2, %0) <{edge_padding_high = array<i64: 2, 0>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>}> : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x4xf32>
    "func.return"(%1) : (tensor<?x4xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
