// Compares random functions and their derivatives with JAX's: generate.py makes the functions with JAX and
// lowers them to StableHLO; here each is loaded, transformed by the same chain, run, and compared.
// HLOD_RANDOM_FUNCTIONS is their number, HLOD_RANDOM_SEED their seed, HLOD_RANDOM_SHOWN how many failures are
// shown, HLOD_RANDOM_NUMERICS chooses those of numerics.py, HLOD_RANDOM_SWEEP those of sweep.py;
// HLOD_RANDOM_FOLDER, when set, is a folder with functions that generate.py has already written.
#include <stdlib.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "common/hlo/primitive_type.h"
#include "tests/support/python.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using nlohmann::json;
using Arrays = std::vector<Tensor>;
// A function of two lists of arguments: those that transforms differentiate or batch, and those that stay
// fixed.
using Function = std::function<Arrays(const Arrays& varied, const Arrays& fixed)>;

std::string Setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

PrimitiveType TypeOf(const std::string& numpy) {
  static const auto* const types = new std::map<std::string, PrimitiveType>{
      {"bool", hlo::kPred},      {"int8", hlo::kS8},     {"int16", hlo::kS16},   {"int32", hlo::kS32},
      {"int64", hlo::kS64},      {"uint8", hlo::kU8},    {"uint32", hlo::kU32},  {"float16", hlo::kF16},
      {"bfloat16", hlo::kBF16},  {"float32", hlo::kF32}, {"float64", hlo::kF64}, {"complex64", hlo::kC64},
      {"complex128", hlo::kC128}};
  return types->at(numpy);
}

bool IsVarying(const Tensor& x) { return hlo::IsFloat(x.dtype()) || hlo::IsComplex(x.dtype()); }

// Returns f as a function of the varied arguments; its results are f's floating and complex ones.
auto ByVaried(Function f, Arrays fixed) {
  return [f = std::move(f), fixed = std::move(fixed)](const Arrays& varied) {
    Arrays results;
    for (const Tensor& y : f(varied, fixed)) {
      if (IsVarying(y)) results.push_back(y);
    }
    return results;
  };
}

// Applies one transform, whose own inputs are the last of the fixed arguments (transforms.py).
Function Transformed(const Function& f, const json& step) {
  const std::string name = step["name"];
  if (name == "vmap") {
    VmapOptions options;
    for (const int mapped : step["mapped"]) {
      options.in.push_back(mapped != 0 ? std::optional<int64_t>(0) : std::nullopt);
    }
    return Vmap([f](const Arrays& varied, const Arrays& fixed) { return f(varied, fixed); }, options);
  }
  return [f, name, count = step["inputs"].get<size_t>()](const Arrays& varied, const Arrays& all) {
    const auto own = all.end() - static_cast<std::ptrdiff_t>(count);
    const auto of_varied = ByVaried(f, Arrays(all.begin(), own));
    const Arrays inputs(own, all.end());
    if (name == "grad") return Grad([&](const Arrays& v) { return of_varied(v)[0]; })(varied);
    if (name == "jvp") return Jvp(of_varied, std::tuple(varied), std::tuple(inputs)).second;
    return std::get<0>(Vjp(of_varied, std::tuple(varied)).second(inputs));
  };
}

using Numbers = std::vector<std::complex<double>>;
Numbers NumbersOf(const Literal& literal) {
  Numbers numbers;
  hlo::VisitType(literal.shape().type, [&]<typename T>() {
    for (const T& value : literal.data<T>()) {
      if constexpr (hlo::kPrimitiveTypeOf<T> == hlo::kC64 || hlo::kPrimitiveTypeOf<T> == hlo::kC128) {
        numbers.emplace_back(value.real(), value.imag());
      } else {
        numbers.emplace_back(static_cast<double>(value), 0);
      }
    }
  });
  return numbers;
}

