// Shapes, joining, arranging, indexing, scatter and sorting, compared with values that PyTorch 1.13 computed.
#include "tests/unit/client/tensor/fixture.h"

#include <cmath>
#include <limits>

namespace hlod {
namespace {

struct Row {
  const char* call;
  Tensor result;
  Dims dims;
  std::vector<double> values;
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Small tensors of a device, and every operation on them.
struct MovementRows {
  explicit MovementRows(const Device& device) : at(device) {}

  Tensor Floats(const std::vector<float>& values, Dims dims) const {
    return FromValues<float>(values, std::move(dims), at);
  }
  Tensor Integers(const std::vector<int64_t>& values, Dims dims) const {
    return FromValues<int64_t>(values, std::move(dims), at);
  }
  Tensor Range(int64_t start, int64_t end, const Dims& dims) const {
    return Arange(start, end, 1, {kF32, at}).Reshape(dims);
  }

  const Device at;
  const Tensor x = Range(0, 12, {3, 4}), c = Range(0, 16, {1, 4, 2, 2}), im = Range(0, 20, {1, 1, 4, 5});
  const Tensor y = Floats({3, 1, 2, 0, 0, 5, 5, 1, 9, 8, 7, 6}, {3, 4}), v = Floats({3, 1, 2}, {3});
  const Tensor e = Floats({}, {0}), nan = Floats({2, std::nanf(""), 1}, {3}), src = Range(1, 13, {3, 4});
  const Tensor s = Floats({1, 3, 5, 7, 0, 0, 2, 4, 1, 2, 3, 4}, {3, 4});
  const Tensor i = Integers({2, 0}, {2}), ij = Integers({0, 2, 1, 0, 2, 2, 0, 1}, {2, 4});
  const Tensor n = Integers({-1, 0}, {2}), n0 = Integers({0, 0}, {2}), i32 = Integers({1, 0, 3}, {3, 1});
  const Tensor i2 = Integers({0, 1, 2, 3}, {1, 4});
  const Tensor m = Floats({0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1}, {3, 4}).To(kPred);

