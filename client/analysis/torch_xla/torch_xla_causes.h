// The causes for which PyTorch/XLA cuts graphs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/analysis/torch_xla/torch_xla_dump.h"

namespace hlod::analysis::torch_xla {

struct Cause {
  std::string text;  // The text in the form of versions from 2.7 on; unchanged if the table does not have it.
  bool is_break = false;   // True when only a change of the program avoids it.
  bool is_dynamo = false;  // True when the graph is one of torch.compile's.
  std::string advice;      // Advice; empty if none is known.
};
Cause CauseOf(std::string_view text);
// Returns the cause that PyTorch/XLA itself concludes from the frames, for dumps without a cause. `dynamo`:
// true when Dynamo's bridge dumped the graph.
Cause CauseOf(const std::vector<Frame>& frames, bool dynamo);

// Returns the innermost frame of the user's program, which is not in PyTorch, PyTorch/XLA or another
// installed package; the innermost frame if all are, an empty one if there are none.
Frame UserFrame(const std::vector<Frame>& frames);

}  // namespace hlod::analysis::torch_xla
