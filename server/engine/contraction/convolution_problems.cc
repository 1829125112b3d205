// Translates a convolution's dimensions to oneDNN's.
//
// HLO has one opcode for all three problems. A base dilation makes it the gradient by data (a transposed
// convolution). A window larger than the result, or batch groups, makes it the gradient by weights, in which
// batch and features have changed places.
#include "server/engine/contraction/convolution_problems.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace hlod::engine {
namespace {

// Returns the padding after the last element that makes oneDNN's size formula true, or nullopt when none
// does.
std::optional<int64_t> PaddingHigh(int64_t src, int64_t dst, int64_t kernel, int64_t stride, int64_t dilation,
                                   int64_t low) {
  const int64_t exact = (dst - 1) * stride + (kernel - 1) * dilation + 1 - src - low;
  if (exact >= 0) return exact;
  if (exact + stride - 1 >= 0) return 0;
  return std::nullopt;
}

// oneDNN keeps sizes and window parameters in 32 bits, and sums and products of a few of them too. It does
// not check them: with overflowed numbers a kernel reads out of bounds, or its generator does not end.
constexpr int64_t kOneDnnNumberMax = (int64_t{1} << 24) - 1;

bool FitsOneDnn(const ConvolutionProblem& problem) {
  const auto fit = [](const dnnl::memory::dims& numbers) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [](int64_t n) { return n >= 0 && n <= kOneDnnNumberMax; });
  };
  for (const auto* numbers : {&problem.src.dims, &problem.weights.dims, &problem.dst.dims, &problem.strides,
                              &problem.dilations, &problem.padding_low, &problem.padding_high}) {
    if (!fit(*numbers)) return false;
  }
  const size_t first_spatial = problem.weights.dims.size() - problem.dilations.size();
  for (size_t i = 0; i < problem.dilations.size(); ++i) {
    const int64_t extent = (problem.weights.dims[first_spatial + i] - 1) * (problem.dilations[i] + 1);
    if (extent > kOneDnnNumberMax) return false;
  }
  return true;
}

// The oneDNN problems that compute a convolution.
class Problems {
 public:
  Problems(const ConvolutionForm& form, dnnl::memory::data_type lhs, dnnl::memory::data_type rhs,
           dnnl::memory::data_type out)
      : form_(form), lhs_(lhs), rhs_(rhs), out_(out) {}

  // The problems, the best first.
  std::vector<ConvolutionProblem> All() const {
    std::vector<ConvolutionProblem> problems;
    const bool dilated = std::any_of(form_.axes.begin(), form_.axes.end(),
                                     [](const auto& a) { return a.window.base_dilation > 1; });
    const bool reversed =
        std::any_of(form_.axes.begin(), form_.axes.end(), [](const auto& a) { return a.window.reversal; });
    if (dilated) {
      if (form_.batch_groups == 1) Add(problems, BackwardData());
      return problems;
    }
    double kernel = 1, out = 1;
    for (const ConvolutionAxis& axis : form_.axes) {
      kernel *= static_cast<double>(axis.kernel);
      out *= static_cast<double>(axis.out);
    }
    const bool by_weights = form_.feature_groups == 1 && !reversed;
    if (by_weights && (form_.batch_groups > 1 || kernel > out)) Add(problems, BackwardWeights());
    if (form_.batch_groups == 1) Add(problems, Forward());
    return problems;
  }

 private:
  static void Add(std::vector<ConvolutionProblem>& problems, std::optional<ConvolutionProblem> problem) {
    if (problem && FitsOneDnn(*problem)) problems.push_back(std::move(*problem));
  }

  // HLO's arrays in oneDNN's order. With `groups` > 1, weights have a leading dimension of groups.
  ProblemArray Lhs() const {
    ProblemArray array{{form_.batch, form_.features}, {form_.lhs_batch, form_.lhs_feature}, lhs_};
    for (const ConvolutionAxis& axis : form_.axes) Append(array, axis.in, axis.in_stride);
    return array;
  }
  ProblemArray Result() const {
    ProblemArray array{{form_.out_batches(), form_.outputs}, {form_.out_batch, form_.out_feature}, out_};
    for (const ConvolutionAxis& axis : form_.axes) Append(array, axis.out, axis.out_stride);
    return array;
  }
  static void Append(ProblemArray& array, int64_t size, int64_t stride) {
    array.dims.push_back(size);
    array.strides.push_back(stride);
  }

  std::optional<ConvolutionProblem> Forward() const {
    ConvolutionProblem problem;
    problem.src = Lhs();
    problem.dst = Result();
    const int64_t groups = form_.feature_groups, outputs = form_.outputs / groups;
    ProblemArray& w = problem.weights;
    w.type = rhs_;
    if (groups > 1) Append(w, groups, outputs * form_.rhs_output);
    Append(w, outputs, form_.rhs_output);
    Append(w, form_.features_a_group(), form_.rhs_input);
    for (size_t i = 0; i < form_.axes.size(); ++i) {
      const ConvolutionAxis& axis = form_.axes[i];
      Append(w, axis.kernel, axis.kernel_stride);
      int64_t& in = problem.src.dims[i + 2];
      int64_t low = axis.window.padding_low;
      if (low < 0) {  // Crops at the beginning.
        problem.src.offset += -low * axis.in_stride;
        in += low;
        low = 0;
      }
      const int64_t reach =
          (axis.out - 1) * axis.window.stride + (axis.kernel - 1) * axis.window.window_dilation + 1 - low;
      in = std::min(in, std::max<int64_t>(reach, 1));  // Crops after the last element that a window reaches.
      if (in <= 0) return std::nullopt;
      const auto high =
          PaddingHigh(in, axis.out, axis.kernel, axis.window.stride, axis.window.window_dilation, low);
      if (!high) return std::nullopt;
      Append(problem, axis.window.stride, axis.window.window_dilation, low, *high);
    }
    return problem;
  }

