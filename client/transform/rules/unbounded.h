// Reverse mode through loops whose length is not known before they run: those of programs that were loaded.
#pragma once

#include "client/transform/autodiff/control_rules.h"

namespace hlod::lazy {

// Marks a while as one of these.
void MarkReversible(hlo::Notes& notes);
bool IsReversible(const hlo::Computation& computation, NodeId node);
void PullUnbounded(const PullCase& c);

}  // namespace hlod::lazy
