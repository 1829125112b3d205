// Views of one storage that share elements.
#pragma once

#include "client/tensor/value/view.h"

namespace hlod::lazy {

// Whether two views of one storage share some elements and are not the same, as far as PyTorch looks: of views
// whose elements lie densely in some order.
bool OverlapInPart(const View& a, const View& b);

}  // namespace hlod::lazy
