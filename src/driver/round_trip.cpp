#include "driver/round_trip.h"

#include "ir/same.h"
#include "support/text_diff.h"

namespace pldc {

bool survives_round_trip(const Module& module, const RoundTripCheck& check) {
  const auto place = [](const SourceFile& file, std::size_t offset) {
    const auto at = static_cast<std::uint32_t>(file.base() + offset);
    return Span{at, at + 1};
  };
  bool good = true;
  std::string first = print(module, check.print);
  TextDifference difference{};
  if (check.original != nullptr && first_difference(first, check.original->text(), difference)) {
    check.diags.report<Diag::roundtrip_text>(place(*check.original, difference.offset), difference.expected,
                                             difference.found);
    good = false;
  }
  const SourceFile* printed = check.sources.add(check.printed_name, std::move(first));
  if (printed == nullptr) return good;
  Context context;
  const Module again = parse(*printed, context, check.diags);
  if (again.program == nullptr) {
    check.diags.report<Diag::roundtrip_structure>(place(*printed, 0), "it is refused");
    return false;
  }
  const auto differing = differences(module.program, again.program, 1);
  if (!differing.empty()) {
    const Difference& d = differing.front();
    check.diags
        .report<Diag::roundtrip_structure>(d.right_span,
                                           fmt::format("at {}: expected {}, found {}", d.path, d.left, d.right))
        .note(d.left_span, "the program that was printed");
    good = false;
  } else if (structural_hash(module.program) != structural_hash(again.program)) {
    check.diags.report<Diag::roundtrip_structure>(place(*printed, 0), "equal programs, unequal hashes");
    good = false;
  }
  const std::string second = print(again, check.print);
  if (first_difference(printed->text(), second, difference)) {
    check.diags.report<Diag::roundtrip_unstable>(place(*printed, difference.offset), difference.expected,
                                                 difference.found);
    good = false;
  }
  return good;
}

}  // namespace pldc
