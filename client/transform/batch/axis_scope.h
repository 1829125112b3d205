// The named axes of the Vmaps whose functions are being traced in this thread.
#pragma once

#include <string>
#include <string_view>

#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

struct NamedAxis {
  std::string name;
  int64_t size;
  Tensor index;  // A stand-in for the index of the example, s64.
};

// Returns the innermost axis of that name. Throws an Error that names the known ones without it. `what` is
// the collective.
const NamedAxis& AxisOfName(const char* what, std::string_view name, const Caller& caller);
// Returns the axes' names and sizes: a trace is reused only where they are equal.
std::string AxesText();

}  // namespace hlod::lazy
