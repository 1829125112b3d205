// Running results, order statistics, counts, searches.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

std::pair<Tensor, Tensor> Both(const ValuesAndIndices& result) { return {result.values, result.indices}; }

// Converts the argument to the requested dtype first.
Binding Running(const char* name, Tensor (*call)(const Operand&, int64_t)) {
  return {name, "input dim dtype", [call](Arguments& a) {
            const std::optional<PrimitiveType> type = a.Type("dtype");
            Tensor input = a.Array("input");
            if (type.has_value()) input = input.To(*type);
            return call(input, a.Int("dim"));
          }};
}
Binding RunningExtreme(const char* name, ValuesAndIndices (*call)(const Operand&, int64_t)) {
  return {name, "input dim", [call](Arguments& a) { return Both(call(a.Arg("input"), a.Int("dim"))); }};
}

Binding Integral(const char* name, Tensor (*spaced)(const Operand&, double, int64_t),
                 Tensor (*at)(const Operand&, const Tensor&, int64_t)) {
  return {name, "y x dx dim", [spaced, at](Arguments& a) {
            if (a.Has("x")) return at(a.Arg("y"), a.Array("x"), a.Int("dim", -1));
            return spaced(a.Arg("y"), a.Double("dx", 1), a.Int("dim", -1));
          }};
}

Binding Middle(const char* name, Tensor (*of_all)(const Operand&),
               ValuesAndIndices (*along)(const Operand&, int64_t, bool)) {
  return {name, "input dim keepdim", [of_all, along](Arguments& a) -> Results {
            if (!a.Has("dim")) return of_all(a.Arg("input"));
            return Both(along(a.Arg("input"), a.Int("dim"), a.Bool("keepdim", false)));
          }};
}

QuantileInterpolation InterpolationOf(const std::string& name) {
  if (name == "lower") return QuantileInterpolation::kLower;
  if (name == "higher") return QuantileInterpolation::kHigher;
  if (name == "midpoint") return QuantileInterpolation::kMidpoint;
  return name == "nearest" ? QuantileInterpolation::kNearest : QuantileInterpolation::kLinear;
}
template <typename F>
Binding Part(const char* name, F call) {
  return {name, "input q dim keepdim interpolation", [call](Arguments& a) {
            return call(a.Arg("input"), a.Arg("q"), a.MaybeInt("dim"), a.Bool("keepdim", false),
                        InterpolationOf(a.Text("interpolation", "linear")));
          }};
}

Results Chosen(const UniqueResult& unique, bool inverse, bool counts) {
  std::vector<Tensor> results = {unique.values};
  if (inverse) results.push_back(unique.inverse);
  if (counts) results.push_back(unique.counts);
  return results;
}

Tensor Index(Arguments& a, const Tensor& positions) {
  return a.Bool("out_int32", false) ? positions.To(kS32) : positions;
}

}  // namespace

std::vector<Binding> CumulativeBindings() {
  return {
      Running("cumsum", Cumsum),
      Running("cumprod", Cumprod),
      Running("logcumsumexp", Logcumsumexp),
      RunningExtreme("cummax", Cummax),
      RunningExtreme("cummin", Cummin),
      {"diff", "input n dim prepend append",
       [](Arguments& a) {
         return Diff(a.Arg("input"), a.Int("n", 1), a.Int("dim", -1), a.Array("prepend"), a.Array("append"));
       }},
      Integral("trapezoid", Trapezoid, Trapezoid),
      Integral("trapz", Trapezoid, Trapezoid),
      Integral("cumulative_trapezoid", CumulativeTrapezoid, CumulativeTrapezoid),
      {"gradient", "input spacing dim edge_order",
       [](Arguments& a) {
         GradientOptions options;
         const nlohmann::json& spacing = a.Json("spacing");
         if (spacing.is_array() && !spacing.empty() && IsArray(spacing[0])) {
           options.coordinates = a.Arrays("spacing");
         } else {
           options.spacing = a.Doubles("spacing", std::vector<double>());
         }
         options.dims = a.Ints("dim", Dims());
         options.edge_order = a.Int("edge_order", 1);
         return Gradient(a.Arg("input"), options);
       }},
  };
}

