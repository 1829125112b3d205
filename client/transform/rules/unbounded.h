// Reverse mode through while loops of loaded programs whose length is not known before they run.
#pragma once

#include "client/transform/autodiff/control_rules.h"

namespace hlod::lazy {

// Marks a while as such a loop, in its notes.
void MarkReversible(hlo::Notes& notes);
bool IsReversible(const hlo::Computation& computation, NodeId node);
void UnboundedWhileVjp(const VjpArgs& c);

}  // namespace hlod::lazy
