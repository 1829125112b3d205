// Own rules that are not in own.cc: those of factorisations, and of CHLO's functions.
#pragma once

#include <optional>

#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

Tangents OwnLu(const TangentCase& c);
Tangents OwnQr(const TangentCase& c);
Tangents OwnSvd(const TangentCase& c);
Tangents OwnEigh(const TangentCase& c);
Tangents OwnPinv(const TangentCase& c);
Tangents OwnReflectedQr(const TangentCase& c);  // The results: Q, and R above what belongs to Q.
Tangents OwnDeterminant(const TangentCase& c);
// The rule of a function of CHLO by its name ("chlo.lgamma"); null: none.
TangentRule ChloTangentRule(std::string_view name);
// For exp(-|x|) I0(x) as JAX writes it, whose last instruction is `node`: the same value under a rule,
// appended to `to`; nullopt for other instructions.
std::optional<NodeId> AppendBesselI0e(hlo::Computation& to, NodeId node);

}  // namespace hlod::lazy
