#include "driver/round_trip.h"

#include <algorithm>

#include "frontend/authored.h"
#include "ir/same.h"
#include "support/diag/driver.h"
#include "support/text_diff.h"

namespace pldc {

bool survives_round_trip(const Module& module, const RoundTripCheck& check) {
  const auto place = [](const SourceFile& file, std::size_t offset) {
    const auto at = static_cast<std::uint32_t>(file.base() + offset);
    return Span{at, at + 1};
  };
  std::string first = print(module, check.print);
  TextDifference difference{};
  if (check.original != nullptr && first_difference(first, check.original->text(), difference)) {
    auto report = check.diags.report<diag::roundtrip_text>(place(*check.original, difference.offset),
                                                           difference.expected, difference.found);
    if (!has_program_header(*check.original)) report.help("`--semantic` is for hand-written text");
    return false;
  }
  const SourceFile* printed = check.sources.add(check.printed_name, std::move(first));
  if (printed == nullptr) return true;  // no room left for one more text of this size
  Context context;
  DiagSink findings;  // of its own: a reader gives up where there are errors already
  const Module again = parse(*printed, context, findings);
  if (again.program == nullptr) {
    const std::vector<Diagnostic> all = findings.take();
    const auto error =
        std::find_if(all.begin(), all.end(), [](const auto& d) { return d.severity == Severity::Error; });
    check.diags.report<diag::roundtrip_structure>(
        error != all.end() ? error->span : place(*printed, 0),
        error != all.end() ? "it is refused: " + error->message : std::string("it is refused"));
    return false;
  }
  const auto differing = differences(module.program, again.program, 1);
  if (!differing.empty()) {
    const Difference& d = differing.front();
    check.diags
        .report<diag::roundtrip_structure>(
            d.right_span, fmt::format("at {}: expected {}, found {}", d.path, d.left, d.right))
        .note(d.left_span, "the program that was printed");
    return false;
  }
  if (structural_hash(module.program) != structural_hash(again.program)) {
    check.diags.report<diag::roundtrip_structure>(place(*printed, 0), "equal programs, unequal hashes");
    return false;
  }
  const std::string second = print(again, check.print);
  if (first_difference(printed->text(), second, difference)) {
    check.diags.report<diag::roundtrip_text>(place(*printed, difference.offset), difference.expected,
                                             difference.found);
    return false;
  }
  return true;
}

}  // namespace pldc