  std::vector<Row> Joining() const {
    return {
        {"Cat({x, y}, 1)", Cat({x, y}, 1), {3, 8}, {0, 1, 2, 3, 3, 1, 2,  0,  4, 5, 6, 7,
                                                    0, 5, 5, 1, 8, 9, 10, 11, 9, 8, 7, 6}},
        {"Cat({e, v, v})", Cat({e, v, v}), {6}, {3, 1, 2, 3, 1, 2}},
        {"Cat({x, i2})", Cat({x, i2}), {4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3}},
        {"Stack({v, v}, -1)", Stack({v, v}, -1), {3, 2}, {3, 3, 1, 1, 2, 2}},
        {"Hstack({x, y})", Hstack({x, y}), {3, 8}, {0, 1, 2, 3, 3, 1, 2,  0,  4, 5, 6, 7,
                                                    0, 5, 5, 1, 8, 9, 10, 11, 9, 8, 7, 6}},
        {"Vstack({v, v})", Vstack({v, v}), {2, 3}, {3, 1, 2, 3, 1, 2}},
        {"Dstack({v, v})", Dstack({v, v}), {1, 3, 2}, {3, 3, 1, 1, 2, 2}},
        {"ColumnStack({v, x.Slice(1, 0, 1)})",
         ColumnStack({v, x.Slice(1, 0, 1)}),
         {3, 2},
         {3, 0, 1, 4, 2, 8}},
        {"BlockDiag({v, x.Slice(1, 0, 2)})", BlockDiag({v, x.Slice(1, 0, 2)}), {4, 5}, {3, 1, 2, 0, 0, 0, 0,
                                                                                        0, 0, 1, 0, 0, 0, 4,
                                                                                        5, 0, 0, 0, 8, 9}},
        {"Meshgrid({v, i})[1]", Meshgrid({v, i})[1], {3, 2}, {2, 0, 2, 0, 2, 0}},
        {"Meshgrid({v, i}, MeshIndexing::kXy)[0]",
         Meshgrid({v, i}, MeshIndexing::kXy)[0],
         {2, 3},
         {3, 1, 2, 3, 1, 2}},
        {"CartesianProd({i, i})", CartesianProd({i, i}), {4, 2}, {2, 2, 2, 0, 0, 2, 0, 0}},
        {"Movedim(c, {0, 1}, {-1, 0})",
         Movedim(c, {0, 1}, {-1, 0}),
         {4, 2, 2, 1},
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
        {"Unflatten(x, 1, {2, -1})",
         Unflatten(x, 1, {2, -1}),
         {3, 2, 2},
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {"Squeeze(c, {0, 1})",
         Squeeze(c, {0, 1}),
         {4, 2, 2},
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
        {"Split(x, 3, 1)[1]", Split(x, 3, 1)[1], {3, 1}, {3, 7, 11}},
        {"Chunk(x, 3, 1)[1]", Chunk(x, 3, 1)[1], {3, 2}, {2, 3, 6, 7, 10, 11}},
        {"TensorSplit(x, 3, 1)[0]", TensorSplit(x, 3, 1)[0], {3, 2}, {0, 1, 4, 5, 8, 9}},
        {"TensorSplit(x, DimList{1, 3}, 1)[1]",
         TensorSplit(x, DimList{1, 3}, 1)[1],
         {3, 2},
         {1, 2, 5, 6, 9, 10}},
        {"Unbind(x, 1)[2]", Unbind(x, 1)[2], {3}, {2, 6, 10}},
    };
  }

  std::vector<Row> Arrangement() const {
    return {
        {"Repeat(v, {2, 2})", Repeat(v, {2, 2}), {2, 6}, {3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2}},
        {"Tile(x, {2})", Tile(x, {2}), {3, 8}, {0, 1, 2, 3, 0, 1, 2,  3,  4, 5, 6,  7,
                                                4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11}},
        {"RepeatInterleave(x, 2, 0)", RepeatInterleave(x, 2, 0), {6, 4}, {0, 1, 2,  3,  0, 1, 2,  3,
                                                                          4, 5, 6,  7,  4, 5, 6,  7,
                                                                          8, 9, 10, 11, 8, 9, 10, 11}},
        {"RepeatInterleave(v, 2)", RepeatInterleave(v, 2), {6}, {3, 3, 1, 1, 2, 2}},
        {"Roll(x, {1, -1}, {0, 1})",
         Roll(x, {1, -1}, {0, 1}),
         {3, 4},
         {9, 10, 11, 8, 1, 2, 3, 0, 5, 6, 7, 4}},
        {"Roll(x, {5})", Roll(x, {5}), {3, 4}, {7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6}},
        {"Flip(x, {0, 1})", Flip(x, {0, 1}), {3, 4}, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
        {"Fliplr(x)", Fliplr(x), {3, 4}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}},
        {"Flipud(x)", Flipud(x), {3, 4}, {8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}},
        {"Rot90(x)", Rot90(x), {4, 3}, {3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8}},
        {"Rot90(x, 3)", Rot90(x, 3), {4, 3}, {8, 4, 0, 9, 5, 1, 10, 6, 2, 11, 7, 3}},
        {"Rot90(x, -2)", Rot90(x, -2), {3, 4}, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
        {"Tril(x, 1)", Tril(x, 1), {3, 4}, {0, 1, 0, 0, 4, 5, 6, 0, 8, 9, 10, 11}},
        {"Triu(x, -1)", Triu(x, -1), {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11}},
        {"Diag(v, 1)", Diag(v, 1), {4, 4}, {0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0}},
        {"Diag(x, -1)", Diag(x, -1), {2}, {4, 9}},
        {"DiagEmbed(x, -1, 0, 2)",
         DiagEmbed(x, -1, 0, 2),
         {5, 3, 5},
         {0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0,  0,
          8, 0, 0, 0, 0, 0, 1, 0,  0, 0, 0, 5, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 2, 0,  0,
          0, 0, 6, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 7, 0, 0, 0, 0, 11, 0}},
        {"Diagflat(v)", Diagflat(v), {3, 3}, {3, 0, 0, 0, 1, 0, 0, 0, 2}},
        {"DiagonalScatter(x, v)", DiagonalScatter(x, v), {3, 4}, {3, 1, 2, 3, 4, 1, 6, 7, 8, 9, 2, 11}},
        {"SelectScatter(x, v, 1, 2)",
         SelectScatter(x, v, 1, 2),
         {3, 4},
         {0, 1, 3, 3, 4, 5, 1, 7, 8, 9, 2, 11}},
        {"SliceScatter(x, y, 1, 0, 4)",
         SliceScatter(x, y, 1, 0, 4),
         {3, 4},
         {3, 1, 2, 0, 0, 5, 5, 1, 9, 8, 7, 6}},
        {"AsStridedScatter(x, v, {3}, {2}, 1)",
         AsStridedScatter(x, v, {3}, {2}, 1),
         {3, 4},
         {0, 3, 2, 1, 4, 2, 6, 7, 8, 9, 10, 11}},
    };
  }

  std::vector<Row> Padding() const {
    return {
        {"Pad(x, {1, -1, 0, 1}, PadMode::kConstant, 9)",
         Pad(x, {1, -1, 0, 1}, PadMode::kConstant, 9),
         {4, 4},
         {9, 0, 1, 2, 9, 4, 5, 6, 9, 8, 9, 10, 9, 9, 9, 9}},
        {"Pad(im, {2, 1, 1, 0}, PadMode::kReflect)",
         Pad(im, {2, 1, 1, 0}, PadMode::kReflect),
         {1, 1, 5, 8},
         {7, 6, 5, 6, 7,  8,  9,  8,  2,  1,  0,  1,  2,  3,  4,  3,  7,  6,  5,  6,
          7, 8, 9, 8, 12, 11, 10, 11, 12, 13, 14, 13, 17, 16, 15, 16, 17, 18, 19, 18}},
        {"Pad(im, {2, 1, 1, 0}, PadMode::kReplicate)",
         Pad(im, {2, 1, 1, 0}, PadMode::kReplicate),
         {1, 1, 5, 8},
         {0, 0, 0, 1, 2,  3,  4,  4,  0,  0,  0,  1,  2,  3,  4,  4,  5,  5,  5,  6,
          7, 8, 9, 9, 10, 10, 10, 11, 12, 13, 14, 14, 15, 15, 15, 16, 17, 18, 19, 19}},
        {"Pad(im, {2, 1, 1, 0}, PadMode::kCircular)",
         Pad(im, {2, 1, 1, 0}, PadMode::kCircular),
         {1, 1, 5, 8},
         {18, 19, 15, 16, 17, 18, 19, 15, 3,  4,  0,  1,  2,  3,  4,  0,  8,  9,  5,  6,
          7,  8,  9,  5,  13, 14, 10, 11, 12, 13, 14, 10, 18, 19, 15, 16, 17, 18, 19, 15}},
        {"Pad(im, {-1, 1, 1, -1}, PadMode::kCircular)",
         Pad(im, {-1, 1, 1, -1}, PadMode::kCircular),
         {1, 1, 4, 5},
         {11, 12, 13, 14, 11, 1, 2, 3, 4, 1, 6, 7, 8, 9, 6, 11, 12, 13, 14, 11}},
        {"PixelShuffle(c, 2)",
         PixelShuffle(c, 2),
         {1, 1, 4, 4},
         {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15}},
        {"PixelUnshuffle(c, 2)",
         PixelUnshuffle(c, 2),
         {1, 16, 1, 1},
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
        {"Unfold(im, {2, 3}, {.dilation = {2, 1}, .padding = 1, .stride = {1, 2}})",
         Unfold(im, {2, 3}, {.dilation = {2, 1}, .padding = 1, .stride = {1, 2}}),
         {1, 6, 12},
         {0, 0, 0, 0,  1,  3,  0,  6,  8,  0,  11, 13, 0, 0, 0, 0,  2,  4,  5,  7,  9,  10, 12, 14,
          0, 0, 0, 1,  3,  0,  6,  8,  0,  11, 13, 0,  0, 6, 8, 0,  11, 13, 0,  16, 18, 0,  0,  0,
          5, 7, 9, 10, 12, 14, 15, 17, 19, 0,  0,  0,  6, 8, 0, 11, 13, 0,  16, 18, 0,  0,  0,  0}},
        {"Fold(Unfold(im, 2, {.padding = 1}), {4, 5}, 2, {.padding = 1})",
         Fold(Unfold(im, 2, {.padding = 1}), {4, 5}, 2, {.padding = 1}),
         {1, 1, 4, 5},
         {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76}},
    };
  }

  std::vector<Row> Indexing() const {
    return {
        {"IndexSelect(x, 1, i)", IndexSelect(x, 1, i), {3, 2}, {2, 0, 6, 4, 10, 8}},
        {"Gather(x, 0, ij)", Gather(x, 0, ij), {2, 4}, {0, 9, 6, 3, 8, 9, 2, 7}},
        {"Gather(x, 1, ij)", Gather(x, 1, ij), {2, 4}, {0, 2, 1, 0, 6, 6, 4, 5}},
        {"Take(x, n)", Take(x, n), {2}, {11, 0}},
        {"TakeAlongDim(x, Unsqueeze(i, 0), 1)",
         TakeAlongDim(x, Unsqueeze(i, 0), 1),
         {3, 2},
         {2, 0, 6, 4, 10, 8}},
        {"Index(x, {n, i})", Index(x, {n, i}), {2}, {10, 0}},
        {"Index(c, {Tensor(), i, n})", Index(c, {Tensor(), i, n}), {1, 2, 2}, {10, 11, 0, 1}},
        {"Index(c, {n0, Tensor(), n})",
         Index(c, {n0, Tensor(), n}),
         {2, 4, 2},
         {2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9, 12, 13}},
        {"Index(x, {m})", Index(x, {m}), {6}, {5, 6, 8, 9, 10, 11}},
        {"IndexPut(x, {i, n}, 100)",
         IndexPut(x, {i, n}, 100),
         {3, 4},
         {100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100}},
        {"IndexPut(x, {Unsqueeze(i, 1), n}, 100.0, true)",
         IndexPut(x, {Unsqueeze(i, 1), n}, 100.0, true),
         {3, 4},
         {100, 1, 2, 103, 4, 5, 6, 7, 108, 9, 10, 111}},
        {"IndexAdd(x, 0, i, src.Narrow(0, 0, 2), 2)",
         IndexAdd(x, 0, i, src.Narrow(0, 0, 2), 2),
         {3, 4},
         {10, 13, 16, 19, 4, 5, 6, 7, 10, 13, 16, 19}},
        {"IndexCopy(x, 0, i, src.Narrow(0, 0, 2))",
         IndexCopy(x, 0, i, src.Narrow(0, 0, 2)),
         {3, 4},
         {5, 6, 7, 8, 4, 5, 6, 7, 1, 2, 3, 4}},
        {"IndexFill(x, 1, i, 7)", IndexFill(x, 1, i, 7), {3, 4}, {7, 1, 7, 3, 7, 5, 7, 7, 7, 9, 7, 11}},
    };
  }

  std::vector<Row> Scattering() const {
    return {
        {"Scatter(x, 0, ij, src)", Scatter(x, 0, ij, src), {3, 4}, {1, 1, 7, 4, 4, 5, 3, 8, 5, 6, 10, 11}},
        {"Scatter(x, 1, i32, -1)", Scatter(x, 1, i32, -1), {3, 4}, {0, -1, 2, 3, -1, 5, 6, 7, 8, 9, 10, -1}},
        {"ScatterAdd(x, 0, ij, src)",
         ScatterAdd(x, 0, ij, src),
         {3, 4},
         {1, 1, 9, 7, 4, 5, 9, 15, 13, 17, 10, 11}},
        {"ScatterAdd(x, 1, i32, src)",
         ScatterAdd(x, 1, i32, src),
         {3, 4},
         {0, 2, 2, 3, 9, 5, 6, 7, 8, 9, 10, 20}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kSum, true)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kSum, true),
         {3, 4},
         {1, 1, 9, 7, 4, 5, 9, 15, 13, 17, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kSum, false)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kSum, false),
         {3, 4},
         {1, 1, 7, 4, 4, 5, 3, 8, 5, 8, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kProd, true)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kProd, true),
         {3, 4},
         {0, 1, 14, 12, 4, 5, 18, 56, 40, 108, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kProd, false)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kProd, false),
         {3, 4},
         {1, 1, 7, 4, 4, 5, 3, 8, 5, 12, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kMean, true)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kMean, true),
         {3, 4},
         {0.5, 1, 4.5, 3.5, 4, 5, 4.5, 7.5, 6.5, 5.666666507720947, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kMean, false)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kMean, false),
         {3, 4},
         {1, 1, 7, 4, 4, 5, 3, 8, 5, 4, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kAmax, true)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kAmax, true),
         {3, 4},
         {1, 1, 7, 4, 4, 5, 6, 8, 8, 9, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kAmax, false)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kAmax, false),
         {3, 4},
         {1, 1, 7, 4, 4, 5, 3, 8, 5, 6, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kAmin, true)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kAmin, true),
         {3, 4},
         {0, 1, 2, 3, 4, 5, 3, 7, 5, 2, 10, 11}},
        {"ScatterReduce(x, 0, ij, src, ScatterReduction::kAmin, false)",
         ScatterReduce(x, 0, ij, src, ScatterReduction::kAmin, false),
         {3, 4},
         {1, 1, 7, 4, 4, 5, 3, 8, 5, 2, 10, 11}},
    };
  }

  std::vector<Row> Masks() const {
    return {
        {"MaskedFill(x, m, -1)", MaskedFill(x, m, -1), {3, 4}, {0, 1, 2, 3, 4, -1, -1, 7, -1, -1, -1, -1}},
        {"MaskedScatter(x, m, src)", MaskedScatter(x, m, src), {3, 4}, {0, 1, 2, 3, 4, 1, 2, 7, 3, 4, 5, 6}},
        {"MaskedSelect(x, m)", MaskedSelect(x, m), {6}, {5, 6, 8, 9, 10, 11}},
        {"Nonzero(m)", Nonzero(m), {6, 2}, {1, 1, 1, 2, 2, 0, 2, 1, 2, 2, 2, 3}},
        {"Where(m)[1]", Where(m)[1], {6}, {1, 2, 0, 1, 2, 3}},
        {"Embedding(ij, x)", Embedding(ij, x), {2, 4, 4}, {0,  1,  2, 3, 8, 9, 10, 11, 4,  5, 6,
                                                           7,  0,  1, 2, 3, 8, 9,  10, 11, 8, 9,
                                                           10, 11, 0, 1, 2, 3, 4,  5,  6,  7}},
        {"EmbeddingBag(ij, x)", EmbeddingBag(ij, x), {2, 4}, {3, 4, 5, 6, 5, 6, 7, 8}},
        {"EmbeddingBag(ij, x, {.mode = BagMode::kMax})",
         EmbeddingBag(ij, x, {.mode = BagMode::kMax}),
         {2, 4},
         {8, 9, 10, 11, 8, 9, 10, 11}},
        {"OneHot(i)", OneHot(i), {2, 3}, {0, 0, 1, 1, 0, 0}},
        {"OneHot(ij, 4)", OneHot(ij, 4), {2, 4, 4}, {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0,
                                                     0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0}},
        {"TrilIndices(3, 4, 1)",
         TrilIndices(3, 4, 1),
         {2, 9},
         {0, 0, 1, 1, 1, 2, 2, 2, 2, 0, 1, 0, 1, 2, 0, 1, 2, 3}},
        {"TriuIndices(3, 4, 1)", TriuIndices(3, 4, 1), {2, 6}, {0, 0, 0, 1, 1, 2, 1, 2, 3, 2, 3, 3}},
    };
  }

  std::vector<Row> Sorting() const {
    return {
        {"Sort(y, 1).values", Sort(y, 1).values, {3, 4}, {0, 1, 2, 3, 0, 1, 5, 5, 6, 7, 8, 9}},
        {"Sort(y, 1, true).indices", Sort(y, 1, true).indices, {3, 4}, {0, 2, 1, 3, 1, 2, 3, 0, 0, 1, 2, 3}},
        {"Sort(nan, 0).indices", Sort(nan, 0).indices, {3}, {2, 0, 1}},
        {"Sort(nan, 0, true).indices", Sort(nan, 0, true).indices, {3}, {1, 0, 2}},
        {"Msort(y)", Msort(y), {3, 4}, {0, 1, 2, 0, 3, 5, 5, 1, 9, 8, 7, 6}},
        {"Topk(y, 2).values", Topk(y, 2).values, {3, 2}, {3, 2, 5, 5, 9, 8}},
        {"Topk(v, 2, 0, false).indices", Topk(v, 2, 0, false).indices, {2}, {1, 2}},
        {"Kthvalue(v, 2).values", Kthvalue(v, 2).values, {}, {2}},
        {"Searchsorted(s, y)", Searchsorted(s, y), {3, 4}, {1, 0, 1, 0, 0, 4, 4, 2, 4, 4, 4, 4}},
        {"Searchsorted(s, y, true)", Searchsorted(s, y, true), {3, 4}, {2, 1, 1, 0, 2, 4, 4, 2, 4, 4, 4, 4}},
        {"Bucketize(y, Msort(v))", Bucketize(y, Msort(v)), {3, 4}, {2, 0, 1, 0, 0, 3, 3, 0, 3, 3, 3, 3}},
        {"Unique(y).values", Unique(y).values, {9}, {0, 1, 2, 3, 5, 6, 7, 8, 9}},
        {"Unique(y).inverse", Unique(y).inverse, {3, 4}, {3, 1, 2, 0, 0, 4, 4, 1, 8, 7, 6, 5}},
        {"Unique(y).counts", Unique(y).counts, {9}, {2, 2, 1, 1, 2, 1, 1, 1, 1}},
    };
  }
};

