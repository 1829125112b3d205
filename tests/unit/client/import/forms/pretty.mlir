#map = affine_map<(d0, d1) -> (d1, d0)>
module @every attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  sdy.mesh @maximal = <[], device_ids=[0]>
  func.func private @half(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    return %arg0 : tensor<4x6xf32>
  }
  func.func private @sum(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @f0() {
    %0 = stablehlo.create_token : !stablehlo.token
    return
  }
  func.func @f1(%arg0: !stablehlo.token) {
    %0 = stablehlo.after_all %arg0, %arg0 : !stablehlo.token
    return
  }
  func.func @f2() {
    %0 = stablehlo.after_all  : !stablehlo.token
    return
  }
  func.func @f3(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>) {
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    return
  }
  func.func @f4(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>) {
    %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f5(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>) {
    %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    return
  }
  func.func @f6(%arg0: tensor<6xf32>) {
    %0 = stablehlo.broadcast %arg0, sizes = [2, 3] : (tensor<6xf32>) -> tensor<2x3x6xf32>
    return
  }
  func.func @f7(%arg0: tensor<4x4xf32>) {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<4x4xf32>
    return
  }
  func.func @f8(%arg0: tensor<4x4xf32>) {
    %0 = stablehlo.cholesky %arg0 : tensor<4x4xf32>
    return
  }
  func.func @f9(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
    %0 = stablehlo.clamp %arg1, %arg0, %arg1 : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    return
  }
  func.func @f10(%arg0: tensor<4x6xf32>) {
    %0 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f11(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.compare LT, %arg0, %arg0, TOTALORDER : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }
  func.func @f12(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.compare LT, %arg0, %arg0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }
  func.func @f13(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.complex %arg0, %arg0 : tensor<4x6xcomplex<f32>>
    return
  }
  func.func @f14(%arg0: tensor<4x6xcomplex<f32>>) {
    %0 = stablehlo.real %arg0 : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    return
  }
  func.func @f15(%arg0: tensor<4x6xcomplex<f32>>) {
    %0 = stablehlo.abs %arg0 : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    return
  }
  func.func @f16(%arg0: tensor<4x6xf32>, %arg1: !stablehlo.token) {
    %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<4x6xf32>, !stablehlo.token>
    %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4x6xf32>, !stablehlo.token>) -> tensor<4x6xf32>
    return
  }
  func.func @f17(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.composite "my.op" %arg0 {composite_attributes = {a = 1 : i32}, decomposition = @half, version = 2 : i32} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f18(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xi32>) {
    %0:2 = stablehlo.custom_call @foo.bar(%arg0, %arg1) {api_version = 4 : i32, backend_config = {x = 1 : i64, y = dense<1.000000e+00> : tensor<1xf32>}, called_computations = [@sum], has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<f32>)
    return
  }
  func.func @f19(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.custom_call @foo(%arg0) {backend_config = "\00\FFhi\22"} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f20() {
    stablehlo.custom_call @"we ird"() {has_side_effect = true, mhlo.attributes = {}, some.unit} : () -> ()
    return
  }
  func.func @f21(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>) {
    %0 = stablehlo.dot %arg1, %arg0, precision = [HIGH, DEFAULT] : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f22(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>) {
    %0 = stablehlo.dot %arg1, %arg0 : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f23(%arg0: tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [1], contracting_dims = [1] x [0], precision = [], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    return
  }
  func.func @f24(%arg0: tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [] x [], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4x4x4xf32>
    return
  }
  func.func @f25(%arg0: tensor<2xi64>, %arg1: tensor<6xf32>) {
    %0 = stablehlo.dynamic_broadcast_in_dim %arg1, %arg0, dims = [1] {known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
    return
  }
  func.func @f26(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<2x3x3x3xf32>, %arg2: tensor<2x2xi64>) {
    %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>}> : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>, tensor<2x2xi64>) -> tensor<1x2x?x?xf32>
    return
  }
  func.func @f27(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<2x3x3x3xf32>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 0], [-1, 2]], lhs_dilate = [1, 1], rhs_dilate = [2, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x7xf32>
    return
  }
  func.func @f28(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<2x3x3x3xf32>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x6x6xf32>
    return
  }
  func.func @f29(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi64>, %arg2: tensor<2x2xi32>) {
    %0 = "stablehlo.dynamic_gather"(%arg0, %arg2, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = true}> : (tensor<4x6xf32>, tensor<2x2xi32>, tensor<2xi64>) -> tensor<?x2x2xf32>
    return
  }
  func.func @f30(%arg0: tensor<2xi64>) {
    %0 = stablehlo.dynamic_iota %arg0, dim = 0 : (tensor<2xi64>) -> tensor<?x6xf32>
    return
  }
  func.func @f31(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>, %arg2: tensor<2xi64>) {
    %0 = stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg2, %arg2 : (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    return
  }
  func.func @f32(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi64>) {
    %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
    return
  }
  func.func @f33(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi64>) {
    %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    return
  }
  func.func @f34(%arg0: tensor<6xf32>, %arg1: tensor<i64>) {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [2] : (tensor<6xf32>, tensor<i64>) -> tensor<2xf32>
    return
  }
  func.func @f35(%arg0: tensor<f32>) {
    %0 = stablehlo.dynamic_slice %arg0, , sizes = [] : (tensor<f32>) -> tensor<f32>
    return
  }
  func.func @f36(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<i64>) {
    %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg2 : (tensor<4x6xf32>, tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<4x6xf32>
    return
  }
  func.func @f37(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>) {
    %0 = stablehlo.einsum %arg1, %arg0, config = "ij,jk->ik" : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f38(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.unary_einsum %arg0, config = "ij->i" : (tensor<4x6xf32>) -> tensor<4xf32>
    return
  }
  func.func @f39(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-03, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x6xf32>
    return
  }
  func.func @f40(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4x6xf32>
    return
  }
  func.func @f41(%arg0: tensor<4x6xcomplex<f32>>) {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [4, 6] : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    return
  }
  func.func @f42(%arg0: tensor<?x6xf32>) {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    return
  }
  func.func @f43(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>) {
    %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0 : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
    return
  }
  func.func @f44(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>) {
    %0:2 = "stablehlo.if"(%arg2) ({
      stablehlo.return %arg0, %arg1 : tensor<4x6xf32>, tensor<f32>
    }, {
      stablehlo.return %arg0, %arg1 : tensor<4x6xf32>, tensor<f32>
    }) : (tensor<i1>) -> (tensor<4x6xf32>, tensor<f32>)
    return
  }
  func.func @f45(%arg0: !stablehlo.token) {
    %0:2 = "stablehlo.infeed"(%arg0) <{infeed_config = "cfg", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
    return
  }
  func.func @f46(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xi32>, %arg2: !stablehlo.token) {
    %0 = "stablehlo.outfeed"(%arg0, %arg1, %arg2) <{outfeed_config = "cfg"}> : (tensor<4x6xf32>, tensor<4x6xi32>, !stablehlo.token) -> !stablehlo.token
    return
  }
  func.func @f47(%arg0: tensor<4x6xf32>, %arg1: !stablehlo.token) {
    %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
    return
  }
  func.func @f48(%arg0: !stablehlo.token) {
    %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
    return
  }
  func.func @f49(%arg0: tensor<4x6xf32>) {
    %0 = "stablehlo.map"(%arg0, %arg0) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f50(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
    %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4x6xf32>, tensor<f32>
    return
  }
  func.func @f51() {
    stablehlo.optimization_barrier()
    return
  }
  func.func @f52() {
    %0 = stablehlo.replica_id : tensor<ui32>
    %1 = stablehlo.partition_id : tensor<ui32>
    return
  }
  func.func @f53(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [] {my.attr = 3 : i8} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    return
  }
  func.func @f54(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
    %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [1] {my.attr = 3 : i8} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
      %1 = stablehlo.add %arg3, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
    return
  }
  func.func @f55(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4x6xf32>
    return
  }
  func.func @f56(%arg0: tensor<f32>, %arg1: tensor<2xi64>) {
    %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
    return
  }
  func.func @f57(%arg0: tensor<4xui32>) {
    %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = PHILOX : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3xui32>)
    return
  }
  func.func @f58(%arg0: tensor<4x6xf32>, %arg1: tensor<i1>) {
    %0 = stablehlo.select %arg1, %arg0, %arg0 : tensor<i1>, tensor<4x6xf32>
    return
  }
  func.func @f59(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xi1>) {
    %0 = stablehlo.select %arg1, %arg0, %arg0 : tensor<4x6xi1>, tensor<4x6xf32>
    return
  }
  func.func @f60(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.slice %arg0 [0:4, 1:6:2] : (tensor<4x6xf32>) -> tensor<4x3xf32>
    return
  }
  func.func @f61(%arg0: tensor<f32>) {
    %0 = stablehlo.slice %arg0 [] : (tensor<f32>) -> tensor<f32>
    return
  }
  func.func @f62(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<4x6xf32>
    return
  }
  func.func @f63(%arg0: tensor<4x6xf32>, %arg1: tensor<2x2xi32>) {
    %0 = "stablehlo.torch_index_select"(%arg0, %arg1) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x6xf32>, tensor<2x2xi32>) -> tensor<2x2x6xf32>
    return
  }
  func.func @f64(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>) {
    %0 = "stablehlo.triangular_solve"(%arg1, %arg0) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f65(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>) {
    %0:2 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg0) : tensor<i32>, tensor<4x6xf32> attributes {my.attr = "x"}
    cond {
      stablehlo.return %arg2 : tensor<i1>
    } do {
      stablehlo.return %iterArg, %iterArg_0 : tensor<i32>, tensor<4x6xf32>
    }
    return
  }
  func.func @f66(%arg0: tensor<i1>) {
    stablehlo.while()
    cond {
      stablehlo.return %arg0 : tensor<i1>
    } do {
      stablehlo.return 
    }
    return
  }
  func.func @f67(%arg0: tensor<4x6xf32>) {
    %0 = "stablehlo.cross-replica-sum"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f68(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.round_nearest_even %arg0 {my.attr} : tensor<4x6xf32>
    return
  }
  func.func @f69(%arg0: tensor<4x6xf32>, %arg1: tensor<?x6xf32>) {
    %0 = stablehlo.add %arg1, %arg0 : (tensor<?x6xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
    return
  }
  func.func @f70(%arg0: tensor<4x6xf32>) {
    %0 = stablehlo.add %arg0, %arg0 {mhlo.frontend_attributes = {a = "b"}} : tensor<4x6xf32>
    return
  }
  func.func @f71() {
    %cst = stablehlo.constant {my.a = 1 : i32} dense<1.000000e+00> : tensor<f32>
    return
  }
  func.func @f72(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>) {
    %0 = chlo.broadcast_add %arg1, %arg0 {broadcast_dimensions = array<i64: 1>} : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f73(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>) {
    %0 = chlo.broadcast_compare %arg1, %arg0 {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }
  func.func @f74(%arg0: tensor<4x6xf32>, %arg1: tensor<i1>) {
    %0 = chlo.broadcast_select %arg1, %arg0, %arg0 : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f75() {
    %0 = chlo.constant dense<1.000000e+00> : tensor<f32>
    return
  }
  func.func @f76(%arg0: tensor<4x6xf32>) {
    %0 = "chlo.constant_like"(%arg0) <{value = 3.200000e+00 : f32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f77(%arg0: tensor<4x6xf32>) {
    %0 = chlo.is_inf %arg0 : tensor<4x6xf32> -> tensor<4x6xi1>
    return
  }
  func.func @f78(%arg0: tensor<4x6xf32>) {
    %0 = chlo.is_neg_inf %arg0 : tensor<4x6xf32> -> tensor<4x6xi1>
    return
  }
  func.func @f79(%arg0: tensor<4x6xcomplex<f32>>) {
    %0 = chlo.conj %arg0 : tensor<4x6xcomplex<f32>> -> tensor<4x6xcomplex<f32>>
    return
  }
  func.func @f80(%arg0: tensor<4x6xf32>) {
    %0 = chlo.next_after %arg0, %arg0 : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    return
  }
  func.func @f81(%arg0: tensor<4x6xf32>) {
    %0 = chlo.polygamma %arg0, %arg0 : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    return
  }
  func.func @f82(%arg0: tensor<4x6xf32>) {
    %0 = chlo.zeta %arg0, %arg0 : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    return
  }
  func.func @f83(%arg0: tensor<4x6xi32>) {
    %0 = chlo.mulhi %arg0, %arg0 : tensor<4x6xi32>, tensor<4x6xi32> -> tensor<4x6xi32>
    return
  }
  func.func @f84(%arg0: tensor<4x6xcomplex<f32>>) {
    %0 = chlo._asin_acos_kernel %arg0 : tensor<4x6xcomplex<f32>> -> tensor<4x6xcomplex<f32>>
    return
  }
  func.func @f85(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi32>, %arg2: tensor<2x6x3xf32>) {
    %0 = "chlo.ragged_dot"(%arg0, %arg2, %arg1) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
    return
  }
  func.func @f86(%arg0: tensor<4x6xf32>) {
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    return
  }
  func.func @f87(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>) {
    %0:2 = chlo.scan(%arg0) inits (%arg1) dimension=0  attributes {is_reverse = false} {
    ^bb0(%input: tensor<6xf32>, %carry: tensor<6xf32>):
      %1 = stablehlo.add %input, %carry : tensor<6xf32>
      stablehlo.return %1, %1 : tensor<6xf32>, tensor<6xf32>
    } : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
    return
  }
  func.func @f88(%arg0: tensor<4x6xf32>) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}], replicated={"y"}> : tensor<4x6xf32>
    return
  }
  func.func @f89(%arg0: tensor<4x6xf32>) {
    %0 = sdy.reshard %arg0 <@mesh, [{"x"}p1, {?}p2]> : tensor<4x6xf32>
    return
  }
  func.func @f90(%arg0: tensor<4x6xf32>) {
    sdy.sharding_group %arg0 group_id=21 : tensor<4x6xf32>
    return
  }
  func.func @f91(%arg0: tensor<4x6xf32>) {
    %0 = sdy.data_flow_edge %arg0 sharding=<@mesh, [{"x"}, {?}]> : tensor<4x6xf32>
    return
  }
  func.func @f92(%arg0: tensor<4x6xf32>) {
    %0 = sdy.named_computation<"foo">(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%arg1: tensor<4x6xf32>) {
      sdy.return %arg1 : tensor<4x6xf32>
    } : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @f93() {
    %0 = sdy.constant dense<1.000000e+00> : tensor<f32>
    return
  }
  func.func @f94(%arg0: tensor<4x6xf32>) {
    %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
    return
  }
  func.func @f95(%arg0: tensor<4x6xf32>) {
    %0 = "stablehlo.async_start"(%arg0) ({
    ^bb0(%arg1: tensor<4x6xf32>):
      %2 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
      stablehlo.return %2 : tensor<4x12xf32>
    }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x12xf32>>
    %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4x12xf32>>) -> tensor<4x12xf32>
    return
  }
  func.func @f96(%arg0: tensor<4x6xf32>) {
    %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<4x6xf32>
    %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<4x6xf32>
    return
  }
  func.func @f97(%arg0: tensor<4x6xf32>) {
    %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<4x6xf32>
    %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x6xf32>
    return
  }
  func.func @f98(%arg0: tensor<4x6xf32>) {
    %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<4x6xf32>
    %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x6xf32>
    return
  }
  func.func @f99(%arg0: tensor<4x6xf32>) {
    %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<4x6xf32>
    %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<4x6xf32>
    return
  }
  func.func @f100(%arg0: tensor<4x6xf32>) {
    %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {}]> : tensor<4x6xf32>
    %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x6xf32>
    return
  }
  func.func @f101(%arg0: tensor<4x6xf32>) {
    %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<4x6xf32>
    %1 = sdy.reduce_scatter [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<4x6xf32>
    return
  }
  func.func @f102() {
    %cst = stablehlo.constant dense<[0x7FC00001, 1.500000e+00, -0.000000e+00, 0xFF800000, 1.401300e-45, 3.400000e+38]> : tensor<6xf32>
    return
  }
  func.func @f103() {
    %cst = stablehlo.constant dense<[0x7E01, 1.500000e+00, -0.000000e+00, 0xFC00]> : tensor<4xf16>
    return
  }
  func.func @f104() {
    %cst = stablehlo.constant dense<[0x7FC1, 1.500000e+00, 3.004060e+38]> : tensor<3xbf16>
    return
  }
  func.func @f105() {
    %cst = stablehlo.constant dense<[0x7F, 4.480000e+02, -1.500000e+00]> : tensor<3xf8E4M3FN>
    return
  }
  func.func @f106() {
    %cst = stablehlo.constant dense<[0x80, 1.500000e+00]> : tensor<2xf8E4M3FNUZ>
    return
  }
  func.func @f107() {
    %cst = stablehlo.constant dense<[0x7C, 1.500000e+00]> : tensor<2xf8E5M2>
    return
  }
  func.func @f108() {
    %cst = stablehlo.constant dense<[6.000000e+00, -5.000000e-01]> : tensor<2xf4E2M1FN>
    return
  }
  func.func @f109() {
    %cst = stablehlo.constant dense<[1.000000e+00, 2.500000e-01]> : tensor<2xf8E8M0FNU>
    return
  }
  func.func @f110() {
    %c = stablehlo.constant dense<[-8, 7, 0]> : tensor<3xi4>
    return
  }
  func.func @f111() {
    %c = stablehlo.constant dense<[15, 0]> : tensor<2xui4>
    return
  }
  func.func @f112() {
    %c = stablehlo.constant dense<[-2, 1]> : tensor<2xi2>
    return
  }
  func.func @f113() {
    %c = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
    return
  }
  func.func @f114() {
    %c = stablehlo.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
    return
  }
  func.func @f115() {
    %c = stablehlo.constant dense<[-9223372036854775808, 1]> : tensor<2xi64>
    return
  }
  func.func @f116() {
    %c = stablehlo.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
    return
  }
  func.func @f117() {
    %c = stablehlo.constant dense<false> : tensor<3xi1>
    return
  }
  func.func @f118() {
    %cst = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (0x7FC00000,0.000000e+00)]> : tensor<2xcomplex<f32>>
    return
  }
  func.func @f119() {
    %cst = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<2x2xcomplex<f64>>
    return
  }
  func.func @f120() {
    %cst = stablehlo.constant dense<> : tensor<2x0x3xf32>
    return
  }
  func.func @f121() {
    %c = stablehlo.constant dense<[[[1]], [[2]]]> : tensor<2x1x1xi16>
    return
  }
  func.func @f122() {
    %c = stablehlo.constant dense<[1, 2, 3, -1]> : tensor<4xi8>
    return
  }
  func.func @f123() {
    %cst = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
    return
  }
  func.func @f124() {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
    return
  }
  func.func @f125() {
    %cst = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    return
  }
  func.func @f126() {
    %0 = stablehlo.custom_call @attributes() {a = array<i32: 1, -2>, b = array<f32: 1.500000e+00, 2.000000e+00>, c = array<i1: true, false>, d = array<i64>, e = [1, 2], f = [1 : i32, "x", [true, false]], g = {h = 2.500000e+00 : f32, i = -7 : i8, j = 255 : ui8, k = 0x7FC00000 : f32}, has_side_effect = true, l = tensor<2xf32>, m = (tensor<i32>, !stablehlo.token) -> tensor<f32>, n = @half, o = #map, "odd name" = i1, p, q = [], r = "two\0Alines\22\\", s = dense<[[1, 2]]> : tensor<1x2xi64>, t = 1 : index} : () -> tensor<f32>
    return
  }
}
