// The acceptance rows of autocast, and a comparison of its lists with those of an installed PyTorch
// (autocast/pytorch.csv).
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "common/hlo/text/text.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

struct Listed {
  std::string name;
  std::string xla, cuda, cpu;
};
const std::vector<Listed>& Lists() {
  static const auto* const lists = new std::vector<Listed>{
#define HLOD_AUTOCAST(name, xla, cuda, cpu) {name, #xla, #cuda, #cpu},
#include "client/tensor/dispatch/autocast.inc"
#undef HLOD_AUTOCAST
  };
  return *lists;
}

class AutocastRows : public TensorTest {
 protected:
  Tensor Random(Dims dims, PrimitiveType type = kF32) { return Randn(dims, {.device = device()}).To(type); }
};

// Acceptance row AC1.
TEST_F(AutocastRows, EinsumRunsInTheLowerType) {
  for (const PrimitiveType type : {kF32, kBF16}) {
    const Tensor x = Random({2, 3, 4}, type), w = Random({5, 4}, type);
    Sync();
    const Autocast autocast(kBF16);
    const Tensor y = Einsum("...n,mn->...m", {x, w});
    EXPECT_EQ(y.dtype(), kBF16);
    const std::string text = Dump(y, DumpFormat::kHlo);
    EXPECT_THAT(text, ::testing::ContainsRegex("bf16\\[[^ ]* dot\\("));
    EXPECT_THAT(text, ::testing::Not(::testing::ContainsRegex("f32\\[[^ ]* dot\\(")));
  }
}

using Function = std::function<Tensor(const Tensor&)>;
struct Typed {
  const char* name;   // The name in PyTorch's lists.
  Function function;  // Takes a 4 x 4 matrix.
};
const std::vector<Typed>& Functions() {
  static const auto* const functions = new std::vector<Typed>{
      {"matmul", [](const Tensor& x) { return MatMul(x, x); }},
      {"mm", [](const Tensor& x) { return Mm(x, x); }},
      {"bmm", [](const Tensor& x) { return Bmm(x.Unsqueeze(0), x.Unsqueeze(0)); }},
      {"addmm", [](const Tensor& x) { return Addmm(x, x, x); }},
      {"linear", [](const Tensor& x) { return Linear(x, x); }},
      {"relu", [](const Tensor& x) { return Relu(x); }},
      {"mv", [](const Tensor& x) { return Mv(x, x[0]); }},
      {"dot", [](const Tensor& x) { return Dot(x[0], x[1]); }},
      {"exp", [](const Tensor& x) { return Exp(x); }},
      {"log", [](const Tensor& x) { return Log(x); }},
      {"rsqrt", [](const Tensor& x) { return Rsqrt(x); }},
      {"softplus", [](const Tensor& x) { return Softplus(x); }},
      {"softmax", [](const Tensor& x) { return Softmax(x, 1); }},
      {"log_softmax", [](const Tensor& x) { return LogSoftmax(x, 1); }},
      {"prod", [](const Tensor& x) { return Prod(x); }},
      {"sum", [](const Tensor& x) { return Sum(x); }},
      {"trace", [](const Tensor& x) { return Trace(x); }},
      {"pow.Tensor_Scalar", [](const Tensor& x) { return Pow(x, 3); }},
      {"pow", [](const Tensor& x) { return Pow(x, x); }},
      {"layer_norm", [](const Tensor& x) { return LayerNorm(x, {4}); }},
      {"logsumexp", [](const Tensor& x) { return Logsumexp(x, {1}); }},
      {"cat", [](const Tensor& x) { return Cat({x, x.To(kF32)}); }},
      {"stack", [](const Tensor& x) { return Stack({x, x.To(kF32)}); }},
      {"atan2", [](const Tensor& x) { return Atan2(x, x.To(kF32)); }},
      {"addcmul", [](const Tensor& x) { return Addcmul(x, x, x.To(kF32)); }},
      {"mse_loss", [](const Tensor& x) { return MseLoss(x, x); }},
      {"l1_loss", [](const Tensor& x) { return L1Loss(x, x); }},
      {"smooth_l1_loss", [](const Tensor& x) { return SmoothL1Loss(x, x); }},
      {"huber_loss", [](const Tensor& x) { return HuberLoss(x, x); }},
      {"binary_cross_entropy_with_logits",
       [](const Tensor& x) { return BinaryCrossEntropyWithLogits(x, x); }},
      {"kl_div", [](const Tensor& x) { return KlDiv(x, x); }},
      {"nll_loss", [](const Tensor& x) { return NllLoss(x, Argmax(x, 1)); }},
      {"add", [](const Tensor& x) { return x + x; }},
      {"tanh", [](const Tensor& x) { return Tanh(x); }},
  };
  return *functions;
}

