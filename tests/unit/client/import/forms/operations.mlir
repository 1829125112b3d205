// One function an operation; see generate.py.
module @every attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  sdy.mesh @maximal = <[], device_ids=[0]>
  func.func private @half(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
    return %a : tensor<4x6xf32>
  }
  func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @f0() {
    %0 = "stablehlo.create_token"() : () -> !stablehlo.token
    return
  }
  func.func @f1(%t: !stablehlo.token) {
    %1 = "stablehlo.after_all"(%t, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    return
  }
  func.func @f2() {
    %1 = "stablehlo.after_all"() : () -> !stablehlo.token
    return
  }
  func.func @f3(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
    %2:3 = "stablehlo.batch_norm_training"(%f, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    return
  }
  func.func @f4(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
    %2 = "stablehlo.batch_norm_inference"(%f, %v, %v, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f5(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
    %2:3 = "stablehlo.batch_norm_grad"(%f, %v, %v, %v, %f) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    return
  }
  func.func @f6(%v: tensor<6xf32>) {
    %2 = "stablehlo.broadcast"(%v) <{broadcast_sizes = array<i64: 2, 3>}> : (tensor<6xf32>) -> tensor<2x3x6xf32>
    return
  }
  func.func @f7(%m: tensor<4x4xf32>) {
    %2 = "stablehlo.cholesky"(%m) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return
  }
  func.func @f8(%m: tensor<4x4xf32>) {
    %2 = "stablehlo.cholesky"(%m) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return
  }
  func.func @f9(%f: tensor<4x6xf32>, %s: tensor<f32>) {
    %2 = "stablehlo.clamp"(%s, %f, %s) : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    return
  }
  func.func @f10(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.collective_broadcast"(%f) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f11(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.compare"(%f, %f) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }
  func.func @f12(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.compare"(%f, %f) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }
  func.func @f13(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.complex"(%f, %f) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    return
  }
  func.func @f14(%z: tensor<4x6xcomplex<f32>>) {
    %2 = "stablehlo.real"(%z) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    return
  }
  func.func @f15(%z: tensor<4x6xcomplex<f32>>) {
    %2 = "stablehlo.abs"(%z) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    return
  }
  func.func @f16(%f: tensor<4x6xf32>, %t: !stablehlo.token) {
    %2 = "stablehlo.tuple"(%f, %t) : (tensor<4x6xf32>, !stablehlo.token) -> tuple<tensor<4x6xf32>, !stablehlo.token>
    %3 = "stablehlo.get_tuple_element"(%2) <{index = 0 : i32}> : (tuple<tensor<4x6xf32>, !stablehlo.token>) -> tensor<4x6xf32>
    return
  }
  func.func @f17(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.composite"(%f) <{name = "my.op", decomposition = @half, composite_attributes = {a = 1 : i32}, version = 2 : i32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f18(%f: tensor<4x6xf32>, %i: tensor<4x6xi32>) {
    %2:2 = "stablehlo.custom_call"(%f, %i) <{call_target_name = "foo.bar", api_version = 4 : i32, backend_config = {x = 1 : i64, y = dense<[1.0]> : tensor<1xf32>}, has_side_effect = true, called_computations = [@sum], operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]}> : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<f32>)
    return
  }
  func.func @f19(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.custom_call"(%f) <{call_target_name = "foo", backend_config = "\00\FFhi\""}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f20() {
    "stablehlo.custom_call"() <{call_target_name = "we ird", has_side_effect = true}> {mhlo.attributes = {}, some.unit} : () -> ()
    return
  }
  func.func @f21(%f: tensor<4x6xf32>, %m: tensor<4x4xf32>) {
    %2 = "stablehlo.dot"(%m, %f) <{precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f22(%f: tensor<4x6xf32>, %m: tensor<4x4xf32>) {
    %2 = "stablehlo.dot"(%m, %f) : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f23(%m: tensor<4x4xf32>) {
    %2 = "stablehlo.dot_general"(%m, %m) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    return
  }
  func.func @f24(%m: tensor<4x4xf32>) {
    %2 = "stablehlo.dot_general"(%m, %m) <{dot_dimension_numbers = #stablehlo.dot<>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4x4x4xf32>
    return
  }
  func.func @f25(%d: tensor<2xi64>, %v: tensor<6xf32>) {
    %2 = "stablehlo.dynamic_broadcast_in_dim"(%v, %d) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
    return
  }
  func.func @f26(%img: tensor<1x3x8x8xf32>, %ker: tensor<2x3x3x3xf32>, %pads: tensor<2x2xi64>) {
    %2 = "stablehlo.dynamic_conv"(%img, %ker, %pads) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>, tensor<2x2xi64>) -> tensor<1x2x?x?xf32>
    return
  }
  func.func @f27(%img: tensor<1x3x8x8xf32>, %ker: tensor<2x3x3x3xf32>) {
    %2 = "stablehlo.convolution"(%img, %ker) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [-1, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: true, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x7xf32>
    return
  }
  func.func @f28(%img: tensor<1x3x8x8xf32>, %ker: tensor<2x3x3x3xf32>) {
    %2 = "stablehlo.convolution"(%img, %ker) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x6x6xf32>
    return
  }
  func.func @f29(%f: tensor<4x6xf32>, %d: tensor<2xi64>, %g: tensor<2x2xi32>) {
    %2 = "stablehlo.dynamic_gather"(%f, %g, %d) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = true}> : (tensor<4x6xf32>, tensor<2x2xi32>, tensor<2xi64>) -> tensor<?x2x2xf32>
    return
  }
  func.func @f30(%d: tensor<2xi64>) {
    %2 = "stablehlo.dynamic_iota"(%d) <{iota_dimension = 0 : i64}> : (tensor<2xi64>) -> tensor<?x6xf32>
    return
  }
  func.func @f31(%f: tensor<4x6xf32>, %s: tensor<f32>, %d: tensor<2xi64>) {
    %2 = "stablehlo.dynamic_pad"(%f, %s, %d, %d, %d) : (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    return
  }
  func.func @f32(%f: tensor<4x6xf32>, %d: tensor<2xi64>) {
    %2 = "stablehlo.dynamic_reshape"(%f, %d) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
    return
  }
  func.func @f33(%f: tensor<4x6xf32>, %d: tensor<2xi64>) {
    %2 = "stablehlo.real_dynamic_slice"(%f, %d, %d, %d) : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    return
  }
  func.func @f34(%v: tensor<6xf32>, %i0: tensor<i64>) {
    %2 = "stablehlo.dynamic_slice"(%v, %i0) <{slice_sizes = array<i64: 2>}> : (tensor<6xf32>, tensor<i64>) -> tensor<2xf32>
    return
  }
  func.func @f35(%s: tensor<f32>) {
    %2 = "stablehlo.dynamic_slice"(%s) <{slice_sizes = array<i64>}> : (tensor<f32>) -> tensor<f32>
    return
  }
  func.func @f36(%f: tensor<4x6xf32>, %m: tensor<4x4xf32>, %i0: tensor<i64>) {
    %2 = "stablehlo.dynamic_update_slice"(%f, %m, %i0, %i0) : (tensor<4x6xf32>, tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<4x6xf32>
    return
  }
  func.func @f37(%f: tensor<4x6xf32>, %m: tensor<4x4xf32>) {
    %2 = "stablehlo.einsum"(%m, %f) <{einsum_config = "ij,jk->ik"}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f38(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.unary_einsum"(%f) <{einsum_config = "ij->i"}> : (tensor<4x6xf32>) -> tensor<4xf32>
    return
  }
  func.func @f39(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.exponential"(%f) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-03, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f40(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.exponential"(%f) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f41(%z: tensor<4x6xcomplex<f32>>) {
    %2 = "stablehlo.fft"(%z) <{fft_length = array<i64: 4, 6>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    return
  }
  func.func @f42(%u: tensor<?x6xf32>) {
    %2 = "stablehlo.get_dimension_size"(%u) <{dimension = 0 : i64}> : (tensor<?x6xf32>) -> tensor<i32>
    return
  }
  func.func @f43(%f: tensor<4x6xf32>, %n: tensor<i32>) {
    %2 = "stablehlo.set_dimension_size"(%f, %n) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
    return
  }
  func.func @f44(%f: tensor<4x6xf32>, %s: tensor<f32>, %b: tensor<i1>) {
    %2:2 = "stablehlo.if"(%b) ({
      "stablehlo.return"(%f, %s) : (tensor<4x6xf32>, tensor<f32>) -> ()
    }, {
      "stablehlo.return"(%f, %s) : (tensor<4x6xf32>, tensor<f32>) -> ()
    }) : (tensor<i1>) -> (tensor<4x6xf32>, tensor<f32>)
    return
  }
  func.func @f45(%t: !stablehlo.token) {
    %2:2 = "stablehlo.infeed"(%t) <{infeed_config = "cfg", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
    return
  }
  func.func @f46(%f: tensor<4x6xf32>, %i: tensor<4x6xi32>, %t: !stablehlo.token) {
    %2 = "stablehlo.outfeed"(%f, %i, %t) <{outfeed_config = "cfg"}> : (tensor<4x6xf32>, tensor<4x6xi32>, !stablehlo.token) -> !stablehlo.token
    return
  }
  func.func @f47(%f: tensor<4x6xf32>, %t: !stablehlo.token) {
    %2 = "stablehlo.send"(%f, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
    return
  }
  func.func @f48(%t: !stablehlo.token) {
    %2:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
    return
  }
  func.func @f49(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.map"(%f, %f) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>, %c: tensor<f32>):
      %3 = "stablehlo.add"(%a, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f50(%f: tensor<4x6xf32>, %s: tensor<f32>) {
    %2:2 = "stablehlo.optimization_barrier"(%f, %s) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<f32>)
    return
  }
  func.func @f51() {
    "stablehlo.optimization_barrier"() : () -> ()
    return
  }
  func.func @f52() {
    %2 = "stablehlo.replica_id"() : () -> tensor<ui32>
    %3 = "stablehlo.partition_id"() : () -> tensor<ui32>
    return
  }
  func.func @f53(%f: tensor<4x6xf32>, %s: tensor<f32>) {
    %2 = "stablehlo.reduce"(%f, %s) <{dimensions = array<i64>}> ({
    ^bb0(%a: tensor<f32>, %c: tensor<f32>):
      %3 = "stablehlo.add"(%a, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {my.attr = 3 : i8} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    return
  }
  func.func @f54(%f: tensor<4x6xf32>, %s: tensor<f32>) {
    %2 = "stablehlo.reduce"(%f, %s) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %c: tensor<f32>):
      %3 = "stablehlo.add"(%c, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {my.attr = 3 : i8} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    return
  }
  func.func @f55(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.reduce_precision"(%f) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f56(%s: tensor<f32>, %d: tensor<2xi64>) {
    %2 = "stablehlo.rng"(%s, %s, %d) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
    return
  }
  func.func @f57(%q: tensor<4xui32>) {
    %2:2 = "stablehlo.rng_bit_generator"(%q) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3xui32>)
    return
  }
  func.func @f58(%f: tensor<4x6xf32>, %b: tensor<i1>) {
    %2 = "stablehlo.select"(%b, %f, %f) : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f59(%f: tensor<4x6xf32>, %p: tensor<4x6xi1>) {
    %2 = "stablehlo.select"(%p, %f, %f) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f60(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.slice"(%f) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 6>, strides = array<i64: 1, 2>}> : (tensor<4x6xf32>) -> tensor<4x3xf32>
    return
  }
  func.func @f61(%s: tensor<f32>) {
    %2 = "stablehlo.slice"(%s) <{start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>}> : (tensor<f32>) -> tensor<f32>
    return
  }
  func.func @f62(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.reverse"(%f) <{dimensions = array<i64: 1>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f63(%f: tensor<4x6xf32>, %g: tensor<2x2xi32>) {
    %2 = "stablehlo.torch_index_select"(%f, %g) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<4x6xf32>, tensor<2x2xi32>) -> tensor<2x2x6xf32>
    return
  }
  func.func @f64(%f: tensor<4x6xf32>, %m: tensor<4x4xf32>) {
    %2 = "stablehlo.triangular_solve"(%m, %f) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f65(%f: tensor<4x6xf32>, %n: tensor<i32>, %b: tensor<i1>) {
    %2:2 = "stablehlo.while"(%n, %f) ({
    ^bb0(%a: tensor<i32>, %c: tensor<4x6xf32>):
      "stablehlo.return"(%b) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a: tensor<i32>, %c: tensor<4x6xf32>):
      "stablehlo.return"(%a, %c) : (tensor<i32>, tensor<4x6xf32>) -> ()
    }) {my.attr = "x"} : (tensor<i32>, tensor<4x6xf32>) -> (tensor<i32>, tensor<4x6xf32>)
    return
  }
  func.func @f66(%b: tensor<i1>) {
    "stablehlo.while"() ({
      "stablehlo.return"(%b) : (tensor<i1>) -> ()
    }, {
      "stablehlo.return"() : () -> ()
    }) : () -> ()
    return
  }
  func.func @f67(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.cross-replica-sum"(%f) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f68(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.round_nearest_even"(%f) {my.attr} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f69(%f: tensor<4x6xf32>, %u: tensor<?x6xf32>) {
    %2 = "stablehlo.add"(%u, %f) : (tensor<?x6xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
    return
  }
  func.func @f70(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.add"(%f, %f) {mhlo.frontend_attributes = {a = "b"}} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f71() {
    %2 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> {my.a = 1 : i32} : () -> tensor<f32>
    return
  }
  func.func @f72(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
    %2 = "chlo.broadcast_add"(%v, %f) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f73(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
    %2 = "chlo.broadcast_compare"(%v, %f) <{comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type FLOAT>}> : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }
  func.func @f74(%f: tensor<4x6xf32>, %b: tensor<i1>) {
    %2 = "chlo.broadcast_select"(%b, %f, %f) : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f75() {
    %2 = "chlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    return
  }
  func.func @f76(%f: tensor<4x6xf32>) {
    %2 = "chlo.constant_like"(%f) <{value = 3.2 : f32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f77(%f: tensor<4x6xf32>) {
    %2 = "chlo.is_inf"(%f) : (tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }
  func.func @f78(%f: tensor<4x6xf32>) {
    %2 = "chlo.is_neg_inf"(%f) : (tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }
  func.func @f79(%z: tensor<4x6xcomplex<f32>>) {
    %2 = "chlo.conj"(%z) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    return
  }
  func.func @f80(%f: tensor<4x6xf32>) {
    %2 = "chlo.next_after"(%f, %f) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f81(%f: tensor<4x6xf32>) {
    %2 = "chlo.polygamma"(%f, %f) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f82(%f: tensor<4x6xf32>) {
    %2 = "chlo.zeta"(%f, %f) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f83(%i: tensor<4x6xi32>) {
    %2 = "chlo.mulhi"(%i, %i) : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
    return
  }
  func.func @f84(%z: tensor<4x6xcomplex<f32>>) {
    %2 = "chlo._asin_acos_kernel"(%z) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    return
  }
  func.func @f85(%f: tensor<4x6xf32>, %d3: tensor<2xi32>, %rg: tensor<2x6x3xf32>) {
    %2 = "chlo.ragged_dot"(%f, %rg, %d3) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}> : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
    return
  }
  func.func @f86(%f: tensor<4x6xf32>) {
    %2:2 = "chlo.top_k"(%f) <{k = 2 : i64}> : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    return
  }
  func.func @f87(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
    %2:2 = "chlo.scan"(%f, %v) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%a: tensor<6xf32>, %c: tensor<6xf32>):
      %3 = "stablehlo.add"(%a, %c) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
      "stablehlo.return"(%3, %3) : (tensor<6xf32>, tensor<6xf32>) -> ()
    }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
    return
  }
  func.func @f88(%f: tensor<4x6xf32>) {
    %2 = "sdy.sharding_constraint"(%f) <{sharding = #sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f89(%f: tensor<4x6xf32>) {
    %2 = "sdy.reshard"(%f) <{sharding = #sdy.sharding<@mesh, [{"x"}p1, {?}p2]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f90(%f: tensor<4x6xf32>) {
    "sdy.sharding_group"(%f) <{group_id = 21 : i64}> : (tensor<4x6xf32>) -> ()
    return
  }
  func.func @f91(%f: tensor<4x6xf32>) {
    %2 = "sdy.data_flow_edge"(%f) <{sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f92(%f: tensor<4x6xf32>) {
    %2 = "sdy.named_computation"(%f) <{name = "foo", in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}> ({
    ^bb0(%a: tensor<4x6xf32>):
      "sdy.return"(%a) : (tensor<4x6xf32>) -> ()
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f93() {
    %2 = "sdy.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    return
  }
  func.func @f94(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.all_gather"(%f) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
    return
  }
  func.func @f95(%f: tensor<4x6xf32>) {
    %2 = "stablehlo.async_start"(%f) ({
    ^bb0(%a: tensor<4x6xf32>):
      %3 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
      "stablehlo.return"(%3) : (tensor<4x12xf32>) -> ()
    }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x12xf32>>
    %4 = "stablehlo.async_done"(%2) : (!stablehlo.future<tensor<4x12xf32>>) -> tensor<4x12xf32>
    return
  }
  func.func @f96(%f: tensor<4x6xf32>) {
    %3 = "sdy.reshard"(%f) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "sdy.all_gather"(%3) <{gathering_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f97(%f: tensor<4x6xf32>) {
    %3 = "sdy.reshard"(%f) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "sdy.all_to_all"(%3) <{params = #sdy<all_to_all_param_list[{"x"}: 0->1]>, out_sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f98(%f: tensor<4x6xf32>) {
    %3 = "sdy.reshard"(%f) <{sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "sdy.all_reduce"(%3) <{reduction_axes = #sdy<axis_ref_list{"y"}>, out_sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f99(%f: tensor<4x6xf32>) {
    %3 = "sdy.reshard"(%f) <{sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "sdy.all_slice"(%3) <{slicing_axes = #sdy<list_of_axis_ref_lists[{"y"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f100(%f: tensor<4x6xf32>) {
    %3 = "sdy.reshard"(%f) <{sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "sdy.collective_permute"(%3) <{out_sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f101(%f: tensor<4x6xf32>) {
    %3 = "sdy.reshard"(%f) <{sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "sdy.reduce_scatter"(%3) <{reduce_scatter_axes = #sdy<list_of_axis_ref_lists[{"y"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f102() {
    %2 = "stablehlo.constant"() <{value = dense<[0x7FC00001, 1.5, -0.0, 0xFF800000, 1.0e-45, 3.4e38]> : tensor<6xf32>}> : () -> tensor<6xf32>
    return
  }
  func.func @f103() {
    %2 = "stablehlo.constant"() <{value = dense<[0x7E01, 1.5, -0.0, 0xFC00]> : tensor<4xf16>}> : () -> tensor<4xf16>
    return
  }
  func.func @f104() {
    %2 = "stablehlo.constant"() <{value = dense<[0x7FC1, 1.5, 3.0e38]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
    return
  }
  func.func @f105() {
    %2 = "stablehlo.constant"() <{value = dense<[0x7F, 448.0, -1.5]> : tensor<3xf8E4M3FN>}> : () -> tensor<3xf8E4M3FN>
    return
  }
  func.func @f106() {
    %2 = "stablehlo.constant"() <{value = dense<[0x80, 1.5]> : tensor<2xf8E4M3FNUZ>}> : () -> tensor<2xf8E4M3FNUZ>
    return
  }
  func.func @f107() {
    %2 = "stablehlo.constant"() <{value = dense<[0x7C, 1.5]> : tensor<2xf8E5M2>}> : () -> tensor<2xf8E5M2>
    return
  }
  func.func @f108() {
    %2 = "stablehlo.constant"() <{value = dense<[6.0, -0.5]> : tensor<2xf4E2M1FN>}> : () -> tensor<2xf4E2M1FN>
    return
  }
  func.func @f109() {
    %2 = "stablehlo.constant"() <{value = dense<[1.0, 0.25]> : tensor<2xf8E8M0FNU>}> : () -> tensor<2xf8E8M0FNU>
    return
  }
  func.func @f110() {
    %2 = "stablehlo.constant"() <{value = dense<[-8, 7, 0]> : tensor<3xi4>}> : () -> tensor<3xi4>
    return
  }
  func.func @f111() {
    %2 = "stablehlo.constant"() <{value = dense<[15, 0]> : tensor<2xui4>}> : () -> tensor<2xui4>
    return
  }
  func.func @f112() {
    %2 = "stablehlo.constant"() <{value = dense<[-2, 1]> : tensor<2xi2>}> : () -> tensor<2xi2>
    return
  }
  func.func @f113() {
    %2 = "stablehlo.constant"() <{value = dense<[-128, 127]> : tensor<2xi8>}> : () -> tensor<2xi8>
    return
  }
  func.func @f114() {
    %2 = "stablehlo.constant"() <{value = dense<[18446744073709551615, 0]> : tensor<2xui64>}> : () -> tensor<2xui64>
    return
  }
  func.func @f115() {
    %2 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
    return
  }
  func.func @f116() {
    %2 = "stablehlo.constant"() <{value = dense<[[true, false], [false, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1>
    return
  }
  func.func @f117() {
    %2 = "stablehlo.constant"() <{value = dense<false> : tensor<3xi1>}> : () -> tensor<3xi1>
    return
  }
  func.func @f118() {
    %2 = "stablehlo.constant"() <{value = dense<[(1.0, -2.0), (0x7FC00000, 0.0)]> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    return
  }
  func.func @f119() {
    %2 = "stablehlo.constant"() <{value = dense<(1.0, 2.0)> : tensor<2x2xcomplex<f64>>}> : () -> tensor<2x2xcomplex<f64>>
    return
  }
  func.func @f120() {
    %2 = "stablehlo.constant"() <{value = dense<> : tensor<2x0x3xf32>}> : () -> tensor<2x0x3xf32>
    return
  }
  func.func @f121() {
    %2 = "stablehlo.constant"() <{value = dense<[[[1]], [[2]]]> : tensor<2x1x1xi16>}> : () -> tensor<2x1x1xi16>
    return
  }
  func.func @f122() {
    %2 = "stablehlo.constant"() <{value = dense<"0x010203FF"> : tensor<4xi8>}> : () -> tensor<4xi8>
    return
  }
  func.func @f123() {
    %2 = "stablehlo.constant"() <{value = dense<"0x0000803F000000C0"> : tensor<2xf32>}> : () -> tensor<2xf32>
    return
  }
  func.func @f124() {
    %2 = "stablehlo.constant"() <{value = dense<"0x0000803F"> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
    return
  }
  func.func @f125() {
    %2 = "stablehlo.constant"() <{value = dense<0x7FF0000000000000> : tensor<f64>}> : () -> tensor<f64>
    return
  }
  func.func @f126() {
    %2 = "stablehlo.custom_call"() <{call_target_name = "attributes", has_side_effect = true}> {a = array<i32: 1, -2>, b = array<f32: 1.5, 2.0>, c = array<i1: true, false>, d = array<i64>, e = [1, 2 : i64], f = [1 : i32, "x", [true, false]], g = {h = 2.5 : f32, i = -7 : i8, j = 255 : ui8, k = 0x7FC00000 : f32}, l = tensor<2xf32>, m = (tensor<i32>, !stablehlo.token) -> tensor<f32>, n = @half, o = affine_map<(d0, d1) -> (d1, d0)>, p, q = [], r = "two\0Alines\22\5C", s = dense<[[1, 2]]> : tensor<1x2xi64>, t = 1 : index, "odd name" = i1} : () -> tensor<f32>
    return
  }
}
