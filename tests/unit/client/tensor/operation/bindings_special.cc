// Special functions.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

Binding One(const char* name, Tensor (*call)(const Operand&), double slack = 1) {
  return {name, "input", [call](Arguments& a) { return call(a.Arg("input")); }, slack};
}
Binding Two(const char* name, Tensor (*call)(const Operand&, const Operand&), double slack = 1) {
  return {name, "input other", [call](Arguments& a) { return call(a.Arg("input"), a.Arg("other")); }, slack};
}
Binding OfOrder(const char* name) {
  return {name, "input n", [](Arguments& a) { return Polygamma(a.Int("n"), a.Arg("input")); }, /*slack=*/4};
}

}  // namespace

std::vector<Binding> SpecialBindings() {
  return {
      One("special.entr", Entr),
      One("special.ndtr", Ndtr),
      One("special.log_ndtr", LogNdtr),
      One("special.ndtri", Ndtri),
      One("special.erfcx", Erfcx),
      Two("special.xlog1py", Xlog1py),
      Two("igamma", Igamma),
      Two("igammac", Igammac),
      Two("special.zeta", Zeta),
      OfOrder("polygamma"),
      OfOrder("special.polygamma"),
      {"mvlgamma", "input p", [](Arguments& a) { return Mvlgamma(a.Arg("input"), a.Int("p")); }},
      One("i0", I0),
      One("special.i0e", I0e),
      One("special.i1", I1),
      One("special.i1e", I1e),
      One("special.modified_bessel_i0", ModifiedBesselI0),
      One("special.modified_bessel_i1", ModifiedBesselI1),
      One("special.modified_bessel_k0", ModifiedBesselK0),
      One("special.modified_bessel_k1", ModifiedBesselK1),
      One("special.scaled_modified_bessel_k0", ScaledModifiedBesselK0),
      One("special.scaled_modified_bessel_k1", ScaledModifiedBesselK1),
      One("special.bessel_j0", BesselJ0),
      One("special.bessel_j1", BesselJ1),
      One("special.bessel_y0", BesselY0),
      One("special.bessel_y1", BesselY1),
      One("special.spherical_bessel_j0", SphericalBesselJ0),
      One("special.airy_ai", AiryAi),
      Two("special.chebyshev_polynomial_t", ChebyshevPolynomialT),
      Two("special.chebyshev_polynomial_u", ChebyshevPolynomialU),
      Two("special.chebyshev_polynomial_v", ChebyshevPolynomialV),
      Two("special.chebyshev_polynomial_w", ChebyshevPolynomialW),
      Two("special.shifted_chebyshev_polynomial_t", ShiftedChebyshevPolynomialT),
      Two("special.shifted_chebyshev_polynomial_u", ShiftedChebyshevPolynomialU),
      Two("special.shifted_chebyshev_polynomial_v", ShiftedChebyshevPolynomialV),
      Two("special.shifted_chebyshev_polynomial_w", ShiftedChebyshevPolynomialW),
      Two("special.hermite_polynomial_h", HermitePolynomialH),
      Two("special.hermite_polynomial_he", HermitePolynomialHe),
      Two("special.laguerre_polynomial_l", LaguerrePolynomialL),
      Two("special.legendre_polynomial_p", LegendrePolynomialP),
  };
}

}  // namespace hlod
