"builtin.module"() ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
  "sdy.mesh"() <{mesh = #sdy.mesh<[], device_ids=[0]>, sym_name = "maximal"}> : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, sym_name = "half", sym_visibility = "private"}> ({
  ^bb0(%arg118: tensor<4x6xf32>):
    "func.return"(%arg118) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>, tensor<f32>) -> tensor<f32>, sym_name = "sum", sym_visibility = "private"}> ({
  ^bb0(%arg116: tensor<f32>, %arg117: tensor<f32>):
    %100 = "stablehlo.add"(%arg116, %arg117) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%100) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f0"}> ({
    %99 = "stablehlo.create_token"() : () -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (), sym_name = "f1"}> ({
  ^bb0(%arg115: !stablehlo.token):
    %98 = "stablehlo.after_all"(%arg115, %arg115) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f2"}> ({
    %97 = "stablehlo.after_all"() : () -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f3"}> ({
  ^bb0(%arg113: tensor<4x6xf32>, %arg114: tensor<6xf32>):
    %96:3 = "stablehlo.batch_norm_training"(%arg113, %arg114, %arg114) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f4"}> ({
  ^bb0(%arg111: tensor<4x6xf32>, %arg112: tensor<6xf32>):
    %95 = "stablehlo.batch_norm_inference"(%arg111, %arg112, %arg112, %arg112, %arg112) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f5"}> ({
  ^bb0(%arg109: tensor<4x6xf32>, %arg110: tensor<6xf32>):
    %94:3 = "stablehlo.batch_norm_grad"(%arg109, %arg110, %arg110, %arg110, %arg109) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<6xf32>) -> (), sym_name = "f6"}> ({
  ^bb0(%arg108: tensor<6xf32>):
    %93 = "stablehlo.broadcast"(%arg108) <{broadcast_sizes = array<i64: 2, 3>}> : (tensor<6xf32>) -> tensor<2x3x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> (), sym_name = "f7"}> ({
  ^bb0(%arg107: tensor<4x4xf32>):
    %92 = "stablehlo.cholesky"(%arg107) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> (), sym_name = "f8"}> ({
  ^bb0(%arg106: tensor<4x4xf32>):
    %91 = "stablehlo.cholesky"(%arg106) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> (), sym_name = "f9"}> ({
  ^bb0(%arg104: tensor<4x6xf32>, %arg105: tensor<f32>):
    %90 = "stablehlo.clamp"(%arg105, %arg104, %arg105) : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f10"}> ({
  ^bb0(%arg103: tensor<4x6xf32>):
    %89 = "stablehlo.collective_broadcast"(%arg103) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f11"}> ({
  ^bb0(%arg102: tensor<4x6xf32>):
    %88 = "stablehlo.compare"(%arg102, %arg102) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f12"}> ({
  ^bb0(%arg101: tensor<4x6xf32>):
    %87 = "stablehlo.compare"(%arg101, %arg101) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f13"}> ({
  ^bb0(%arg100: tensor<4x6xf32>):
    %86 = "stablehlo.complex"(%arg100, %arg100) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xcomplex<f32>>) -> (), sym_name = "f14"}> ({
  ^bb0(%arg99: tensor<4x6xcomplex<f32>>):
    %85 = "stablehlo.real"(%arg99) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xcomplex<f32>>) -> (), sym_name = "f15"}> ({
  ^bb0(%arg98: tensor<4x6xcomplex<f32>>):
    %84 = "stablehlo.abs"(%arg98) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, !stablehlo.token) -> (), sym_name = "f16"}> ({
  ^bb0(%arg96: tensor<4x6xf32>, %arg97: !stablehlo.token):
    %82 = "stablehlo.tuple"(%arg96, %arg97) : (tensor<4x6xf32>, !stablehlo.token) -> tuple<tensor<4x6xf32>, !stablehlo.token>
    %83 = "stablehlo.get_tuple_element"(%82) <{index = 0 : i32}> : (tuple<tensor<4x6xf32>, !stablehlo.token>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x6xi32>) -> (), sym_name = "f18"}> ({
  ^bb0(%arg94: tensor<4x6xf32>, %arg95: tensor<4x6xi32>):
    %81:2 = "stablehlo.custom_call"(%arg94, %arg95) <{api_version = 4 : i32, backend_config = {x = 1 : i64, y = dense<1.000000e+00> : tensor<1xf32>}, call_target_name = "foo.bar", called_computations = [@sum], has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]}> : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<f32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f19"}> ({
  ^bb0(%arg93: tensor<4x6xf32>):
    %80 = "stablehlo.custom_call"(%arg93) <{backend_config = "\00\FFhi\22", call_target_name = "foo"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>) -> (), sym_name = "f21"}> ({
  ^bb0(%arg91: tensor<4x6xf32>, %arg92: tensor<4x4xf32>):
    %79 = "stablehlo.dot"(%arg92, %arg91) <{precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>) -> (), sym_name = "f22"}> ({
  ^bb0(%arg89: tensor<4x6xf32>, %arg90: tensor<4x4xf32>):
    %78 = "stablehlo.dot"(%arg90, %arg89) : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> (), sym_name = "f23"}> ({
  ^bb0(%arg88: tensor<4x4xf32>):
    %77 = "stablehlo.dot_general"(%arg88, %arg88) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> (), sym_name = "f24"}> ({
  ^bb0(%arg87: tensor<4x4xf32>):
    %76 = "stablehlo.dot_general"(%arg87, %arg87) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4x4x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xi64>, tensor<6xf32>) -> (), sym_name = "f25"}> ({
  ^bb0(%arg85: tensor<2xi64>, %arg86: tensor<6xf32>):
    %75 = "stablehlo.dynamic_broadcast_in_dim"(%arg86, %arg85) <{broadcast_dimensions = array<i64: 1>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>, tensor<2x2xi64>) -> (), sym_name = "f26"}> ({
  ^bb0(%arg82: tensor<1x3x8x8xf32>, %arg83: tensor<2x3x3x3xf32>, %arg84: tensor<2x2xi64>):
    %74 = "stablehlo.dynamic_conv"(%arg82, %arg83, %arg84) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>, tensor<2x2xi64>) -> tensor<1x2x?x?xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> (), sym_name = "f27"}> ({
  ^bb0(%arg80: tensor<1x3x8x8xf32>, %arg81: tensor<2x3x3x3xf32>):
    %73 = "stablehlo.convolution"(%arg80, %arg81) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, padding = dense<[[1, 0], [-1, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: true, false>}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x7xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> (), sym_name = "f28"}> ({
  ^bb0(%arg78: tensor<1x3x8x8xf32>, %arg79: tensor<2x3x3x3xf32>):
    %72 = "stablehlo.convolution"(%arg78, %arg79) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x6x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2xi64>, tensor<2x2xi32>) -> (), sym_name = "f29"}> ({
  ^bb0(%arg75: tensor<4x6xf32>, %arg76: tensor<2xi64>, %arg77: tensor<2x2xi32>):
    %71 = "stablehlo.dynamic_gather"(%arg75, %arg77, %arg76) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = true}> : (tensor<4x6xf32>, tensor<2x2xi32>, tensor<2xi64>) -> tensor<?x2x2xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xi64>) -> (), sym_name = "f30"}> ({
  ^bb0(%arg74: tensor<2xi64>):
    %70 = "stablehlo.dynamic_iota"(%arg74) <{iota_dimension = 0 : i64}> : (tensor<2xi64>) -> tensor<?x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>) -> (), sym_name = "f31"}> ({
  ^bb0(%arg71: tensor<4x6xf32>, %arg72: tensor<f32>, %arg73: tensor<2xi64>):
    %69 = "stablehlo.dynamic_pad"(%arg71, %arg72, %arg73, %arg73, %arg73) : (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2xi64>) -> (), sym_name = "f32"}> ({
  ^bb0(%arg69: tensor<4x6xf32>, %arg70: tensor<2xi64>):
    %68 = "stablehlo.dynamic_reshape"(%arg69, %arg70) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2xi64>) -> (), sym_name = "f33"}> ({
  ^bb0(%arg67: tensor<4x6xf32>, %arg68: tensor<2xi64>):
    %67 = "stablehlo.real_dynamic_slice"(%arg67, %arg68, %arg68, %arg68) : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<6xf32>, tensor<i64>) -> (), sym_name = "f34"}> ({
  ^bb0(%arg65: tensor<6xf32>, %arg66: tensor<i64>):
    %66 = "stablehlo.dynamic_slice"(%arg65, %arg66) <{slice_sizes = array<i64: 2>}> : (tensor<6xf32>, tensor<i64>) -> tensor<2xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f35"}> ({
  ^bb0(%arg64: tensor<f32>):
    %65 = "stablehlo.dynamic_slice"(%arg64) <{slice_sizes = array<i64>}> : (tensor<f32>) -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>, tensor<i64>) -> (), sym_name = "f36"}> ({
  ^bb0(%arg61: tensor<4x6xf32>, %arg62: tensor<4x4xf32>, %arg63: tensor<i64>):
    %64 = "stablehlo.dynamic_update_slice"(%arg61, %arg62, %arg63, %arg63) : (tensor<4x6xf32>, tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>) -> (), sym_name = "f37"}> ({
  ^bb0(%arg59: tensor<4x6xf32>, %arg60: tensor<4x4xf32>):
    %63 = "stablehlo.einsum"(%arg60, %arg59) <{einsum_config = "ij,jk->ik"}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f38"}> ({
  ^bb0(%arg58: tensor<4x6xf32>):
    %62 = "stablehlo.unary_einsum"(%arg58) <{einsum_config = "ij->i"}> : (tensor<4x6xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f39"}> ({
  ^bb0(%arg57: tensor<4x6xf32>):
    %61 = "stablehlo.exponential"(%arg57) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-03, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f40"}> ({
  ^bb0(%arg56: tensor<4x6xf32>):
    %60 = "stablehlo.exponential"(%arg56) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xcomplex<f32>>) -> (), sym_name = "f41"}> ({
  ^bb0(%arg55: tensor<4x6xcomplex<f32>>):
    %59 = "stablehlo.fft"(%arg55) <{fft_length = array<i64: 4, 6>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x6xf32>) -> (), sym_name = "f42"}> ({
  ^bb0(%arg54: tensor<?x6xf32>):
    %58 = "stablehlo.get_dimension_size"(%arg54) <{dimension = 0 : i64}> : (tensor<?x6xf32>) -> tensor<i32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<i32>) -> (), sym_name = "f43"}> ({
  ^bb0(%arg52: tensor<4x6xf32>, %arg53: tensor<i32>):
    %57 = "stablehlo.set_dimension_size"(%arg52, %arg53) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>, tensor<i1>) -> (), sym_name = "f44"}> ({
  ^bb0(%arg49: tensor<4x6xf32>, %arg50: tensor<f32>, %arg51: tensor<i1>):
    %56:2 = "stablehlo.if"(%arg51) ({
      "stablehlo.return"(%arg49, %arg50) : (tensor<4x6xf32>, tensor<f32>) -> ()
    }, {
      "stablehlo.return"(%arg49, %arg50) : (tensor<4x6xf32>, tensor<f32>) -> ()
    }) : (tensor<i1>) -> (tensor<4x6xf32>, tensor<f32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (), sym_name = "f45"}> ({
  ^bb0(%arg48: !stablehlo.token):
    %55:2 = "stablehlo.infeed"(%arg48) <{infeed_config = "cfg", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x6xi32>, !stablehlo.token) -> (), sym_name = "f46"}> ({
  ^bb0(%arg45: tensor<4x6xf32>, %arg46: tensor<4x6xi32>, %arg47: !stablehlo.token):
    %54 = "stablehlo.outfeed"(%arg45, %arg46, %arg47) <{outfeed_config = "cfg"}> : (tensor<4x6xf32>, tensor<4x6xi32>, !stablehlo.token) -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, !stablehlo.token) -> (), sym_name = "f47"}> ({
  ^bb0(%arg43: tensor<4x6xf32>, %arg44: !stablehlo.token):
    %53 = "stablehlo.send"(%arg43, %arg44) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (), sym_name = "f48"}> ({
  ^bb0(%arg42: !stablehlo.token):
    %52:2 = "stablehlo.recv"(%arg42) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f49"}> ({
  ^bb0(%arg39: tensor<4x6xf32>):
    %50 = "stablehlo.map"(%arg39, %arg39) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg40: tensor<f32>, %arg41: tensor<f32>):
      %51 = "stablehlo.add"(%arg40, %arg41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%51) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> (), sym_name = "f50"}> ({
  ^bb0(%arg37: tensor<4x6xf32>, %arg38: tensor<f32>):
    %49:2 = "stablehlo.optimization_barrier"(%arg37, %arg38) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<f32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f51"}> ({
    "stablehlo.optimization_barrier"() : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f52"}> ({
    %47 = "stablehlo.replica_id"() : () -> tensor<ui32>
    %48 = "stablehlo.partition_id"() : () -> tensor<ui32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> (), sym_name = "f53"}> ({
  ^bb0(%arg33: tensor<4x6xf32>, %arg34: tensor<f32>):
    %45 = "stablehlo.reduce"(%arg33, %arg34) <{dimensions = array<i64>}> ({
    ^bb0(%arg35: tensor<f32>, %arg36: tensor<f32>):
      %46 = "stablehlo.add"(%arg35, %arg36) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%46) : (tensor<f32>) -> ()
    }) {my.attr = 3 : i8} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> (), sym_name = "f54"}> ({
  ^bb0(%arg29: tensor<4x6xf32>, %arg30: tensor<f32>):
    %43 = "stablehlo.reduce"(%arg29, %arg30) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg31: tensor<f32>, %arg32: tensor<f32>):
      %44 = "stablehlo.add"(%arg32, %arg31) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%44) : (tensor<f32>) -> ()
    }) {my.attr = 3 : i8} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f55"}> ({
  ^bb0(%arg28: tensor<4x6xf32>):
    %42 = "stablehlo.reduce_precision"(%arg28) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>, tensor<2xi64>) -> (), sym_name = "f56"}> ({
  ^bb0(%arg26: tensor<f32>, %arg27: tensor<2xi64>):
    %41 = "stablehlo.rng"(%arg26, %arg26, %arg27) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xui32>) -> (), sym_name = "f57"}> ({
  ^bb0(%arg25: tensor<4xui32>):
    %40:2 = "stablehlo.rng_bit_generator"(%arg25) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3xui32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<i1>) -> (), sym_name = "f58"}> ({
  ^bb0(%arg23: tensor<4x6xf32>, %arg24: tensor<i1>):
    %39 = "stablehlo.select"(%arg24, %arg23, %arg23) : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x6xi1>) -> (), sym_name = "f59"}> ({
  ^bb0(%arg21: tensor<4x6xf32>, %arg22: tensor<4x6xi1>):
    %38 = "stablehlo.select"(%arg22, %arg21, %arg21) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f60"}> ({
  ^bb0(%arg20: tensor<4x6xf32>):
    %37 = "stablehlo.slice"(%arg20) <{limit_indices = array<i64: 4, 6>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<4x6xf32>) -> tensor<4x3xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f61"}> ({
  ^bb0(%arg19: tensor<f32>):
    %36 = "stablehlo.slice"(%arg19) <{limit_indices = array<i64>, start_indices = array<i64>, strides = array<i64>}> : (tensor<f32>) -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f62"}> ({
  ^bb0(%arg18: tensor<4x6xf32>):
    %35 = "stablehlo.reverse"(%arg18) <{dimensions = array<i64: 1>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2x2xi32>) -> (), sym_name = "f63"}> ({
  ^bb0(%arg16: tensor<4x6xf32>, %arg17: tensor<2x2xi32>):
    %34 = "stablehlo.torch_index_select"(%arg16, %arg17) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x6xf32>, tensor<2x2xi32>) -> tensor<2x2x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>) -> (), sym_name = "f64"}> ({
  ^bb0(%arg14: tensor<4x6xf32>, %arg15: tensor<4x4xf32>):
    %33 = "stablehlo.triangular_solve"(%arg15, %arg14) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<i32>, tensor<i1>) -> (), sym_name = "f65"}> ({
  ^bb0(%arg7: tensor<4x6xf32>, %arg8: tensor<i32>, %arg9: tensor<i1>):
    %32:2 = "stablehlo.while"(%arg8, %arg7) ({
    ^bb0(%arg12: tensor<i32>, %arg13: tensor<4x6xf32>):
      "stablehlo.return"(%arg9) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg10: tensor<i32>, %arg11: tensor<4x6xf32>):
      "stablehlo.return"(%arg10, %arg11) : (tensor<i32>, tensor<4x6xf32>) -> ()
    }) {my.attr = "x"} : (tensor<i32>, tensor<4x6xf32>) -> (tensor<i32>, tensor<4x6xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i1>) -> (), sym_name = "f66"}> ({
  ^bb0(%arg6: tensor<i1>):
    "stablehlo.while"() ({
      "stablehlo.return"(%arg6) : (tensor<i1>) -> ()
    }, {
      "stablehlo.return"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f67"}> ({
  ^bb0(%arg5: tensor<4x6xf32>):
    %31 = "stablehlo.cross-replica-sum"(%arg5) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<?x6xf32>) -> (), sym_name = "f69"}> ({
  ^bb0(%arg3: tensor<4x6xf32>, %arg4: tensor<?x6xf32>):
    %30 = "stablehlo.add"(%arg4, %arg3) : (tensor<?x6xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f70"}> ({
  ^bb0(%arg2: tensor<4x6xf32>):
    %29 = "stablehlo.add"(%arg2, %arg2) {mhlo.frontend_attributes = {a = "b"}} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f71"}> ({
    %28 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> {my.a = 1 : i32} : () -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f93"}> ({
    %27 = "sdy.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f95"}> ({
  ^bb0(%arg0: tensor<4x6xf32>):
    %24 = "stablehlo.async_start"(%arg0) ({
    ^bb0(%arg1: tensor<4x6xf32>):
      %26 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
      "stablehlo.return"(%26) : (tensor<4x12xf32>) -> ()
    }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x12xf32>>
    %25 = "stablehlo.async_done"(%24) : (!stablehlo.future<tensor<4x12xf32>>) -> tensor<4x12xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f102"}> ({
    %23 = "stablehlo.constant"() <{value = dense<[0x7FC00001, 1.500000e+00, -0.000000e+00, 0xFF800000, 1.401300e-45, 3.400000e+38]> : tensor<6xf32>}> : () -> tensor<6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f103"}> ({
    %22 = "stablehlo.constant"() <{value = dense<[0x7E01, 1.500000e+00, -0.000000e+00, 0xFC00]> : tensor<4xf16>}> : () -> tensor<4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f104"}> ({
    %21 = "stablehlo.constant"() <{value = dense<[0x7FC1, 1.500000e+00, 3.004060e+38]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f105"}> ({
    %20 = "stablehlo.constant"() <{value = dense<[0x7F, 4.480000e+02, -1.500000e+00]> : tensor<3xf8E4M3FN>}> : () -> tensor<3xf8E4M3FN>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f106"}> ({
    %19 = "stablehlo.constant"() <{value = dense<[0x80, 1.500000e+00]> : tensor<2xf8E4M3FNUZ>}> : () -> tensor<2xf8E4M3FNUZ>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f107"}> ({
    %18 = "stablehlo.constant"() <{value = dense<[0x7C, 1.500000e+00]> : tensor<2xf8E5M2>}> : () -> tensor<2xf8E5M2>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f108"}> ({
    %17 = "stablehlo.constant"() <{value = dense<[6.000000e+00, -5.000000e-01]> : tensor<2xf4E2M1FN>}> : () -> tensor<2xf4E2M1FN>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f109"}> ({
    %16 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.500000e-01]> : tensor<2xf8E8M0FNU>}> : () -> tensor<2xf8E8M0FNU>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f110"}> ({
    %15 = "stablehlo.constant"() <{value = dense<[-8, 7, 0]> : tensor<3xi4>}> : () -> tensor<3xi4>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f111"}> ({
    %14 = "stablehlo.constant"() <{value = dense<[15, 0]> : tensor<2xui4>}> : () -> tensor<2xui4>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f112"}> ({
    %13 = "stablehlo.constant"() <{value = dense<[-2, 1]> : tensor<2xi2>}> : () -> tensor<2xi2>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f113"}> ({
    %12 = "stablehlo.constant"() <{value = dense<[-128, 127]> : tensor<2xi8>}> : () -> tensor<2xi8>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f114"}> ({
    %11 = "stablehlo.constant"() <{value = dense<[18446744073709551615, 0]> : tensor<2xui64>}> : () -> tensor<2xui64>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f115"}> ({
    %10 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f116"}> ({
    %9 = "stablehlo.constant"() <{value = dense<[[true, false], [false, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f117"}> ({
    %8 = "stablehlo.constant"() <{value = dense<false> : tensor<3xi1>}> : () -> tensor<3xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f118"}> ({
    %7 = "stablehlo.constant"() <{value = dense<[(1.000000e+00,-2.000000e+00), (0x7FC00000,0.000000e+00)]> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f119"}> ({
    %6 = "stablehlo.constant"() <{value = dense<(1.000000e+00,2.000000e+00)> : tensor<2x2xcomplex<f64>>}> : () -> tensor<2x2xcomplex<f64>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f120"}> ({
    %5 = "stablehlo.constant"() <{value = dense<> : tensor<2x0x3xf32>}> : () -> tensor<2x0x3xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f121"}> ({
    %4 = "stablehlo.constant"() <{value = dense<[[[1]], [[2]]]> : tensor<2x1x1xi16>}> : () -> tensor<2x1x1xi16>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f122"}> ({
    %3 = "stablehlo.constant"() <{value = dense<[1, 2, 3, -1]> : tensor<4xi8>}> : () -> tensor<4xi8>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f123"}> ({
    %2 = "stablehlo.constant"() <{value = dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>}> : () -> tensor<2xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f124"}> ({
    %1 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f125"}> ({
    %0 = "stablehlo.constant"() <{value = dense<0x7FF0000000000000> : tensor<f64>}> : () -> tensor<f64>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
