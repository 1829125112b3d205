// Finds a bracket that contains a step which meets the conditions, and narrows it until such a step is found.
#include "client/transform/optimizer/torch/wolfe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hlod {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;
// The search ends when the step can move no parameter by more than this within the bracket.
constexpr double kSmallest = 1e-9;
constexpr int64_t kLooks = 25;

// Returns the minimum of the cubic through two points and their slopes, clamped to the bounds; the middle of
// the bounds when the cubic has no minimum.
double CubicMinimum(const LinePoint& a, const LinePoint& b, double lowest, double highest) {
  const LinePoint &left = a.step <= b.step ? a : b, &right = a.step <= b.step ? b : a;
  const double d1 = left.slope + right.slope - 3 * (left.loss - right.loss) / (left.step - right.step);
  const double square = d1 * d1 - left.slope * right.slope;
  if (!(square >= 0)) return (lowest + highest) / 2;
  const double d2 = std::sqrt(square);
  const double at =
      right.step - (right.step - left.step) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(at, lowest), highest);
}

class Search {
 public:
  Search(const std::function<LinePoint(double)>& look, const LinePoint& start) : look_(look), start_(start) {}

  // Tries longer steps until a bracket contains a point that meets the conditions. If a tried point meets
  // them itself, both ends of the bracket are that point.
  void Bracket(double step) {
    LinePoint before = start_, now = Look(step);
    while (looks_ < kLooks) {
      if (!Decreases(now) || (looks_ > 1 && now.loss >= before.loss)) return SetBracket(before, now);
      if (IsFlat(now)) {
        done_ = true;
        return SetBracket(now, now);
      }
      if (now.slope >= 0) return SetBracket(before, now);
      const double lowest = now.step + 0.01 * (now.step - before.step), highest = now.step * 10;
      const double next = CubicMinimum(before, now, lowest, highest);
      before = std::exchange(now, Look(next));
      ++looks_;
    }
    SetBracket(start_, now);
  }

  // Narrows the bracket until a point meets the conditions, the bracket is tiny, or kLooks points have been
  // tried.
  void Zoom(double largest) {
    bool stuck = false;
    while (!done_ && looks_ < kLooks) {
      const double low = std::min(ends_[0].step, ends_[1].step),
                   high = std::max(ends_[0].step, ends_[1].step);
      if ((high - low) * largest < kSmallest) return;
      double at = CubicMinimum(ends_[0], ends_[1], low, high);
      // A point near an end is tried once; after that, a point a tenth of the bracket away from the end is
      // tried instead.
      const double margin = 0.1 * (high - low);
      const bool near = std::min(high - at, at - low) < margin;
      const bool moved = near && (stuck || at >= high || at <= low);
      if (moved) at = std::abs(at - high) < std::abs(at - low) ? high - margin : low + margin;
      stuck = near && !moved;
      Narrow(Look(at));
      ++looks_;
    }
  }

  LineSearch Result() const { return {ends_[best_], evaluations_}; }

 private:
  LinePoint Look(double step) {
    ++evaluations_;
    return look_(step);
  }
  bool Decreases(const LinePoint& point) const {
    return !(point.loss > start_.loss + kDecrease * point.step * start_.slope);
  }
  bool IsFlat(const LinePoint& point) const { return std::abs(point.slope) <= -kCurvature * start_.slope; }

  void SetBracket(const LinePoint& a, const LinePoint& b) {
    ends_ = {a, b};
    FindBest();
  }
  void FindBest() { best_ = ends_[0].loss <= ends_[1].loss ? 0 : 1; }

  void Narrow(const LinePoint& point) {
    LinePoint &low = ends_[best_], &high = ends_[1 - best_];
    if (!Decreases(point) || point.loss >= low.loss) {
      high = point;
      return FindBest();
    }
    if (IsFlat(point)) done_ = true;
    else if (point.slope * (high.step - low.step) >= 0) high = low;
    low = point;
  }

  const std::function<LinePoint(double)>& look_;
  const LinePoint& start_;
  std::array<LinePoint, 2> ends_;
  size_t best_ = 0;  // The index of the end with the lower loss.
  int64_t looks_ = 0, evaluations_ = 0;
  bool done_ = false;
};

}  // namespace

LineSearch SearchLine(const std::function<LinePoint(double)>& look, const LinePoint& start, double step,
                      double largest) {
  Search search(look, start);
  search.Bracket(step);
  search.Zoom(largest);
  return search.Result();
}

}  // namespace hlod
