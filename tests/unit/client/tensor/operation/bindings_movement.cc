// Joining, arranging, indexing, scatter, sorting.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

std::pair<Tensor, Tensor> Both(const ValuesAndIndices& result) { return {result.values, result.indices}; }

PadMode ModeOf(const std::string& name) {
  if (name == "reflect") return PadMode::kReflect;
  if (name == "replicate") return PadMode::kReplicate;
  return name == "circular" ? PadMode::kCircular : PadMode::kConstant;
}

ScatterReduction ReductionOf(const std::string& name) {
  if (name == "prod") return ScatterReduction::kProd;
  if (name == "mean") return ScatterReduction::kMean;
  if (name == "amax") return ScatterReduction::kAmax;
  return name == "amin" ? ScatterReduction::kAmin : ScatterReduction::kSum;
}

}  // namespace

std::vector<Binding> JoiningBindings() {
  return {
      {"cat", "tensors dim", [](Arguments& a) { return Cat(a.Arrays("tensors"), a.Int("dim", 0)); }},
      {"stack", "tensors dim", [](Arguments& a) { return Stack(a.Arrays("tensors"), a.Int("dim", 0)); }},
      {"hstack", "tensors", [](Arguments& a) { return Hstack(a.Arrays("tensors")); }},
      {"vstack", "tensors", [](Arguments& a) { return Vstack(a.Arrays("tensors")); }},
      {"dstack", "tensors", [](Arguments& a) { return Dstack(a.Arrays("tensors")); }},
      {"column_stack", "tensors", [](Arguments& a) { return ColumnStack(a.Arrays("tensors")); }},
      {"block_diag", "", [](Arguments& a) { return BlockDiag(a.RestOfTensors(0)); }},
      {"broadcast_tensors", "", [](Arguments& a) { return BroadcastTensors(a.RestOfTensors(0)); }},
      {"movedim", "input source destination",
       [](Arguments& a) { return Movedim(a.Arg("input"), a.Ints("source"), a.Ints("destination")); }},
      {"ravel", "input", [](Arguments& a) { return Ravel(a.Arg("input")); }},
      {"unflatten", "input dim sizes",
       [](Arguments& a) { return Unflatten(a.Arg("input"), a.Int("dim"), a.Ints("sizes")); }},
      {"broadcast_to", "input size",
       [](Arguments& a) { return BroadcastTo(a.Arg("input"), a.Ints("size")); }},
      {"chunk", "input chunks dim",
       [](Arguments& a) { return Chunk(a.Arg("input"), a.Int("chunks"), a.Int("dim", 0)); }},
      {"split_with_sizes", "input sizes dim",
       [](Arguments& a) { return SplitWithSizes(a.Arg("input"), a.Ints("sizes"), a.Int("dim", 0)); }},
      {"unbind", "input dim", [](Arguments& a) { return Unbind(a.Arg("input"), a.Int("dim", 0)); }},
  };
}

std::vector<Binding> ArrangementBindings() {
  return {
      {"repeat", "input repeats", [](Arguments& a) { return Repeat(a.Arg("input"), a.Ints("repeats")); }},
      {"tile", "input dims", [](Arguments& a) { return Tile(a.Arg("input"), a.Ints("dims")); }},
      {"roll", "input shifts dims",
       [](Arguments& a) { return Roll(a.Arg("input"), a.Ints("shifts"), a.Ints("dims", Dims())); }},
      {"flip", "input dims", [](Arguments& a) { return Flip(a.Arg("input"), a.Ints("dims")); }},
      {"fliplr", "input", [](Arguments& a) { return Fliplr(a.Arg("input")); }},
      {"flipud", "input", [](Arguments& a) { return Flipud(a.Arg("input")); }},
      {"rot90", "input k dims",
       [](Arguments& a) {
         return Rot90(a.Arg("input"), a.Int("k", 1), a.Ints("dims", Dims{0, 1}));
       }},
  };
}

