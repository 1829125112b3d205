// Derivatives of custom calls that are routines of LAPACK, and of the TPU's calls of the same meaning.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

// A custom call with the attributes in its backend_config.
struct RoutineCase {
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
  // An attribute that is a letter ('L'), a number or a boolean; 0 where it is missing.
  int64_t number(std::string_view name) const {
    const auto found = config.find(name);
    return found == config.end() ? 0 : found->second;
  }
  // The call with its attributes replaced, for results that it did not compute.
  std::vector<Op> Again(std::string_view config) const;
};
using RoutineRule = Tangents (*)(const RoutineCase& c);

// lapack_reflections.cc
Tangents GeqrfTangents(const RoutineCase& c);
Tangents OrgqrTangents(const RoutineCase& c);
Tangents OrmqrTangents(const RoutineCase& c);
// lapack_spectra.cc
Tangents SyevdTangents(const RoutineCase& c);
Tangents GesddTangents(const RoutineCase& c);
Tangents GeevTangents(const RoutineCase& c);
Tangents EighTangents(const RoutineCase& c);

// The rule of a custom call's target; null: it has none.
TangentRule CustomCallTangentRule(std::string_view target);
// Whether a custom call takes and gives matrices behind any number of leading dimensions, so that a batch is
// one more of them.
bool TakesBatches(std::string_view target);

// Whether a target is that routine of LAPACK, of any type.
bool IsRoutine(std::string_view target, std::string_view routine);
// The first columns of Q that `product`, a call in `to`, makes of the reflections of a geqrf, as a node under
// the rule "reflected_qr"; nullopt where the call is another.
std::optional<NodeId> AppendReflectedQr(hlo::Computation& to, NodeId product);

// What a routine that reads one triangle of a Hermitian matrix sees of a tangent.
Op HermitianFrom(Lowering& l, Op t, bool lower);

}  // namespace hlod::lazy
