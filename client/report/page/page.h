// The page's file, page.html, with the mark where the data goes.
#pragma once

namespace hlod::report {

extern const char kPage[];

}  // namespace hlod::report
