// Custom calls in loaded programs: the TPU's linear algebra, which hlod runs, too; and the errors of calls
// without a derivative, which say what to do. Expected values are computed by hand.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;
using Floats = std::vector<float>;

class ForeignCalls : public TensorTest {
 protected:
  // Returns x on the device and on the host.
  static std::vector<Tensor> Both(const Tensor& x) { return {x, x.ToHost()}; }
};

constexpr char kLu[] = R"(HloModule lu
ENTRY main {
  a = f32[2,2] parameter(0)
  lu = (f32[2,2], s32[2], s32[2]) custom-call(a), custom_call_target="LuDecomposition"
  f = f32[2,2] get-tuple-element(lu), index=0
  pivots = s32[2] get-tuple-element(lu), index=1
  permutation = s32[2] get-tuple-element(lu), index=2
  ROOT r = (f32[2,2], s32[2], s32[2]) tuple(f, pivots, permutation)
}
)";

TEST_F(ForeignCalls, LuDecompositionCountsItsExchangesFromZero) {
  const LoadedFunction lu = LoadFunctionFromBytes(kLu);
  for (const Tensor& a : Both(OnDevice({1, 2, 3, 4}, {2, 2}))) {
    const std::vector<Tensor> results = lu({a});
    EXPECT_THAT(results[0].ToVector<float>(), Pointwise(FloatNear(1e-6f), Floats{3, 4, 1.f / 3, 2.f / 3}));
    EXPECT_THAT(results[1].ToVector<int32_t>(), ElementsAre(1, 1));
    EXPECT_THAT(results[2].ToVector<int32_t>(), ElementsAre(1, 0));
  }
  // LU exchanges the rows of [[a, b], [c, d]], so that the last element is b - a d / c.
  const auto last = [&](const Tensor& a) { return Sum(lu({a})[0].Select(0, 1).Select(0, 1)); };
  const Tensor a = OnDevice({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(Grad(last)(a).ToVector<float>(),
              Pointwise(FloatNear(1e-6f), Floats{-4.f / 3, 1, 4.f / 9, -1.f / 3}));
  EXPECT_THAT(Vmap(Grad(last))(Stack({a, a}))[1].ToVector<float>(),
              Pointwise(FloatNear(1e-6f), Floats{-4.f / 3, 1, 4.f / 9, -1.f / 3}));
}

constexpr char kQr[] = R"(HloModule qr
ENTRY main {
  a = f32[2,2] parameter(0)
  qr = (f32[2,2], f32[2]) custom-call(a), custom_call_target="Qr"
  packed = f32[2,2] get-tuple-element(qr), index=0
  tau = f32[2] get-tuple-element(qr), index=1
  q = f32[2,2] custom-call(packed, tau), custom_call_target="ProductOfElementaryHouseholderReflectors"
  ROOT r = (f32[2,2], f32[2], f32[2,2]) tuple(packed, tau, q)
}
)";

TEST_F(ForeignCalls, QrIsReflectionsAndTheirProduct) {
  const LoadedFunction qr = LoadFunctionFromBytes(kQr);
  const Tensor given = OnDevice({3, 1, 4, 2}, {2, 2});
  for (const Tensor& a : Both(given)) {
    const std::vector<Tensor> results = qr({a});
    EXPECT_THAT(results[0].ToVector<float>(), Pointwise(FloatNear(1e-6f), Floats{-5, -2.2f, 0.5f, 0.4f}));
    EXPECT_THAT(results[1].ToVector<float>(), Pointwise(FloatNear(1e-6f), Floats{1.6f, 0}));
    EXPECT_THAT(results[2].ToVector<float>(), Pointwise(FloatNear(1e-6f), Floats{-0.6f, -0.8f, -0.8f, 0.6f}));
  }
  // With the first column (x, y) of length s: R11 = -s, tau = 1 + x / s, v = y / (x + s), Q11 = -x / s.
  const auto gradient = [&](size_t result, int64_t element) {
    return Grad([&](const Tensor& a) { return qr({a})[result].Reshape({-1}).Select(0, element); })(given)
        .ToVector<float>();
  };
  EXPECT_THAT(gradient(0, 0), Pointwise(FloatNear(1e-6f), Floats{-0.6f, 0, -0.8f, 0}));
  EXPECT_THAT(gradient(1, 0), Pointwise(FloatNear(1e-6f), Floats{16.f / 125, 0, -12.f / 125, 0}));
  EXPECT_THAT(gradient(0, 2), Pointwise(FloatNear(1e-6f), Floats{-0.1f, 0, 0.075f, 0}));
  EXPECT_THAT(gradient(2, 0), Pointwise(FloatNear(1e-6f), Floats{-16.f / 125, 0, 12.f / 125, 0}));
}

TEST_F(ForeignCalls, EighReadsTheTriangleThatItNames) {
  const LoadedFunction eigh = LoadFunctionFromBytes(R"(HloModule eigh
ENTRY main {
  a = f32[2,2] parameter(0)
  pair = (f32[2,2], f32[2]) custom-call(a), custom_call_target="Eigh", backend_config="1,1,100,1e-6"
  v = f32[2,2] get-tuple-element(pair), index=0
  w = f32[2] get-tuple-element(pair), index=1
  ROOT r = (f32[2,2], f32[2]) tuple(v, w)
}
)");
  const Tensor given = OnDevice({2, 9, 1, 2}, {2, 2});  // The upper triangle is not read.
  for (const Tensor& a : Both(given)) {
    const std::vector<Tensor> results = eigh({a});
    EXPECT_THAT(results[1].ToVector<float>(), Pointwise(FloatNear(1e-5f), Floats{1, 3}));
    EXPECT_THAT(Square(results[0]).ToVector<float>(),
                Pointwise(FloatNear(1e-5f), Floats{0.5f, 0.5f, 0.5f, 0.5f}));
  }
  // The eigenvector of the greater eigenvalue is (1, 1) / sqrt(2).
  const auto greatest = [&](const Tensor& a) { return eigh({a})[1].Select(0, 1); };
  EXPECT_THAT(Grad(greatest)(given).ToVector<float>(), Pointwise(FloatNear(1e-5f), Floats{0.5f, 0, 1, 0.5f}));
}

TEST_F(ForeignCalls, WhatHasNoRuleSaysWhatToDo) {
  const LoadedFunction schur = LoadFunctionFromBytes(R"(HloModule schur
ENTRY main {
  a = f32[2,2] parameter(0)
  all = (f32[2,2], f32[2,2], f32[2], f32[2], s32[], s32[]) custom-call(a), custom_call_target="lapack_sgees_ffi", backend_config="{mode = 86 : ui8, sort = 78 : ui8}", api_version=API_VERSION_TYPED_FFI
  ROOT t = f32[2,2] get-tuple-element(all), index=0
}
)");
  Throws([&] { Grad([&](const Tensor& a) { return Sum(schur({a})[0]); })(OnDevice({1, 2, 3, 4}, {2, 2})); });
  EXPECT_THAT(last_what_, HasSubstr("custom-call (lapack_sgees_ffi)"));
  EXPECT_THAT(last_what_, HasSubstr("CustomVjp()"));
}

// The sign is z / |z| for z = x + i y: it turns by the component of the tangent that is orthogonal to z.
TEST_F(ForeignCalls, SignOfComplexNumbers) {
  const LoadedFunction sign = LoadFunctionFromBytes(R"(HloModule sign
ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  z = c64[2] complex(x, y)
  s = c64[2] sign(z)
  ROOT re = f32[2] real(s)
}
)");
  const Tensor x = OnDevice({3, 0}, {2}), y = OnDevice({4, 0}, {2});
  const auto [dx, dy] = Grad<0, 1>([&](const Tensor& x, const Tensor& y) {
    return Sum(sign({x, y})[0]);
  })(x, y);
  EXPECT_THAT(dx.ToVector<float>(), Pointwise(FloatNear(1e-6f), Floats{16.f / 125, 0}));
  EXPECT_THAT(dy.ToVector<float>(), Pointwise(FloatNear(1e-6f), Floats{-12.f / 125, 0}));
}

}  // namespace
}  // namespace hlod
