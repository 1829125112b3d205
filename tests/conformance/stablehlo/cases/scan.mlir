module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>) -> (tensor<2xf32> {jax.result_info = "result[0][0]"}, tensor<4xf32> {jax.result_info = "result[0][1]"}, tensor<2xf32> {jax.result_info = "result[1][0]"}, tensor<4xf32> {jax.result_info = "result[1][1]"}, tensor<2x2xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %arg0, %iterArg_14 = %arg1, %iterArg_15 = %c, %iterArg_16 = %0, %iterArg_17 = %1) : tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4xf32>
    cond {
      %c_18 = stablehlo.constant dense<4> : tensor<i32>
      %18 = stablehlo.compare LT, %iterArg_15, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %18 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_15) : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %19:2 = func.call @closed_call(%iterArg_14, %iterArg_16, %18) : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_17, %19#1, %iterArg_15) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.add %iterArg_15, %c_18 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %21, %19#0, %20 : tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4xf32>
    }
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %4 = stablehlo.reshape %arg0 : (tensor<4x2xf32>) -> tensor<2x2x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:5 = stablehlo.while(%iterArg = %4, %iterArg_14 = %arg1, %iterArg_15 = %c_3, %iterArg_16 = %3, %iterArg_17 = %5) : tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>
    cond {
      %c_18 = stablehlo.constant dense<2> : tensor<i32>
      %18 = stablehlo.compare LT, %iterArg_15, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %c_18 = stablehlo.constant dense<2> : tensor<i32>
      %18 = stablehlo.subtract %c_18, %iterArg_15 : tensor<i32>
      %c_19 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.subtract %18, %c_19 : tensor<i32>
      %20 = func.call @dynamic_index_in_dim_0(%iterArg, %19) : (tensor<2x2x2xf32>, tensor<i32>) -> tensor<2x2xf32>
      %21 = stablehlo.slice %20 [1:2, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %22 = stablehlo.reshape %21 : (tensor<1x2xf32>) -> tensor<2xf32>
      %23:2 = func.call @closed_call(%iterArg_14, %iterArg_16, %22) : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %24 = stablehlo.slice %20 [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %25 = stablehlo.reshape %24 : (tensor<1x2xf32>) -> tensor<2xf32>
      %26:2 = func.call @closed_call(%iterArg_14, %23#0, %25) : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      %27 = stablehlo.broadcast_in_dim %26#1, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %28 = stablehlo.broadcast_in_dim %23#1, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %29 = stablehlo.concatenate %27, %28, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %30 = func.call @dynamic_update_index_in_dim_1(%iterArg_17, %29, %19) : (tensor<2x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2x2xf32>
      %c_20 = stablehlo.constant dense<1> : tensor<i32>
      %31 = stablehlo.add %iterArg_15, %c_20 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %31, %26#0, %30 : tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>
    }
    %7 = stablehlo.reshape %6#4 : (tensor<2x2xf32>) -> tensor<4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %12:7 = stablehlo.while(%iterArg = %arg0, %iterArg_14 = %arg1, %iterArg_15 = %c_8, %iterArg_16 = %8, %iterArg_17 = %9, %iterArg_18 = %10, %iterArg_19 = %11) : tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
    cond {
      %c_20 = stablehlo.constant dense<4> : tensor<i32>
      %18 = stablehlo.compare LT, %iterArg_15, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %18 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_15) : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %19:4 = func.call @closed_call_2(%iterArg_14, %iterArg_16, %18) : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
      %20 = func.call @dynamic_update_index_in_dim_3(%iterArg_17, %19#1, %iterArg_15) : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %21 = func.call @dynamic_update_index_in_dim_3(%iterArg_18, %19#2, %iterArg_15) : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %22 = func.call @dynamic_update_index_in_dim_3(%iterArg_19, %19#3, %iterArg_15) : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
      %c_20 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %iterArg_15, %c_20 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %23, %19#0, %20, %21, %22 : tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
    }
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12#3 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %17:7 = stablehlo.while(%iterArg = %12#4, %iterArg_14 = %12#5, %iterArg_15 = %12#6, %iterArg_16 = %arg1, %iterArg_17 = %c_13, %iterArg_18 = %16, %iterArg_19 = %15) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xf32>
    cond {
      %c_20 = stablehlo.constant dense<4> : tensor<i32>
      %18 = stablehlo.compare LT, %iterArg_17, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %c_20 = stablehlo.constant dense<4> : tensor<i32>
      %18 = stablehlo.subtract %c_20, %iterArg_17 : tensor<i32>
      %c_21 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.subtract %18, %c_21 : tensor<i32>
      %20 = func.call @dynamic_index_in_dim(%iterArg, %19) : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %21 = func.call @dynamic_index_in_dim(%iterArg_14, %19) : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %22 = func.call @dynamic_index_in_dim(%iterArg_15, %19) : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %23:2 = func.call @closed_call_4(%iterArg_16, %iterArg_18, %iterArg_19, %20, %21, %22) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>)
      %c_22 = stablehlo.constant dense<1> : tensor<i32>
      %24 = stablehlo.add %iterArg_17, %c_22 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %iterArg_15, %iterArg_16, %24, %23#0, %23#1 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xf32>
    }
    return %2#3, %2#4, %6#3, %7, %17#5 : tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2x2xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) -> tensor<2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    %1 = stablehlo.add %0, %arg2 : tensor<2xf32>
    %2 = stablehlo.tanh %1 : tensor<2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3 : tensor<2xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<2x2x2xf32>, %arg1: tensor<i32>) -> tensor<2x2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 2] : (tensor<2x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<2x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>) -> tensor<2x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<2x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<2x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    %1 = stablehlo.add %0, %arg2 : tensor<2xf32>
    %2 = stablehlo.tanh %1 : tensor<2xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %4 = stablehlo.subtract %3, %2 : tensor<2xf32>
    return %2, %arg1, %2, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<4x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>) -> tensor<4x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
  func.func private @closed_call_4(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>, %arg5: tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
    %0 = stablehlo.multiply %arg2, %arg5 : tensor<2xf32>
    %1 = stablehlo.multiply %0, %arg4 : tensor<2xf32>
    %2 = stablehlo.add %0, %1 : tensor<2xf32>
    %3 = stablehlo.dot_general %2, %arg3, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %5 = stablehlo.add %arg1, %4 : tensor<2x2xf32>
    %6 = stablehlo.dot_general %2, %arg0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
    return %5, %6 : tensor<2x2xf32>, tensor<2xf32>
  }
}
