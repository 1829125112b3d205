// Calls that PyTorch 1.13 refuses although plain arithmetic would compute them: integers divided by zero,
// negative powers, subtracted bools, numbers that do not fit, operands that overlap the written elements.
// Also similar calls that it allows.
#include <limits>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Refused : public TensorTest {
 protected:
  static void ExpectRefused(const char* what, const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      EXPECT_EQ(KindOf(error.status()), ErrorKind::kArgument);
      EXPECT_THAT(error.what(), HasSubstr(what));
      return;
    }
    ADD_FAILURE() << "nothing was thrown: " << what;
  }
  std::vector<Device> Places() const { return {Device(), device()}; }
};

TEST_F(Refused, DivisionsOfIntegersByZero) {
  for (const Device& place : Places()) {
    Tensor x = FromValues<int64_t>({7, -7}, Dims{2}, place);
    ExpectRefused("divided by 0", [&] { FloorDivide(x, 0); });
    ExpectRefused("divided by 0", [&] { x % 0; });
    ExpectRefused("divided by 0", [&] { Fmod(x, 0); });
    ExpectRefused("divided by 0", [&] { TruncDivide(x, 0); });
    ExpectRefused("divided by 0", [&] { Remainder_(x, 0); });
    EXPECT_THAT((x % 4).ToVector<int64_t>(), ElementsAre(3, 1));
    EXPECT_THAT(FloorDivide(x, 2).ToVector<int64_t>(), ElementsAre(3, -4));
    EXPECT_TRUE(std::isnan((x % 0.0).ToVector<float>()[0]));
  }
  // The elements of a tensor are checked when it is computed at once, on the host.
  const Tensor x = FromValues<int64_t>({7, -7}, Dims{2}), y = FromValues<int64_t>({1, 0}, Dims{2});
  ExpectRefused("divided by 0", [&] { x % y; });
  ExpectRefused("divided by 0", [&] { FloorDivide(x, y); });
  ExpectRefused("divided by 0", [&] { FloorDivide(5, y); });
}

TEST_F(Refused, NegativePowersOfIntegers) {
  for (const Device& place : Places()) {
    Tensor x = FromValues<int64_t>({1, 2}, Dims{2}, place);
    ExpectRefused("negative powers", [&] { Pow(x, -1); });
    ExpectRefused("negative powers", [&] { Pow_(x, -2); });
    EXPECT_THAT(Pow(x, 2).ToVector<int64_t>(), ElementsAre(1, 4));
    EXPECT_THAT(Pow(x, -1.0).ToVector<float>(), ElementsAre(1, .5));
    EXPECT_THAT(Pow(x.To(kF32), -1).ToVector<float>(), ElementsAre(1, .5));
  }
}

TEST_F(Refused, Bools) {
  for (const Device& place : Places()) {
    Tensor yes = FromValues<bool>({true}, Dims{1}, place), one = FromValues<uint8_t>({1}, Dims{1}, place);
    ExpectRefused("bools cannot be subtracted", [&] { yes - one; });
    ExpectRefused("bools cannot be subtracted", [&] { one - yes; });
    ExpectRefused("bools cannot be subtracted", [&] { one - true; });
    ExpectRefused("bools cannot be subtracted", [&] { 1 - yes; });
    ExpectRefused("bools cannot be subtracted", [&] { one.Sub_(yes); });
    ExpectRefused("bool", [&] { Relu(yes); });
    ExpectRefused("bool", [&] { Relu6(yes); });
    ExpectRefused("bool", [&] { -yes; });
    EXPECT_THAT((one - 1).ToVector<uint8_t>(), ElementsAre(0));
  }
}

TEST_F(Refused, NumbersThatDoNotFit) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const Device& place : Places()) {
    const TensorOptions s8 = {.type = kS8, .device = place}, u8 = {.type = kU8, .device = place},
                        f16 = {.type = kF16, .device = place}, f32 = {.type = kF32, .device = place};
    ExpectRefused("the number 300 does not fit s8", [&] { Full({2}, 300, s8); });
    ExpectRefused("does not fit s8", [&] { Zeros({2}, s8).Fill_(-129); });
    ExpectRefused("does not fit s8", [&] { Zeros({2}, s8).Fill_(127.5); });
    ExpectRefused("does not fit s8", [&] { Zeros({2}, s8).Fill_(nan); });
    ExpectRefused("does not fit s8", [&] { Zeros({2}, s8).Fill_(infinity); });
    ExpectRefused("does not fit u8", [&] { Full({2}, -256, u8); });
    ExpectRefused("does not fit f16", [&] { Full({2}, 1e6, f16); });
    ExpectRefused("does not fit f32", [&] { Full({2}, 1e40, f32); });
    ExpectRefused("does not fit f32", [&] { Zeros({2}, f32).Fill_(std::complex<double>(1, 1)); });
    Tensor x = Zeros({2}, u8);
    const Tensor mask = FromValues<bool>({true, false}, Dims{2}, place);
    const Tensor index = FromValues<int64_t>({0}, Dims{1}, place);
    ExpectRefused("does not fit u8", [&] { MaskedFill(x, mask, 300); });
    ExpectRefused("does not fit u8", [&] { MaskedFill_(x, mask, 300); });
    ExpectRefused("does not fit u8", [&] { IndexFill(x, 0, index, 300); });
    ExpectRefused("does not fit u8", [&] { Where(mask, x, 300); });
    ExpectRefused("does not fit u8", [&] { Clamp(x, Operand(0), Operand(300)); });
    ExpectRefused("clamp (refused_test.cc:", [&] { Clamp(x, 0, 300); });
    ExpectRefused("does not fit u8", [&] { Pad(x, {1, 1}, PadMode::kConstant, 300); });
    ExpectRefused("does not fit u8", [&] { Fill(x, 300); });
    // A negative number passed for an unsigned type wraps around; operands of arithmetic always wrap.
    EXPECT_THAT(Full({1}, -1, u8).ToVector<uint8_t>(), ElementsAre(255));
    EXPECT_THAT((Ones({1}, u8) + 300).ToVector<uint8_t>(), ElementsAre(45));
    EXPECT_THAT(Full({1}, 100.7, s8).ToVector<int8_t>(), ElementsAre(100));
    EXPECT_THAT(Full({1}, infinity, f32).ToVector<float>(), ElementsAre(infinity));
    EXPECT_THAT(Zeros({1}, f32).Fill_(std::complex<double>(2, 0)).ToVector<float>(), ElementsAre(2));
  }
}

