#map = affine_map<(d0, d1) -> (d1, d0)>
"builtin.module"() <{sym_name = "every"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
  "sdy.mesh"() <{mesh = #sdy.mesh<[], device_ids=[0]>, sym_name = "maximal"}> : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, sym_name = "half", sym_visibility = "private"}> ({
  ^bb0(%arg156: tensor<4x6xf32>):
    "func.return"(%arg156) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>, tensor<f32>) -> tensor<f32>, sym_name = "sum", sym_visibility = "private"}> ({
  ^bb0(%arg154: tensor<f32>, %arg155: tensor<f32>):
    %137 = "stablehlo.add"(%arg154, %arg155) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%137) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f0"}> ({
    %136 = "stablehlo.create_token"() : () -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (), sym_name = "f1"}> ({
  ^bb0(%arg153: !stablehlo.token):
    %135 = "stablehlo.after_all"(%arg153, %arg153) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f2"}> ({
    %134 = "stablehlo.after_all"() : () -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f3"}> ({
  ^bb0(%arg151: tensor<4x6xf32>, %arg152: tensor<6xf32>):
    %133:3 = "stablehlo.batch_norm_training"(%arg151, %arg152, %arg152) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f4"}> ({
  ^bb0(%arg149: tensor<4x6xf32>, %arg150: tensor<6xf32>):
    %132 = "stablehlo.batch_norm_inference"(%arg149, %arg150, %arg150, %arg150, %arg150) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f5"}> ({
  ^bb0(%arg147: tensor<4x6xf32>, %arg148: tensor<6xf32>):
    %131:3 = "stablehlo.batch_norm_grad"(%arg147, %arg148, %arg148, %arg148, %arg147) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<6xf32>) -> (), sym_name = "f6"}> ({
  ^bb0(%arg146: tensor<6xf32>):
    %130 = "stablehlo.broadcast"(%arg146) <{broadcast_sizes = array<i64: 2, 3>}> : (tensor<6xf32>) -> tensor<2x3x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> (), sym_name = "f7"}> ({
  ^bb0(%arg145: tensor<4x4xf32>):
    %129 = "stablehlo.cholesky"(%arg145) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> (), sym_name = "f8"}> ({
  ^bb0(%arg144: tensor<4x4xf32>):
    %128 = "stablehlo.cholesky"(%arg144) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> (), sym_name = "f9"}> ({
  ^bb0(%arg142: tensor<4x6xf32>, %arg143: tensor<f32>):
    %127 = "stablehlo.clamp"(%arg143, %arg142, %arg143) : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f10"}> ({
  ^bb0(%arg141: tensor<4x6xf32>):
    %126 = "stablehlo.collective_broadcast"(%arg141) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f11"}> ({
  ^bb0(%arg140: tensor<4x6xf32>):
    %125 = "stablehlo.compare"(%arg140, %arg140) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f12"}> ({
  ^bb0(%arg139: tensor<4x6xf32>):
    %124 = "stablehlo.compare"(%arg139, %arg139) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f13"}> ({
  ^bb0(%arg138: tensor<4x6xf32>):
    %123 = "stablehlo.complex"(%arg138, %arg138) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xcomplex<f32>>) -> (), sym_name = "f14"}> ({
  ^bb0(%arg137: tensor<4x6xcomplex<f32>>):
    %122 = "stablehlo.real"(%arg137) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xcomplex<f32>>) -> (), sym_name = "f15"}> ({
  ^bb0(%arg136: tensor<4x6xcomplex<f32>>):
    %121 = "stablehlo.abs"(%arg136) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, !stablehlo.token) -> (), sym_name = "f16"}> ({
  ^bb0(%arg134: tensor<4x6xf32>, %arg135: !stablehlo.token):
    %119 = "stablehlo.tuple"(%arg134, %arg135) : (tensor<4x6xf32>, !stablehlo.token) -> tuple<tensor<4x6xf32>, !stablehlo.token>
    %120 = "stablehlo.get_tuple_element"(%119) <{index = 0 : i32}> : (tuple<tensor<4x6xf32>, !stablehlo.token>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f17"}> ({
  ^bb0(%arg133: tensor<4x6xf32>):
    %118 = "stablehlo.composite"(%arg133) <{composite_attributes = {a = 1 : i32}, decomposition = @half, name = "my.op", version = 2 : i32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x6xi32>) -> (), sym_name = "f18"}> ({
  ^bb0(%arg131: tensor<4x6xf32>, %arg132: tensor<4x6xi32>):
    %117:2 = "stablehlo.custom_call"(%arg131, %arg132) <{api_version = 4 : i32, backend_config = {x = 1 : i64, y = dense<1.000000e+00> : tensor<1xf32>}, call_target_name = "foo.bar", called_computations = [@sum], has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]}> : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<f32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f19"}> ({
  ^bb0(%arg130: tensor<4x6xf32>):
    %116 = "stablehlo.custom_call"(%arg130) <{backend_config = "\00\FFhi\22", call_target_name = "foo"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f20"}> ({
    "stablehlo.custom_call"() <{call_target_name = "we ird", has_side_effect = true}> {mhlo.attributes = {}, some.unit} : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>) -> (), sym_name = "f21"}> ({
  ^bb0(%arg128: tensor<4x6xf32>, %arg129: tensor<4x4xf32>):
    %115 = "stablehlo.dot"(%arg129, %arg128) <{precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>) -> (), sym_name = "f22"}> ({
  ^bb0(%arg126: tensor<4x6xf32>, %arg127: tensor<4x4xf32>):
    %114 = "stablehlo.dot"(%arg127, %arg126) : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> (), sym_name = "f23"}> ({
  ^bb0(%arg125: tensor<4x4xf32>):
    %113 = "stablehlo.dot_general"(%arg125, %arg125) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = []}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> (), sym_name = "f24"}> ({
  ^bb0(%arg124: tensor<4x4xf32>):
    %112 = "stablehlo.dot_general"(%arg124, %arg124) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4x4x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xi64>, tensor<6xf32>) -> (), sym_name = "f25"}> ({
  ^bb0(%arg122: tensor<2xi64>, %arg123: tensor<6xf32>):
    %111 = "stablehlo.dynamic_broadcast_in_dim"(%arg123, %arg122) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>, tensor<2x2xi64>) -> (), sym_name = "f26"}> ({
  ^bb0(%arg119: tensor<1x3x8x8xf32>, %arg120: tensor<2x3x3x3xf32>, %arg121: tensor<2x2xi64>):
    %110 = "stablehlo.dynamic_conv"(%arg119, %arg120, %arg121) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>, tensor<2x2xi64>) -> tensor<1x2x?x?xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> (), sym_name = "f27"}> ({
  ^bb0(%arg117: tensor<1x3x8x8xf32>, %arg118: tensor<2x3x3x3xf32>):
    %109 = "stablehlo.convolution"(%arg117, %arg118) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [-1, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: true, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x7xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> (), sym_name = "f28"}> ({
  ^bb0(%arg115: tensor<1x3x8x8xf32>, %arg116: tensor<2x3x3x3xf32>):
    %108 = "stablehlo.convolution"(%arg115, %arg116) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x6x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2xi64>, tensor<2x2xi32>) -> (), sym_name = "f29"}> ({
  ^bb0(%arg112: tensor<4x6xf32>, %arg113: tensor<2xi64>, %arg114: tensor<2x2xi32>):
    %107 = "stablehlo.dynamic_gather"(%arg112, %arg114, %arg113) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = true}> : (tensor<4x6xf32>, tensor<2x2xi32>, tensor<2xi64>) -> tensor<?x2x2xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xi64>) -> (), sym_name = "f30"}> ({
  ^bb0(%arg111: tensor<2xi64>):
    %106 = "stablehlo.dynamic_iota"(%arg111) <{iota_dimension = 0 : i64}> : (tensor<2xi64>) -> tensor<?x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>) -> (), sym_name = "f31"}> ({
  ^bb0(%arg108: tensor<4x6xf32>, %arg109: tensor<f32>, %arg110: tensor<2xi64>):
    %105 = "stablehlo.dynamic_pad"(%arg108, %arg109, %arg110, %arg110, %arg110) : (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2xi64>) -> (), sym_name = "f32"}> ({
  ^bb0(%arg106: tensor<4x6xf32>, %arg107: tensor<2xi64>):
    %104 = "stablehlo.dynamic_reshape"(%arg106, %arg107) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2xi64>) -> (), sym_name = "f33"}> ({
  ^bb0(%arg104: tensor<4x6xf32>, %arg105: tensor<2xi64>):
    %103 = "stablehlo.real_dynamic_slice"(%arg104, %arg105, %arg105, %arg105) : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<6xf32>, tensor<i64>) -> (), sym_name = "f34"}> ({
  ^bb0(%arg102: tensor<6xf32>, %arg103: tensor<i64>):
    %102 = "stablehlo.dynamic_slice"(%arg102, %arg103) <{slice_sizes = array<i64: 2>}> : (tensor<6xf32>, tensor<i64>) -> tensor<2xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f35"}> ({
  ^bb0(%arg101: tensor<f32>):
    %101 = "stablehlo.dynamic_slice"(%arg101) <{slice_sizes = array<i64>}> : (tensor<f32>) -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>, tensor<i64>) -> (), sym_name = "f36"}> ({
  ^bb0(%arg98: tensor<4x6xf32>, %arg99: tensor<4x4xf32>, %arg100: tensor<i64>):
    %100 = "stablehlo.dynamic_update_slice"(%arg98, %arg99, %arg100, %arg100) : (tensor<4x6xf32>, tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>) -> (), sym_name = "f37"}> ({
  ^bb0(%arg96: tensor<4x6xf32>, %arg97: tensor<4x4xf32>):
    %99 = "stablehlo.einsum"(%arg97, %arg96) <{einsum_config = "ij,jk->ik"}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f38"}> ({
  ^bb0(%arg95: tensor<4x6xf32>):
    %98 = "stablehlo.unary_einsum"(%arg95) <{einsum_config = "ij->i"}> : (tensor<4x6xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f39"}> ({
  ^bb0(%arg94: tensor<4x6xf32>):
    %97 = "stablehlo.exponential"(%arg94) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-03, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f40"}> ({
  ^bb0(%arg93: tensor<4x6xf32>):
    %96 = "stablehlo.exponential"(%arg93) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xcomplex<f32>>) -> (), sym_name = "f41"}> ({
  ^bb0(%arg92: tensor<4x6xcomplex<f32>>):
    %95 = "stablehlo.fft"(%arg92) <{fft_length = array<i64: 4, 6>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x6xf32>) -> (), sym_name = "f42"}> ({
  ^bb0(%arg91: tensor<?x6xf32>):
    %94 = "stablehlo.get_dimension_size"(%arg91) <{dimension = 0 : i64}> : (tensor<?x6xf32>) -> tensor<i32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<i32>) -> (), sym_name = "f43"}> ({
  ^bb0(%arg89: tensor<4x6xf32>, %arg90: tensor<i32>):
    %93 = "stablehlo.set_dimension_size"(%arg89, %arg90) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>, tensor<i1>) -> (), sym_name = "f44"}> ({
  ^bb0(%arg86: tensor<4x6xf32>, %arg87: tensor<f32>, %arg88: tensor<i1>):
    %92:2 = "stablehlo.if"(%arg88) ({
      "stablehlo.return"(%arg86, %arg87) : (tensor<4x6xf32>, tensor<f32>) -> ()
    }, {
      "stablehlo.return"(%arg86, %arg87) : (tensor<4x6xf32>, tensor<f32>) -> ()
    }) : (tensor<i1>) -> (tensor<4x6xf32>, tensor<f32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (), sym_name = "f45"}> ({
  ^bb0(%arg85: !stablehlo.token):
    %91:2 = "stablehlo.infeed"(%arg85) <{infeed_config = "cfg", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x6xi32>, !stablehlo.token) -> (), sym_name = "f46"}> ({
  ^bb0(%arg82: tensor<4x6xf32>, %arg83: tensor<4x6xi32>, %arg84: !stablehlo.token):
    %90 = "stablehlo.outfeed"(%arg82, %arg83, %arg84) <{outfeed_config = "cfg"}> : (tensor<4x6xf32>, tensor<4x6xi32>, !stablehlo.token) -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, !stablehlo.token) -> (), sym_name = "f47"}> ({
  ^bb0(%arg80: tensor<4x6xf32>, %arg81: !stablehlo.token):
    %89 = "stablehlo.send"(%arg80, %arg81) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (), sym_name = "f48"}> ({
  ^bb0(%arg79: !stablehlo.token):
    %88:2 = "stablehlo.recv"(%arg79) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f49"}> ({
  ^bb0(%arg76: tensor<4x6xf32>):
    %86 = "stablehlo.map"(%arg76, %arg76) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg77: tensor<f32>, %arg78: tensor<f32>):
      %87 = "stablehlo.add"(%arg77, %arg78) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%87) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> (), sym_name = "f50"}> ({
  ^bb0(%arg74: tensor<4x6xf32>, %arg75: tensor<f32>):
    %85:2 = "stablehlo.optimization_barrier"(%arg74, %arg75) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<f32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f51"}> ({
    "stablehlo.optimization_barrier"() : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f52"}> ({
    %83 = "stablehlo.replica_id"() : () -> tensor<ui32>
    %84 = "stablehlo.partition_id"() : () -> tensor<ui32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> (), sym_name = "f53"}> ({
  ^bb0(%arg70: tensor<4x6xf32>, %arg71: tensor<f32>):
    %81 = "stablehlo.reduce"(%arg70, %arg71) <{dimensions = array<i64>}> ({
    ^bb0(%arg72: tensor<f32>, %arg73: tensor<f32>):
      %82 = "stablehlo.add"(%arg72, %arg73) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%82) : (tensor<f32>) -> ()
    }) {my.attr = 3 : i8} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> (), sym_name = "f54"}> ({
  ^bb0(%arg66: tensor<4x6xf32>, %arg67: tensor<f32>):
    %79 = "stablehlo.reduce"(%arg66, %arg67) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg68: tensor<f32>, %arg69: tensor<f32>):
      %80 = "stablehlo.add"(%arg69, %arg68) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%80) : (tensor<f32>) -> ()
    }) {my.attr = 3 : i8} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f55"}> ({
  ^bb0(%arg65: tensor<4x6xf32>):
    %78 = "stablehlo.reduce_precision"(%arg65) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>, tensor<2xi64>) -> (), sym_name = "f56"}> ({
  ^bb0(%arg63: tensor<f32>, %arg64: tensor<2xi64>):
    %77 = "stablehlo.rng"(%arg63, %arg63, %arg64) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xui32>) -> (), sym_name = "f57"}> ({
  ^bb0(%arg62: tensor<4xui32>):
    %76:2 = "stablehlo.rng_bit_generator"(%arg62) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3xui32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<i1>) -> (), sym_name = "f58"}> ({
  ^bb0(%arg60: tensor<4x6xf32>, %arg61: tensor<i1>):
    %75 = "stablehlo.select"(%arg61, %arg60, %arg60) : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x6xi1>) -> (), sym_name = "f59"}> ({
  ^bb0(%arg58: tensor<4x6xf32>, %arg59: tensor<4x6xi1>):
    %74 = "stablehlo.select"(%arg59, %arg58, %arg58) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f60"}> ({
  ^bb0(%arg57: tensor<4x6xf32>):
    %73 = "stablehlo.slice"(%arg57) <{limit_indices = array<i64: 4, 6>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<4x6xf32>) -> tensor<4x3xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f61"}> ({
  ^bb0(%arg56: tensor<f32>):
    %72 = "stablehlo.slice"(%arg56) <{limit_indices = array<i64>, start_indices = array<i64>, strides = array<i64>}> : (tensor<f32>) -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f62"}> ({
  ^bb0(%arg55: tensor<4x6xf32>):
    %71 = "stablehlo.reverse"(%arg55) <{dimensions = array<i64: 1>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2x2xi32>) -> (), sym_name = "f63"}> ({
  ^bb0(%arg53: tensor<4x6xf32>, %arg54: tensor<2x2xi32>):
    %70 = "stablehlo.torch_index_select"(%arg53, %arg54) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x6xf32>, tensor<2x2xi32>) -> tensor<2x2x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<4x4xf32>) -> (), sym_name = "f64"}> ({
  ^bb0(%arg51: tensor<4x6xf32>, %arg52: tensor<4x4xf32>):
    %69 = "stablehlo.triangular_solve"(%arg52, %arg51) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<i32>, tensor<i1>) -> (), sym_name = "f65"}> ({
  ^bb0(%arg44: tensor<4x6xf32>, %arg45: tensor<i32>, %arg46: tensor<i1>):
    %68:2 = "stablehlo.while"(%arg45, %arg44) ({
    ^bb0(%arg49: tensor<i32>, %arg50: tensor<4x6xf32>):
      "stablehlo.return"(%arg46) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg47: tensor<i32>, %arg48: tensor<4x6xf32>):
      "stablehlo.return"(%arg47, %arg48) : (tensor<i32>, tensor<4x6xf32>) -> ()
    }) {my.attr = "x"} : (tensor<i32>, tensor<4x6xf32>) -> (tensor<i32>, tensor<4x6xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i1>) -> (), sym_name = "f66"}> ({
  ^bb0(%arg43: tensor<i1>):
    "stablehlo.while"() ({
      "stablehlo.return"(%arg43) : (tensor<i1>) -> ()
    }, {
      "stablehlo.return"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f67"}> ({
  ^bb0(%arg42: tensor<4x6xf32>):
    %67 = "stablehlo.cross-replica-sum"(%arg42) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f68"}> ({
  ^bb0(%arg41: tensor<4x6xf32>):
    %66 = "stablehlo.round_nearest_even"(%arg41) {my.attr} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<?x6xf32>) -> (), sym_name = "f69"}> ({
  ^bb0(%arg39: tensor<4x6xf32>, %arg40: tensor<?x6xf32>):
    %65 = "stablehlo.add"(%arg40, %arg39) : (tensor<?x6xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f70"}> ({
  ^bb0(%arg38: tensor<4x6xf32>):
    %64 = "stablehlo.add"(%arg38, %arg38) {mhlo.frontend_attributes = {a = "b"}} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f71"}> ({
    %63 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> {my.a = 1 : i32} : () -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f72"}> ({
  ^bb0(%arg36: tensor<4x6xf32>, %arg37: tensor<6xf32>):
    %62 = "chlo.broadcast_add"(%arg37, %arg36) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f73"}> ({
  ^bb0(%arg34: tensor<4x6xf32>, %arg35: tensor<6xf32>):
    %61 = "chlo.broadcast_compare"(%arg35, %arg34) <{compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>}> : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<i1>) -> (), sym_name = "f74"}> ({
  ^bb0(%arg32: tensor<4x6xf32>, %arg33: tensor<i1>):
    %60 = "chlo.broadcast_select"(%arg33, %arg32, %arg32) : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f75"}> ({
    %59 = "chlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f76"}> ({
  ^bb0(%arg31: tensor<4x6xf32>):
    %58 = "chlo.constant_like"(%arg31) <{value = 3.200000e+00 : f32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f77"}> ({
  ^bb0(%arg30: tensor<4x6xf32>):
    %57 = "chlo.is_inf"(%arg30) : (tensor<4x6xf32>) -> tensor<4x6xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f78"}> ({
  ^bb0(%arg29: tensor<4x6xf32>):
    %56 = "chlo.is_neg_inf"(%arg29) : (tensor<4x6xf32>) -> tensor<4x6xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xcomplex<f32>>) -> (), sym_name = "f79"}> ({
  ^bb0(%arg28: tensor<4x6xcomplex<f32>>):
    %55 = "chlo.conj"(%arg28) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f80"}> ({
  ^bb0(%arg27: tensor<4x6xf32>):
    %54 = "chlo.next_after"(%arg27, %arg27) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f81"}> ({
  ^bb0(%arg26: tensor<4x6xf32>):
    %53 = "chlo.polygamma"(%arg26, %arg26) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f82"}> ({
  ^bb0(%arg25: tensor<4x6xf32>):
    %52 = "chlo.zeta"(%arg25, %arg25) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xi32>) -> (), sym_name = "f83"}> ({
  ^bb0(%arg24: tensor<4x6xi32>):
    %51 = "chlo.mulhi"(%arg24, %arg24) : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xcomplex<f32>>) -> (), sym_name = "f84"}> ({
  ^bb0(%arg23: tensor<4x6xcomplex<f32>>):
    %50 = "chlo._asin_acos_kernel"(%arg23) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<2xi32>, tensor<2x6x3xf32>) -> (), sym_name = "f85"}> ({
  ^bb0(%arg20: tensor<4x6xf32>, %arg21: tensor<2xi32>, %arg22: tensor<2x6x3xf32>):
    %49 = "chlo.ragged_dot"(%arg20, %arg22, %arg21) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f86"}> ({
  ^bb0(%arg19: tensor<4x6xf32>):
    %48:2 = "chlo.top_k"(%arg19) <{k = 2 : i64}> : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<6xf32>) -> (), sym_name = "f87"}> ({
  ^bb0(%arg15: tensor<4x6xf32>, %arg16: tensor<6xf32>):
    %46:2 = "chlo.scan"(%arg15, %arg16) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg17: tensor<6xf32>, %arg18: tensor<6xf32>):
      %47 = "stablehlo.add"(%arg17, %arg18) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
      "stablehlo.return"(%47, %47) : (tensor<6xf32>, tensor<6xf32>) -> ()
    }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f88"}> ({
  ^bb0(%arg14: tensor<4x6xf32>):
    %45 = "sdy.sharding_constraint"(%arg14) <{sharding = #sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f89"}> ({
  ^bb0(%arg13: tensor<4x6xf32>):
    %44 = "sdy.reshard"(%arg13) <{sharding = #sdy.sharding<@mesh, [{"x"}p1, {?}p2]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f90"}> ({
  ^bb0(%arg12: tensor<4x6xf32>):
    "sdy.sharding_group"(%arg12) <{group_id = 21 : i64}> : (tensor<4x6xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f91"}> ({
  ^bb0(%arg11: tensor<4x6xf32>):
    %43 = "sdy.data_flow_edge"(%arg11) <{sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f92"}> ({
  ^bb0(%arg9: tensor<4x6xf32>):
    %42 = "sdy.named_computation"(%arg9) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, name = "foo", out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}> ({
    ^bb0(%arg10: tensor<4x6xf32>):
      "sdy.return"(%arg10) : (tensor<4x6xf32>) -> ()
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f93"}> ({
    %41 = "sdy.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f94"}> ({
  ^bb0(%arg8: tensor<4x6xf32>):
    %40 = "stablehlo.all_gather"(%arg8) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f95"}> ({
  ^bb0(%arg6: tensor<4x6xf32>):
    %37 = "stablehlo.async_start"(%arg6) ({
    ^bb0(%arg7: tensor<4x6xf32>):
      %39 = "stablehlo.all_gather"(%arg7) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
      "stablehlo.return"(%39) : (tensor<4x12xf32>) -> ()
    }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x12xf32>>
    %38 = "stablehlo.async_done"(%37) : (!stablehlo.future<tensor<4x12xf32>>) -> tensor<4x12xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f96"}> ({
  ^bb0(%arg5: tensor<4x6xf32>):
    %35 = "sdy.reshard"(%arg5) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %36 = "sdy.all_gather"(%35) <{gathering_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f97"}> ({
  ^bb0(%arg4: tensor<4x6xf32>):
    %33 = "sdy.reshard"(%arg4) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %34 = "sdy.all_to_all"(%33) <{out_sharding = #sdy.sharding<@mesh, [{}, {"x"}]>, params = #sdy<all_to_all_param_list[{"x"}: 0->1]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f98"}> ({
  ^bb0(%arg3: tensor<4x6xf32>):
    %31 = "sdy.reshard"(%arg3) <{sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %32 = "sdy.all_reduce"(%31) <{out_sharding = #sdy.sharding<@mesh, [{}, {"x"}]>, reduction_axes = #sdy<axis_ref_list{"y"}>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f99"}> ({
  ^bb0(%arg2: tensor<4x6xf32>):
    %29 = "sdy.reshard"(%arg2) <{sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %30 = "sdy.all_slice"(%29) <{out_sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>, slicing_axes = #sdy<list_of_axis_ref_lists[{"y"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f100"}> ({
  ^bb0(%arg1: tensor<4x6xf32>):
    %27 = "sdy.reshard"(%arg1) <{sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %28 = "sdy.collective_permute"(%27) <{out_sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (), sym_name = "f101"}> ({
  ^bb0(%arg0: tensor<4x6xf32>):
    %25 = "sdy.reshard"(%arg0) <{sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %26 = "sdy.reduce_scatter"(%25) <{out_sharding = #sdy.sharding<@mesh, [{"y"}, {}]>, reduce_scatter_axes = #sdy<list_of_axis_ref_lists[{"y"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f102"}> ({
    %24 = "stablehlo.constant"() <{value = dense<[0x7FC00001, 1.500000e+00, -0.000000e+00, 0xFF800000, 1.401300e-45, 3.400000e+38]> : tensor<6xf32>}> : () -> tensor<6xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f103"}> ({
    %23 = "stablehlo.constant"() <{value = dense<[0x7E01, 1.500000e+00, -0.000000e+00, 0xFC00]> : tensor<4xf16>}> : () -> tensor<4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f104"}> ({
    %22 = "stablehlo.constant"() <{value = dense<[0x7FC1, 1.500000e+00, 3.004060e+38]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f105"}> ({
    %21 = "stablehlo.constant"() <{value = dense<[0x7F, 4.480000e+02, -1.500000e+00]> : tensor<3xf8E4M3FN>}> : () -> tensor<3xf8E4M3FN>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f106"}> ({
    %20 = "stablehlo.constant"() <{value = dense<[0x80, 1.500000e+00]> : tensor<2xf8E4M3FNUZ>}> : () -> tensor<2xf8E4M3FNUZ>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f107"}> ({
    %19 = "stablehlo.constant"() <{value = dense<[0x7C, 1.500000e+00]> : tensor<2xf8E5M2>}> : () -> tensor<2xf8E5M2>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f108"}> ({
    %18 = "stablehlo.constant"() <{value = dense<[6.000000e+00, -5.000000e-01]> : tensor<2xf4E2M1FN>}> : () -> tensor<2xf4E2M1FN>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f109"}> ({
    %17 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.500000e-01]> : tensor<2xf8E8M0FNU>}> : () -> tensor<2xf8E8M0FNU>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f110"}> ({
    %16 = "stablehlo.constant"() <{value = dense<[-8, 7, 0]> : tensor<3xi4>}> : () -> tensor<3xi4>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f111"}> ({
    %15 = "stablehlo.constant"() <{value = dense<[15, 0]> : tensor<2xui4>}> : () -> tensor<2xui4>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f112"}> ({
    %14 = "stablehlo.constant"() <{value = dense<[-2, 1]> : tensor<2xi2>}> : () -> tensor<2xi2>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f113"}> ({
    %13 = "stablehlo.constant"() <{value = dense<[-128, 127]> : tensor<2xi8>}> : () -> tensor<2xi8>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f114"}> ({
    %12 = "stablehlo.constant"() <{value = dense<[18446744073709551615, 0]> : tensor<2xui64>}> : () -> tensor<2xui64>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f115"}> ({
    %11 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f116"}> ({
    %10 = "stablehlo.constant"() <{value = dense<[[true, false], [false, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f117"}> ({
    %9 = "stablehlo.constant"() <{value = dense<false> : tensor<3xi1>}> : () -> tensor<3xi1>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f118"}> ({
    %8 = "stablehlo.constant"() <{value = dense<[(1.000000e+00,-2.000000e+00), (0x7FC00000,0.000000e+00)]> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f119"}> ({
    %7 = "stablehlo.constant"() <{value = dense<(1.000000e+00,2.000000e+00)> : tensor<2x2xcomplex<f64>>}> : () -> tensor<2x2xcomplex<f64>>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f120"}> ({
    %6 = "stablehlo.constant"() <{value = dense<> : tensor<2x0x3xf32>}> : () -> tensor<2x0x3xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f121"}> ({
    %5 = "stablehlo.constant"() <{value = dense<[[[1]], [[2]]]> : tensor<2x1x1xi16>}> : () -> tensor<2x1x1xi16>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f122"}> ({
    %4 = "stablehlo.constant"() <{value = dense<[1, 2, 3, -1]> : tensor<4xi8>}> : () -> tensor<4xi8>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f123"}> ({
    %3 = "stablehlo.constant"() <{value = dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>}> : () -> tensor<2xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f124"}> ({
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f125"}> ({
    %1 = "stablehlo.constant"() <{value = dense<0x7FF0000000000000> : tensor<f64>}> : () -> tensor<f64>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "f126"}> ({
    %0 = "stablehlo.custom_call"() <{call_target_name = "attributes", has_side_effect = true}> {a = array<i32: 1, -2>, b = array<f32: 1.500000e+00, 2.000000e+00>, c = array<i1: true, false>, d = array<i64>, e = [1, 2], f = [1 : i32, "x", [true, false]], g = {h = 2.500000e+00 : f32, i = -7 : i8, j = 255 : ui8, k = 0x7FC00000 : f32}, l = tensor<2xf32>, m = (tensor<i32>, !stablehlo.token) -> tensor<f32>, n = @half, o = #map, "odd name" = i1, p, q = [], r = "two\0Alines\22\\", s = dense<[[1, 2]]> : tensor<1x2xi64>, t = 1 : index} : () -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
