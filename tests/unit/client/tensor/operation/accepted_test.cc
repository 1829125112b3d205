// Compares the element types that each operation accepts with those that PyTorch does (generate_accepted.py).
#include <cmath>
#include <fstream>
#include <map>

#include "client/tensor/dispatch/operation.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/tensor/operation/bindings.h"
#include "tests/unit/client/tensor/operation/coverage.h"

namespace hlod {
namespace {

using nlohmann::json;

bool IsComplexName(const std::string& type) { return type == "c64" || type == "c128"; }
bool IsFloatName(const std::string& type) { return type[0] == 'f' || type == "bf16"; }

// Returns the numbers of a recorded array as those of type `wanted`: whole for integers, and none 0, by which
// integers are not divided; without a sign for u8; without the imaginary parts for real types.
json ConvertedValues(const json& array, const std::string& wanted) {
  const std::string type = array.at("type");
  json values = json::array();
  const size_t step = IsComplexName(type) ? 2 : 1;
  for (size_t i = 0; i < array.at("values").size(); i += step) {
    const json& value = array["values"][i];
    const double number = DecodeNumber(value);
    if (wanted == "pred") {
      values.push_back(number != 0 ? 1 : 0);
    } else if (IsFloatName(wanted) || IsComplexName(wanted)) {
      values.push_back(value);
      if (IsComplexName(wanted)) values.push_back(step == 2 ? array["values"][i + 1] : json(0));
    } else {
      const bool whole = !IsFloatName(type) && step == 1;
      auto integer = static_cast<int64_t>(std::isfinite(number) ? std::fmod(number, whole ? 1e9 : 100) : 1);
      if (integer == 0 && !whole) integer = 1;
      values.push_back(wanted == "u8" ? std::abs(integer) : integer);
    }
  }
  return values;
}

// Returns a recorded argument with the arrays of type `main` converted to `wanted`.
json Converted(json value, const std::string& main, const std::string& wanted) {
  if (IsArray(value)) {
    if (value.at("type") != main || main == wanted) return value;
    value["values"] = ConvertedValues(value, wanted);
    value["type"] = wanted;
  } else if (value.is_array()) {
    for (json& one : value) one = Converted(one, main, wanted);
  }
  return value;
}

// Returns the error of a recorded call with the main arrays of type `wanted`; empty when there is none.
std::string ErrorWith(const json& line, const std::string& wanted, const Device& device) {
  json record = line;
  record["args"] = Converted(line.at("args"), line.at("main"), wanted);
  for (json& value : record["kwargs"]) value = Converted(value, line.at("main"), wanted);
  const Binding& binding = *BindingOf(line);
  try {
    Arguments arguments(record, binding.parameters, device);
    static_cast<void>(binding.call(arguments));
  } catch (const std::exception& error) {
    return *error.what() == 0 ? "an error without a text" : error.what();
  }
  return "";
}

class AcceptedTypes : public TensorTest {
 protected:
  // Calls `body` with each line of accepted.json that has a binding, and its operation's name.
  static void ForEachLine(const std::function<void(const json&, const std::string&)>& body) {
    std::ifstream file(OperationFolder() / "accepted.json");
    int lines = 0;
    for (std::string text; std::getline(file, text);) {
      const json line = json::parse(text);
      if (BindingOf(line) == nullptr) continue;
      ++lines;
      const std::string op = line.at("op"), variant = line.at("variant");
      body(line, variant.empty() ? op : op + "." + variant);
    }
    EXPECT_GT(lines, 400);
  }
};

TEST_F(AcceptedTypes, AreComputed) {
  ForEachLine([&](const json& line, const std::string& name) {
    for (const std::string type : line.at("accepts")) {
      EXPECT_EQ(ErrorWith(line, type, Device()), "") << name << " of " << type;
    }
  });
}

TEST_F(AcceptedTypes, OthersAreRefusedByName) {
  ForEachLine([&](const json& line, const std::string& name) {
    for (const std::string type : line.at("refuses")) {
      EXPECT_THAT(ErrorWith(line, type, Device()), HasSubstr(type)) << name << " of " << type;
    }
  });
}

void ExpectError(const std::function<Tensor()>& call, const std::vector<std::string>& parts) {
  try {
    static_cast<void>(call());
    ADD_FAILURE() << "nothing was thrown: " << parts[0];
  } catch (const Error& error) {
    EXPECT_EQ(KindOf(error.status()), ErrorKind::kArgument);
    for (const std::string& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

// The errors name the operation, the type, the accepted types and a way out.
TEST_F(AcceptedTypes, RefusalsSayWhatToDo) {
  for (const Device& place : {Device(), device()}) {
    const Tensor whole = FromValues<int32_t>({1, 2, 3, 4}, Dims{1, 1, 4}, place), real = whole.To(kF32);
    const Tensor complex = real.To(kC64), bools = whole.To(kPred);
    ExpectError([&] { return MaxPool1d(complex, {2}); }, {"max_pool", "not c64", "f32", "Real()"});
    ExpectError([&] { return AvgPool1d(whole, {2}); },
                {"avg_pool", "not s32", "convert it to f32 with To()"});
    ExpectError([&] { return Atan2(complex, complex); }, {"atan2", "not c64"});
    ExpectError([&] { return Lgamma(complex); }, {"lgamma", "not c64"});
    ExpectError([&] { return Sign(complex); }, {"sign", "not c64"});
    ExpectError([&] { return Gelu(whole); }, {"gelu", "takes f16, bf16, f32, f64, not s32"});
    ExpectError([&] { return Argmax(bools); }, {"argmax", "not pred", "convert the bools to s64 with To()"});
    ExpectError(
        [&] {
          return MatMul(real, whole.Reshape({1, 4, 1}));
        },
        {"matmul", "one type, not f32 and s32", "To()"});
    ExpectError([&] { return MseLoss(whole, whole); }, {"mse_loss", "not s32"});
    EXPECT_THAT(MaxPool1d(whole, {2}).ToVector<int32_t>(), ElementsAre(2, 4));
    EXPECT_THAT(AvgPool1d(whole.To(kS64), {2}).ToVector<int64_t>(), ElementsAre(1, 3));
  }
}

// Calls an operation with indices or classes of that type.
std::string ErrorOfIndices(const std::string& op, PrimitiveType type, const Device& place) {
  const Tensor x = FromValues<float>({0, 1, 2, 3, 4, 5, 6, 7, 8}, Dims{3, 3}, place);
  const Tensor vector = FromValues<int64_t>({0, 1, 0}, Dims{3}, place).To(type);
  const Tensor square = vector.Unsqueeze(0).Expand({3, 3}).Clone();
  const Tensor whole = Zeros({1, 1, 1, 1}, {.type = type, .device = place});
  const std::map<std::string, std::function<Tensor()>> calls = {
      {"gather", [&] { return Gather(x, 0, square); }},
      {"scatter", [&] { return Scatter(x, 0, square, x); }},
      {"scatter_add", [&] { return ScatterAdd(x, 0, square, x); }},
      {"scatter_reduce", [&] { return ScatterReduce(x, 0, square, x, ScatterReduction::kSum); }},
      {"index_select", [&] { return IndexSelect(x, 0, vector); }},
      {"index_add", [&] { return IndexAdd(x, 0, vector, x); }},
      {"index_copy", [&] { return IndexCopy(x, 0, vector, x); }},
      {"index_fill", [&] { return IndexFill(x, 0, vector, 1); }},
      {"index_reduce", [&] { return IndexReduce(x, 0, vector, x, ScatterReduction::kProd); }},
      {"index", [&] { return Index(x, {square}); }},
      {"index_put", [&] { return IndexPut(x, {vector}, 1); }},
      {"take", [&] { return Take(x, vector); }},
      {"put", [&] { return Put(x, vector, x.Select(0, 0), false); }},
      {"take_along_dim", [&] { return TakeAlongDim(x, square, 0); }},
      {"nn.functional.embedding", [&] { return Embedding(vector, x, {}); }},
      {"nn.functional.embedding_bag", [&] { return EmbeddingBag(square, x, {}); }},
      {"nn.functional.max_unpool2d", [&] { return MaxUnpool2d(whole.To(kF32), whole, {2}, {}); }},
      {"nll_loss", [&] { return NllLoss(x, vector); }},
      {"cross_entropy", [&] { return CrossEntropy(x, vector); }},
      {"multi_margin_loss", [&] { return MultiMarginLoss(x, vector); }},
      {"multilabel_margin_loss", [&] { return MultilabelMarginLoss(x, square); }},
  };
  try {
    static_cast<void>(calls.at(op)().ToLiteral());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

PrimitiveType TypeNamed(const std::string& name) {
  for (const PrimitiveType type : {kPred, kU8, kS8, kS16, kS32, kS64}) {
    if (name == hlo::Name(type)) return type;
  }
  return hlo::kInvalid;
}

// Indices and classes of other types than PyTorch or PyTorch/XLA takes are refused by name.
TEST_F(AcceptedTypes, OfIndices) {
  std::ifstream file(OperationFolder() / "accepted_indices.json");
  int lines = 0;
  for (std::string text; std::getline(file, text); ++lines) {
    const json line = json::parse(text);
    const std::string op = line.at("op");
    for (const Device& place : {Device(), device()}) {
      for (const std::string type : line.at("accepts"))
        EXPECT_EQ(ErrorOfIndices(op, TypeNamed(type), place), "") << op << " of " << type;
      for (const std::string type : line.at("refuses"))
        EXPECT_THAT(ErrorOfIndices(op, TypeNamed(type), place), HasSubstr(type)) << op << " of " << type;
    }
  }
  EXPECT_GT(lines, 15);
}

// Types that PyTorch lacks are judged as s32 and f32 are.
TEST_F(AcceptedTypes, JudgeOthersByTheirKind) {
  const Tensor u32 = FromValues<uint32_t>({1, 2}, Dims{1, 1, 2}), narrow = u32.To(kF8E5M2);
  EXPECT_THAT(MaxPool1d(u32, {2}).ToVector<uint32_t>(), ElementsAre(2));
  ExpectError([&] { return Gelu(u32); }, {"gelu", "not u32"});
  EXPECT_EQ(Gelu(narrow).dtype(), kF8E5M2);
  ExpectError([&] { return BitwiseNot(narrow); }, {"bitwise_not", "not f8e5m2"});
}

// A name in the table that no operation has would check nothing.
TEST(AcceptedTable, EveryRowOfOperationsHasItsTypes) {
  for (const lazy::Operation* row : lazy::AllOperations()) {
    EXPECT_EQ(row->accepted.types, lazy::AcceptedBy(row->pytorch).types) << row->pytorch;
  }
  EXPECT_NE(lazy::AcceptedBy("gelu").types, lazy::AcceptedBy("clone").types);
  EXPECT_NE(lazy::AcceptedBy("cross_entropy").types, lazy::AcceptedBy("clone").types);
}

}  // namespace
}  // namespace hlod