bool AreClose(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

class RandomFunctions : public TensorTest {
 protected:
  const int shown_max_ = std::stoi(Setting("HLOD_RANDOM_SHOWN", "20"));

  void SetUp() override {
    TensorTest::SetUp();
    const std::string given = Setting("HLOD_RANDOM_FOLDER", "");
    if (!given.empty()) {
      folder_ = given;
      return;
    }
    const std::optional<std::string> python = PythonWith("numpy, jax");
    if (!python.has_value()) GTEST_SKIP() << kNoPython << "numpy, jax";
    std::string name = (std::filesystem::temp_directory_path() / "random-functions-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name, is_ours_ = true;
    const std::string command = absl::StrCat(
        *python, " ", (SourceDir() / "tests/unit/client/transform/random/generate.py").string(), " ", name,
        " --count ", Setting("HLOD_RANDOM_FUNCTIONS", "1000"), " --seed ", Setting("HLOD_RANDOM_SEED", "1"),
        Setting("HLOD_RANDOM_NUMERICS", "").empty() ? "" : " --numerics",
        Setting("HLOD_RANDOM_SWEEP", "").empty() ? "" : " --sweep");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void TearDown() override {
    if (is_ours_) std::filesystem::remove_all(folder_);
    TensorTest::TearDown();
  }

  Literal LiteralOf(const json& row) const {
    Literal literal(Shape::Array(TypeOf(row["type"]), row["dims"].get<Dims>()));
    const absl::Span<std::byte> bytes = literal.bytes();
    if (!bytes.empty()) std::memcpy(bytes.data(), values_.data() + row["at"].get<size_t>(), bytes.size());
    return literal;
  }
  Arrays Load(const json& rows) const {
    Arrays arrays;
    for (const json& row : rows) arrays.push_back(FromLiteral(LiteralOf(row), device()));
    return arrays;
  }

  // Returns a description of the first differences; empty when there is none.
  std::string Difference(const Arrays& results, const json& expected, double tolerance,
                         bool nan_is_free) const {
    if (results.size() != expected.size()) return absl::StrCat(results.size(), " results");
    std::string text;
    int shown = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const Literal want = LiteralOf(expected[i]), have = results[i].ToLiteral();
      if (!Compatible(have.shape(), want.shape()))
        return absl::StrCat("result ", i, " is ", hlo::ToString(have.shape()));
      const Numbers a = NumbersOf(have), b = NumbersOf(want);
      for (size_t k = 0; k < a.size(); ++k) {
        if (nan_is_free && (std::isnan(b[k].real()) || std::isnan(b[k].imag()))) continue;
        if (AreClose(a[k].real(), b[k].real(), tolerance) && AreClose(a[k].imag(), b[k].imag(), tolerance))
          continue;
        absl::StrAppend(&text, text.empty() ? "" : "; ", "element ", k, " of result ", i, " is ", a[k].real(),
                        " + ", a[k].imag(), "i, JAX's ", b[k].real(), " + ", b[k].imag(), "i");
        if (++shown == 8) return text;
      }
    }
    return text;
  }

  std::string Compare(const json& row) const {
    const std::string text =
        BytesOf(folder_ / absl::StrCat(row.value("file", row["name"].get<std::string>()), ".mlir"));
    const bool nan_is_free = row.value("nan_is_free", false);
    const auto has = [&](const char* type) { return text.find(type) != std::string::npos; };
    const double tolerance = has("bf16") || has("f16") ? 4e-2 : has("f32") ? 1e-3 : 1e-9;
    const LoadedFunction loaded = LoadFunctionFromBytes(text);
    Function f = [&loaded](const Arrays& varied, const Arrays& fixed) {
      Arrays all = varied;
      all.insert(all.end(), fixed.begin(), fixed.end());
      return loaded(all);
    };
    const json& program = row["program"];
    std::string wrong = Difference(f(Load(program["varied"]), Load(program["fixed"])), program["results"],
                                   tolerance, nan_is_free);
    if (!wrong.empty()) return absl::StrCat("the value: ", wrong);
    for (const json& step : row["steps"]) f = Transformed(f, step);
    return Difference(f(Load(row["varied"]), Load(row["fixed"])), row["results"], tolerance, nan_is_free);
  }

  std::filesystem::path folder_;
  bool is_ours_ = false;
  std::string values_;
};

TEST_F(RandomFunctions, AreWhatJaxMakesOfThem) {
  const json all = json::parse(std::ifstream(folder_ / "functions.json"));
  values_ = BytesOf(folder_ / "values.bin");
  std::map<std::string, int> failed;
  int shown = 0;
  for (const json& row : all["functions"]) {
    std::string wrong;
    try {
      wrong = Compare(row);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (wrong.empty()) continue;
    ++failed[row["family"]];
    if (++shown > shown_max_) continue;
    ADD_FAILURE() << "function " << row["name"] << " (" << row["family"] << ", " << row["steps"]
                  << "): " << wrong << "\n  generate.py --seed " << all["seed"] << " --show " << row["name"]
                  << " prints it";
  }
  for (const auto& [family, count] : failed)
    ADD_FAILURE() << count << " functions of " << family << " differ";
  EXPECT_GT(all["functions"].size(), all["count"].get<size_t>() * 9 / 10);
}

}  // namespace
}  // namespace hlod