// Returns the type of the result under a policy; `mixed` operations also have an f32 operand.
PrimitiveType Expected(const std::string& policy, PrimitiveType type, bool mixed) {
  if (policy == "kLower") return kBF16;
  if (policy == "kFloat32" || policy == "kSetFloat32" || mixed) return kF32;
  return type;
}

// Acceptance row AC2.
TEST_F(AutocastRows, TheListsDecideTheResultTypes) {
  std::map<std::string, const Listed*> lists;
  for (const Listed& listed : Lists()) lists[listed.name] = &listed;
  for (const AutocastProfile profile :
       {AutocastProfile::kXla, AutocastProfile::kCuda, AutocastProfile::kCpu}) {
    for (const auto& [name, function] : Functions()) {
      const auto found = lists.find(name);
      const Listed none{name, "kNone", "kNone", "kNone"};
      const Listed& row = found == lists.end() ? none : *found->second;
      const std::string& policy = profile == AutocastProfile::kXla    ? row.xla
                                  : profile == AutocastProfile::kCuda ? row.cuda
                                                                      : row.cpu;
      const std::set<std::string> mixed = {"cat", "stack", "atan2", "addcmul"};
      for (const PrimitiveType type : {kF32, kBF16}) {
        const Tensor x = Random({4, 4}, type);
        const Autocast autocast(kBF16, {.profile = profile});
        EXPECT_EQ(function(x).dtype(), Expected(policy, type, mixed.contains(name)))
            << name << " of " << hlo::Name(type) << " in profile " << static_cast<int>(profile);
      }
    }
  }
}

// Acceptance row AC3.
TEST_F(AutocastRows, WhatIsNotListedKeepsItsType) {
  const Autocast autocast(kBF16);
  for (const PrimitiveType type : {kF32, kBF16}) {
    const Tensor x = Random({4, 4}, type);
    for (const Tensor& y : {LayerNorm(x, {4}), Exp(x), Mv(x, x[0])}) EXPECT_EQ(y.dtype(), type);
  }
}

// Acceptance row AC4.
TEST_F(AutocastRows, RegionsNestAndAreRestored) {
  const Tensor x = Random({4, 4});
  const auto type = [&] { return MatMul(x, x).dtype(); };
  EXPECT_EQ(type(), kF32);
  {
    const Autocast outer(kBF16);
    EXPECT_EQ(type(), kBF16);
    {
      const Autocast disabled(kBF16, {.enabled = false});
      EXPECT_EQ(type(), kF32);
      EXPECT_EQ(AutocastType(device()), std::nullopt);
      {
        const Autocast inner(kF16);
        EXPECT_EQ(type(), kF16);
      }
      EXPECT_EQ(type(), kF32);
    }
    EXPECT_EQ(type(), kBF16);
    try {
      const Autocast thrown(kF16);
      throw 1;
    } catch (int) {
    }
    EXPECT_EQ(type(), kBF16);
    EXPECT_EQ(AutocastType(device()), kBF16);
  }
  EXPECT_EQ(type(), kF32);
}

// Acceptance row AC5.
TEST_F(AutocastRows, DoublesAndIntegersAreLeftAlone) {
  const Autocast autocast(kBF16);
  EXPECT_EQ(MatMul(Random({4, 4}, kF64), Random({4, 4}, kF64)).dtype(), kF64);
  EXPECT_EQ(MatMul(Random({4, 4}, kS32), Random({4, 4}, kS32)).dtype(), kS32);
}

// Profiles that do not list cross_entropy list its parts.
TEST_F(AutocastRows, CrossEntropyIsComputedInF32InEveryProfile) {
  for (const AutocastProfile profile :
       {AutocastProfile::kXla, AutocastProfile::kCuda, AutocastProfile::kCpu}) {
    const Tensor x = Random({4, 4}, kBF16);
    const Autocast autocast(kBF16, {.profile = profile});
    EXPECT_EQ(CrossEntropy(x, Argmax(x, 1)).dtype(), kF32);
  }
}

