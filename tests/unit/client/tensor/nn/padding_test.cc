// Padding layers return what PyTorch's return.
#include "tests/unit/client/tensor/nn/case.h"

namespace hlod {
namespace {

class NnPadding : public NnCase {
 protected:
  template <typename Layer, typename... Args>
  void Agrees(const char* name, Args... args) {
    Root root;
    Layer layer(root, "pad", args...);
    Check(name, layer, kF32, [&](auto& x) { return layer(x[0]); });
  }
};

TEST_F(NnPadding, LayersAgreeWithPyTorch) {
  Agrees<nn::ZeroPad2d>("zero_pad", Sizes{1, 2, 0, -1});
  Agrees<nn::ConstantPad3d>("constant_pad", Sizes{1, 0, 2, 1, 0, 1}, 1.5);
  Agrees<nn::ReflectionPad1d>("reflection_pad_1d", Sizes{2, 1});
  Agrees<nn::ReflectionPad2d>("reflection_pad_2d", Sizes{1, 2, 0, 1});
  Agrees<nn::ReflectionPad3d>("reflection_pad_3d", Sizes(1));
  Agrees<nn::ReplicationPad1d>("replication_pad_1d", Sizes{3, 1});
  Agrees<nn::ReplicationPad2d>("replication_pad_2d", Sizes{1, 2, 0, 3});
  Agrees<nn::ReplicationPad3d>("replication_pad_3d", Sizes{1, 0, 0, 2, 1, 0});
  Agrees<nn::CircularPad1d>("circular_pad_1d", Sizes{2, 1});
  Agrees<nn::CircularPad2d>("circular_pad_2d", Sizes{1, 2, 0, 1});
  Agrees<nn::CircularPad3d>("circular_pad_3d", Sizes{1, 0, 0, 1, 1, 0});
}

TEST_F(NnPadding, WrongAmountsAndRanksAreNamed) {
  Root root;
  EXPECT_EQ(KindOf(Thrown([&] { nn::ZeroPad2d(root, "pad", {1, 2}); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("in pad: padding has 2 numbers; of 2 dimensions it takes 1 or 4"));
  const nn::ReflectionPad1d reflection(root, "mirror", 1);
  Throws([&] { reflection(Ones({4})); });
  EXPECT_THAT(last_what_, HasSubstr("in mirror: the input has 1 dimensions; it takes 2, or 3 with a batch"));
}

}  // namespace
}  // namespace hlod
