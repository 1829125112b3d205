// Calls every operation with very large and very small integers in the place of each recorded one: the call
// returns tensors or an error that tells why not, and computes nothing that overflows, which a sanitizer
// sees.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <new>

#include "hlod/runtime/abstract.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/tensor/operation/bindings.h"
#include "tests/unit/client/tensor/operation/coverage.h"

namespace hlod {
namespace {

using nlohmann::json;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kGreatest = std::numeric_limits<int64_t>::max();

// Appends pointers to the integers of an argument. The numbers of an array are values, which may be any.
void AppendIntegers(json& value, std::vector<json*>& found) {
  if (value.is_number_integer()) found.push_back(&value);
  if (!value.is_array()) return;
  for (json& one : value) AppendIntegers(one, found);
}

// In an abstract session nothing is computed, so a result of any size costs nothing.
class Extremes : public TensorTest {
 protected:
  void SetUp() override {
    ConnectOptions options;
    options.address = daemon_->address();
    client_ = std::make_unique<Client>(ConnectAbstract({}, options).value());
  }

  void Call(const json& record) {
    ++calls_;
    SCOPED_TRACE(record.at("op").get<std::string>() + record.at("args").dump().substr(0, 300) +
                 record.at("kwargs").dump());
    try {
      Arguments arguments(record, BindingOf(record)->parameters, device());
      for (const Tensor& result : BindingOf(record)->call(arguments).tensors) {
        if (!result.defined()) continue;
        for (const int64_t size : result.dims()) EXPECT_GE(size, 0);
      }
    } catch (const Error& error) {
      ++refused_;
      EXPECT_NE(*error.what(), 0);
      EXPECT_NE(error.status().code(), absl::StatusCode::kInternal) << error.what();
    } catch (const std::bad_alloc& error) {
      ADD_FAILURE() << error.what();
    } catch (const std::length_error& error) {
      ADD_FAILURE() << error.what();
    } catch (const std::exception&) {
      // A binding has no function for these arguments.
    }
  }

  // Calls the operation once for each of its integers and each extreme.
  void CallWithExtremes(json record) {
    std::vector<json*> integers;
    AppendIntegers(record["args"], integers);
    for (json& value : record["kwargs"]) AppendIntegers(value, integers);
    for (json* const integer : integers) {
      const json before = *integer;
      for (const int64_t extreme : {kLeast, kLeast + 1, kLeast / 2, -(int64_t{1} << 32), int64_t{1} << 32,
                                    kGreatest / 2, kGreatest - 1, kGreatest}) {
        *integer = extreme;
        Call(record);
      }
      *integer = before;
    }
  }

  int calls_ = 0, refused_ = 0;
};

TEST_F(Extremes, AreComputedOrRefused) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(OperationFolder() / "cases"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const char* const only = std::getenv("HLOD_OPERATION");
  std::map<std::string, int> seen;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      json record = json::parse(line);
      const std::string op = record.at("op"), variant = record.at("variant");
      if (BindingOf(record) == nullptr || (only != nullptr && op != only)) continue;
      constexpr int kCasesMax = 4;  // More of an operation differ in the tensors.
      if (++seen[op + "." + variant] > kCasesMax) continue;
      CallWithExtremes(std::move(record));
    }
  }
  if (only == nullptr) {
    EXPECT_GT(refused_, 1000) << "of " << calls_;
  }
}

}  // namespace
}  // namespace hlod
