// Own rules that are not in own.cc: those of factorisations, and of CHLO's functions.
#pragma once

#include <optional>

#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

Tangents OwnLu(const TangentArgs& c);
Tangents OwnQr(const TangentArgs& c);
Tangents OwnSvd(const TangentArgs& c);
Tangents OwnEigh(const TangentArgs& c);
Tangents OwnPinv(const TangentArgs& c);
Tangents OwnReflectedQr(const TangentArgs& c);  // The results: Q, and R above what belongs to Q.
Tangents OwnDeterminant(const TangentArgs& c);
// The rule of a function of CHLO by its name ("chlo.lgamma"); null: none.
TangentRule ChloTangentRule(std::string_view name);
// For exp(-|x|) I0(x) as JAX writes it, whose last instruction is `node`: the same value under a rule,
// appended to `to`; nullopt for other instructions.
std::optional<NodeId> AppendBesselI0e(hlo::Computation& to, NodeId node);

}  // namespace hlod::lazy
