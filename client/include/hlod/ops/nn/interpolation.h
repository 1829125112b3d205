// Resizes images, and samples them at given points.
#pragma once

#include <optional>
#include <vector>

#include "hlod/ops/sizes.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// kLinear is PyTorch's linear, bilinear or trilinear, by the number of dimensions. kArea is adaptive mean
// pooling.
enum class InterpolationMode { kNearest, kNearestExact, kLinear, kBicubic, kArea };
struct InterpolateOptions {
  // Either the new sizes, or factors for the sizes (the products are rounded down): one for all dimensions,
  // or one per dimension.
  std::optional<Sizes> size = {};
  std::vector<double> scale_factor = {};
  InterpolationMode mode = InterpolationMode::kNearest;
  // True: the centres of the first and last elements stay at the ends. False: their outer edges do.
  bool align_corners = false;
  // Computes positions from the rounded sizes instead of from the factor.
  bool recompute_scale_factor = false;
};
// Resizes the dimensions after [batch, channels]. nn.functional.interpolate and upsample.
Tensor Interpolate(const Operand& x, const InterpolateOptions& options);

enum class GridMode { kBilinear, kNearest, kBicubic };
// The values beyond the edges: zeros, the edge's value, or the mirror image.
enum class GridPadding { kZeros, kBorder, kReflection };
struct GridSampleOptions {
  GridMode mode = GridMode::kBilinear;
  GridPadding padding = GridPadding::kZeros;
  // True: -1 and 1 are the centres of the first and last elements. False: their outer edges.
  bool align_corners = false;
};
// Samples x [n, channels, (depth,) height, width] at the points of the grid [n, ..., 2 or 3], whose
// coordinates (x, y, z, that is along width, height, depth) are from -1 to 1.
Tensor GridSample(const Operand& x, const Operand& grid, const GridSampleOptions& options = {});
// The grid for GridSample() of an affine transformation theta, [n, 2, 3] or [n, 3, 4], for an output of
// `size` [n, channels, ...].
Tensor AffineGrid(const Tensor& theta, DimList size, bool align_corners = false);

}  // namespace hlod
