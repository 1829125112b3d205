// Factories, and conversions between types.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

Binding Cast(const char* name, PrimitiveType type) {
  return {name, "input", [type](Arguments& a) { return a.Array("input").To(type); }};
}

TensorOptions Options(Arguments& a, PrimitiveType type = kF32) {
  a.Bool("requires_grad", false);
  return {a.Type("dtype").value_or(type), a.device()};
}
LikeOptions Like(Arguments& a) { return {.type = a.Type("dtype")}; }

Binding Window(const char* name, Tensor (*make)(int64_t, bool, TensorOptions, Caller)) {
  return {
      name, "size periodic dtype", [make](Arguments& a) {
        return make(a.Int("size"), a.Bool("periodic", true), {a.Type("dtype"), a.device()}, Caller::Here());
      }};
}

}  // namespace

std::vector<Binding> WindowBindings() {
  return {
      Window("hann_window", HannWindow),
      Window("blackman_window", BlackmanWindow),
      Window("bartlett_window", BartlettWindow),
      {"hamming_window", "size periodic alpha beta dtype",
       [](Arguments& a) {
         return HammingWindow(a.Int("size"), a.Bool("periodic", true), a.Double("alpha", 0.54),
                              a.Double("beta", 0.46), {a.Type("dtype"), a.device()});
       }},
      {"kaiser_window", "size periodic beta dtype",
       [](Arguments& a) {
         return KaiserWindow(a.Int("size"), a.Bool("periodic", true), a.Double("beta", 12),
                             {a.Type("dtype"), a.device()});
       }},
      Cast("bool", kPred),
      Cast("byte", kU8),
      Cast("char", kS8),
      Cast("short", kS16),
      Cast("int", kS32),
      Cast("long", kS64),
      Cast("half", kF16),
      Cast("bfloat16", kBF16),
      Cast("float", kF32),
      Cast("double", kF64),
      {"to", "input dtype", [](Arguments& a) { return a.Array("input").To(a.Type("dtype").value_or(kF32)); }},
  };
}

std::vector<Binding> CreationBindings() {
  return {
      {"zeros", "size dtype", [](Arguments& a) { return Zeros(a.Ints("size"), Options(a)); }},
      {"ones", "size dtype", [](Arguments& a) { return Ones(a.Ints("size"), Options(a)); }},
      {"eye", "n m dtype", [](Arguments& a) { return Eye(a.Int("n"), a.MaybeInt("m"), Options(a)); }},
      {"arange", "start end step dtype",
       [](Arguments& a) {
         const bool only_end = !a.Has("end");
         const Scalar start = only_end ? Scalar(0) : a.Number("start");
         const Scalar end = a.Number(only_end ? "start" : "end"), step = a.Number("step", 1);
         const bool exact = start.is_integer() && end.is_integer() && step.is_integer();
         return Arange(start, end, step, Options(a, exact ? kS64 : kF32));
       }},
      {"linspace", "start end steps dtype",
       [](Arguments& a) { return Linspace(a.Number("start"), a.Number("end"), a.Int("steps"), Options(a)); }},
      {"logspace", "start end steps base dtype",
       [](Arguments& a) {
         return Logspace(a.Number("start"), a.Number("end"), a.Int("steps"), a.Double("base", 10),
                         Options(a));
       }},
      {"zeros_like", "input dtype", [](Arguments& a) { return ZerosLike(a.Arg("input"), Like(a)); }},
      {"ones_like", "input dtype", [](Arguments& a) { return OnesLike(a.Arg("input"), Like(a)); }},
      {"full_like", "input fill_value dtype",
       [](Arguments& a) { return FullLike(a.Arg("input"), a.Number("fill_value"), Like(a)); }},
      {"new_zeros", "input size dtype",
       [](Arguments& a) { return NewZeros(a.Arg("input"), a.Ints("size"), Like(a)); }},
      {"new_ones", "input size dtype",
       [](Arguments& a) { return NewOnes(a.Arg("input"), a.Ints("size"), Like(a)); }},
      {"new_full", "input size fill_value dtype",
       [](Arguments& a) { return NewFull(a.Arg("input"), a.Ints("size"), a.Number("fill_value"), Like(a)); }},
      {"fill", "input value", [](Arguments& a) { return Fill(a.Arg("input"), a.Arg("value")); }},
      {"zero_", "input",
       [](Arguments& a) {
         Tensor x = a.Array("input").Clone();
         return x.Zero_();
       }},
      {"tril_indices", "row col offset dtype",
       [](Arguments& a) {
         const Dims size = {a.Int("row"), a.Int("col")};
         return TrilIndices(size[0], size[1], a.Int("offset", 0), a.device()).To(*Options(a, kS64).type);
       }},
      {"triu_indices", "row col offset dtype",
       [](Arguments& a) {
         const Dims size = {a.Int("row"), a.Int("col")};
         return TriuIndices(size[0], size[1], a.Int("offset", 0), a.device()).To(*Options(a, kS64).type);
       }},
  };
}

}  // namespace hlod