TEST_F(Refused, OperandsThatOverlapWhatIsWrittenTo) {
  for (const Device& place : Places()) {
    Tensor x = Arange(0, 6, 1, {.type = kF32, .device = place});
    const char* const overlap = "are the same; Clone() it first";
    ExpectRefused(overlap, [&] { x.Slice(0, 1, 6).Copy_(x.Slice(0, 0, 5)); });
    ExpectRefused(overlap, [&] { x.Slice(0, 0, 5).Add_(x.Slice(0, 1, 6)); });
    Tensor square = x.Slice(0, 0, 4).View({2, 2});
    ExpectRefused(overlap, [&] { square.Copy_(square.T()); });
    square.Copy_(square.T().Clone());
    EXPECT_THAT(x.ToVector<float>(), ElementsAre(0, 2, 1, 3, 4, 5));
    x.Slice(0, 0, 3).Copy_(x.Slice(0, 3, 6));
    EXPECT_THAT(x.ToVector<float>(), ElementsAre(3, 4, 5, 3, 4, 5));
    x.Add_(x.Slice(0, 0, 6));
    EXPECT_THAT(x.ToVector<float>(), ElementsAre(6, 8, 10, 6, 8, 10));
  }
}

// In updates that compute first and then store, PyTorch refuses overlap, but accepts it in matrix products.
TEST_F(Refused, OperandsThatOverlapWhatIsStored) {
  for (const Device& place : Places()) {
    const char* const overlap = "are the same; Clone() it first";
    const Tensor ones = Ones({5}, {.type = kF32, .device = place});
    const Tensor x = Arange(1, 7, 1, {.type = kF32, .device = place});
    Tensor to = x.Slice(0, 1, 6);
    const Tensor from = x.Slice(0, 0, 5);
    ExpectRefused(overlap, [&] { Pow_(to, from); });
    ExpectRefused(overlap, [&] { Remainder_(to, from); });
    ExpectRefused(overlap, [&] { FloorDivide_(to, from); });
    ExpectRefused(overlap, [&] { Atan2_(to, from); });
    ExpectRefused(overlap, [&] { ClampMin_(to, from); });
    ExpectRefused(overlap, [&] { LogicalAnd_(to, from); });
    ExpectRefused(overlap, [&] { Lerp_(to, from, 0.5); });
    ExpectRefused(overlap, [&] { Lerp_(to, ones, from); });
    ExpectRefused(overlap, [&] { Addcmul_(to, from, ones); });
    ExpectRefused(overlap, [&] { Addcdiv_(to, ones, from); });
    ExpectRefused(overlap, [&] { Put_(to, FromValues<int64_t>({0, 1, 2, 3, 4}, Dims{5}, place), from); });
    EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
    Pow_(to, to);
    EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 4, 27, 256, 3125, 46656));
    const Tensor m = Arange(0, 6, 1, {.type = kF32, .device = place}).View({3, 2});
    Tensor below = m.Slice(0, 1, 3);
    Addmm_(below, m.Slice(0, 0, 2), Eye(2, {}, {.type = kF32, .device = place}));
    EXPECT_THAT(m.ToVector<float>(), ElementsAre(0, 1, 2, 4, 6, 8));
  }
}

TEST_F(Refused, ComplexNumbersHaveNoOrder) {
  for (const Device& place : Places()) {
    const Tensor x = FromValues<std::complex<float>>({{1, 2}}, Dims{1}, place);
    ExpectRefused("not c64", [&] { Maximum(x, x); });
    ExpectRefused("not c64", [&] { Minimum(x, x); });
    ExpectRefused("not c64", [&] { Fmax(x, x); });
    ExpectRefused("no order", [&] { Logaddexp(x, x); });
    ExpectRefused("not c64", [&] { Amax(x); });
    const Tensor index = FromValues<int64_t>({0}, Dims{1}, place);
    ExpectRefused("no order", [&] { ScatterReduce(x, 0, index, x, ScatterReduction::kAmax); });
  }
}

}  // namespace
}  // namespace hlod
