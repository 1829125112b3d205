// Linear algebra by LAPACK's routines: named in the program, beside a computation that gives the same without
// them. Values are NumPy's.
#include <gmock/gmock.h>

#include <limits>

#include "common/evaluator/evaluator.h"
#include "tests/tensor/fixture.h"

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

// numpy.linalg.svd, eigvalsh, inv.
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

// What another XLA, that knows no routine of LAPACK, runs.
TEST_F(LinearAlgebra, AProgramRunsWithoutTheRoutinesThatItNames) {
  const Tensor x = Matrix(device());
  const auto [q, r] = linalg::Qr(x);
  const std::vector<Tensor> results = {linalg::Svdvals(x), linalg::Eigvalsh(x), linalg::Inv(x), q, r};
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
  EXPECT_EQ(calls, 5);  // gesdd, syevd, getrf, geqrf, orgqr.
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

TEST_F(LinearAlgebra, ABatchIsOneRoutine) {
  const Tensor x = FromValues<double>({2, 1, 1, 2, /**/ 5, 0, 0, 3}, Dims{2, 2, 2}, device());
  const Tensor values = Vmap([](const Tensor& one) { return linalg::Eigvalsh(one); })(x);
  EXPECT_THAT(Dump(values, Form::kHlo), HasSubstr("lapack_dsyevd_ffi"));
  ExpectNear(values, {1, 3, 3, 5});
}

}  // namespace
}  // namespace hlod
