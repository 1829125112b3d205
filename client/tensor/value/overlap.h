// Views of one storage that share elements.
#pragma once

#include "client/tensor/value/view.h"

namespace hlod::lazy {

// Returns true when two views of one storage share some elements but are not the same. Like PyTorch, it
// checks only views whose elements are contiguous in some order.
bool OverlapInPart(const View& a, const View& b);

}  // namespace hlod::lazy
