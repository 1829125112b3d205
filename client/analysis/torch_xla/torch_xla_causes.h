// Why PyTorch/XLA cut a graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/analysis/torch_xla/torch_xla_dump.h"

namespace hlod::analysis::torch_xla {

struct Cause {
  std::string text;        // As later versions write it; a cause that is not in the table as it stands.
  bool is_break = false;   // The program has to change for it to go away.
  bool is_dynamo = false;  // The graph is one of torch.compile's.
  std::string advice;      // Empty: none known.
};
Cause CauseOf(std::string_view text);
// What PyTorch/XLA itself concludes from the frames, for dumps that have no cause. `dynamo`: the graph was
// dumped by Dynamo's bridge.
Cause CauseOf(const std::vector<Frame>& frames, bool dynamo);

// The innermost frame of the user's program: not in PyTorch, PyTorch/XLA or another installed package, unless
// all are. A default one when there is none.
Frame UserFrame(const std::vector<Frame>& frames);

}  // namespace hlod::analysis::torch_xla