std::vector<Binding> DiagonalBindings() {
  return {
      {"tril", "input diagonal", [](Arguments& a) { return Tril(a.Arg("input"), a.Int("diagonal", 0)); }},
      {"triu", "input diagonal", [](Arguments& a) { return Triu(a.Arg("input"), a.Int("diagonal", 0)); }},
      {"diag", "input diagonal", [](Arguments& a) { return Diag(a.Arg("input"), a.Int("diagonal", 0)); }},
      {"diag_embed", "input offset dim1 dim2",
       [](Arguments& a) {
         return DiagEmbed(a.Arg("input"), a.Int("offset", 0), a.Int("dim1", -2), a.Int("dim2", -1));
       }},
      {"diagflat", "input offset", [](Arguments& a) { return Diagflat(a.Arg("input"), a.Int("offset", 0)); }},
      {"meshgrid", "a b c d indexing",
       [](Arguments& a) {
         std::vector<Tensor> vectors;
         if (a.Json("a").is_array()) vectors = a.Arrays("a");
         for (const char* name : {"a", "b", "c", "d"}) {
           if (IsArray(a.Json(name))) vectors.push_back(a.Array(name));
         }
         return Meshgrid(vectors, a.Text("indexing", "ij") == "xy" ? MeshIndexing::kXy : MeshIndexing::kIj);
       }},
      {"cartesian_prod", "", [](Arguments& a) { return CartesianProd(a.RestOfTensors(0)); }},
      {"combinations", "input r with_replacement",
       [](Arguments& a) {
         return Combinations(a.Arg("input"), a.Int("r", 2), a.Bool("with_replacement", false));
       }},
      {"repeat_interleave", "input repeats dim output_size",
       [](Arguments& a) {
         if (!IsArray(a.Json("repeats"))) {
           return RepeatInterleave(a.Arg("input"), a.Int("repeats"), a.MaybeInt("dim"));
         }
         return RepeatInterleave(a.Arg("input"), a.Array("repeats"), a.MaybeInt("dim"),
                                 a.MaybeInt("output_size"));
       }},
  };
}

std::vector<Binding> WritingBindings() {
  return {
      {"diagonal_scatter", "input src offset dim1 dim2",
       [](Arguments& a) {
         return DiagonalScatter(a.Arg("input"), a.Arg("src"), a.Int("offset", 0), a.Int("dim1", 0),
                                a.Int("dim2", 1));
       }},
      {"slice_scatter", "input src dim start end step",
       [](Arguments& a) {
         return SliceScatter(a.Arg("input"), a.Arg("src"), a.Int("dim", 0), a.MaybeInt("start"),
                             a.MaybeInt("end"), a.Int("step", 1));
       }},
      {"as_strided_scatter", "input src size stride storage_offset",
       [](Arguments& a) {
         return AsStridedScatter(a.Arg("input"), a.Arg("src"), a.Ints("size"), a.Ints("stride"),
                                 a.MaybeInt("storage_offset"));
       }},
      {"constant_pad_nd", "input pad value",
       [](Arguments& a) {
         return Pad(a.Arg("input"), a.Ints("pad"), PadMode::kConstant, a.Number("value", 0));
       }},
      {"select_scatter", "input src dim index",
       [](Arguments& a) {
         return SelectScatter(a.Arg("input"), a.Arg("src"), a.Int("dim"), a.Int("index"));
       }},
      {"nn.functional.pad", "input pad mode value",
       [](Arguments& a) {
         return Pad(a.Arg("input"), a.Ints("pad"), ModeOf(a.Text("mode", "constant")), a.Number("value", 0));
       }},
      {"nn.functional.pixel_shuffle", "input upscale_factor",
       [](Arguments& a) { return PixelShuffle(a.Arg("input"), a.Int("upscale_factor")); }},
      {"nn.functional.pixel_unshuffle", "input downscale_factor",
       [](Arguments& a) { return PixelUnshuffle(a.Arg("input"), a.Int("downscale_factor")); }},
      {"nn.functional.unfold", "input kernel_size dilation padding stride",
       [](Arguments& a) {
         return Unfold(a.Arg("input"), a.Ints("kernel_size"),
                       {a.Ints("dilation", Dims{1}), a.Ints("padding", Dims{0}), a.Ints("stride", Dims{1})});
       }},
  };
}

