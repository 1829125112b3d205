// Runs the libraries' products on ones, as steps would.
#include "server/engine/contraction/measure_products.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>

#include "absl/strings/str_format.h"
#include "server/engine/contraction/onednn_matmul.h"
#include "server/engine/contraction/panels/panel_product.h"
#include "server/engine/run/team.h"

namespace hlod::engine {
namespace {

struct Size {
  int64_t batches, m, n, k;
};
// Two or more of each shape.
constexpr Size kSizes[] = {
    {1, 1, 1024, 1024}, {1, 1024, 1, 1024},  {1, 8, 1024, 1024},    {1, 16, 512, 2048}, {512, 8, 8, 8},
    {64, 32, 32, 32},   {64, 64, 64, 64},    {64, 128, 128, 128},   {1, 256, 256, 256}, {1, 512, 512, 512},
    {1, 4096, 64, 64},  {1, 128, 2048, 512}, {1, 1024, 1024, 1024},
};

// Memory aligned like a step's buffers, zeroed.
class AlignedBytes {
 public:
  explicit AlignedBytes(int64_t bytes)
      : data_(static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes + 64), kAlignment))) {
    std::memset(data_, 0, static_cast<size_t>(bytes + 64));
  }
  ~AlignedBytes() { ::operator delete(data_, kAlignment); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::byte* get() const { return data_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  std::byte* data_;
};

// Returns the median time of calls, in seconds.
template <typename Call>
double MedianSeconds(Call&& call) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTimesMin = 3, kTimesMax = 50;
  constexpr double kBudget = 0.01;
  call();
  std::vector<double> times;
  double sum = 0;
  while (times.size() < kTimesMin || (sum < kBudget && times.size() < kTimesMax)) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    sum += times.back();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

ProductSpeed Measure(hlo::PrimitiveType type, const Size& size, int threads) {
  DotView view;
  if (size.batches > 1) view.batch.push_back({size.batches, size.m * size.k, size.k * size.n});
  view.m = size.m;
  view.n = size.n;
  view.k = size.k;
  view.lhs_m = size.k;
  view.lhs_k = 1;
  view.rhs_k = size.n;
  view.rhs_n = 1;
  ProductSpeed product{type,   ShapeOf(view), size.batches, size.m,
                       size.n, size.k,        {},           BestProductLibrary(view, type, type, type)};
  const int width = hlo::ByteWidth(type);
  const AlignedBytes lhs(size.batches * size.m * size.k * width), rhs(size.batches * size.k * size.n * width),
      out(size.batches * size.m * size.n * width);
  const auto measure = [&](ProductLibrary library, int64_t scratch_bytes, auto&& run) {
    const AlignedBytes scratch(scratch_bytes);
    RunContext context;
    const StepContext step{context, scratch.get(), threads};
    product.speeds.push_back({library, view.flops() / MedianSeconds([&] { run(scratch.get(), step); })});
  };
  if (const auto onednn = OneDnnMatmul::Make(view, type, type, type, threads)) {
    measure(ProductLibrary::kOneDnn, onednn->scratch_bytes(),
            [&](std::byte* scratch, const StepContext& step) {
              (void)onednn->Run(lhs.get(), rhs.get(), out.get(), scratch, step);
            });
  }
  if (const auto panels = PanelProduct::Make(view, type, type, type, threads)) {
    measure(ProductLibrary::kPanels, panels->scratch_bytes(),
            [&](std::byte* scratch, const StepContext& step) {
              (void)panels->Run(lhs.get(), rhs.get(), out.get(), scratch, step);
            });
  }
  return product;
}

// Returns a library's speed; 0 if it does not compute the product.
double SpeedOf(const ProductSpeed& product, ProductLibrary library) {
  for (const ProductSpeed::Speed& speed : product.speeds)
    if (speed.library == library) return speed.flops;
  return 0;
}

}  // namespace

std::vector<ProductSpeed> MeasureProducts(int threads) {
  threads = TeamOfThisThread(threads);
  std::vector<ProductSpeed> products;
  for (const hlo::PrimitiveType type : {hlo::kF32, hlo::kBF16, hlo::kF16, hlo::kF64})
    for (const Size& size : kSizes) products.push_back(Measure(type, size, threads));
  return products;
}

std::string ProductTable(const std::vector<ProductSpeed>& products) {
  constexpr ProductLibrary kColumns[] = {ProductLibrary::kOneDnn, ProductLibrary::kPanels};
  std::string table = absl::StrFormat("%-5s %-9s %-20s", "type", "shape", "batch x m x n x k");
  for (const ProductLibrary library : kColumns) absl::StrAppendFormat(&table, "%10s ", Name(library));
  table += "  (GFLOP/s; * is the choice)\n";
  int better = 0;
  for (const ProductSpeed& product : products) {
    absl::StrAppendFormat(&table, "%-5s %-9s %-20s", hlo::Name(product.type), Name(product.shape),
                          absl::StrFormat("%dx%dx%dx%d", product.batches, product.m, product.n, product.k));
    double best = 0;
    for (const ProductLibrary library : kColumns) {
      const double flops = SpeedOf(product, library);
      best = std::max(best, flops);
      const std::string text = flops > 0 ? absl::StrFormat("%.1f", flops / 1e9) : "-";
      absl::StrAppendFormat(&table, "%10s%c", text, library == product.chosen ? '*' : ' ');
    }
    table += "\n";
    better += SpeedOf(product, product.chosen) < best / 1.1 ? 1 : 0;
  }
  absl::StrAppendFormat(&table, "%d of %d products would be more than a tenth faster by the other library.\n",
                        better, products.size());
  return table;
}

}  // namespace hlod::engine
