// Linear algebra by LAPACK's routines, which are named in the program beside a computation of the same
// results without them. The expected values are NumPy's.
#include <gmock/gmock.h>

#include <limits>

#include "common/evaluator/evaluator.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

class LinearAlgebra : public TensorTest {
 protected:
  // numpy.array([[4, 1, 2], [1, 3, 0], [2, 0, 5]])
  Tensor Matrix(const Device& where) {
    return FromValues<double>({4, 1, 2, 1, 3, 0, 2, 0, 5}, Dims{3, 3}, where);
  }
};

void ExpectNear(const Tensor& found, const std::vector<double>& expected) {
  const Literal literal = found.ToLiteral();
  const auto values = literal.data<double>();
  EXPECT_THAT(std::vector<double>(values.begin(), values.end()), Pointwise(DoubleNear(1e-12), expected));
}

// The values are those of numpy.linalg.svd, eigvalsh and inv.
TEST_F(LinearAlgebra, ValuesOnTheHostAndOnADevice) {
  const std::vector<double> eigenvalues = {1.854897308799576, 3.4760236029181333, 6.669079088282287};
  for (const Device& where : {Device(), device()}) {
    const Tensor x = Matrix(where);
    ExpectNear(linalg::Eigvalsh(x), eigenvalues);
    ExpectNear(linalg::Svdvals(x), {eigenvalues[2], eigenvalues[1], eigenvalues[0]});
    // The determinant is 43.
    ExpectNear(linalg::Inv(x) * 43, {15, -5, -6, -5, 16, 2, -6, 2, 11});
    const auto [q, r] = linalg::Qr(x);
    ExpectNear(MatMul(q, r), {4, 1, 2, 1, 3, 0, 2, 0, 5});
    ExpectNear(MatMul(q.T(), q), {1, 0, 0, 0, 1, 0, 0, 0, 1});
  }
}

// Runs the program as another XLA would that does not have LAPACK's routines.
TEST_F(LinearAlgebra, AProgramRunsWithoutTheRoutinesThatItNames) {
  const Tensor x = Matrix(device());
  const auto [q, r] = linalg::Qr(x);
  // A rotation and a stretch: the eigenvalues are 1 + 2i, 1 - 2i and 3, in any order.
  const Tensor turning = FromValues<double>({1, -2, 0, 2, 1, 0, 0, 0, 3}, Dims{3, 3}, device());
  const auto [packed, tau] = linalg::Geqrf(x);
  const Tensor product = linalg::Ormqr(packed, tau, x, true, true);
  const std::vector<Tensor> results = {linalg::Svdvals(x),
                                       linalg::Eigvalsh(x),
                                       linalg::Inv(x),
                                       q,
                                       r,
                                       product,
                                       Sort(Imag(linalg::Eigvals(turning))).values,
                                       Sort(Real(linalg::Eigvals(turning))).values};
  std::vector<Tensor> arguments;
  const std::unique_ptr<Module> module = Lower(results, &arguments);
  int calls = 0;
  for (hlo::ComputationId c = 0; c < module->computation_count(); ++c) {
    hlo::Computation& computation = module->computation(c);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      ASSERT_NE(computation[node].opcode(), hlo::kCustomCall);
      if (computation[node].opcode() != hlo::kCall || computation.notes(node) == nullptr) continue;
      calls += static_cast<int>(computation.mutable_notes(node).frontend_attributes.erase("hlod_routine"));
    }
  }
  // The calls: two each of gesdd, syevd, LuDecomposition, geqrf and geev, orgqr, and ormqr, which is replaced
  // by an orgqr.
  EXPECT_EQ(calls, 10);
  std::vector<Literal> values;
  std::vector<const Literal*> pointers;
  for (const Tensor& argument : arguments) values.push_back(argument.ToLiteral());
  for (const Literal& value : values) pointers.push_back(&value);
  const Literal without = Evaluate(*module, pointers).value();
  for (size_t i = 0; i < results.size(); ++i) {
    const auto expected = without.elements()[i].data<double>();
    ExpectNear(results[i], std::vector<double>(expected.begin(), expected.end()));
  }
}

