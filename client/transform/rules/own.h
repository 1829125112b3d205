// Own rules outside of own.cc: those of factorisations and of CHLO's functions.
#pragma once

#include <optional>

#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

Tangents OwnLu(const TangentArgs& c);
Tangents OwnQr(const TangentArgs& c);
Tangents OwnSvd(const TangentArgs& c);
Tangents OwnEigh(const TangentArgs& c);
Tangents OwnPinv(const TangentArgs& c);
Tangents OwnReflectedQr(const TangentArgs& c);  // The results: Q; and R, with Q's reflections below it.
Tangents OwnDeterminant(const TangentArgs& c);
// Returns the rule of a function of CHLO by its name ("chlo.lgamma"), or null.
TangentRule ChloTangentRule(std::string_view name);
// When `node` is the last instruction of exp(-|x|) I0(x) as JAX writes it, appends the same value under a
// rule to `to` and returns it; nullopt for other instructions.
std::optional<NodeId> AppendBesselI0e(hlo::Computation& to, NodeId node);

}  // namespace hlod::lazy
