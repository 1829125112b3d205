// Hurwitz' zeta function of positive arguments, and of negative ones, whose sum has terms before the first
// positive one. The expected numbers are PyTorch 1.13's: torch.special.zeta(torch.tensor(kX),
// torch.tensor(kQ)) in f64.
#include <cmath>
#include <limits>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> kX = {2, 2, 3, 4, 1.5, 2, 2, 2, 1, 0.5, 3, 2.5, 2, 7, 2};
const std::vector<double> kQ = {1, 0.25, -0.5, -20.5, 3, -3, 0, -150.25, 2, 2, -2, -1.5, 1e-3, 5, 40};
constexpr double kPyTorch[] = {1.6449340668482266,  17.197329154507113,
                               0.41439832211715999, 32.469661058828827,
                               1.2588219580922144,  kInfinity,
                               kInfinity,           19.732575327332189,
                               kInfinity,           kNaN,
                               kInfinity,           kNaN,
                               1000001.6425331959,  1.8494854845209101e-05,
                               0.025315103841291032};

using Zetas = TensorTest;

TEST_F(Zetas, ArePyTorchs) {
  for (const Device& where : {Device(), device()}) {
    for (const PrimitiveType type : {kF64, kF32}) {
      const double tolerance = type == kF64 ? 1e-13 : 1e-5;
      const Tensor x = FromValues<double>(kX, {}, where).To(type);
      const Tensor q = FromValues<double>(kQ, {}, where).To(type);
      const std::vector<double> zeta = Zeta(x, q).To(kF64).ToVector<double>();
      for (size_t i = 0; i < kX.size(); ++i) {
        if (std::isnan(kPyTorch[i])) EXPECT_TRUE(std::isnan(zeta[i])) << i << ": " << zeta[i];
        else if (std::isinf(kPyTorch[i])) EXPECT_EQ(zeta[i], kPyTorch[i]) << i;
        else EXPECT_NEAR(zeta[i], kPyTorch[i], tolerance * kPyTorch[i]) << i;
      }
    }
  }
}

}  // namespace
}  // namespace hlod
