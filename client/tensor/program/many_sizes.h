// Finds out at a close whether its program differs from earlier ones in sizes only, and then makes one for
// many sizes of it.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/program/program_key.h"

namespace hlod::lazy {

// Puts the key of a program for many sizes in the place of `key`, and its arguments after those of the trace
// into `numbers`, when two traces of the same form were compiled for their own sizes (bounded_sizes.h).
// Returns the module, or null if that key is among the runtime's programs. Changes nothing, and returns null,
// when the trace needs a program for its own sizes. REQUIRES: TraceLock.
std::unique_ptr<Module> ForManySizes(Trace& graph, CanonicalKey& key, const Caller& caller,
                                     std::vector<std::shared_ptr<const Literal>>& numbers);

}  // namespace hlod::lazy
