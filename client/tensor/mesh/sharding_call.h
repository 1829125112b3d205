// The instruction that states how a value lies on a mesh. In a trace it is a custom call whose attributes
// hold the sharding and the devices, so that traces with other shardings are other programs; a module that
// leaves the trace has the sharding as its note, where XLA's partitioner looks for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/tensor/dispatch/lowering.h"
#include "common/hlo/module.h"

namespace hlod::lazy {

struct ShardingCall {
  std::vector<int> devices;  // Ordinals, in the mesh's order.
  std::string sharding;      // HLO's text.
};

// Appends the statement that `x` lies as `call` says. Its result is `x`.
Op AppendShardingCall(Lowering& l, Op x, const ShardingCall& call);
bool IsShardingTarget(std::string_view target);
bool IsShardingCall(const hlo::Instruction& instruction);
// REQUIRES: IsShardingCall.
ShardingCall ReadShardingCall(const hlo::Instruction& instruction);
// Returns the attributes of the same statement about arrays that have a further dimension in front, which is
// not divided. REQUIRES: they are those of a statement.
hlo::CustomCallAttributes WithExamples(hlo::CustomCallAttributes attributes);
// Returns true when this process has appended such a call.
bool MayHaveShardingCalls();

// Returns the serialized OpSharding of a text for an array of `rank` dimensions. It is never empty, as that
// of a replicated array would be, because what states none is the partitioner's choice.
std::string StatedSharding(const std::string& text, size_t rank, size_t devices);

}  // namespace hlod::lazy