TEST_F(AutocastRows, ABannedOperationNamesTheOneToTake) {
  const Tensor x = Rand({4}, {.device = device()});
  const Autocast autocast(kBF16, {.profile = AutocastProfile::kCuda});
  EXPECT_EQ(KindOf(Thrown([&] { BinaryCrossEntropy(x, x); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("binary_cross_entropy_with_logits"));
}

// Acceptance row AC6.
TEST_F(AutocastRows, PromotionOfTypesThatDoNotHoldEachOtherIsRefused) {
  const Autocast autocast(kBF16);
  const absl::Status status = Thrown([&] { Cat({Random({2}, kF16), Random({2}, kBF16)}); });
  EXPECT_EQ(KindOf(status), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("cat cannot promote f16 and autocast's bf16"));
  EXPECT_THAT(last_what_, HasSubstr("autocast_rows_test.cc"));
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Acceptance row AC7.
TEST_F(AutocastRows, AWeightIsConvertedOnceInARegion) {
  Tensor w = Random({4, 4});
  w.RequiresGrad_();
  const Tensor x = Random({2, 4}, kBF16), z = Random({3, 4}, kBF16);
  Sync();
  for (const bool cache : {true, false}) {
    const Autocast autocast(kBF16, {.cache = cache});
    const std::vector<Tensor> results = {Linear(x, w), Linear(z, w)};
    EXPECT_EQ(Count(hlo::ToText(*Lower(results)), " convert("), cache ? 1 : 2);
  }
}

// Acceptance row AC8.
TEST_F(AutocastRows, AnUnsupportedTypeWarnsAndDisables) {
  const Tensor x = Random({4, 4});
  for (const PrimitiveType type : {kF32, kF64}) {
    ::testing::internal::CaptureStderr();
    const Autocast autocast(device(), type);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "In XLA autocast, but the target dtype is not supported. Disabling autocast.\n"
              "XLA Autocast only supports dtype of torch.bfloat16 currently.\n");
    EXPECT_EQ(MatMul(x, x).dtype(), kF32);
  }
}

// Acceptance row AC10. Every equation is lowered here, so no fallback exists to be counted.
TEST_F(AutocastRows, EveryEinsumFollowsThePolicy) {
  const Tensor a = OnDevice({1, 2, 3, 4}, {2, 2});
  const Autocast autocast(kBF16);
  const Tensor three = Einsum("ij,jk,kl->il", {a, a, a}), implicit = Einsum("ij,jk", {a, a});
  const Tensor repeated = Einsum("ii->i", {a});
  const Tensor integers = Einsum("ij,jk->ik", {a.To(kS64), a.To(kS64)});
  // The values are computed by hand; all are exact in bf16.
  EXPECT_EQ(three.dtype(), kBF16);
  EXPECT_THAT(three.To(kF32).ToVector<float>(), ElementsAre(37, 54, 81, 118));
  EXPECT_EQ(implicit.dtype(), kBF16);
  EXPECT_THAT(implicit.To(kF32).ToVector<float>(), ElementsAre(7, 10, 15, 22));
  EXPECT_EQ(repeated.dtype(), kBF16);
  EXPECT_THAT(repeated.To(kF32).ToVector<float>(), ElementsAre(1, 4));
  EXPECT_EQ(integers.dtype(), kS64);
  EXPECT_THAT(integers.ToVector<int64_t>(), ElementsAre(7, 10, 15, 22));
}

// Acceptance row AC11.
TEST_F(AutocastRows, AttentionMultipliesInBf16AndComputesItsSoftmaxInF32) {
  const Tensor q = Random({2, 4, 8});
  Sync();
  const Autocast autocast(kBF16);
  const Tensor y = ScaledDotProductAttention(q, q, q);
  const std::string text = Dump(y, DumpFormat::kHlo);
  EXPECT_EQ(y.dtype(), kBF16);
  EXPECT_THAT(text, ::testing::ContainsRegex("bf16\\[[^ ]* dot\\("));
  EXPECT_THAT(text, ::testing::Not(::testing::ContainsRegex("f32\\[[^ ]* dot\\(")));
  EXPECT_THAT(text, ::testing::ContainsRegex("f32\\[[^ ]* exponential\\("));
  EXPECT_THAT(text, ::testing::Not(::testing::ContainsRegex("bf16\\[[^ ]* exponential\\(")));
}

TEST_F(AutocastRows, ARegionOfADeviceLeavesTheHostAlone) {
  const Tensor on_host = Ones({2, 2}), on_device = Random({2, 2});
  const Autocast autocast(device());
  EXPECT_EQ(MatMul(on_host, on_host).dtype(), kF32);
  EXPECT_EQ(MatMul(on_device, on_device).dtype(), kBF16);
  const Autocast host(Device(), kBF16);
  EXPECT_EQ(MatMul(on_host, on_host).dtype(), kBF16);
}

struct Registered {
  std::string profile, operation, overload, result;
};
std::vector<Registered> PyTorch() {
  std::ifstream file(SourceDir() / "tests/unit/client/tensor/autocast/pytorch.csv");
  std::vector<Registered> rows;
  std::string line;
  std::getline(file, line);  // Skips the header.
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Registered row;
    std::getline(fields, row.profile, ',');
    std::getline(fields, row.operation, ',');
    std::getline(fields, row.overload, ',');
    std::getline(fields, row.result, ',');
    rows.push_back(row);
  }
  return rows;
}

// PyTorch's names in the lists for operations that hlod names otherwise: kernels behind a public function
// that is itself listed, and synonyms.
const std::map<std::string, std::string>& OtherNames() {
  static const auto* const names = new std::map<std::string, std::string>{
      {"_convolution", "conv2d"},
      {"convolution", "conv2d"},
      {"cudnn_convolution", "conv2d"},
      {"cudnn_convolution_transpose", "conv_transpose2d"},
      {"_grid_sampler_2d_cpu_fallback", "grid_sample"},
      {"grid_sampler", "grid_sample"},
      {"grid_sampler_2d", "grid_sample"},
      {"grid_sampler_3d", "grid_sample"},
      {"_thnn_fused_gru_cell", "gru_cell"},
      {"_thnn_fused_lstm_cell", "lstm_cell"},
      {"_lu_with_info", "lu_solve"},
      {"cross_entropy_loss", "cross_entropy"},
      {"multilabel_margin_loss_forward", "multilabel_margin_loss"},
  };
  return *names;
}

TEST(AutocastLists, AreThoseOfPyTorch) {
  std::map<std::string, const Listed*> lists;
  for (const Listed& listed : Lists()) lists[listed.name] = &listed;
  // Names that PyTorch 1.13 lists and current versions do not, and names without a counterpart in hlod.
  const std::set<std::string> left = {"fake_quantize_per_tensor_affine", "symeig", "cpu linalg_matrix_norm",
                                      "cpu cholesky"};
  std::set<std::pair<std::string, std::string>> registered;
  for (const Registered& row : PyTorch()) {
    const auto other = OtherNames().find(row.operation);
    const std::string name = other == OtherNames().end() ? row.operation : other->second;
    registered.emplace(row.profile, name);
    if (left.contains(name) || left.contains(row.profile + " " + name)) continue;
    ASSERT_TRUE(lists.contains(name)) << row.operation << " of " << row.profile << " is not listed";
    const std::string& policy = row.profile == "cpu" ? lists[name]->cpu : lists[name]->cuda;
    EXPECT_NE(policy, "kNone") << row.operation << " of " << row.profile;
    // PyTorch 1.13 computes it in f32, current versions in the lower type.
    if (name.starts_with("conv_transpose")) continue;
    if (row.result == "bf16") {
      EXPECT_EQ(policy, "kLower") << row.operation;
    } else if (row.result == "f32") {
      EXPECT_TRUE(policy == "kFloat32" || policy == "kPromote") << row.operation;
    }
  }
  // Names listed since PyTorch 1.13, and names covered there by a listed part (einsum, the kernels of
  // upsampling).
  const std::set<std::string> newer = {"cpu scaled_dot_product_attention",
                                       "cuda scaled_dot_product_attention",
                                       "cpu linalg_vecdot",
                                       "cuda linalg_vecdot",
                                       "cpu prelu",
                                       "cpu einsum",
                                       "cpu conv_transpose2d",
                                       "cpu conv_transpose3d",
                                       "cuda linalg_vector_norm",
                                       "cuda linalg_matrix_norm",
                                       "cuda upsample_nearest",
                                       "cuda upsample_bilinear",
                                       "cuda upsample_bicubic",
                                       "cuda interpolate",
                                       "cuda grid_sample",
                                       "cuda vdot",
                                       "cuda conv_transpose2d",
                                       "cuda conv_transpose3d",
                                       "cuda soft_margin_loss",
                                       "cuda nll_loss2d"};
  for (const Listed& listed : Lists()) {
    const std::string name = listed.name.substr(0, listed.name.find('.'));
    for (const auto& [profile, policy] : {std::pair<std::string, std::string>("cpu", listed.cpu),
                                          std::pair<std::string, std::string>("cuda", listed.cuda)}) {
      if (policy == "kNone" || newer.contains(profile + " " + name)) continue;
      EXPECT_TRUE(registered.contains({profile, name})) << name << " is not registered for " << profile;
    }
  }
}

}  // namespace
}  // namespace hlod
