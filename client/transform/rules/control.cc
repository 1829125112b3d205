// Opcodes without a derivative, because they have no operands or only integers. Tuples, barriers and
// instructions with bodies are handled by jvp.cc and vjp.cc.
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
