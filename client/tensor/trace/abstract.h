// Tensors in abstract sessions (hlod/runtime/abstract.h). Operations that depend on a placeholder are
// recorded in the same trace as the others, and closed with them, so that the programs are those of a real
// run. This file also keeps the roles of values for the preflight log: weight, gradient, or state of an
// optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/tensor/trace/trace.h"

namespace hlod::runtime {
class AbstractSession;
}

namespace hlod::lazy {

class TensorImpl;

// Returns the abstract session of `place`; null when its session is not abstract, and for the host. REQUIRES:
// TraceLock.
runtime::AbstractSession* AbstractOf(const Place& place);

enum class Role : uint8_t { kUnknown, kWeight, kGradient, kOptimizer };

// Sets the role of a tensor's value unless it has one; an empty name keeps the earlier name. Has no cost in a
// process without abstract sessions.
void SetRole(const Tensor& tensor, Role role, std::string_view name = {});
// Gives `to` the role and name of `from`; `to` is a copy on another device, or a replacement. `name`, if not
// empty, replaces the name.
void CopyRole(const Tensor& from, const Tensor& to, std::string_view name = {});
void CopyRole(const Value& from, const Value& to);
// Forgets the role of a value that is being destroyed.
void ForgetRole(const Value& value);

// Returns true when an upload of `value` to `place` makes a placeholder: the session is abstract and the
// value larger than its bound.
bool IsLargeIn(const Place& place, const Value& value);
// Returns "tensor(placeholder f32[2,3] made at model.cc:8)" for a tensor of an abstract session that has no
// value, "" for one that has a value. Closes the trace that computes the tensor, like a read. Takes the lock
// itself.
std::string PrintAbstract(TensorImpl& tensor, const Caller& caller);

// Turns each placeholder among the trace's parameters into a placeholder buffer of the daemon. REQUIRES:
// TraceLock.
void DeclarePlaceholders(Trace& graph, const Caller& caller);
// Passes the sharding and the role of each donated argument, `arguments[donated[i]]`, to the first of
// `results` with its type and dimensions that has not got one: that result takes over the argument's memory
// and its division among devices. `results[i]` are the values that are result i. REQUIRES: TraceLock.
void InheritFromDonated(const std::vector<Value*>& arguments, const std::vector<int>& donated,
                        const std::vector<std::vector<Value*>>& results);
// Writes the value's role, name and sharding into the preflight log, once per value that is data. REQUIRES:
// TraceLock.
void RecordRole(runtime::AbstractSession& session, const Value& value);

}  // namespace hlod::lazy
