// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Small helpers of the runtime's own object files.
#pragma once
#include <cstdint>
#include <string>

namespace pld {

int64_t now_ns();  // steady clock
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace pld
