// Own rules that are not in own.cc: those of factorisations and of CHLO's functions.
#pragma once

#include <optional>

#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

Tangents OwnLu(const TangentArgs& c);
Tangents OwnQr(const TangentArgs& c);
Tangents OwnSvd(const TangentArgs& c);
Tangents OwnEigh(const TangentArgs& c);
Tangents OwnPinv(const TangentArgs& c);
Tangents OwnReflectedQr(const TangentArgs& c);  // The results are Q, and R with Q's reflections below it.
Tangents OwnDeterminant(const TangentArgs& c);
Tangents OwnCofactors(const TangentArgs& c);
Tangents OwnDet(const TangentArgs& c);      // In loaded programs.
Tangents OwnSlogdet(const TangentArgs& c);  // In loaded programs.
// Returns the rule of a function of CHLO by its name ("chlo.lgamma"), or null.
TangentRule ChloTangentRule(std::string_view name);
// Returns the rule of a special function of JAX (client/transform/foreign/special.h), or null.
TangentRule SpecialTangentRule(std::string_view name);
// If `node` is the last instruction of exp(-|x|) I0(x) in the form that JAX writes, appends the same value
// with a rule to `to` and returns it; nullopt otherwise.
std::optional<NodeId> AppendBesselI0e(hlo::Computation& to, NodeId node);

}  // namespace hlod::lazy
