// rng-bit-generator compared with XLA's own bits (jax 0.10.2 on CPU, lax.rng_bit_generator of the state
// below) and with the evaluator.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/hlo/literal.h"
#include "gtest/gtest.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

struct Case {
  const char* algorithm;
  const char* type;
  const char* dims;
  uint64_t counter;  // The counter of the new state, whose key is unchanged.
  std::vector<uint64_t> bits;
};

// The state before has key 0x123456789abcdef0 and counter 0xfffffffffffffffe, so that the counter wraps.
const Case kCases[] = {
    {"rng_three_fry", "u8", "[]", 0xffffffffffffffff, {0x7a}},
    {"rng_three_fry", "u8", "[5]", 0x1, {0x7a, 0x2c, 0xa7, 0xca, 0x3d}},
    {"rng_three_fry",
     "u8",
     "[3,5]",
     0x7,
     {0x7a, 0x2c, 0xa7, 0xca, 0x3d, 0xfc, 0xae, 0x86, 0x8d, 0x68, 0x15, 0xb9, 0x2, 0x1c, 0x86}},
    {"rng_three_fry",
     "u8",
     "[3,4]",
     0x4,
     {0x7a, 0x2c, 0xa7, 0xca, 0x3d, 0xf9, 0xfc, 0xae, 0x86, 0x8d, 0x68, 0xa}},
    {"rng_three_fry", "u16", "[]", 0xffffffffffffffff, {0x507a}},
    {"rng_three_fry", "u16", "[5]", 0x1, {0x507a, 0xe72c, 0x7ba7, 0xaaca, 0x803d}},
    {"rng_three_fry",
     "u16",
     "[3,5]",
     0x7,
     {0x507a, 0xe72c, 0x7ba7, 0xaaca, 0x803d, 0xdefc, 0xd0ae, 0x5786, 0xdd8d, 0x168, 0x15, 0x9cb9, 0x1b02,
      0x7d1c, 0xe486}},
    {"rng_three_fry",
     "u16",
     "[3,4]",
     0x4,
     {0x507a, 0xe72c, 0x7ba7, 0xaaca, 0x803d, 0x80f9, 0xdefc, 0xd0ae, 0x5786, 0xdd8d, 0x168, 0x850a}},
    {"rng_three_fry", "u32", "[]", 0xffffffffffffffff, {0x3c3b507a}},
    {"rng_three_fry", "u32", "[5]", 0x1, {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d}},
    {"rng_three_fry",
     "u32",
     "[6]",
     0x1,
     {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d, 0x4ce380f9}},
    {"rng_three_fry",
     "u32",
     "[3,5]",
     0x7,
     {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d, 0x394bdefc, 0x64dfd0ae, 0x523f5786,
      0x4028dd8d, 0x553d0168, 0x1f390015, 0xf9d09cb9, 0x81171b02, 0x41fa7d1c, 0x8393e486}},
    {"rng_three_fry",
     "u32",
     "[3,4]",
     0x4,
     {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d, 0x4ce380f9, 0x394bdefc, 0x64dfd0ae,
      0x523f5786, 0x4028dd8d, 0x553d0168, 0xe364850a}},
    {"rng_three_fry", "u64", "[]", 0xffffffffffffffff, {0x7093e72c3c3b507a}},
    {"rng_three_fry",
     "u64",
     "[5]",
     0x3,
     {0x7093e72c3c3b507a, 0x21f1aacaa4317ba7, 0x4ce380f95eff803d, 0x64dfd0ae394bdefc, 0x4028dd8d523f5786}},
    {"rng_three_fry",
     "u64",
     "[3,5]",
     0xd,
     {0x7093e72c3c3b507a, 0x21f1aacaa4317ba7, 0x4ce380f95eff803d, 0x64dfd0ae394bdefc, 0x4028dd8d523f5786,
      0xe364850a553d0168, 0xf9d09cb91f390015, 0x41fa7d1c81171b02, 0x81ca82968393e486, 0x99c674f750b8a089,
      0x3c1c80baa655f33a, 0x5eabc3cc892e0991, 0xe7850cd6d66a7f8f, 0xbea117dc4397f4c8, 0x22eb21b19fdd824e}},
    {"rng_three_fry",
     "u64",
     "[3,4]",
     0xa,
     {0x7093e72c3c3b507a, 0x21f1aacaa4317ba7, 0x4ce380f95eff803d, 0x64dfd0ae394bdefc, 0x4028dd8d523f5786,
      0xe364850a553d0168, 0xf9d09cb91f390015, 0x41fa7d1c81171b02, 0x81ca82968393e486, 0x99c674f750b8a089,
      0x3c1c80baa655f33a, 0x5eabc3cc892e0991}},
    {"rng_philox", "u8", "[]", 0xffffffffffffffff, {0xff}},
    {"rng_philox", "u8", "[5]", 0x0, {0xff, 0xa1, 0xb7, 0xa7, 0x1e}},
    {"rng_philox",
     "u8",
     "[3,5]",
     0x2,
     {0xff, 0xa1, 0xb7, 0xa7, 0x1e, 0xc, 0xda, 0x26, 0xf3, 0x6, 0xfe, 0xfe, 0x36, 0xc0, 0xe3}},
    {"rng_philox",
     "u8",
     "[3,4]",
     0x1,
     {0xff, 0xa1, 0xb7, 0xa7, 0x1e, 0xc, 0xda, 0x26, 0xf3, 0x6, 0xfe, 0xfe}},
    {"rng_philox", "u16", "[]", 0xffffffffffffffff, {0x56ff}},
    {"rng_philox", "u16", "[5]", 0x0, {0x56ff, 0xd4a1, 0xdbb7, 0xd7a7, 0xdf1e}},
    {"rng_philox",
     "u16",
     "[3,5]",
     0x2,
     {0x56ff, 0xd4a1, 0xdbb7, 0xd7a7, 0xdf1e, 0x590c, 0xe9da, 0xb26, 0x8cf3, 0xdc06, 0x31fe, 0x65fe, 0x1036,
      0x32c0, 0xaee3}},
    {"rng_philox",
     "u16",
     "[3,4]",
     0x1,
     {0x56ff, 0xd4a1, 0xdbb7, 0xd7a7, 0xdf1e, 0x590c, 0xe9da, 0xb26, 0x8cf3, 0xdc06, 0x31fe, 0x65fe}},
    {"rng_philox", "u32", "[]", 0xffffffffffffffff, {0xbbd856ff}},
    {"rng_philox", "u32", "[5]", 0x0, {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e}},
    {"rng_philox",
     "u32",
     "[6]",
     0x0,
     {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c}},
    {"rng_philox",
     "u32",
     "[3,5]",
     0x2,
     {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c, 0xea99e9da, 0x40230b26,
      0x102d8cf3, 0x2012dc06, 0xe29031fe, 0xb33c65fe, 0x99f81036, 0xaa1b32c0, 0x142aaee3}},
    {"rng_philox",
     "u32",
     "[3,4]",
     0x1,
     {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c, 0xea99e9da, 0x40230b26,
      0x102d8cf3, 0x2012dc06, 0xe29031fe, 0xb33c65fe}},
    {"rng_philox", "u64", "[]", 0xffffffffffffffff, {0xb795d4a1bbd856ff}},
    {"rng_philox",
     "u64",
     "[5]",
     0x1,
     {0xb795d4a1bbd856ff, 0xb129d7a79db4dbb7, 0xb3bb590c583ddf1e, 0x40230b26ea99e9da, 0x2012dc06102d8cf3}},
    {"rng_philox",
     "u64",
     "[3,5]",
     0x6,
     {0xb795d4a1bbd856ff, 0xb129d7a79db4dbb7, 0xb3bb590c583ddf1e, 0x40230b26ea99e9da, 0x2012dc06102d8cf3,
      0xb33c65fee29031fe, 0xaa1b32c099f81036, 0x4fb082da142aaee3, 0x208b66bc7bc0295, 0xcb85b10c1835d848,
      0xd3c3b1cc51921628, 0x11ccaa92779c1614, 0xf2053a7e1e1a2fb, 0xece907e9de01422d, 0xf7ac32cacff89c33}},
    {"rng_philox",
     "u64",
     "[3,4]",
     0x4,
     {0xb795d4a1bbd856ff, 0xb129d7a79db4dbb7, 0xb3bb590c583ddf1e, 0x40230b26ea99e9da, 0x2012dc06102d8cf3,
      0xb33c65fee29031fe, 0xaa1b32c099f81036, 0x4fb082da142aaee3, 0x208b66bc7bc0295, 0xcb85b10c1835d848,
      0xd3c3b1cc51921628, 0x11ccaa92779c1614}},
    {"rng_default", "u32", "[]", 0xffffffffffffffff, {0xbbd856ff}},
    {"rng_default", "u32", "[5]", 0x0, {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e}},
    {"rng_default",
     "u32",
     "[6]",
     0x0,
     {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c}},
    {"rng_default",
     "u32",
     "[3,5]",
     0x2,
     {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c, 0xea99e9da, 0x40230b26,
      0x102d8cf3, 0x2012dc06, 0xe29031fe, 0xb33c65fe, 0x99f81036, 0xaa1b32c0, 0x142aaee3}},
    {"rng_default",
     "u32",
     "[3,4]",
     0x1,
     {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c, 0xea99e9da, 0x40230b26,
      0x102d8cf3, 0x2012dc06, 0xe29031fe, 0xb33c65fe}},
};

