// Resizing and sampling of images.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

InterpolationMode ModeOf(const std::string& name) {
  if (name == "nearest") return InterpolationMode::kNearest;
  if (name == "nearest-exact") return InterpolationMode::kNearestExact;
  if (name == "bicubic") return InterpolationMode::kBicubic;
  return name == "area" ? InterpolationMode::kArea : InterpolationMode::kLinear;
}

InterpolateOptions SizeOf(Arguments& a) {
  InterpolateOptions options;
  if (const std::optional<Dims> size = a.MaybeInts("size")) options.size = *size;
  if (a.Has("scale_factor")) options.scale_factor = a.Doubles("scale_factor");
  else a.Json("scale_factor");
  return options;
}

Binding Upsample(const char* name, InterpolationMode mode, bool align_corners) {
  return {name, "input size scale_factor", [=](Arguments& a) {
            InterpolateOptions options = SizeOf(a);
            options.mode = mode;
            options.align_corners = align_corners;
            return Interpolate(a.Arg("input"), options);
          }};
}

}  // namespace

std::vector<Binding> ImageBindings() {
  return {
      {"nn.functional.interpolate", "input size scale_factor mode align_corners",
       [](Arguments& a) {
         InterpolateOptions options = SizeOf(a);
         options.mode = ModeOf(a.Text("mode", "nearest"));
         options.align_corners = a.Bool("align_corners", false);
         return Interpolate(a.Arg("input"), options);
       }},
      Upsample("nn.functional.upsample_nearest", InterpolationMode::kNearest, false),
      Upsample("nn.functional.upsample_bilinear", InterpolationMode::kLinear, true),
      {"nn.functional.grid_sample", "input grid mode padding_mode align_corners",
       [](Arguments& a) {
         const std::string mode = a.Text("mode", "bilinear"), padding = a.Text("padding_mode", "zeros");
         const GridSampleOptions options = {.mode = mode == "bicubic"   ? GridMode::kBicubic
                                                    : mode == "nearest" ? GridMode::kNearest
                                                                        : GridMode::kBilinear,
                                            .padding = padding == "border"       ? GridPadding::kBorder
                                                       : padding == "reflection" ? GridPadding::kReflection
                                                                                 : GridPadding::kZeros,
                                            .align_corners = a.Bool("align_corners", false)};
         return GridSample(a.Arg("input"), a.Arg("grid"), options);
       }},
  };
}

}  // namespace hlod
