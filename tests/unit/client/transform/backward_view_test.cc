// Backward() and views: moves between devices, in-place updates of detached tensors, views of leaves, and
// overwritten values. Expected values are computed by hand, or by the same computation without the move.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class BackwardViews : public TensorTest {
 protected:
  Tensor Leaf(const std::vector<float>& values, Dims dims, const Device& device) {
    return FromValues<float>(values, std::move(dims), device).RequiresGrad_();
  }
  Tensor Leaf(const std::vector<float>& values, Dims dims) { return Leaf(values, std::move(dims), device()); }
  static std::vector<float> GradOf(const Tensor& x) { return x.Grad().ToVector<float>(); }
  static Tensor Weights(const Tensor& like) {
    return Arange(1, 1 + like.numel(), 1, {.type = kF32, .device = like.device()}).Reshape(like.dims());
  }
};

struct ViewCase {
  const char* name;
  std::function<Tensor(const Tensor&)> view;
};
// The views of a tensor of shape [3, 4] that are tested.
const ViewCase kViews[] = {
    {"itself", [](const Tensor& x) { return x; }},
    {"transpose", [](const Tensor& x) { return x.T(); }},
    {"row", [](const Tensor& x) { return x[1]; }},
    {"steps", [](const Tensor& x) { return x.Slice(1, 0, 4, 2); }},
    {"as_strided",
     [](const Tensor& x) {
       return x.AsStrided({2, 3}, {1, 2}, 1);
     }},
    {"expand",
     [](const Tensor& x) {
       return x.Unsqueeze(1).Expand({3, 2, 4});
     }},
    {"reshape",
     [](const Tensor& x) {
       return x.View({2, 6});
     }},
    {"diagonal", [](const Tensor& x) { return x.Diagonal(1); }},
    {"unfold", [](const Tensor& x) { return x.Unfold(1, 2, 1); }},
    {"narrow of narrow",
     [](const Tensor& x) { return x.Narrow(1, 1, 3).Narrow(1, 1, 2).T().Narrow(1, 0, 2); }},
};
struct Move {
  const char* name;
  std::function<Tensor(const Tensor& x, const Device& to)> make;
};
const Move kMoves[] = {
    {"To", [](const Tensor& x, const Device& to) { return x.To(to); }},
    {"Copy_",
     [](const Tensor& x, const Device& to) {
       Tensor copy = Zeros(x.dims(), {.type = kF32, .device = to});
       return copy.Copy_(x);
     }},
    {"Copy_ to a view",
     [](const Tensor& x, const Device& to) {
       Tensor all = Zeros({2, x.numel()}, {.type = kF32, .device = to});
       all[1].View(x.dims()).Copy_(x);
       return all[1].View(x.dims());
     }},
    {"To and type", [](const Tensor& x, const Device& to) { return x.To(kF64).To(to).To(kF32); }},
};

TEST_F(BackwardViews, GradientsGoThroughMovesOfViews) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const auto& [name, view] : kViews) {
    for (const auto& [how, move] : kMoves) {
      for (const bool of_result : {false, true}) {
        for (const bool to_host : {false, true}) {
          SCOPED_TRACE(absl::StrCat(how, " of ", name, of_result ? " of a result" : " of a leaf",
                                    to_host ? " to the host" : " to the device"));
          const Device from = to_host ? device() : Device(), to = to_host ? Device() : device();
          const auto gradient = [&](bool moves) {
            Tensor w = Leaf(values, {3, 4}, from);
            const Tensor base = of_result ? w * w : w;
            const Tensor shown = moves ? move(view(base), to) : view(base);
            EXPECT_TRUE(shown.requires_grad());
            Sum(shown * Weights(shown)).Backward();
            EXPECT_EQ(w.Grad().dims(), w.dims());
            EXPECT_EQ(w.Grad().device(), from);
            return GradOf(w);
          };
          EXPECT_EQ(gradient(true), gradient(false));
        }
      }
    }
  }
}