std::vector<Binding> StatisticsBindings() {
  return {
      Middle("median", Median, Median),
      Middle("nanmedian", Nanmedian, Nanmedian),
      {"mode", "input dim keepdim",
       [](Arguments& a) { return Both(Mode(a.Arg("input"), a.Int("dim", -1), a.Bool("keepdim", false))); }},
      Part("quantile", Quantile),
      Part("nanquantile", Nanquantile),
      {"histc", "input bins min max",
       [](Arguments& a) {
         return Histc(a.Arg("input"), a.Int("bins", 100), a.Double("min", 0), a.Double("max", 0));
       }},
      {"histogram", "input bins range weight density",
       [](Arguments& a) {
         HistogramOptions options{.weight = a.Array("weight"), .density = a.Bool("density", false)};
         const std::vector<double> range = a.Doubles("range", std::vector<double>());
         if (!range.empty()) options.range = std::make_pair(range.at(0), range.at(1));
         const Tensor x = a.Array("input");
         const HistogramParts parts = a.Json("bins").is_number() ? Histogram(x, a.Int("bins"), options)
                                                                 : Histogram(x, a.Arg("bins"), options);
         return std::vector<Tensor>{parts.counts, parts.edges};
       }},
      {"histogramdd", "input bins range weight density",
       [](Arguments& a) {
         HistogramddOptions options{.weight = a.Array("weight"), .density = a.Bool("density", false)};
         const std::vector<double> range = a.Doubles("range", std::vector<double>());
         for (size_t i = 0; i + 1 < range.size(); i += 2) options.range.emplace_back(range[i], range[i + 1]);
         const Tensor given = a.Array("input");
         const Tensor x = given.Reshape({-1, given.size(-1)});
         if (options.weight.defined()) options.weight = options.weight.Reshape({-1});
         const bool counted = a.Json("bins").at(0).is_number();
         const HistogramddParts parts =
             counted ? Histogramdd(x, a.Ints("bins"), options) : Histogramdd(x, a.Arrays("bins"), options);
         std::vector<Tensor> results = {parts.counts};
         results.insert(results.end(), parts.edges.begin(), parts.edges.end());
         return results;
       }},
      {"bincount", "input weights minlength",
       [](Arguments& a) { return Bincount(a.Arg("input"), a.Array("weights"), a.Int("minlength", 0)); }},
  };
}

std::vector<Binding> SearchBindings() {
  return {
      {"cov", "input correction fweights aweights",
       [](Arguments& a) {
         return Cov(a.Arg("input"), a.Int("correction", 1), a.Array("fweights"), a.Array("aweights"));
       }},
      {"corrcoef", "input", [](Arguments& a) { return Corrcoef(a.Arg("input")); }},
      {"bucketize", "input boundaries out_int32 right",
       [](Arguments& a) {
         return Index(a, Bucketize(a.Arg("input"), a.Arg("boundaries"), a.Bool("right", false)));
       }},
      {"searchsorted", "sorted_sequence input out_int32 right side sorter",
       [](Arguments& a) {
         const bool right = a.Text("side", "left") == "right" || a.Bool("right", false);
         return Index(a, Searchsorted(a.Arg("sorted_sequence"), a.Arg("input"), right, a.Array("sorter")));
       }},
      {"isin", "elements test_elements assume_unique invert",
       [](Arguments& a) {
         a.Bool("assume_unique", false);
         return Isin(a.Arg("elements"), a.Arg("test_elements"), a.Bool("invert", false));
       }},
      {"unique", "input sorted return_inverse return_counts dim",
       [](Arguments& a) {
         a.Bool("sorted", true);
         return Chosen(Unique(a.Arg("input"), a.MaybeInt("dim")), a.Bool("return_inverse", false),
                       a.Bool("return_counts", false));
       }},
      {"unique_consecutive", "input return_inverse return_counts dim",
       [](Arguments& a) {
         return Chosen(UniqueConsecutive(a.Arg("input"), a.MaybeInt("dim")), a.Bool("return_inverse", false),
                       a.Bool("return_counts", false));
       }},
  };
}

}  // namespace hlod
