// The contents of page.html, with a mark where the data goes.
#pragma once

namespace hlod::report {

extern const char kPage[];

}  // namespace hlod::report
