// Conversions of f16 and bf16: every value there and back, ties to even, the edges.
// RUN: %cxx -std=c++17 -O1 -I%attn_src/include %s %attn_obj/lib/Reference/libAttnReference.a -pthread -o %t
// RUN: %t

#include "Check.h"

#include <cstring>
#include <limits>

using namespace attn::reference;

static void every_value_survives_a_round_trip(ElementType type) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint16_t before = static_cast<uint16_t>(bits);
    const double value = loadFloat(type, &before);
    uint16_t after = 0;
    storeFloat(type, &after, value);
    if (std::isnan(value)) {
      EXPECT(std::isnan(loadFloat(type, &after)));
      continue;
    }
    EXPECT(before == after);
    if (!std::isinf(value))
      EXPECT(roundTo(type, value) == value);
  }
}

/// Between two neighbours of a type: the midpoint goes to the even one.
static void ties_go_to_even(ElementType type, uint16_t bits) {
  const uint16_t next = bits + 1;
  const double low = loadFloat(type, &bits), high = loadFloat(type, &next), middle = (low + high) / 2;
  EXPECT(roundTo(type, middle) == (bits % 2 ? high : low));
  EXPECT(roundTo(type, std::nextafter(middle, high)) == high);
  EXPECT(roundTo(type, std::nextafter(middle, low)) == low);
  EXPECT(roundTo(type, -middle) == (bits % 2 ? -high : -low));
}

static void known_values() {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT(roundTo(ElementType::f16, 65519.999) == 65504);
  EXPECT(roundTo(ElementType::f16, 65520) == infinity);
  EXPECT(roundTo(ElementType::f16, 1e300) == infinity);
  EXPECT(roundTo(ElementType::f16, -1e300) == -infinity);
  EXPECT(roundTo(ElementType::f16, 0x1p-25) == 0);
  EXPECT(roundTo(ElementType::f16, 0x1.8p-25) == 0x1p-24);
  EXPECT(roundTo(ElementType::bf16, 3.4e38) == infinity);
  EXPECT(roundTo(ElementType::bf16, 1.00390625) == 1);
  EXPECT(roundTo(ElementType::bf16, 257) == 256);
  EXPECT(std::signbit(roundTo(ElementType::bf16, -0.0)));
  EXPECT(std::isnan(roundTo(ElementType::bf16, std::nan(""))));
  // Rounded once: through f32 this would land on the tie and go up.
  EXPECT(roundTo(ElementType::bf16, std::nextafter(1.01171875, 0)) == 1.0078125);

  EXPECT(wrapTo(ElementType::i32, 0x80000000ll) == -0x80000000ll);
  EXPECT(wrapTo(ElementType::i1, 1) == -1);
  EXPECT(wrapTo(ElementType::i8, 255) == -1);
  EXPECT(parseElementType("bf16") == ElementType::bf16);
  EXPECT(!parseElementType("f8"));
}

static void strides_of_single_rows_are_ignored() {
  const float data[6] = {0, 1, 2, 3, 4, 5};
  const View view{data, ElementType::f32, {1, 2, 1, 3}, {99990001, 3, 3331333, 1}};
  EXPECT(loadFloat(view.type, view.at(0, 1, 0, 2)) == 5);
  EXPECT(loadFloat(view.type, view.at({0, 1, 0, 2})) == 5);
}

int main() {
  for (ElementType type : {ElementType::f16, ElementType::bf16}) {
    every_value_survives_a_round_trip(type);
    // A subnormal, an even and an odd normal, the step to the next power of two.
    for (uint16_t bits : {0x0003, 0x3c00, 0x3c01, 0x3bff})
      ties_go_to_even(type, bits);
  }
  known_values();
  strides_of_single_rows_are_ignored();
  return finish();
}
