module @jit_f attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf32>, %arg1: tensor<?xi32>) -> (tensor<?x3xf32> {jax.result_info = "result[0]"}, tensor<?x3xf32> {jax.result_info = "result[1]"}, tensor<?xi32> {jax.result_info = "result[2]"}, tensor<?x3xf32> {jax.result_info = "result[3]"}, tensor<?x4xf32> {jax.result_info = "result[4]"}, tensor<?x3xf32> {jax.result_info = "result[5]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?xi32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 3),args[1].shape = (k,). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'k'. Using the following polymorphic shapes specifications: args[0].shape = (b, 3),args[1].shape = (k,). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'k' = {1} from specification 'k' for dimension args[1].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4:6 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<?x3xf32>, tensor<?xi32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>)
    return %4#0, %4#1, %4#2, %4#3, %4#4, %4#5 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "k"}, %arg2: tensor<?x3xf32>, %arg3: tensor<?xi32>) -> (tensor<?x3xf32> {jax.result_info = "result[0]"}, tensor<?x3xf32> {jax.result_info = "result[1]"}, tensor<?xi32> {jax.result_info = "result[2]"}, tensor<?x3xf32> {jax.result_info = "result[3]"}, tensor<?x4xf32> {jax.result_info = "result[4]"}, tensor<?x3xf32> {jax.result_info = "result[5]"}) {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %c_3 = stablehlo.constant dense<-1> : tensor<i32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.convert %arg0 : tensor<i32>
    %2 = stablehlo.add %1, %c_3 : tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = "stablehlo.dynamic_gather"(%arg2, %0, %4) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x3xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x3xf32>
    %6 = stablehlo.concatenate %arg2, %arg2, dim = 0 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.dynamic_iota %7, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %c_4, %9, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %11 = stablehlo.multiply %10, %8 : tensor<?xi32>
    %12 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.dynamic_broadcast_in_dim %c_0, %12, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %14 = stablehlo.add %13, %11 : tensor<?xi32>
    %15 = stablehlo.convert %arg0 : tensor<i32>
    %16 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %c_0, %16, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %18 = stablehlo.compare LT, %arg3, %17, SIGNED : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %19 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %15, %19, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %21 = stablehlo.add %arg3, %20 : tensor<?xi32>
    %22 = stablehlo.select %18, %21, %arg3 : tensor<?xi1>, tensor<?xi32>
    %23 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %23, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %22, %24, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %26 = "stablehlo.gather"(%arg2, %25) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<?x3xf32>, tensor<?x1xi32>) -> tensor<?x3xf32>
    %27 = call @_pad(%arg0, %arg1, %arg2, %c_0) : (tensor<i32>, tensor<i32>, tensor<?x3xf32>, tensor<i32>) -> tensor<?x4xf32>
    %28 = stablehlo.convert %arg0 : tensor<i32>
    %29 = stablehlo.compare LT, %c_0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %30 = stablehlo.add %c_0, %28 : tensor<i32>
    %31 = stablehlo.select %29, %30, %c_0 : tensor<i1>, tensor<i32>
    %32 = stablehlo.compare LT, %c_0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %33 = stablehlo.add %c_0, %c_2 : tensor<i32>
    %34 = stablehlo.select %32, %33, %c_0 : tensor<i1>, tensor<i32>
    %35 = stablehlo.dynamic_slice %arg2, %31, %34, sizes = [1, 3] : (tensor<?x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %36 = stablehlo.reshape %35 : (tensor<1x3xf32>) -> tensor<3xf32>
    %37 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %38 = stablehlo.concatenate %37, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = stablehlo.dynamic_broadcast_in_dim %36, %38, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    return %5, %6, %14, %26, %27, %39 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>
  }
  func.func private @_pad(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "k"}, %arg2: tensor<?x3xf32>, %arg3: tensor<i32>) -> tensor<?x4xf32> {
    %0 = stablehlo.convert %arg3 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg2, %0, low = [0, 1], high = [2, 0], interior = [0, 0] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
}
