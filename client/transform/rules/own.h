// Own rules that are not in own.cc: those of factorisations.
#pragma once

#include "client/transform/rules.h"

namespace hlod::lazy {

Tangents OwnLu(const TangentCase& c);
Tangents OwnQr(const TangentCase& c);
Tangents OwnSvd(const TangentCase& c);
Tangents OwnEigh(const TangentCase& c);
Tangents OwnPinv(const TangentCase& c);
Tangents OwnDeterminant(const TangentCase& c);

}  // namespace hlod::lazy
