// Abstract sessions as tensors see them (hlod/runtime/abstract.h). What depends on a placeholder is recorded
// in the same trace as the rest and closed with it, so that the programs are those of a real run. And what is
// known of values, for the record: weights, gradients, the state of optimizers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/tensor/trace/trace.h"

namespace hlod::internal {
class AbstractSession;
}

namespace hlod::lazy {

class TensorImpl;

// The place's abstract session; null when it is not one, and for the host. REQUIRES: TraceLock.
internal::AbstractSession* AbstractOf(const Place& place);

enum class Role : uint8_t { kUnknown, kWeight, kGradient, kOptimizer };

// Notes what a tensor's value is; a name that is empty leaves the one before. Costs nothing in a process
// without abstract sessions.
void SetRole(const Tensor& tensor, Role role, std::string_view name = {});
// `to` is what `from` was: its copy on another device, or what replaced it. `name`: a better one.
void CopyRole(const Tensor& from, const Tensor& to, std::string_view name = {});
void CopyRole(const Value& from, const Value& to);
// The value is gone.
void ForgetRole(const Value& value);

// Whether an upload of the value to there is a placeholder.
bool IsLargeIn(const Place& place, const Value& value);
// "tensor(placeholder f32[2,3] made at model.cc:8)" for what has no value in an abstract session; "" for what
// has one. Closes what computes it, as reading it would. Takes the lock itself.
std::string PrintAbstract(TensorImpl& tensor, const Caller& caller);

// Declares the placeholders among a graph's parameters to the daemon. REQUIRES: TraceLock.
void DeclarePlaceholders(Trace& graph, const Caller& caller);
// A result that takes over the memory of a donated argument lies as that did: the sharding and the role of
// `arguments[donated[i]]` go to the first of `results` of its type and dimensions that no other took.
// `results`: the values that each is. REQUIRES: TraceLock.
void InheritFromDonated(const std::vector<Value*>& arguments, const std::vector<int>& donated,
                        const std::vector<std::vector<Value*>>& results);
// Records what is known of a value that is data. REQUIRES: TraceLock.
void RecordRole(internal::AbstractSession& session, const Value& value);

}  // namespace hlod::lazy
