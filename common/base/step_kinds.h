// The kinds of steps of a plan, by the names under which profiles list them.
#pragma once

#include <string_view>

namespace hlod {

// A loop over elements, whose program became machine code.
inline constexpr std::string_view kAssembledStep = "assembled";
// A loop over elements, whose program is interpreted tile by tile.
inline constexpr std::string_view kInterpretedStep = "interpreted";
// Such a loop whose program was machine code, which was slower in several runs and was given up.
inline constexpr std::string_view kWithdrawnStep = "withdrawn";
// A dot, convolution, sort, transform, factorization, reduction or window.
inline constexpr std::string_view kLibraryStep = "library";
// Moves data and computes nothing.
inline constexpr std::string_view kMovementStep = "movement";
// Run by the evaluator, slowly.
inline constexpr std::string_view kReferenceStep = "reference";
// A value that a loop, a branch or the end of the program copies.
inline constexpr std::string_view kCopyStep = "copy";

// All kinds, in the order in which they are listed.
inline constexpr std::string_view kStepKinds[] = {
    kAssembledStep, kInterpretedStep, kWithdrawnStep, kLibraryStep, kMovementStep, kReferenceStep, kCopyStep};

}  // namespace hlod
