// Images at other sizes and at other points.
#pragma once

#include <optional>
#include <vector>

#include "hlod/ops/sizes.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// kLinear is over one, two or three dimensions: PyTorch's linear, bilinear and trilinear. kArea is adaptive
// mean pooling.
enum class InterpolationMode { kNearest, kNearestExact, kLinear, kBicubic, kArea };
struct InterpolateOptions {
  // The new sizes, or what the sizes are multiplied by (and rounded down): one for all dimensions, or one
  // each.
  std::optional<Sizes> size = {};
  std::vector<double> scale_factor = {};
  InterpolationMode mode = InterpolationMode::kNearest;
  bool align_corners = false;           // The first and last elements stay where they are.
  bool recompute_scale_factor = false;  // Positions follow the rounded sizes instead of the factor.
};
// The dimensions behind [batch, channels] at another size. nn.functional.interpolate and upsample.
Tensor Interpolate(const Operand& x, const InterpolateOptions& options);

enum class GridMode { kBilinear, kNearest, kBicubic };
// The values beyond the edges: zeros, the edge, or the mirror image.
enum class GridPadding { kZeros, kBorder, kReflection };
struct GridSampleOptions {
  GridMode mode = GridMode::kBilinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;  // -1 and 1 are the centres of the first and last elements, not their edges.
};
// x [n, channels, (depth,) height, width] at the points of the grid [n, ..., 2 or 3], whose coordinates are
// (width, height, depth) from -1 to 1.
Tensor GridSample(const Operand& x, const Operand& grid, const GridSampleOptions& options = {});
// The grid of an affine transformation: theta [n, 2, 3] or [n, 3, 4] of an output of `size` [n, channels,
// ...].
Tensor AffineGrid(const Tensor& theta, DimList size, bool align_corners = false);

}  // namespace hlod