std::vector<Binding> IndexingBindings() {
  return {
      {"index_select", "input dim index",
       [](Arguments& a) { return IndexSelect(a.Arg("input"), a.Int("dim"), a.Arg("index")); }},
      {"gather", "input dim index",
       [](Arguments& a) { return Gather(a.Arg("input"), a.Int("dim"), a.Arg("index")); }},
      {"take", "input index", [](Arguments& a) { return Take(a.Arg("input"), a.Arg("index")); }},
      {"take_along_dim", "input indices dim",
       [](Arguments& a) { return TakeAlongDim(a.Arg("input"), a.Arg("indices"), a.MaybeInt("dim")); }},
      {"index_put", "input indices values accumulate",
       [](Arguments& a) {
         return IndexPut(a.Arg("input"), a.Arrays("indices"), a.Arg("values"), a.Bool("accumulate", false));
       }},
      {"index_add", "input dim index source alpha",
       [](Arguments& a) {
         return IndexAdd(a.Arg("input"), a.Int("dim"), a.Arg("index"), a.Arg("source"), a.Number("alpha", 1));
       }},
      {"index_copy", "input dim index source",
       [](Arguments& a) { return IndexCopy(a.Arg("input"), a.Int("dim"), a.Arg("index"), a.Arg("source")); }},
      {"index_fill", "input dim index value",
       [](Arguments& a) { return IndexFill(a.Arg("input"), a.Int("dim"), a.Arg("index"), a.Arg("value")); }},
      {"scatter_add", "input dim index src",
       [](Arguments& a) { return ScatterAdd(a.Arg("input"), a.Int("dim"), a.Arg("index"), a.Arg("src")); }},
      {"scatter_reduce", "input dim index src reduce include_self",
       [](Arguments& a) {
         return ScatterReduce(a.Arg("input"), a.Int("dim"), a.Arg("index"), a.Arg("src"),
                              ReductionOf(a.Text("reduce")), a.Bool("include_self", true));
       }},
      {"scatter", "input dim index src reduce",
       [](Arguments& a) {
         if (!a.Has("reduce")) return Scatter(a.Arg("input"), a.Int("dim"), a.Arg("index"), a.Arg("src"));
         const bool add = a.Text("reduce") == "add";
         return Scatter(a.Arg("input"), a.Int("dim"), a.Arg("index"), a.Arg("src"),
                        add ? ScatterReduction::kSum : ScatterReduction::kProd);
       }},
      {"segment_reduce", "data reduce lengths indices offsets axis unsafe initial",
       [](Arguments& a) {
         a.Int("axis", 0);
         a.Bool("unsafe", false);
         const std::string how = a.Text("reduce");
         const ScatterReduction reduction = how == "sum"    ? ScatterReduction::kSum
                                            : how == "mean" ? ScatterReduction::kMean
                                            : how == "prod" ? ScatterReduction::kProd
                                            : how == "max"  ? ScatterReduction::kAmax
                                                            : ScatterReduction::kAmin;
         SegmentOptions options{.lengths = a.Array("lengths"), .offsets = a.Array("offsets")};
         if (a.Has("initial")) options.initial = a.Double("initial");
         return SegmentReduce(a.Arg("data"), reduction, options);
       }},
      {"index_reduce", "input dim index source reduce include_self",
       [](Arguments& a) {
         return IndexReduce(a.Arg("input"), a.Int("dim"), a.Arg("index"), a.Arg("source"),
                            ReductionOf(a.Text("reduce")), a.Bool("include_self", true));
       }},
  };
}

std::vector<Binding> MaskBindings() {
  return {
      {"put", "input index source accumulate",
       [](Arguments& a) {
         return Put(a.Arg("input"), a.Arg("index"), a.Arg("source"), a.Bool("accumulate", false));
       }},
      {"nonzero", "input as_tuple",
       [](Arguments& a) -> Results {
         if (a.Bool("as_tuple", false)) return Where(a.Arg("input"));
         return Nonzero(a.Arg("input"));
       }},
      {"masked_fill", "input mask value",
       [](Arguments& a) { return MaskedFill(a.Arg("input"), a.Arg("mask"), a.Arg("value")); }},
      {"masked_scatter", "input mask source",
       [](Arguments& a) { return MaskedScatter(a.Arg("input"), a.Arg("mask"), a.Arg("source")); }},
      {"masked_select", "input mask",
       [](Arguments& a) { return MaskedSelect(a.Arg("input"), a.Arg("mask")); }},
      {"argwhere", "input", [](Arguments& a) { return Argwhere(a.Arg("input")); }},
      {"nn.functional.one_hot", "input num_classes",
       [](Arguments& a) {
         const std::optional<int64_t> classes = a.MaybeInt("num_classes");
         return OneHot(a.Arg("input"), classes == -1 ? std::nullopt : classes);
       }},
      {"sort", "input dim descending",
       [](Arguments& a) {
         return Both(Sort(a.Arg("input"), a.Int("dim", -1), a.Bool("descending", false)));
       }},
      {"argsort", "input dim descending",
       [](Arguments& a) { return Argsort(a.Arg("input"), a.Int("dim", -1), a.Bool("descending", false)); }},
      {"msort", "input", [](Arguments& a) { return Msort(a.Arg("input")); }},
      {"topk", "input k dim largest sorted",
       [](Arguments& a) {
         a.Bool("sorted", true);
         return Both(Topk(a.Arg("input"), a.Int("k"), a.Int("dim", -1), a.Bool("largest", true)));
       }},
      {"kthvalue", "input k dim keepdim",
       [](Arguments& a) {
         return Both(Kthvalue(a.Arg("input"), a.Int("k"), a.Int("dim", -1), a.Bool("keepdim", false)));
       }},
  };
}

}  // namespace hlod
