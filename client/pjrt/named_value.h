// Named values, in which the interface states attributes and properties.
#pragma once

#include <cstddef>
#include <string_view>

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt {

// Returns a named value of one element, or of a list's `size`, without the value itself. The name must outlive it.
inline abi::NamedValue Named(std::string_view name, abi::NamedValueType type, size_t size = 1) {
  abi::NamedValue named = {};
  named.struct_size = sizeof(named);
  named.name = name.data();
  named.name_size = name.size();
  named.type = type;
  named.value_size = size;
  return named;
}

}  // namespace hlod::pjrt
