// Slices at computed starts. Expected values are those of jax.lax.dynamic_slice and dynamic_update_slice, or
// computed by hand.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class DynamicSlices : public TensorTest {
 protected:
  Tensor x() { return OnDevice({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4}); }
  Tensor At(int64_t value) { return FromValues<int64_t>({value}, Dims{}, device()); }
};

TEST_F(DynamicSlices, StartsAreJaxs) {
  struct Row {
    int64_t i, j;
    std::vector<float> slice, updated;
  };
  const std::vector<Row> rows = {
      {1, 2, {6, 7, 10, 11}, {0, 1, 2, 3, 4, 5, -1, -1, 8, 9, -1, -1}},
      {5, -1, {6, 7, 10, 11}, {0, 1, 2, 3, 4, 5, -1, -1, 8, 9, -1, -1}},
      {-2, -9, {4, 5, 8, 9}, {0, 1, 2, 3, -1, -1, 6, 7, -1, -1, 10, 11}},
      {0, 3, {2, 3, 6, 7}, {0, 1, -1, -1, 4, 5, -1, -1, 8, 9, 10, 11}},
  };
  const auto slice =
      Jit([](const Tensor& x, const Tensor& i, const Tensor& j) { return DynamicSlice(x, {i, j}, {2, 2}); });
  const auto update = Jit([](const Tensor& x, const Tensor& i, const Tensor& j) {
    return DynamicUpdateSlice(x, -OnesLike(x).Narrow(0, 0, 2).Narrow(1, 0, 2), {i, j});
  });
  for (const Row& row : rows) {
    EXPECT_EQ(slice(x(), At(row.i), At(row.j)).ToVector<float>(), row.slice);
    EXPECT_EQ(DynamicSlice(x(), {row.i, At(row.j)}, {2, 2}).ToVector<float>(), row.slice);
    EXPECT_EQ(update(x(), At(row.i), At(row.j)).ToVector<float>(), row.updated);
  }
  EXPECT_EQ(slice.traces(), 1);
}

TEST_F(DynamicSlices, TheIndexOfALoopSaysWhere) {
  const Tensor turned = ForiLoop(
      0, 3,
      [x = x()](const Tensor& i, const Tensor& carry) {
        return DynamicUpdateSlice(carry, Narrow(x, 0, 2 - i, 1), {i, 0});
      },
      Zeros({3, 4}, {.device = device()}));
  EXPECT_THAT(turned.ToVector<float>(), ElementsAre(8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
}

TEST_F(DynamicSlices, GradientsAndBatchesGoThrough) {
  const Tensor v = OnDevice({1, 2, 3}, {3}), at = FromValues<int64_t>({1, 0, 5}, {}, device());
  const auto square = [](const Tensor& v, const Tensor& i) { return Sum(Square(DynamicSlice(v, {i}, {2}))); };
  // The gradient is 2 v inside the slice.
  EXPECT_THAT(Grad(square)(v, At(1)).ToVector<float>(), ElementsAre(0, 4, 6));
  EXPECT_THAT(Vmap(Grad(square), {.in = {std::nullopt, 0}})(v, at).ToVector<float>(),
              ElementsAre(0, 4, 6, 2, 4, 0, 0, 4, 6));
  const auto replaced = [](const Tensor& v, const Tensor& u, const Tensor& i) {
    return Sum(Square(DynamicUpdateSlice(v, u, {i})));
  };
  const auto [by_v, by_u] =
      Vmap(Grad<0, 1>(replaced), {.in = {std::nullopt, std::nullopt, 0}})(v, OnDevice({10, 20}, {2}), at);
  EXPECT_THAT(by_v.ToVector<float>(), ElementsAre(2, 0, 0, 0, 0, 6, 2, 0, 0));
  EXPECT_THAT(by_u.ToVector<float>(), ElementsAre(20, 40, 20, 40, 20, 40));
  const auto narrowed = [](const Tensor& v, const Tensor& i) { return Narrow(v, 0, i, 2); };
  EXPECT_THAT(Vmap(narrowed, {.in = {std::nullopt, 0}})(v, at).ToVector<float>(),
              ElementsAre(2, 3, 1, 2, 2, 3));
}

TEST_F(DynamicSlices, WrongArgumentsAreNamed) {
  Throws([&] { DynamicSlice(x(), {0}, {2, 2}); });
  EXPECT_THAT(last_what_, HasSubstr("there are 1 starts for a tensor of 2 dimensions"));
  Throws([&] { DynamicSlice(x(), {0, 0}, {2, 5}); });
  EXPECT_THAT(last_what_, HasSubstr("a slice of sizes [2, 5] is not inside [3, 4]"));
  Throws([&] { DynamicSlice(x(), {0, 0.5}, {2, 2}); });
  EXPECT_THAT(last_what_, HasSubstr("a start must be an integer"));
  Throws([&] { DynamicUpdateSlice(x(), OnDevice({1}, {1}), {0, 0}); });
  EXPECT_THAT(last_what_, HasSubstr("a slice of sizes [1] is not inside [3, 4]"));
}

}  // namespace
}  // namespace hlod
