// Gathers and scatters of whole rows of a matrix, which tests of several rooms use.
#pragma once

#include <cstdint>

#include "common/hlo/attributes.h"

namespace hlod::hlo {

// Gathers rows of `columns` elements by indices [n, 1].
inline GatherAttributes RowGather(int64_t columns) {
  GatherAttributes gather;
  gather.offset_dims = {1};
  gather.collapsed_slice_dims = {0};
  gather.start_index_map = {0};
  gather.index_vector_dim = 1;
  gather.slice_sizes = {1, columns};
  return gather;
}

// Scatters updates [n, columns] to rows by indices [n, 1].
inline ScatterAttributes RowScatter() {
  ScatterAttributes scatter;
  scatter.update_window_dims = {1};
  scatter.inserted_window_dims = {0};
  scatter.scatter_dims_to_operand_dims = {0};
  scatter.index_vector_dim = 1;
  return scatter;
}

}  // namespace hlod::hlo
