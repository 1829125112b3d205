// Views of one storage that share elements.
#pragma once

#include "client/tensor/value/view.h"

namespace hlod::lazy {

// Returns true when two views of one storage share some elements and are not the same. Looks as far as
// PyTorch does: only at views whose elements lie densely in some order.
bool OverlapInPart(const View& a, const View& b);

}  // namespace hlod::lazy