class Movement : public TensorTest {
 protected:
  static void Expect(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      EXPECT_EQ(row.result.dims(), row.dims) << row.call;
      if (row.result.dims() != row.dims) continue;
      const std::vector<double> values = row.result.To(kF64).ToVector<double>();
      for (size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(row.values[i])) EXPECT_TRUE(std::isnan(values[i])) << row.call << " at " << i;
        else EXPECT_NEAR(values[i], row.values[i], 1e-6) << row.call << " at " << i;
      }
    }
  }

  static void Run(const Device& at) {
    const MovementRows rows(at);
    Expect(rows.Joining());
    Expect(rows.Arrangement());
    Expect(rows.Padding());
    Expect(rows.Indexing());
    Expect(rows.Scattering());
    Expect(rows.Masks());
    Expect(rows.Sorting());
  }
};

TEST_F(Movement, MatchesPyTorchOnADevice) { Run(device()); }
TEST_F(Movement, MatchesPyTorchOnTheHost) { Run(Device()); }

TEST_F(Movement, UpdatesInPlaceReachTheViewedTensor) {
  Tensor x = OnDevice({0, 1, 2, 3, 4, 5}, {2, 3});
  const Tensor rows = FromValues<int64_t>({1}, Dims{1}, device());
  Tensor column = x.Select(1, 0);
  IndexFill_(column, 0, rows, 9);
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(0, 1, 2, 9, 4, 5));
  IndexAdd_(x, 0, rows, OnDevice({1, 1, 1}, {1, 3}));
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(0, 1, 2, 10, 5, 6));
  IndexPut_(x, {rows, rows}, 7);
  FillDiagonal_(x, -1);
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(-1, 1, 2, 10, -1, 6));
  MaskedFill_(x, FromValues<float>({1, 0, 0}, Dims{3}, device()).To(kPred), 8);
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(8, 1, 2, 8, -1, 6));
}

