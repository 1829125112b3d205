// Derivatives of custom calls that are routines of LAPACK, and of the TPU's custom calls with the same
// meaning.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

// A custom call to differentiate, with the attributes of its backend_config parsed.
struct RoutineArgs {
  const TangentArgs& c;
  std::string_view target;
  std::map<std::string, int64_t, std::less<>> config;

  Lowering& l() const { return c.l; }
  Op operand(size_t i) const { return c.x[i]; }
  Op tangent(size_t i) const { return c.TangentOf(i); }
  Op result(size_t i) const {
    return c.shape.IsTuple() ? c.l.b.GetTupleElement(c.y, static_cast<int64_t>(i)) : c.y;
  }
  size_t results() const { return c.shape.IsTuple() ? c.shape.tuple.size() : 1; }
  // Returns an attribute that is a letter ('L'), a number or a boolean; 0 when it is missing.
  int64_t number(std::string_view name) const {
    const auto found = config.find(name);
    return found == config.end() ? 0 : found->second;
  }
  // Appends the call again with another backend_config, for results that the original call did not compute,
  // and returns its results.
  std::vector<Op> Again(std::string_view config) const;
};
using RoutineRule = Tangents (*)(const RoutineArgs& c);

// Defined in lapack_reflections.cc.
Tangents GeqrfTangents(const RoutineArgs& c);
Tangents OrgqrTangents(const RoutineArgs& c);
Tangents OrmqrTangents(const RoutineArgs& c);
// Defined in lapack_spectra.cc.
Tangents SyevdTangents(const RoutineArgs& c);
Tangents GesddTangents(const RoutineArgs& c);
Tangents GeevTangents(const RoutineArgs& c);
Tangents EighTangents(const RoutineArgs& c);

// Returns the rule of a custom call's target, or null.
TangentRule CustomCallTangentRule(std::string_view target);
// Returns true when a custom call accepts matrices with any number of leading dimensions, so that a batch
// dimension can be added.
bool TakesBatches(std::string_view target);

// Returns true when a target is that routine of LAPACK, for any element type.
bool IsRoutine(std::string_view target, std::string_view routine);
// If `product` is a call in `to` that computes the first columns of Q from a geqrf's reflections, appends
// them under the rule "reflected_qr" and returns the node; nullopt otherwise.
std::optional<NodeId> AppendReflectedQr(hlo::Computation& to, NodeId product);

// If `select` takes the upper triangle of the factors of which such a call computes Q, appends R under that
// rule and returns its node; nullopt otherwise.
std::optional<NodeId> AppendTriangleOfQr(hlo::Computation& to, NodeId select);

// Returns the Hermitian matrix that a routine reads from one triangle of `t`.
Op HermitianFrom(Lowering& l, Op t, bool lower);

}  // namespace hlod::lazy