  // The gradient by data of a convolution from the result to lhs, whose stride is the base dilation. Its
  // weights are flipped.
  std::optional<ConvolutionProblem> BackwardData() const {
    ConvolutionProblem problem;
    problem.direction = Direction::kBackwardData;
    problem.dst = Lhs();
    problem.src = Result();
    const int64_t groups = form_.feature_groups, outputs = form_.outputs / groups;
    ProblemArray& w = problem.weights;
    w.type = rhs_;
    if (groups > 1) Append(w, groups, outputs * form_.rhs_output);
    Append(w, form_.features_a_group(), form_.rhs_input);
    Append(w, outputs, form_.rhs_output);
    for (const ConvolutionAxis& axis : form_.axes) {
      if (axis.window.stride != 1) return std::nullopt;
      Append(w, axis.kernel, axis.kernel_stride);
      const int64_t low = (axis.kernel - 1) * axis.window.window_dilation - axis.window.padding_low;
      if (low < 0) return std::nullopt;
      const auto high = PaddingHigh(axis.out, axis.in, axis.kernel, axis.window.base_dilation,
                                    axis.window.window_dilation, low);
      if (!high) return std::nullopt;
      Append(problem, axis.window.base_dilation, axis.window.window_dilation, low, *high);
    }
    return problem;
  }

  // The gradient by weights of a convolution whose images are lhs's features, whose input channels are lhs's
  // batch, and whose result's gradient is rhs: stride and dilation are exchanged. Its groups are the batch
  // groups.
  std::optional<ConvolutionProblem> BackwardWeights() const {
    ConvolutionProblem problem;
    problem.direction = Direction::kBackwardWeights;
    problem.src = Lhs();
    std::swap(problem.src.dims[0], problem.src.dims[1]);
    std::swap(problem.src.strides[0], problem.src.strides[1]);
    problem.dst = ProblemArray{{form_.features, form_.outputs}, {form_.rhs_input, form_.rhs_output}, rhs_};
    const int64_t groups = form_.batch_groups, outputs = form_.outputs / groups;
    ProblemArray& w = problem.weights;
    w.type = out_;
    if (groups > 1) Append(w, groups, outputs * form_.out_feature);
    Append(w, outputs, form_.out_feature);
    Append(w, form_.out_batches(), form_.out_batch);
    for (size_t i = 0; i < form_.axes.size(); ++i) {
      const ConvolutionAxis& axis = form_.axes[i];
      Append(problem.dst, axis.kernel, axis.kernel_stride);
      Append(w, axis.out, axis.out_stride);
      const int64_t low = axis.window.padding_low;
      if (low < 0) return std::nullopt;
      int64_t& in = problem.src.dims[i + 2];
      const int64_t reach =
          (axis.kernel - 1) * axis.window.window_dilation + (axis.out - 1) * axis.window.stride + 1 - low;
      in = std::min(in, std::max<int64_t>(reach, 1));
      const auto high =
          PaddingHigh(in, axis.kernel, axis.out, axis.window.window_dilation, axis.window.stride, low);
      if (!high) return std::nullopt;
      Append(problem, axis.window.window_dilation, axis.window.stride, low, *high);
    }
    return problem;
  }

  static void Append(ConvolutionProblem& problem, int64_t stride, int64_t dilation, int64_t low,
                     int64_t high) {
    problem.strides.push_back(stride);
    problem.dilations.push_back(dilation - 1);
    problem.padding_low.push_back(low);
    problem.padding_high.push_back(high);
  }

  const ConvolutionForm& form_;
  dnnl::memory::data_type lhs_, rhs_, out_;
};

}  // namespace

std::vector<ConvolutionProblem> ConvolutionProblems(const ConvolutionForm& form, dnnl::memory::data_type lhs,
                                                    dnnl::memory::data_type rhs,
                                                    dnnl::memory::data_type out) {
  return Problems(form, lhs, rhs, out).All();
}

CopyNd FlipWeights(ProblemArray& weights, const std::vector<bool>& flipped, int width) {
  std::vector<CopyDim> dims;
  dnnl::memory::dims dense(weights.dims.size(), 1);
  for (size_t d = weights.dims.size(); d-- > 1;) dense[d - 1] = dense[d] * weights.dims[d];
  int64_t start = 0;
  for (size_t d = 0; d < weights.dims.size(); ++d) {
    int64_t stride = weights.strides[d];
    const size_t first_spatial = weights.dims.size() - flipped.size();
    if (d >= first_spatial && flipped[d - first_spatial]) {
      start += (weights.dims[d] - 1) * stride;
      stride = -stride;
    }
    dims.push_back({weights.dims[d], stride * width, dense[d] * width});
  }
  weights.strides = dense;
  weights.offset = start;  // The offset of the element at which the copy starts reading.
  return CopyNd(dims, width);
}

}  // namespace hlod::engine