TEST_F(Movement, AShapeThatDependsOnValuesClosesTheTraceAndReadsOneNumber) {
  const Tensor x = OnDevice({0, 1, 0, 2}, {4});
  Sync();
  ResetTraceStats();
  const int64_t before = Account().device_to_host.bytes;
  EXPECT_EQ(Nonzero(x).dims(), (Dims{2, 1}));
  EXPECT_EQ(GetTraceStats().closes_by_cause[static_cast<int>(TraceCause::kDynamicShape)], 1);
  EXPECT_EQ(Account().device_to_host.bytes - before, 8);
  const Tensor p = Placeholder({2}, kF32, device());
  EXPECT_EQ(KindOf(Thrown([&] { Nonzero(p); })), ErrorKind::kPlaceholder);
}

TEST_F(Movement, RefusalsNameTheOperationAndTheShapes) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2}), v = OnDevice({1, 2, 3}, {3});
  const std::vector<std::pair<std::function<void()>, const char*>> cases = {
      {[&] { Cat({x, v}); }, "[2, 2] and [3]"},
      {[&] { Stack({x, v}); }, "[2, 2] and [3]"},
      {[&] { Split(x, 0); }, "pieces of size 0"},
      {[&] { SplitWithSizes(x, {1, 2}); }, "[1, 2]"},
      {[&] { Roll(x, {1, 2}, {0}); }, "[1, 2]"},
      {[&] { Pad(x, {2, 0}, PadMode::kReflect); }, "reflection by 2"},
      {[&] { IndexSelect(x, 0, v); }, "integers"},
      {[&] { Topk(v, 4); }, "k (4)"},
      {[&] { Index(v, {Arange(0, 2, 1, {kS64, device()}), Arange(0, 2, 1, {kS64, device()})}); },
       "2 indices"},
  };
  for (const auto& [call, text] : cases) {
    EXPECT_EQ(KindOf(Thrown(call)), ErrorKind::kArgument) << text;
    EXPECT_THAT(last_what_, HasSubstr(text));
  }
}

}  // namespace
}  // namespace hlod