TEST_F(BackwardViews, AMovedTransposeByHand) {
  Tensor w = Leaf({1, 2, 3, 4}, {2, 2}, Device());
  Sum(w.T().To(device()) * OnDevice({1, 2, 3, 4}, {2, 2})).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(1, 3, 2, 4));
  // A move keeps no operands, so its gradient can be computed a second time.
  Tensor moved = w.To(device());
  moved.Backward({.gradient = OnDevice({1, 1, 1, 1}, {2, 2})});
  moved.Backward({.gradient = OnDevice({1, 1, 1, 1}, {2, 2})});
  EXPECT_THAT(GradOf(w), ElementsAre(3, 5, 4, 6));
  {
    const NoGrad scope;
    EXPECT_FALSE(w.T().To(device()).requires_grad());
  }
  EXPECT_FALSE(w.Detach().T().To(device()).requires_grad());
}

TEST_F(BackwardViews, ADetachedTensorComesToAHistoryByUpdates) {
  Tensor w = Leaf({1, 2, 3}, {3});
  Tensor x = OnDevice({1, 1, 1}, {3}), d = x.Detach();
  d.Mul_(w);  // d = w
  EXPECT_TRUE(d.requires_grad());
  EXPECT_FALSE(d.is_leaf());
  EXPECT_FALSE(x.requires_grad());
  Sum(d * w * OnDevice({1, 2, 3}, {3})).Backward();  // 2 k w
  EXPECT_THAT(GradOf(w), ElementsAre(2, 8, 18));
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 2, 3));
}

TEST_F(BackwardViews, SoDoesADetachedViewByItsViews) {
  Tensor w = Leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = w * 2;
  Tensor d = y.T().Detach();  // [[2, 8], [4, 10], [6, 12]]
  d[1].Add_(w[0].Slice(0, 0, 2));
  EXPECT_TRUE(d.requires_grad());
  Sum(d.T() * OnDevice({1, 2, 3, 4, 5, 6}, {2, 3})).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(2, 5, 0, 0, 0, 0));
  // Tensors that share the storage see the update; their own gradients are those before it.
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(2, 5, 6, 8, 12, 12));
  w.ZeroGrad();
  Sum(y).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(2, 2, 2, 2, 2, 2));
  EXPECT_THAT(d.RetainGrad().ToVector<float>(), ElementsAre(2, 8, 5, 12, 6, 12));
}

TEST_F(BackwardViews, AViewOfALeafIsNone) {
  Tensor w = Leaf({1, 2, 3, 4}, {2, 2});
  const Tensor row = w[0], same = w.View({2, 2});
  EXPECT_TRUE(row.requires_grad());
  EXPECT_FALSE(row.is_leaf());
  EXPECT_FALSE(same.is_leaf());
  Sum(row * row).Backward();
  EXPECT_FALSE(row.Grad().defined());
  EXPECT_THAT(GradOf(w), ElementsAre(2, 4, 0, 0));
  Throws([&] { w[1].RequiresGrad_(false); });
  EXPECT_THAT(last_what_, HasSubstr("Detach()"));
  Tensor(row).ZeroGrad();
  EXPECT_TRUE(w.Grad().defined());
  // Flatten() of one dimension returns the tensor itself.
  Tensor flat = Leaf({1, 2}, {2});
  EXPECT_TRUE(flat.Flatten().is_leaf());
}