// Checks the eigenvectors of the loop: A v = w v, of length 1, with a real largest element.
TEST_F(LinearAlgebra, EigenvectorsWithoutTheRoutine) {
  for (const bool complex : {false, true}) {
    const int64_t n = 6;
    Tensor x = Sin(Arange(0, 2 * n * n, 1, {.type = kF64, .device = device()}) * 1.7).Reshape({2, n, n});
    if (complex) x = Complex(x, Cos(x * 3));
    const auto [values, vectors] = linalg::Eig(x);
    std::vector<Tensor> arguments;
    const std::unique_ptr<Module> module = Lower({values, vectors}, &arguments);
    for (hlo::ComputationId c = 0; c < module->computation_count(); ++c) {
      hlo::Computation& computation = module->computation(c);
      for (hlo::NodeId node = 0; node < computation.size(); ++node) {
        if (computation.notes(node) == nullptr) continue;
        computation.mutable_notes(node).frontend_attributes.erase("hlod_routine");
      }
    }
    std::vector<Literal> given;
    std::vector<const Literal*> pointers;
    for (const Tensor& argument : arguments) given.push_back(argument.ToLiteral());
    for (const Literal& value : given) pointers.push_back(&value);
    const Literal found = Evaluate(*module, pointers).value();
    const Tensor w = FromLiteral(found.elements()[0]), v = FromLiteral(found.elements()[1]);
    const Tensor a = x.ToHost().To(kC128);
    const auto difference = [](const Tensor& p, const Tensor& q) { return Amax(Abs(p - q)).Item<double>(); };
    EXPECT_LT(difference(MatMul(a, v), v * w.Unsqueeze(1)), 1e-9);
    EXPECT_LT(difference(Sum(Abs(v) * Abs(v), {1}), Ones({2, n}, {.type = kF64})), 1e-12);
    // The values are LAPACK's, in any order.
    const auto sorted = [](const Tensor& z) { return Sort(Real(z) * 0.73 + Imag(z), 1).values; };
    EXPECT_LT(difference(sorted(w), sorted(values.ToHost())), 1e-9);
  }
}

TEST_F(LinearAlgebra, WhatIsNotANumberStaysIt) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Device& where : {Device(), device()}) {
    const Tensor x = FromValues<double>({1, 2, nan, 4, /**/ 4, 1, 1, 3}, Dims{2, 2, 2}, where);
    const Tensor inverse = linalg::Inv(x);
    EXPECT_TRUE(All(Isnan(inverse.Select(0, 0))).Item<bool>());
    ExpectNear(inverse.Select(0, 1) * 11, {3, -1, -1, 4});
    EXPECT_TRUE(All(Isnan(linalg::Svdvals(x).Select(0, 0))).Item<bool>());
    EXPECT_TRUE(All(Isnan(linalg::Qr(x).first.Select(0, 0))).Item<bool>());
  }
}

TEST_F(LinearAlgebra, RefusalsShowTheShapeThatWasGiven) {
  const Tensor x = Ones({2, 3});
  for (const auto& body :
       std::vector<std::function<void()>>{[&] { linalg::Eig(x); }, [&] { linalg::Eigvals(x); },
                                          [&] { linalg::Eigh(x); }, [&] { linalg::Eigvalsh(x); }}) {
    Throws(body);
    EXPECT_THAT(last_what_, HasSubstr("the matrices of shape [2, 3] are not square"));
  }
  Throws([&] { Apply("linalg.eig", {x}); });
  EXPECT_THAT(last_what_, HasSubstr("is not called by name: call hlod::linalg::Eig"));
}

// By hand; in the type of the elements, 5^4 would be 113. The power 0 of infinity is 1, and has the slope 0.
TEST_F(LinearAlgebra, PowersOfIntegersDoNotWrapAround) {
  const Tensor powers = linalg::Vander(FromValues<uint8_t>({5, 2}), 5);
  EXPECT_THAT(powers.ToVector<int64_t>(), ElementsAre(1, 5, 25, 125, 625, 1, 2, 4, 8, 16));
  Tensor x = FromValues<float>({std::numeric_limits<float>::infinity(), 3});
  x.RequiresGrad_();
  Sum(linalg::Vander(x, 2)).Backward();
  EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(1, 1));
}

// By hand; in the type of the elements, 400 would be 144. What is not added keeps its type.
TEST_F(LinearAlgebra, EinsumAddsIntegersAsS64) {
  const Tensor x = FromValues<uint8_t>({200, 200, 1, 2}, Dims{2, 2});
  EXPECT_THAT(Einsum("ij->i", {x}).ToVector<int64_t>(), ElementsAre(400, 3));
  EXPECT_EQ(Einsum("ii->", {x}).Item<int64_t>(), 202);
  EXPECT_EQ(Einsum("ij->", {x > 1}).Item<int64_t>(), 3);
  EXPECT_THAT(Einsum("ij->ji", {x}).ToVector<uint8_t>(), ElementsAre(200, 1, 200, 2));
}

TEST_F(LinearAlgebra, ABatchIsOneRoutine) {
  const Tensor x = FromValues<double>({2, 1, 1, 2, /**/ 5, 0, 0, 3}, Dims{2, 2, 2}, device());
  const Tensor values = Vmap([](const Tensor& one) { return linalg::Eigvalsh(one); })(x);
  EXPECT_THAT(Dump(values, DumpFormat::kHlo), HasSubstr("lapack_dsyevd_ffi"));
  ExpectNear(values, {1, 3, 3, 5});
}

}  // namespace
}  // namespace hlod
