// Special functions of each element. Integers and bools become f32. They are computed in f64.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

// Functions of probability theory.
Tensor Entr(const Operand& x);                       // -x log(x); 0 at 0, and minus infinity below.
Tensor Ndtr(const Operand& x);                       // The normal distribution at x.
Tensor LogNdtr(const Operand& x);                    // The logarithm of Ndtr.
Tensor Ndtri(const Operand& x);                      // The inverse of Ndtr.
Tensor Erfcx(const Operand& x);                      // exp(x x) (1 - erf(x)).
Tensor Xlog1py(const Operand& x, const Operand& y);  // x log(1 + y), and 0 where x is 0.

// Functions related to the gamma function. The result is NaN for arguments that need more than 10,000 terms.
Tensor Igamma(const Operand& a, const Operand& x);   // The regularised lower incomplete gamma function.
Tensor Igammac(const Operand& a, const Operand& x);  // The regularised upper incomplete gamma function.
// Hurwitz' zeta function: the sum of (q + k)^-x over k = 0, 1, ...
Tensor Zeta(const Operand& x, const Operand& q);
Tensor Polygamma(int64_t n, const Operand& x);       // The n-th derivative of digamma.
Tensor Mvlgamma(const Operand& x, int64_t p);        // The logarithm of the multivariate gamma function.

// Modified Bessel functions: I of the first kind (the functions ending in e: times exp(-|x|)), K of the
// second kind (those named scaled: times exp(x)).
Tensor I0(const Operand& x);
Tensor I0e(const Operand& x);
Tensor I1(const Operand& x);
Tensor I1e(const Operand& x);
Tensor ModifiedBesselI0(const Operand& x);
Tensor ModifiedBesselI1(const Operand& x);
Tensor ModifiedBesselK0(const Operand& x);
Tensor ModifiedBesselK1(const Operand& x);
Tensor ScaledModifiedBesselK0(const Operand& x);
Tensor ScaledModifiedBesselK1(const Operand& x);
Tensor BesselJ0(const Operand& x);
Tensor BesselJ1(const Operand& x);
Tensor BesselY0(const Operand& x);
Tensor BesselY1(const Operand& x);
Tensor SphericalBesselJ0(const Operand& x);  // sin(x) / x
Tensor AiryAi(const Operand& x);

// Orthogonal polynomials of degree n, which is truncated to an integer; 0 for a negative or infinite degree.
// The last four are NaN for degrees above 10,000.
Tensor ChebyshevPolynomialT(const Operand& x, const Operand& n);
Tensor ChebyshevPolynomialU(const Operand& x, const Operand& n);
Tensor ChebyshevPolynomialV(const Operand& x, const Operand& n);
Tensor ChebyshevPolynomialW(const Operand& x, const Operand& n);
// ChebyshevPolynomialT at 2 x - 1; likewise U, V and W.
Tensor ShiftedChebyshevPolynomialT(const Operand& x, const Operand& n);
Tensor ShiftedChebyshevPolynomialU(const Operand& x, const Operand& n);
Tensor ShiftedChebyshevPolynomialV(const Operand& x, const Operand& n);
Tensor ShiftedChebyshevPolynomialW(const Operand& x, const Operand& n);
Tensor HermitePolynomialH(const Operand& x, const Operand& n);
Tensor HermitePolynomialHe(const Operand& x, const Operand& n);
Tensor LaguerrePolynomialL(const Operand& x, const Operand& n);
Tensor LegendrePolynomialP(const Operand& x, const Operand& n);

}  // namespace hlod
