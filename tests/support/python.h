// A Python interpreter with modules that a test compares with, where there is one.
#pragma once

#include <optional>
#include <string>

namespace hlod {

// $HLOD_TEST_PYTHON, else python3, when it imports all of "numpy, jax"; else nothing.
std::optional<std::string> PythonWith(const std::string& modules);
inline constexpr char kNoPython[] = "no Python with such modules: set HLOD_TEST_PYTHON to one, needed are ";

}  // namespace hlod