TEST_F(BackwardViews, ALeafThatIsAViewItselfHasViews) {
  const Tensor base = OnDevice({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor weights = OnDevice({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor turned = base.T().Detach().RequiresGrad_();
  Sum(turned.T() * weights).Backward();
  EXPECT_THAT(GradOf(turned), ElementsAre(1, 4, 2, 5, 3, 6));
  Tensor flat = base.View(6).Detach().RequiresGrad_();
  Sum(flat.View({2, 3}) * weights).Backward();
  EXPECT_THAT(GradOf(flat), ElementsAre(1, 2, 3, 4, 5, 6));
  // AsStrided() counts positions in the storage, as in PyTorch: the result is its elements [[1, 2], [2, 3]].
  Tensor leaf = base.T().Detach().RequiresGrad_();
  Sum(leaf.AsStrided({2, 2}, {1, 1}, 1)).Backward();
  EXPECT_THAT(GradOf(leaf), ElementsAre(0, 1, 1, 0, 2, 0));
  // Two leaves may share a storage.
  Tensor a = base.Detach().RequiresGrad_(), b = base.Detach().RequiresGrad_();
  Sum(a * b * 2).Backward();
  Sum(Jit([&](const Tensor& x) { return a * x + b * 3; })(OnDevice({1}, {1}))).Backward();
  EXPECT_THAT(GradOf(a), ElementsAre(3, 5, 7, 9, 11, 13));
  EXPECT_THAT(GradOf(b), ElementsAre(5, 7, 9, 11, 13, 15));
}

TEST_F(BackwardViews, WhatIsOverwrittenHasZeros) {
  Tensor w = Leaf({1, 2}, {2});
  Tensor y = w * 2;
  y.Zero_();
  EXPECT_TRUE(y.requires_grad());
  Sum(y).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(0, 0));
  Tensor z = w * 3;
  z.Copy_(OnDevice({5, 6}, {2}));
  Sum(z).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(0, 0));
  Tensor rounded = Leaf({1.5, 2}, {2});
  Sum(Round(rounded)).Backward();
  EXPECT_THAT(GradOf(rounded), ElementsAre(0, 0));
  // An argument that the function does not use has no gradient.
  Tensor used = Leaf({1}, {1}), unused = Leaf({1}, {1});
  Sum(Jit([](const Tensor& a, const Tensor&) { return a * 2; })(used, unused)).Backward();
  EXPECT_THAT(GradOf(used), ElementsAre(2));
  EXPECT_FALSE(unused.Grad().defined());
}

TEST_F(BackwardViews, AnExpandThatRepeatsNothingIsWrittenThrough) {
  for (const Device& place : {Device(), device()}) {
    Tensor x = FromValues<float>({1, 2, 3}, Dims{3}, place);
    x.Expand(x.dims()).Add_(1);
    x.Expand({1, 3}).Add_(1);
    EXPECT_THAT(x.ToVector<float>(), ElementsAre(3, 4, 5));
    Tensor w = Leaf({1, 2, 3}, {3}, place);
    x.Expand({1, 3}).Copy_(w * w);
    Sum(x).Backward();
    EXPECT_THAT(GradOf(w), ElementsAre(2, 4, 6));
    Zeros({1, 0}, {.device = place}).Expand({3, 0}).Add_(1);
    Throws([&] { Tensor(Ones({1}, {.device = place})).Expand({2}).Add_(1); });
    EXPECT_THAT(last_what_, HasSubstr("more than one element"));
  }
}

TEST_F(BackwardViews, AViewMadeInNoGradHasNoHistory) {
  Tensor w = Leaf({1, 2, 3, 4}, {2, 2});
  Tensor y = w * 2, view;
  {
    const NoGrad scope;
    view = y.T();
    view.Mul_(3);
  }
  EXPECT_FALSE(view.requires_grad());
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(6, 12, 18, 24));
  Throws([&] { view.Mul_(w); });
  EXPECT_THAT(last_what_, HasSubstr("NoGrad"));
  Sum(y * view.T()).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(12, 24, 36, 48));
  const auto f = [](const Tensor& x) {
    Tensor stopped;
    {
      const NoGrad scope;
      stopped = x.T();
    }
    return Sum(x * stopped);
  };
  EXPECT_THAT(Grad(f)(OnDevice({1, 2, 3, 4}, {2, 2})).ToVector<float>(), ElementsAre(1, 3, 2, 4));
}

}  // namespace
}  // namespace hlod