std::string Text(const std::string& algorithm, const std::string& type, const std::string& dims,
                 int words = 2) {
  const std::string state = "u64[" + std::to_string(words) + "]";
  return "ENTRY e {\n p0 = " + state + " parameter(0)\n ROOT r = (" + state + ", " + type + dims +
         ") rng-bit-generator(p0), algorithm=" + algorithm + "\n}\n";
}

TEST(Random, TheBitsAreXlas) {
  for (const Case& c : kCases) {
    const auto result = RunStepText(Text(c.algorithm, c.type, c.dims),
                                    {Literal::Vector<uint64_t>({0x123456789abcdef0, 0xfffffffffffffffe})});
    ASSERT_EQ(result.size(), 2u);
    EXPECT_EQ(result[0], Literal::Vector<uint64_t>({0x123456789abcdef0, c.counter}))
        << c.algorithm << c.type << c.dims;
    ASSERT_EQ(result[1].element_count(), static_cast<int64_t>(c.bits.size()));
    for (size_t i = 0; i < c.bits.size(); ++i) {
      uint64_t bits = 0;
      const size_t width = result[1].bytes().size() / c.bits.size();
      std::memcpy(&bits, result[1].bytes().data() + i * width, width);
      EXPECT_EQ(bits, c.bits[i]) << c.algorithm << " " << c.type << c.dims << " at " << i;
    }
  }
}
TEST(Random, LargeOnesEqualTheEvaluator) {
  for (const std::string algorithm : {"rng_three_fry", "rng_philox", "rng_default"}) {
    for (const std::string type : {"u8", "u16", "u32", "u64", "s32"}) {
      for (const std::string dims : {"[301]", "[7,33,9]", "[5,6,77]", "[90,1001]", "[0]", "[3,0]"})
        ExpectStep(Text(algorithm, type, dims));
    }
  }
  ExpectStep(Text("rng_philox", "u32", "[301]", 3),
             {.arguments = {{0, Literal::Vector<uint64_t>({5, ~uint64_t{0}, 9})}}});
}

}  // namespace
}  // namespace hlod::engine
