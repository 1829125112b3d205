// What has no derivative because it makes values from nothing or from integers. Tuples, barriers and calls
// are walked through by push_forward.cc and pull_back.cc themselves.
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

void AddControlRules(Rules& rules) {
  for (const hlo::Opcode opcode :
       {hlo::kConstant, hlo::kParameter, hlo::kIota, hlo::kPartitionId, hlo::kReplicaId, hlo::kRng,
        hlo::kRngBitGenerator, hlo::kGetDimensionSize, hlo::kAfterAll}) {
    rules.tangent[static_cast<size_t>(opcode)] = NoTangent();
  }
}

}  // namespace hlod::lazy
